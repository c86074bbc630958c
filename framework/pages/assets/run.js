"use strict";
// The page of one run: its table, figures, games and config.
Cheaptalk.run = (() => {
  const { h, number, writer, count, money, seconds, day, address, load, plural, short } = Cheaptalk;
  const { table, bind, choice, select, tag, note, folded } = Cheaptalk.ui;
  const { metricFigure, scatter } = Cheaptalk.charts;
  const { boardTable, headline, all, footer } = Cheaptalk.board;

  function show(root, front, { parts, query }) {
    const summary = front.runs.find((run) => run.id === parts[1]);
    if (!summary) {
      root.replaceChildren(
        h("div", { class: "head" }, h("p", { class: "crumbs" }, h("a", { href: "#/" }, "Runs")), h("h1", null, "No such run")),
        note(`There is no run ${parts[1]}.`, "bad"),
      );
      return {};
    }
    let gone = false;
    root.replaceChildren(head(summary), h("div", { class: "waiting" }));
    load(`run/${summary.id}`).then(
      (page) => {
        if (!gone) draw(root, summary, page, query);
      },
      (error) => {
        if (!gone) root.append(note(error.message, "bad"));
      },
    );
    return {
      leave() {
        gone = true;
      },
    };
  }

  function head(run) {
    const facts = [
      run.game,
      run.suite,
      plural(run.games, "game"),
      run.aborted ? tag(`${count(run.aborted)} aborted`, "bad") : null,
      run.tokens ? plural(run.tokens, "token") : null,
      run.cost !== null && run.cost !== undefined ? money(run.cost) : null,
      run.started ? `started ${day(run.started)} UTC` : null,
    ];
    return h(
      "div",
      { class: "head" },
      h("p", { class: "crumbs" }, h("a", { href: "#/" }, "Runs")),
      h("h1", null, run.name),
      h(
        "p",
        { class: "facts dim" },
        facts.filter(Boolean).map((fact) => h("span", null, fact)),
      ),
    );
  }

  /** The rows of a run's games from its columns. */
  function rowsOf({ games }) {
    return games.number.map((id, i) => ({
      id,
      task: games.task[i],
      group: games.group[i],
      repeat: games.repeat[i],
      seating: games.seating[i],
      strategies: games.seatings[games.seating[i]],
      boundary: games.boundary[i],
      error: games.error[i],
      tokens: games.tokens[i],
      cost: games.cost[i],
      seconds: games.seconds[i],
      place: i,
    }));
  }

  function draw(root, summary, page, query) {
    const rows = rowsOf(page);
    const board = h(
      "section",
      null,
      h("h2", { id: "by-strategy" }, "By strategy"),
      boardPlace(rows, page, summary),
    );
    const figures = h(
      "section",
      null,
      h("h2", { id: "figures" }, "Figures"),
      h(
        "div",
        { class: "figures" },
        page.columns.filter((c) => c.headline).map(() => h("figure", { class: "metric waiting" })),
      ),
    );
    const list = gameTable(summary, page, rows, query);
    const games = h(
      "section",
      null,
      h("h2", { id: "games" }, "Games"),
      h("div", { class: "bar-tools" }, list.filter, list.status),
      h(
        "p",
        { class: "dim small hint" },
        "Filter by words and by numbers, such as ",
        h("code", null, "varied excess>2"),
        " or ",
        h("code", null, "coordination<100%"),
        ".",
      ),
      list.element,
    );
    const messages = Cheaptalk.messages.section(summary.id);
    const config = page.config
      ? h(
          "section",
          null,
          folded("Config", (box) =>
            box.append(
              h("p", { class: "dim small" }, "Played again with ", h("code", null, "cheaptalk run config.yaml"), ":"),
              h("pre", null, page.config),
            ),
          ),
        )
      : null;
    const notes = (page.notes || []).map((text) => note(text, "warn"));
    const jump = (title, section) =>
      h(
        "button",
        { type: "button", class: "plain", on: { click: () => section.scrollIntoView({ block: "start" }) } },
        title,
      );
    root.replaceChildren(
      head(summary),
      h(
        "nav",
        { class: "jumps", "aria-label": "Parts of this page" },
        jump("By strategy", board),
        jump("Figures", figures),
        jump("Messages", messages.element),
        jump("Games", games),
        config ? jump("Config", config) : null,
      ),
      ...notes,
      board,
      figures,
      config || "",
      messages.element,
      games,
    );
    load(`run/${summary.id}/board`).then(
      (data) => fill(board, figures, data, page, rows, summary),
      (error) => {
        for (const part of [board, figures]) part.lastChild.replaceWith(note(error.message, "bad"));
      },
    );
    bind([
      ["j ArrowDown", "Next game", () => list.move(1)],
      ["k ArrowUp", "Previous game", () => list.move(-1)],
      ["Enter", "Open it", () => {}],
      ["m", "Search the messages of all games", messages.focus],
    ]);
    Cheaptalk.ui.shown();
  }

  /** The table with made-up numbers, which nobody sees: it takes the room of the one that comes. */
  function boardPlace(rows, page, summary) {
    const keys = new Set(rows.flatMap((row) => row.strategies.map((name) => JSON.stringify([row.group, name]))));
    const cells = page.columns.map((column) => (column.percent ? [1, 0.921, 1] : [12.4, 12.4, 12.4]));
    const lines = [...keys].map((key) => {
      const [group, strategy] = JSON.parse(key);
      return { run: summary.id, group, strategy, games: 10, seats: 100, aborted: 0, cells };
    });
    const place = h("div", { class: "board-place coming", "aria-hidden": "true" });
    drawBoard(place, { game: summary.game, columns: page.columns, rows: lines, confidence: 0.95 }, summary);
    return place;
  }

  function drawBoard(place, data, summary) {
    const tools = h("div", { class: "bar-tools" });
    const beside = h("span");
    const put = (columns) => {
      const list = boardTable(data, {
        names: columns === "all" ? all(data) : headline(data),
        caption: `strategies of ${summary.name}`,
      });
      beside.replaceChildren(list.status);
      place.replaceChildren(tools, list.element, h("p", { class: "dim small" }, footer(data)));
    };
    tools.append(
      choice(
        "Columns",
        [
          ["headline", "headline"],
          ["all", "all metrics"],
        ],
        "headline",
        put,
      ).element,
      beside,
    );
    put("headline");
  }

  function fill(board, figures, data, page, rows, summary) {
    const place = h("div", { class: "board-place" });
    drawBoard(place, data, summary);
    board.lastChild.replaceWith(place);
    const drawn = data.columns
      .flatMap((column, i) => (column.headline ? [metricFigure(data, i, page.games.metrics[column.name])] : []))
      .filter(Boolean);
    if (drawn.length) figures.lastChild.replaceChildren(...drawn, ...[against(page, rows, summary)].filter(Boolean));
    else figures.lastChild.replaceWith(note("No game was finished, so there is nothing to draw."));
  }

  /** Any metric against any other, a point a game. */
  function against(page, rows, summary) {
    const values = { ...page.games.metrics, tokens: page.games.tokens, seconds: page.games.seconds };
    const names = [...page.columns.map((c) => [c.name, c.title]), ["tokens", "Tokens"], ["seconds", "Seconds"]].filter(
      ([name]) => values[name],
    );
    const varies = names.filter(([name]) => new Set(values[name].filter((v) => v !== null)).size > 1);
    const title = Object.fromEntries(names);
    const state = { x: (varies[1] || names[1] || names[0])?.[0], y: (varies[0] || names[0])?.[0] };
    if (!state.x) return null;
    const place = h("div");
    const groups = [...new Set(rows.map((row) => row.group))];
    const redraw = () =>
      place.replaceChildren(
        scatter(
          rows.map((row) => ({
            x: values[state.x][row.place],
            y: values[state.y][row.place],
            kind: groups.indexOf(row.group),
            title: `game ${row.id}, ${row.task}: ${title[state.x]} ${number(values[state.x][row.place])}, ${title[state.y]} ${number(values[state.y][row.place])}`,
            go: () => {
              location.hash = address("run", summary.id, "game", row.id);
            },
          })),
          title[state.x],
          title[state.y],
          groups,
        ),
      );
    redraw();
    return h(
      "figure",
      { class: "metric wide" },
      h("figcaption", null, "One metric against another"),
      h(
        "div",
        { class: "bar-tools" },
        select("across", names, state.x, (name) => {
          state.x = name;
          redraw();
        }),
        select("up", names, state.y, (name) => {
          state.y = name;
          redraw();
        }),
      ),
      place,
    );
  }

  function gameTable(summary, page, rows, query) {
    const several = (of) => new Set(rows.map(of)).size > 1;
    const metrics = page.columns
      .filter((c) => c.headline)
      .map((column) => [column, writer(page.games.metrics[column.name] || [], column.percent)])
      .map(([column, write]) => ({
        key: column.name,
        title: column.title,
        about: column.name,
        end: true,
        better: column.better,
        value: (row) => page.games.metrics[column.name]?.[row.place] ?? null,
        cell: (row) => write(page.games.metrics[column.name]?.[row.place] ?? null),
      }));
    const others = page.columns
      .filter((c) => !c.headline)
      .map((column) => ({ key: column.name, value: (row) => page.games.metrics[column.name]?.[row.place] ?? null }));
    const list = table({
      caption: "games",
      file: `${summary.id}-games`,
      rows,
      sort: query.get("sort"),
      usual: "id",
      link: (row) => address("run", summary.id, "game", row.id),
      onChange: Cheaptalk.runs.remember,
      hidden: others,
      empty: "No game fits.",
      columns: [
        { key: "id", title: "Game", value: (row) => row.id, end: false },
        { key: "task", title: "Task", value: (row) => row.task, number: false },
        ...(several((row) => row.group)
          ? [{ key: "setting", title: "Setting", value: (row) => row.group, number: false }]
          : []),
        ...(several((row) => row.repeat)
          ? [{ key: "repeat", title: "Repeat", value: (row) => row.repeat, end: true }]
          : []),
        {
          key: "strategies",
          title: "Seats",
          value: (row) => row.strategies.join(" "),
          number: false,
          long: true,
          cell: (row) => Cheaptalk.breakable(seating(row.strategies)),
        },
        ...(rows.some((row) => row.boundary)
          ? [
              {
                key: "status",
                title: "Status",
                number: false,
                value: (row) => (row.boundary ? `aborted ${row.boundary} ${row.error}` : "finished"),
                cell: (row) => (row.boundary ? tag(`aborted: ${row.boundary}`, "bad", row.error) : "finished"),
              },
            ]
          : []),
        ...metrics,
        ...(rows.some((row) => row.tokens)
          ? [
              {
                key: "tokens",
                title: "Tokens",
                value: (row) => row.tokens,
                cell: (row) => count(row.tokens),
                end: true,
                better: "higher",
              },
            ]
          : []),
        ...(rows.some((row) => row.cost !== null && row.cost !== undefined)
          ? [
              {
                key: "cost",
                title: "Cost",
                value: (row) => row.cost,
                cell: (row) => money(row.cost),
                end: true,
                better: "higher",
              },
            ]
          : []),
        {
          key: "seconds",
          title: "Time",
          value: (row) => row.seconds,
          cell: (row) => seconds(row.seconds),
          end: true,
          better: "higher",
        },
      ],
    });
    if (query.get("q")) list.set(query.get("q"));
    return list;
  }

  /** Equal neighbours once: `imap, 4 × sd-map`. */
  function seating(strategies) {
    const runs = [];
    for (const name of strategies) {
      if (runs.length && runs.at(-1)[0] === name) runs.at(-1)[1] += 1;
      else runs.push([name, 1]);
    }
    return runs.map(([name, n]) => (n > 1 ? `${n} × ${short(name)}` : short(name))).join(", ");
  }

  return { show, seating };
})();
