"use strict";
// What was said and done, in words: audiences, actions, message contents, and long texts that wait to be opened.
Cheaptalk.said = (() => {
  const { h, number, count, plain, plural, listed } = Cheaptalk;
  const { folded } = Cheaptalk.ui;

  const LANES = 12;
  const LONG = 1600;
  const MUCH = 240;
  const LEFT_OUT = "It was left out of these pages.";

  const seatList = (seats) => listed(seats.map(String));
  /** Who could read a message, and who could not, in one sentence. */
  function audience(step, seats) {
    if (!step.readers.length) return "nobody could read it";
    const others = seats - 1 - step.readers.length;
    if (others === 0 && seats > 2) return `all ${seats - 1} others could read it`;
    return `only ${step.readers.length > 1 ? "seats" : "seat"} ${seatList(step.readers)} could read it`;
  }
  /** A step in one sentence, for the line above the keys and for screen readers. */
  function tell(page, step, label) {
    const at = step.turn === undefined || step.turn === null ? null : page.play.turns[step.turn];
    switch (step.kind) {
      case "round": {
        const round = page.roundBy.get(step.round);
        return `Round ${step.round + 1}: ${round ? round.label : ""}`;
      }
      case "message":
        return `Seat ${step.sender} to ${step.to === null || step.to === undefined ? plain(step.channel) : `seat ${step.to}`}: ${step.content.slice(0, 160)}`;
      case "silence":
        return `Seat ${step.seat} sends nothing`;
      case "batch":
        return `Seat ${step.seat} submits ${step.actions.length ? plural(step.actions.length, "action") : "nothing"}${step.conflict ? `; rejected: ${step.conflict.message}` : at && at.attempt ? `, attempt ${at.attempt + 1}` : ""}`;
      case "invalid":
        return `Refused: ${step.conflict.message}`;
      case "applied":
        return `Seat ${step.seat}'s batch takes effect${step.cost ? `, cost ${number(step.cost)}` : ""}`;
      case "undone":
        return `Seat ${step.seat}'s batch is undone`;
      case "aborted":
        return `Aborted at ${step.boundary}: ${step.error}`;
      case "end":
        return "The game is over";
      default:
        return label ? label.text : step.recorded ? `Seat ${step.seat}: ${plain(step.recorded)}` : plain(step.type);
    }
  }

  // --- parts ------------------------------------------------------------------------------------

  function lanes(page, from, to) {
    const n = page.play.seats.length;
    if (n > LANES || n < 2) return null;
    const ends = [from, ...to];
    return h(
      "span",
      { class: "lanes", "aria-hidden": "true", vars: { n } },
      to.length ? h("i", { class: "link", vars: { a: Math.min(...ends) + 1, b: Math.max(...ends) + 2 } }) : null,
      h("i", { class: `dot sends seat${from % 8}`, vars: { c: from + 1 } }),
      to.map((seat) => h("i", { class: `dot reads seat${seat % 8}`, vars: { c: seat + 1 } })),
    );
  }
  const noLanes = (page) =>
    page.play.seats.length > LANES || page.play.seats.length < 2
      ? null
      : h("span", { class: "lanes", "aria-hidden": "true", vars: { n: page.play.seats.length } });

  const flat = (value) => (typeof value === "string" ? value : JSON.stringify(value));
  function value(data) {
    const text = flat(data);
    if (text.length <= MUCH) return h("span", { class: "value" }, text);
    return h(
      "details",
      { class: "value" },
      h("summary", null, `${text.slice(0, 100)}…`),
      h("pre", null, typeof data === "string" ? data : JSON.stringify(data, null, 1)),
    );
  }
  const fields = (data, skip = []) =>
    Object.entries(data)
      .filter(
        ([name, own]) => !skip.includes(name) && own !== "" && own !== null && !(Array.isArray(own) && !own.length),
      )
      .map(([name, own]) => h("span", { class: "field" }, h("span", { class: "dim" }, plain(name)), " ", value(own)));

  function action(act) {
    return h("div", { class: "action" }, h("strong", null, plain(act.type)), " ", fields(act, ["type"]));
  }
  function content(text) {
    if (text.startsWith("{")) {
      try {
        const data = JSON.parse(text);
        const name = data.kind ?? data.type;
        return h(
          "div",
          { class: "payload" },
          typeof name === "string" ? h("strong", null, plain(name)) : null,
          " ",
          Object.entries(data)
            .filter(([key]) => key !== "kind" && key !== "type")
            .map(([key, own]) =>
              h("span", { class: "field" }, h("span", { class: "dim" }, plain(key)), " ", value(own)),
            ),
        );
      } catch {
        /* prose that begins with a brace */
      }
    }
    if (text.length <= LONG) return h("div", { class: "prose" }, text);
    return h(
      "div",
      { class: "prose" },
      text.slice(0, LONG),
      "… ",
      folded(`All ${count(text.length)} characters`, (box) => box.append(text)),
    );
  }
  /** A long text that is loaded when it is opened. */
  function text(title, key, texts) {
    return folded(
      title,
      (box) => {
        box.append(h("p", { class: "dim" }, "…"));
        texts().then(
          (all) => box.replaceChildren(h("pre", null, all[key] ?? LEFT_OUT)),
          (error) => box.replaceChildren(h("p", { class: "note bad" }, error.message)),
        );
      },
      { class: "text" },
    );
  }

  /** What a strategy recorded of itself: short fields in a row, long ones as texts. */
  function recorded(title, event, texts) {
    return folded(
      plain(title),
      (box) =>
        texts().then(
          (all) => {
            const held = all[`${event}.record`];
            if (held === undefined) {
              box.replaceChildren(h("pre", null, LEFT_OUT));
              return;
            }
            const data = Object.entries(JSON.parse(held));
            const isLong = ([, value]) => typeof value === "string" && (value.length > 80 || value.includes("\n"));
            box.replaceChildren(
              h("div", { class: "payload" }, fields(Object.fromEntries(data.filter((entry) => !isLong(entry))))),
              ...data
                .filter(isLong)
                .flatMap(([name, value]) => [h("p", { class: "dim small" }, plain(name)), h("pre", null, value)]),
            );
          },
          (error) => box.replaceChildren(h("p", { class: "note bad" }, error.message)),
        ),
      { class: "text" },
    );
  }
  return { LANES, audience, tell, lanes, noLanes, fields, action, content, text, recorded };
})();
