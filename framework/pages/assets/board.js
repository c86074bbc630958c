"use strict";
// The leaderboard, and the table of one run: means with their intervals.
Cheaptalk.board = (() => {
  const { h, number, writer, count, address, load } = Cheaptalk;
  const { table, bind, choice, tag, note } = Cheaptalk.ui;
  const { bar, scaleOf, way } = Cheaptalk.charts;

  /** A board as a table. names: the columns to show. */
  function boardTable(board, { names, link, caption, sort }) {
    const runs = new Set(board.rows.map((row) => row.run));
    const groups = board.rows.some((row) => row.group);
    const aborted = board.rows.some((row) => row.aborted);
    const columns = [
      { key: "strategy", title: "Strategy", value: (row) => row.strategy, number: false, cell: (row) => [row.strategy, row.adversarial ? [" ", tag("adversarial", "warn")] : null] },
      ...(runs.size > 1 ? [{ key: "run", title: "Run", value: (row) => row.run, number: false }] : []),
      ...(groups ? [{ key: "setting", title: "Setting", value: (row) => row.group, number: false }] : []),
      { key: "games", title: "Games", value: (row) => row.games, cell: (row) => count(row.games), end: true, better: "higher", about: "Finished games in which it plays" },
      { key: "seats", title: "N", value: (row) => row.seats, cell: (row) => count(row.seats), end: true, better: "higher", about: "Its seats in finished games" },
      ...(aborted ? [{ key: "aborted", title: "Aborted", value: (row) => row.aborted, end: true, better: "higher", about: "Games that could not be finished; they are in no mean" }] : []),
      ...board.columns.flatMap((column, place) => names.includes(column.name) ? [metric(board, column, place)] : []),
    ];
    return table({ caption, rows: board.rows, columns, link, sort });
  }

  function metric(board, column, place) {
    const scale = scaleOf(board, place);
    const write = writer(board.rows.flatMap((row) => row.cells[place] || []), column.percent);
    return {
      key: column.name,
      title: [column.title, way(column)],
      end: true,
      better: column.better,
      about: column.better === "neither" ? column.name : `${column.name}: ${column.better} is better`,
      value: (row) => row.cells[place] ? row.cells[place][0] : null,
      text: (row) => row.cells[place] ? write(row.cells[place][0]) : "",
      cell: (row) => {
        const cell = row.cells[place];
        if (!cell) return h("span", { class: "dim" }, "–");
        const [mean, low, high] = cell;
        const interval = low === null || low === undefined ? null : `${write(low)} to ${write(high)}`;
        return h("span", { class: "estimate" }, h("strong", null, write(mean)), bar(cell, scale), h("span", { class: "dim small" }, interval || "one game"));
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
    load("board").then((data) => { if (!gone) draw(root, front, data, query); }, (error) => root.replaceChildren(note(error.message, "bad")));
    return { leave() { gone = true; } };
  }

  function draw(root, front, data, query) {
    const boards = data.boards;
    const state = { game: query.get("game") || boards[0]?.game, group: query.get("setting") || "", columns: query.get("columns") === "all" ? "all" : "headline" };
    const place = h("div");
    const tools = h("div", { class: "bar-tools" });
    let list = null;
    const redraw = () => {
      const board = boards.find((b) => b.game === state.game) || boards[0];
      if (!board) { place.replaceChildren(note("There are no finished games.")); return; }
      const groups = [...new Set(board.rows.map((row) => row.group))].filter(Boolean);
      if (!groups.includes(state.group)) state.group = "";
      const part = state.group ? { ...board, rows: board.rows.filter((row) => row.group === state.group) } : board;
      list = boardTable(part, {
        names: state.columns === "all" ? all(board) : headline(board), caption: `leaderboard of ${board.game}`,
        link: (row) => address("run", row.run), sort: list ? list.state.sort : "",
      });
      tools.replaceChildren(
        ...[boards.length > 1 ? choice("Game", boards.map((b) => [b.game, b.game]), board.game, (key) => { state.game = key; keep(); redraw(); }).element : null,
          groups.length > 1 ? choice("Setting", [["", "all settings"], ...groups.map((g) => [g, g])], state.group, (key) => { state.group = key; keep(); redraw(); }).element : null,
          choice("Columns", [["headline", "headline"], ["all", "all metrics"]], state.columns, (key) => { state.columns = key; keep(); redraw(); }).element,
          list.filter, list.status].filter(Boolean));
      place.replaceChildren(list.element, h("p", { class: "dim small" }, footer(part)));
    };
    const keep = () => {
      const asked = new URLSearchParams({ game: state.game });
      if (state.group) asked.set("setting", state.group);
      if (state.columns === "all") asked.set("columns", "all");
      history.replaceState(null, "", `#/board?${asked}`);
    };
    root.replaceChildren(h("div", { class: "head" }, h("h1", null, "Leaderboard"), h("p", { class: "dim" }, "Every strategy in every setting, with how sure the numbers are.")), tools, place, ratings(data));
    redraw();
    bind([["j ArrowDown", "Next row", () => list.move(1)], ["k ArrowUp", "Previous row", () => list.move(-1)], ["Enter", "Open its run", () => {}]]);
    Cheaptalk.ui.shown();
  }

  /** Ratings of models that played each other, where the runs come with some. */
  function ratings(data) {
    return (data.ratings || []).map((pool) => {
      const rows = pool.rows;
      const span = rows.flatMap((row) => [row.mmr, ...row.parts.flatMap((p) => [p.mu - 3 * p.sigma, p.mu + 3 * p.sigma])]);
      const scale = [Math.min(...span), Math.max(...span)];
      const list = table({
        caption: `ratings, ${pool.title}`, rows, sort: "-mmr", filterable: false,
        columns: [
          { key: "name", title: "Model or strategy", value: (row) => row.name, number: false },
          { key: "mmr", title: "MMR", value: (row) => row.mmr, cell: (row) => h("strong", null, number(row.mmr)), end: true, better: "higher" },
          { key: "games", title: "Games", value: (row) => row.games, end: true, better: "higher" },
          ...(rows[0]?.parts || []).map((part, i) => ({
            key: part.metric, title: part.title, end: true, better: "higher", about: "mean of the rating, and three standard deviations on both sides",
            value: (row) => row.parts[i].mu,
            cell: (row) => { const { mu, sigma } = row.parts[i]; return h("span", { class: "estimate" }, h("strong", null, number(mu)), bar([mu, mu - 3 * sigma, mu + 3 * sigma], scale), h("span", { class: "dim small" }, `± ${number(3 * sigma)}`)); },
          })),
        ],
      });
      return h("section", null, h("h2", null, `Ratings: ${pool.title}`), list.element, pool.about ? h("p", { class: "dim small" }, pool.about) : null);
    });
  }

  return { show, boardTable, headline, all, footer };
})();
