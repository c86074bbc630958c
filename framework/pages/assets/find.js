"use strict";
// Finding steps of a game: by words, by what happened, and by the seat that had a part in it.
Cheaptalk.find = (() => {
  const { h, count } = Cheaptalk;
  const { search, select } = Cheaptalk.ui;

  const KINDS = [
    ["messages", (step) => step.kind === "message"],
    ["decisions", (step) => ["batch", "applied", "undone"].includes(step.kind)],
    ["rejected or refused", (step) => Boolean(step.conflict) || ["invalid", "aborted"].includes(step.kind)],
    ["what else was recorded", (step) => step.kind === "event"],
  ];

  /** All words of a step, small. */
  function wordsOf(page, step) {
    const label = page.labels.get(step.event);
    const parts = [Cheaptalk.said.tell(page, step, label), step.content, step.error, label && label.text];
    const data = [step.actions, step.action, step.conflict, step.data].filter(Boolean);
    return [...parts.filter(Boolean), ...data.map((part) => JSON.stringify(part))].join("\n").toLowerCase();
  }
  const takesPart = (step, seat) =>
    step.sender === seat || step.seat === seat || (step.readers || []).includes(seat);

  /** The tools. `onFind(found)` is given the places of the steps that fit, or null if all do. */
  function make(page, onFind) {
    const steps = page.play.steps;
    const kinds = KINDS.filter(([, test]) => steps.some(test));
    const state = { query: "", kind: "", seat: "" };
    let words = null;
    const status = h("span", { class: "status", role: "status", vars: { digits: String(steps.length).length } });
    const change = (part) => (value) => {
      state[part] = value;
      refresh();
    };
    const all = (text, items) => [["", text], ...items];
    const element = h(
      "div",
      { class: "finder", role: "search", "aria-label": "Steps of this game" },
      search("steps", change("query")),
      select("kind of step", all("every step", kinds.map(([title]) => [title, title])), "", change("kind"), true),
      select(
        "seat",
        all("any seat", page.play.seats.map((_, seat) => [seat, `seat ${seat}`])),
        "",
        change("seat"),
        true,
      ),
      status,
    );

    function refresh() {
      if (!state.query.trim() && !state.kind && state.seat === "") {
        status.textContent = "";
        onFind(null);
        return;
      }
      words ||= steps.map((step) => wordsOf(page, step));
      const asked = state.query.toLowerCase().split(/\s+/).filter(Boolean);
      const [, test] = kinds.find(([title]) => title === state.kind) || ["", () => true];
      const found = new Set();
      steps.forEach((step, place) => {
        const seated = state.seat === "" || takesPart(step, Number(state.seat));
        if (seated && test(step) && asked.every((word) => words[place].includes(word))) found.add(place);
      });
      status.textContent = `${count(found.size)} of ${count(steps.length)}`;
      onFind(found);
    }
    return { element };
  }

  return { make };
})();
