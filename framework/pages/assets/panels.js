"use strict";
// What stands beside the timeline: grids, beliefs, cards, tables, metrics, seats, and facts about the game.
Cheaptalk.panels = (() => {
  const { h, number, plain, short, seconds, day } = Cheaptalk;
  const { chip, choice, tag, folded } = Cheaptalk.ui;

  const panel = (title, ...content) => h("section", { class: "panel" }, h("h2", { class: "label" }, title), content);

  function make(page, { go, texts }) {
    const model = page.model;
    const grids = (model.grids || []).map((grid) => [grid, Cheaptalk.grid.make(grid)]);
    const cards = (model.cards || []).map(card);
    const own = model.private_grid ?? null;
    const beliefs = (page.beliefs || []).map((data) => [
      data.title,
      Cheaptalk.beliefs.make(page, data, go, own === null ? null : grids[own][1]),
    ]);
    const believed = h("div", null, beliefs.length ? beliefs[0][1].element : null);
    const measure =
      beliefs.length > 1
        ? h(
            "div",
            { class: "bar-tools" },
            choice(
              "Measure",
              beliefs.map(([title]) => [title, title]),
              beliefs[0][0],
              (title) => believed.replaceChildren(beliefs.find(([name]) => name === title)[1].element),
            ).element,
          )
        : null;
    const seatCards = cards.filter((made) => made.seat !== null);
    const element = h(
      "div",
      { class: "panels" },
      h(
        "div",
        { class: "column" },
        h(
          "div",
          { class: "group first" },
          grids.map(([grid, made]) => panel(grid.title, made.element)),
          seatCards.length
            ? panel(
                "Seats",
                h(
                  "div",
                  { class: "cards" },
                  seatCards.map((made) => made.element),
                ),
              )
            : null,
        ),
        h(
          "div",
          { class: "group third" },
          (model.sheets || []).map((sheet) => panel(sheet.title, table(sheet))),
          cards.filter((made) => made.seat === null).map((made) => panel(made.title, made.facts)),
        ),
      ),
      h(
        "div",
        { class: "column" },
        h("div", { class: "group second" }, beliefs.length ? panel("Beliefs", measure, believed) : null),
        h("div", { class: "group fourth" }, metrics(page), seats(page, texts), about(page)),
      ),
    );
    return {
      element,
      show(step, before) {
        const round = page.roundBy.get(step.round ?? -1);
        const sends = step.kind === "message" ? step.sender : (step.seat ?? null);
        const marks = { takes: new Set(round ? round.participants : []), sends, reads: new Set(step.readers || []) };
        for (const [, grid] of grids) grid.show(step.event, before, marks);
        for (const made of cards) made.show(step.event);
        for (const [, made] of beliefs) made.show({ event: step.event, round: step.round ?? -1 });
      },
    };
  }

  /** Facts that become known as the game goes on. */
  function card(data) {
    const lines = (data.facts || []).map((fact) => {
      const value = h("dd", { class: `${fact.tone || ""} ${fact.long ? "long" : ""}` });
      return { fact, value, element: [h("dt", { class: "dim" }, fact.label), value] };
    });
    const facts = h(
      "dl",
      { class: "card-facts" },
      lines.map((line) => line.element),
    );
    const show = (event) =>
      lines.forEach(({ fact, value }) => {
        const known = (fact.event || 0) <= event;
        value.classList.toggle("pending", !known);
        value.textContent = known ? fact.value : "not yet";
      });
    show(0);
    const seat = data.seat ?? null;
    return {
      seat,
      title: data.title,
      facts,
      show,
      element: h(
        "article",
        { class: `card ${seat === null ? "" : `seat${seat % 8}`}` },
        h("h3", null, seat === null ? data.title : [chip(seat), " ", data.title]),
        facts,
      ),
    };
  }

  const table = (sheet) =>
    h(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": sheet.title },
      h(
        "table",
        { class: "sheet" },
        h("caption", { class: "unseen" }, sheet.title),
        h(
          "thead",
          null,
          h(
            "tr",
            null,
            sheet.columns.map((title) => h("th", { scope: "col" }, title)),
          ),
        ),
        h(
          "tbody",
          null,
          sheet.rows.map((row) =>
            h(
              "tr",
              null,
              row.map((text, i) => h(i ? "td" : "th", { scope: i ? null : "row" }, text)),
            ),
          ),
        ),
      ),
    );

  function metrics(page) {
    const all = page.metrics || [];
    if (!all.length) return null;
    const seatwise = all.some((metric) => (metric.seats || []).length);
    const many = page.play.seats.length > 12;
    const place = h("div");
    const put = (which) => {
      const shown = all.filter((metric) => which === "all" || metric.headline !== false);
      place.replaceChildren(
        h(
          "div",
          { class: "scroll", tabindex: "0", role: "region", "aria-label": "Metrics" },
          h(
            "table",
            { class: "sheet numbers" },
            h("caption", { class: "unseen" }, "Metrics"),
            h(
              "thead",
              null,
              h(
                "tr",
                null,
                h("th", { scope: "col" }, "metric"),
                h("th", { scope: "col", class: "end" }, "game"),
                seatwise && !many
                  ? page.play.seats.map((_, seat) => h("th", { scope: "col", class: "end" }, chip(seat)))
                  : null,
              ),
            ),
            h(
              "tbody",
              null,
              shown.map((metric) =>
                h(
                  "tr",
                  null,
                  h("th", { scope: "row", title: metric.name }, metric.title, Cheaptalk.charts.way(metric)),
                  h("td", { class: "end" }, h("strong", null, number(metric.game ?? null, metric.percent))),
                  seatwise && !many
                    ? page.play.seats.map((_, seat) =>
                        h(
                          "td",
                          { class: "end" },
                          metric.seats && metric.seats.length ? number(metric.seats[seat] ?? null, metric.percent) : "",
                        ),
                      )
                    : null,
                ),
              ),
            ),
          ),
        ),
      );
    };
    put("headline");
    const hidden = all.some((metric) => metric.headline === false);
    return panel(
      "Metrics",
      hidden
        ? h(
            "div",
            { class: "bar-tools" },
            choice(
              "Metrics",
              [
                ["headline", "headline"],
                ["all", "all"],
              ],
              "headline",
              put,
            ).element,
          )
        : null,
      place,
    );
  }

  function seats(page, texts) {
    const lines = page.play.seats.map((seat, i) =>
      h(
        "li",
        null,
        h(
          "div",
          { class: "turn-line" },
          chip(i),
          h("strong", { title: seat.strategy }, short(seat.strategy)),
          seat.adversarial ? tag("adversarial", "warn") : null,
          seat.params && Object.keys(seat.params).length
            ? h("span", { class: "dim small" }, Cheaptalk.said.fields(seat.params))
            : null,
        ),
        (seat.texts || []).length || (seat.records || []).length
          ? h(
              "div",
              { class: "folds" },
              (seat.records || []).map((record) => Cheaptalk.said.recorded(record.title, record.event, texts)),
              (seat.texts || []).includes("system_prompt")
                ? Cheaptalk.said.text("System prompt", `${seat.event}.system_prompt`, texts)
                : null,
              (seat.texts || []).includes("view")
                ? Cheaptalk.said.text("Own state at the start", `${seat.event}.view`, texts)
                : null,
            )
          : null,
      ),
    );
    return h(
      "section",
      { class: "panel" },
      folded("Strategies", (box) => box.append(h("ul", { class: "seat-list" }, lines)), { open: null }),
    );
  }

  function about(page) {
    const play = page.play;
    const facts = [
      ["game", page.title],
      ["id", page.game_id],
      ["seed", page.seed],
      ["started", `${day(page.started)} UTC`],
      ["took", seconds(page.seconds || 0)],
      ["channels", (play.channels || []).map(plain).join(", ") || "none"],
      [
        "topology",
        play.topology === null || play.topology === undefined
          ? "everyone may address everyone"
          : play.topology.map((edge) => edge.join("–")).join(" "),
      ],
      ...Object.entries(play.facts)
        .filter(([, value]) => value === null || typeof value !== "object")
        .map(([name, value]) => [plain(name), value === null ? "none" : value]),
    ];
    return h(
      "section",
      { class: "panel" },
      folded("About this game", (box) =>
        box.append(
          h(
            "dl",
            { class: "card-facts" },
            facts.map(([name, value]) => [h("dt", { class: "dim" }, name), h("dd", null, value)]),
          ),
        ),
      ),
    );
  }

  return { make };
})();
