"use strict";
// The list of runs.
Cheaptalk.runs = (() => {
  const { h, count, money, day, address, plural, breakable } = Cheaptalk;
  const { table, bind, tag } = Cheaptalk.ui;

  function show(root, front, { query }) {
    const priced = front.runs.some((run) => run.cost !== null && run.cost !== undefined);
    const list = table({
      caption: "runs",
      rows: front.runs,
      sort: query.get("sort"),
      usual: "-started",
      link: (run) => address("run", run.id),
      empty: front.runs.length ? "No run fits." : "There are no runs here.",
      onChange: remember,
      columns: [
        { key: "name", title: "Run", value: (run) => run.name, number: false },
        { key: "game", title: "Game", value: (run) => run.game, number: false },
        { key: "suite", title: "Suite", value: (run) => run.suite, number: false },
        {
          key: "strategies",
          title: "Strategies",
          value: (run) => run.strategies.join(", "),
          number: false,
          long: true,
          cell: (run) => strategies(run),
        },
        {
          key: "games",
          title: "Games",
          value: (run) => run.games,
          cell: (run) => count(run.games),
          end: true,
          better: "higher",
        },
        {
          key: "aborted",
          title: "Aborted",
          value: (run) => run.aborted,
          cell: (run) => (run.aborted ? tag(count(run.aborted), "bad") : "0"),
          end: true,
          better: "higher",
        },
        {
          key: "tokens",
          title: "Tokens",
          value: (run) => run.tokens,
          cell: (run) => count(run.tokens),
          end: true,
          better: "higher",
        },
        ...(priced
          ? [
              {
                key: "cost",
                title: "Cost",
                value: (run) => run.cost,
                cell: (run) => money(run.cost),
                end: true,
                better: "higher",
              },
            ]
          : []),
        {
          key: "started",
          title: "Started (UTC)",
          value: (run) => run.started,
          cell: (run) => day(run.started),
          number: false,
          better: "higher",
        },
      ],
    });
    const games = front.runs.reduce((sum, run) => sum + run.games, 0);
    root.replaceChildren(
      h(
        "div",
        { class: "head" },
        h("h1", null, front.title || "Runs"),
        h("p", { class: "dim" }, `${plural(front.runs.length, "run")}, ${plural(games, "game")}`),
      ),
      h("div", { class: "bar-tools" }, list.filter, list.status),
      list.element,
    );
    if (query.get("q")) list.set(query.get("q"));
    bind([
      ["j ArrowDown", "Next run", () => list.move(1)],
      ["k ArrowUp", "Previous run", () => list.move(-1)],
      ["Enter", "Open it", () => {}],
    ]);
    Cheaptalk.ui.shown();
    return {};
  }

  function strategies(run) {
    const some = run.strategies.slice(0, 4).map(Cheaptalk.short);
    const more = run.strategies.length - some.length;
    return [breakable(some.join(", ")), more > 0 ? h("span", { class: "dim" }, ` and ${more} more`) : null];
  }

  /** Keep the filter and the order in the address, so that it can be sent to somebody. */
  function remember({ query, sort }, usual) {
    const path = location.hash.split("?")[0] || "#/";
    const asked = new URLSearchParams();
    if (query) asked.set("q", query);
    if (sort && sort !== usual) asked.set("sort", sort);
    const now = asked.size ? `${path}?${asked}` : path;
    if (now !== location.hash && (location.hash || asked.size)) history.replaceState(null, "", now);
  }

  return { show, remember };
})();
