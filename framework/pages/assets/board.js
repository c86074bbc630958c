"use strict";
// The leaderboard, and the table of one run: means with their intervals.
Cheaptalk.board = (() => {
  const { h, number, writer, count, address, load, breakable } = Cheaptalk;
  const { table, bind, choice, tag, note } = Cheaptalk.ui;
  const { bar, scaleOf, way, lines } = Cheaptalk.charts;

  /** A strategy in short; its whole name for one who points at it. */
  const named = (strategy) => h("span", { class: "name", title: strategy }, breakable(Cheaptalk.short(strategy)));

  /** A name in one line, as far as there is room. */
  const clipped = (name) => h("span", { class: "clipped", title: name }, name);

  /** A board as a table. names: the columns to show. */
  function boardTable(board, { names, link, caption, sort, titles = new Map() }) {
    // A run is named only where it tells rows apart.
    const entries = new Set(board.rows.map((row) => JSON.stringify([row.strategy, row.group])));
    const groups = board.rows.some((row) => row.group);
    const aborted = board.rows.some((row) => row.aborted);
    const columns = [
      {
        key: "strategy",
        title: "Strategy",
        value: (row) => row.strategy,
        number: false,
        long: true,
        cell: (row) => [named(row.strategy), row.adversarial ? [" ", tag("adversarial", "warn")] : null],
      },
      ...(entries.size < board.rows.length
        ? [
            {
              key: "run",
              title: "Run",
              value: (row) => titles.get(row.run) ?? row.run,
              number: false,
              cell: (row) => clipped(titles.get(row.run) ?? row.run),
            },
          ]
        : []),
      ...(groups ? [{ key: "setting", title: "Setting", value: (row) => row.group, number: false }] : []),
      {
        key: "games",
        title: "Games",
        value: (row) => row.games,
        cell: (row) => count(row.games),
        end: true,
        better: "higher",
        about: "Finished games in which it plays",
      },
      {
        key: "seats",
        title: "N",
        value: (row) => row.seats,
        cell: (row) => count(row.seats),
        end: true,
        better: "higher",
        about: "Its seats in finished games",
      },
      ...(aborted
        ? [
            {
              key: "aborted",
              title: "Aborted",
              value: (row) => row.aborted,
              end: true,
              better: "higher",
              about: "Games that could not be finished; they are in no mean",
            },
          ]
        : []),
      ...board.columns.flatMap((column, place) => (names.includes(column.name) ? [metric(board, column, place)] : [])),
    ];
    return table({ caption, rows: board.rows, columns, link, sort, file: `leaderboard-${board.game}` });
  }

  function metric(board, column, place) {
    const scale = scaleOf(board, place);
    const write = writer(
      board.rows.flatMap((row) => row.cells[place] || []),
      column.percent,
    );
    return {
      key: column.name,
      title: [column.title, way(column)],
      end: true,
      better: column.better,
      about: column.better === "neither" ? column.name : `${column.name}: ${column.better} is better`,
      value: (row) => (row.cells[place] ? row.cells[place][0] : null),
      parts: ["", "_low", "_high"].map((end, i) => [column.name + end, (row) => row.cells[place]?.[i]]),
      text: (row) => (row.cells[place] ? write(row.cells[place][0]) : ""),
      cell: (row) => {
        const cell = row.cells[place];
        if (!cell) return h("span", { class: "dim" }, "–");
        const [mean, low, high] = cell;
        const interval = low === null || low === undefined ? null : `${write(low)} to ${write(high)}`;
        return h(
          "span",
          { class: "estimate" },
          h("strong", null, write(mean)),
          bar(cell, scale),
          h("span", { class: "dim small" }, interval || "one game"),
        );
      },
    };
  }

  const headline = (board) => board.columns.filter((c) => c.headline).map((c) => c.name);
  const all = (board) => board.columns.map((c) => c.name);
  function footer(board) {
    const aborted = board.rows.reduce((sum, row) => sum + row.aborted, 0);
    return `Means with ${number(100 * board.confidence)} % intervals over games; N counts seats.${aborted ? " Aborted games are counted, and in no mean." : ""}`;
  }

  function show(root, front, { query }) {
    root.replaceChildren(h("div", { class: "head" }, h("h1", null, "Leaderboard")), h("div", { class: "waiting" }));
    let gone = false;
    load("board").then(
      (data) => {
        if (!gone) draw(root, front, data, query);
      },
      (error) => root.replaceChildren(note(error.message, "bad")),
    );
    return {
      leave() {
        gone = true;
      },
    };
  }

  function draw(root, front, data, query) {
    const boards = data.boards;
    const state = {
      game: query.get("game") || boards[0]?.game,
      group: query.get("setting") || "",
      columns: query.get("columns") === "all" ? "all" : "headline",
    };
    const place = h("div");
    const tools = h("div", { class: "bar-tools" });
    let list = null;
    const redraw = () => {
      const board = boards.find((b) => b.game === state.game) || boards[0];
      if (!board) {
        place.replaceChildren(note("There are no finished games."));
        return;
      }
      const groups = [...new Set(board.rows.map((row) => row.group))].filter(Boolean);
      if (!groups.includes(state.group)) state.group = "";
      const part = state.group ? { ...board, rows: board.rows.filter((row) => row.group === state.group) } : board;
      list = boardTable(part, {
        names: state.columns === "all" ? all(board) : headline(board),
        caption: `leaderboard of ${board.game}`,
        link: (row) => address("run", row.run),
        sort: list ? list.state.sort : "",
        titles: new Map(front.runs.map((run) => [run.id, run.name])),
      });
      tools.replaceChildren(
        ...[
          boards.length > 1
            ? choice(
                "Game",
                boards.map((b) => [b.game, b.game]),
                board.game,
                (key) => {
                  state.game = key;
                  keep();
                  redraw();
                },
              ).element
            : null,
          groups.length > 1
            ? choice("Setting", [["", "all settings"], ...groups.map((g) => [g, g])], state.group, (key) => {
                state.group = key;
                keep();
                redraw();
              }).element
            : null,
          choice(
            "Columns",
            [
              ["headline", "headline"],
              ["all", "all metrics"],
            ],
            state.columns,
            (key) => {
              state.columns = key;
              keep();
              redraw();
            },
          ).element,
          list.filter,
          list.status,
        ].filter(Boolean),
      );
      place.replaceChildren(
        list.element,
        h("p", { class: "dim small" }, footer(part)),
        h("section", { class: "ratings" }, ratings(board.ratings)),
      );
    };
    const keep = () => {
      const asked = new URLSearchParams({ game: state.game });
      if (state.group) asked.set("setting", state.group);
      if (state.columns === "all") asked.set("columns", "all");
      history.replaceState(null, "", `#/board?${asked}`);
    };
    root.replaceChildren(
      h(
        "div",
        { class: "head" },
        h("h1", null, "Leaderboard"),
        h("p", { class: "dim" }, "Every strategy in every setting, with how sure the numbers are."),
      ),
      tools,
      place,
    );
    redraw();
    bind([
      ["j ArrowDown", "Next row", () => list?.move(1)],
      ["k ArrowUp", "Previous row", () => list?.move(-1)],
      ["Enter", "Open its run", () => {}],
    ]);
    Cheaptalk.ui.shown();
  }

  /** Ratings of players that met each other, and the points of reference apart from them. */
  function ratings(data) {
    if (!data) return [];
    const ends = data.players.flatMap((player) =>
      player.parts.flatMap((part) => [part.mu - 3 * part.sigma, part.mu + 3 * part.sigma]),
    );
    const scale = [Math.min(...ends), Math.max(...ends)];
    const list = table({
      caption: "ratings",
      rows: data.players,
      usual: "-mmr",
      filterable: false,
      columns: [
        {
          key: "player",
          title: "Player",
          value: (row) => row.player,
          cell: (row) => named(row.player),
          number: false,
          long: true,
        },
        {
          key: "games",
          title: "Games",
          value: (row) => row.games,
          cell: (row) => count(row.games),
          end: true,
          better: "higher",
        },
        {
          key: "mmr",
          title: "MMR",
          value: (row) => row.mmr,
          cell: (row) => h("strong", null, row.mmr.toFixed(0)),
          end: true,
          better: "higher",
        },
        ...data.titles.map((title, i) => ({
          key: `rating ${i}`,
          title,
          end: true,
          better: "higher",
          about: "The rating's mean, and three standard deviations on both sides",
          value: (row) => row.parts[i].mu - 3 * row.parts[i].sigma,
          cell: (row) => {
            const { mu, sigma, games } = row.parts[i];
            return h(
              "span",
              { class: "estimate" },
              h("strong", null, mu.toFixed(1)),
              bar([mu, mu - 3 * sigma, mu + 3 * sigma], scale),
              h("span", { class: "dim small" }, `± ${(3 * sigma).toFixed(1)}, n ${count(games)}`),
            );
          },
        })),
      ],
    });
    const references = data.references.length
      ? table({
          caption: "points of reference",
          rows: data.references,
          filterable: false,
          columns: [
            {
              key: "player",
              title: "Point of reference",
              value: (row) => row.player,
              cell: (row) => named(row.player),
              number: false,
              long: true,
            },
            {
              key: "games",
              title: "Games",
              value: (row) => row.games,
              cell: (row) => count(row.games),
              end: true,
              better: "higher",
            },
            ...data.titles.map((title, i) => ({
              key: `score ${i}`,
              title: `${title}, raw`,
              end: true,
              value: (row) => row.scores[i],
              cell: (row) => number(row.scores[i]),
            })),
          ],
        }).element
      : null;
    return [
      h("h2", null, "Ratings"),
      list.element,
      h(
        "p",
        { class: "dim small" },
        `MMR is ${data.base} + ${data.spread} times the mean of the ratings' mu − 3 sigma. Games are rated in the order in which they are listed.`,
      ),
      lines(
        data.players.map((player) => [Cheaptalk.short(player.player), player.history]),
        "MMR after each game",
      ),
      references,
    ].filter(Boolean);
  }

  return { show, boardTable, headline, all, footer };
})();
