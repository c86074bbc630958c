"use strict";
// The belief view: what an observer believed of a target, and how each message moved it.
Cheaptalk.beliefs = (() => {
  const { h, number, plain } = Cheaptalk;
  const { chip, select } = Cheaptalk.ui;

  const MATRIX = 16;

  /** All movements of a game by pair, and the VPS of each pair after each event. */
  function history(data) {
    const pairs = new Map();
    const movers = new Map();
    for (let i = 0; i < data.event.length; i += 1) {
      const key = `${data.observer[i]} ${data.target[i]}`;
      if (!pairs.has(key)) pairs.set(key, { observer: data.observer[i], target: data.target[i], moves: [] });
      const { moves } = pairs.get(key);
      let move = moves.at(-1);
      if (!move || move.event !== data.event[i]) {
        const same = move && move.round === data.round[i];
        const belief = same ? [...move.belief] : new Array(data.slots).fill(data.prior);
        move = { event: data.event[i], round: data.round[i], source: data.source[i], belief, moved: new Set(), before: same ? move.sum : 0, earlier: move ? (same ? move.earlier : move.earlier + move.sum) : 0 };
        moves.push(move);
        if (!movers.has(move.event)) movers.set(move.event, []);
        movers.get(move.event).push(key);
      }
      move.belief[data.slot[i]] = data.after[i];
      move.moved.add(data.slot[i]);
      move.sum = data.unit * move.belief.reduce((sum, b) => sum + Math.abs(b - data.prior), 0);
    }
    return { pairs, movers };
  }

  /** The last movement of a pair at or before an event. */
  function last(pair, event) {
    if (!pair) return null;
    let low = 0, high = pair.moves.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (pair.moves[middle].event <= event) low = middle + 1; else high = middle;
    }
    return low ? pair.moves[low - 1] : null;
  }
  /** The most movements that a pair has in one round: the height that its table needs. */
  function longest(pair) {
    const counts = new Map();
    for (const move of pair.moves) counts.set(move.round, (counts.get(move.round) || 0) + 1);
    return Math.max(...counts.values());
  }
  const total = (move) => (move ? move.earlier + move.sum : 0);

  function cell(belief, prior, words, moved) {
    const away = belief - prior;
    const strength = Math.abs(away) / (away > 0 ? 1 - prior : prior);
    const text = away === 0 ? "" : belief === 1 ? "1" : belief === 0 ? "0" : belief.toFixed(2).replace("0.", ".");
    return h("div", { role: "cell", class: `belief ${away > 0 ? "yes" : away < 0 ? "no" : ""} ${moved ? "moved" : ""}`, vars: { strength: strength.toFixed(2) }, title: words, "aria-label": words }, text);
  }

  function make(page, data, go, privateGrid) {
    const placeOf = (event) => page.places.get(event);
    data = { unit: 1, floor: 0, ...data };
    const { pairs, movers } = history(data);
    const seats = page.play.seats.length;
    const titles = privateGrid ? page.model.grids[page.model.private_grid].columns : Array.from({ length: data.slots }, (_, i) => String(i));
    const most = [...pairs.entries()].sort((a, b) => total(b[1].moves.at(-1)) - total(a[1].moves.at(-1)))[0];
    const state = { key: most ? most[0] : "1 0", follow: true, step: null };

    const seatOptions = Array.from({ length: seats }, (_, seat) => [seat, `seat ${seat}`]);
    const observer = select("observer", seatOptions, state.key.split(" ")[0], () => pick(`${observer.lastChild.value} ${target.lastChild.value}`, 1));
    const target = select("target", seatOptions, state.key.split(" ")[1], () => pick(`${observer.lastChild.value} ${target.lastChild.value}`, 0));
    const follow = h("input", { type: "checkbox", on: { change: () => { state.follow = follow.checked; if (state.follow && state.step) show(state.step); } } });
    follow.checked = true;
    const matrix = h("div", { class: "matrix-place" });
    const table = h("div", { class: "history-place" });
    const element = h("div", { class: "beliefs" },
      h("div", { class: "bar-tools" }, observer, h("span", { class: "dim" }, "believes of"), target, h("label", { class: "check" }, follow, "follow the messages")),
      table, seats <= MATRIX ? matrix : null,
      h("p", { class: "dim small" }, `A belief that a slot is available starts each round at ${data.prior}. VPS is the sum over slots of how far it has moved${data.unit === 1 ? "" : `, times ${number(data.unit)}`}, in slots` +
        (data.floor ? `; a target's total counts what is above ${data.floor}.` : ".")));

    function pick(key, kept) {
      const seat = key.split(" ").map(Number);
      if (seat[0] === seat[1]) seat[kept] = (seat[kept] + 1) % seats;
      state.key = seat.join(" ");
      state.follow = follow.checked = false;
      if (state.step) show(state.step);
    }
    const mean = (belief) => belief === data.prior ? "nothing learnt" : `${number(belief)} available`;
    const row = (title, cells, end, extra = "") => h("div", { role: "row", class: `belief-row ${extra}` }, h("div", { role: "rowheader", class: "rowhead" }, title), cells, end);

    function show(step) {
      state.step = step;
      const moved = movers.get(step.event);
      if (state.follow && moved && !moved.includes(state.key)) state.key = moved[0];
      const [o, t] = state.key.split(" ").map(Number);
      observer.lastChild.value = String(o);
      target.lastChild.value = String(t);
      const pair = pairs.get(state.key);
      const now = last(pair, step.event);
      const current = now && now.round === step.round ? now : null;
      const belief = current ? current.belief : new Array(data.slots).fill(data.prior);
      const truth = privateGrid ? privateGrid.row(t) : null;
      const empty = h("div", { role: "cell", class: "sum" });
      const moves = pair ? pair.moves.filter((move) => move.round === step.round) : [];
      table.style.setProperty("--lines", String(pair ? longest(pair) : 0));
      table.replaceChildren(h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Belief, step by step" }, h("div", { role: "table", "aria-label": `What seat ${o} believes of seat ${t}`, class: "belief-table", vars: { columns: data.slots } },
        row(h("span", { class: "dim" }, "slot"), titles.map((title) => h("div", { role: "columnheader", class: "colhead" }, title)), h("div", { role: "columnheader", class: "sum dim" }, "VPS")),
        truth ? row(["truth of ", chip(t)], truth.map((c, i) => h("div", { role: "cell", class: c.look, title: `slot ${titles[i]}: ${c.words}`, "aria-label": `slot ${titles[i]}: ${c.words}` }, c.text || "")), empty) : null,
        row(["belief of ", chip(o)], belief.map((b, i) => cell(b, data.prior, `slot ${titles[i]}: ${mean(b)}`, current && current.event === step.event && current.moved.has(i))), h("div", { role: "cell", class: "sum" }, number(current ? current.sum : 0)), "now"),
        moves.map((move) => line(move, step)))), moves.length ? "" : h("p", { class: "dim small" }, "No message of this round moves this belief."));
      if (seats <= MATRIX) square(step);
    }
    /** What one message did to the belief. */
    function line(move, step) {
      const at = placeOf(move.event);
      const message = at === undefined ? null : page.play.steps[at];
      const gain = move.sum - move.before;
      const jump = h("button", { type: "button", class: "plain", title: plain(data.sources[move.source]), disabled: at === undefined, on: { click: () => go(at) } }, message && message.id !== undefined ? `#${message.id} ` : "", h("span", { class: "source" }, plain(data.sources[move.source])));
      return row(jump, move.belief.map((b, i) => cell(b, data.prior, `slot ${titles[i]}: ${mean(b)}`, move.moved.has(i))),
        h("div", { role: "cell", class: "sum" }, number(move.sum), h("span", { class: "dim small" }, ` ${gain < 0 ? "−" : "+"}${number(Math.abs(gain))}`)),
        move.event > step.event ? "later" : move.event === step.event ? "here" : "");
    }

    /** VPS of every pair so far. */
    function square(step) {
      const sums = Array.from({ length: seats }, (_, o) => Array.from({ length: seats }, (_, t) => total(last(pairs.get(`${o} ${t}`), step.event))));
      const high = Math.max(1, ...[...pairs.values()].map((pair) => total(pair.moves.at(-1))));
      const totals = Array.from({ length: seats }, (_, t) => sums.reduce((sum, row) => sum + row[t], 0));
      matrix.replaceChildren(h("h4", null, "VPS so far, every pair"), h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "VPS of every pair" }, h("table", { class: "matrix" },
        h("caption", { class: "unseen" }, "VPS so far by observer and target"),
        h("thead", null, h("tr", null, h("th", { scope: "col", class: "dim small" }, "observer \\ target"), totals.map((_, t) => h("th", { scope: "col" }, chip(t))))),
        h("tbody", null, sums.map((line, o) => h("tr", null, h("th", { scope: "row" }, chip(o)), line.map((sum, t) => h("td", null, o === t ? "" : h("button", {
          type: "button", class: "plain", "aria-pressed": state.key === `${o} ${t}` ? "true" : "false", "aria-label": `seat ${o} of seat ${t}: ${number(sum)}`, vars: { strength: (sum / high).toFixed(2) }, on: { click: () => pick(`${o} ${t}`, 1) },
        }, number(sum))))))),
        h("tfoot", null, h("tr", null, h("th", { scope: "row", class: "dim small" }, "revealed"), totals.map((sum) => h("td", null, number(sum))))))));
    }
    return { element, show };
  }

  return { make };
})();
