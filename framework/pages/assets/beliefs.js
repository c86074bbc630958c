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
        move = {
          event: data.event[i],
          round: data.round[i],
          source: data.source[i],
          belief,
          moved: new Set(),
          before: same ? move.sum : 0,
          earlier: move ? (same ? move.earlier : move.earlier + move.sum) : 0,
        };
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
    let low = 0,
      high = pair.moves.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (pair.moves[middle].event <= event) low = middle + 1;
      else high = middle;
    }
    return low ? pair.moves[low - 1] : null;
  }
  /** The most movements that any pair has in one round: the height that its table needs. */
  function longest(pairs) {
    let most = 1;
    for (const pair of pairs.values()) {
      const counts = new Map();
      for (const move of pair.moves) counts.set(move.round, (counts.get(move.round) || 0) + 1);
      most = Math.max(most, ...counts.values());
    }
    return most;
  }
  const total = (move) => (move ? move.earlier + move.sum : 0);

  /** Draw a belief into a cell. */
  function paint(element, belief, prior, words, moved) {
    const away = belief - prior;
    const strength = Math.abs(away) / (away > 0 ? 1 - prior : prior);
    const text = away === 0 ? "" : belief === 1 ? "1" : belief === 0 ? "0" : belief.toFixed(2).replace("0.", ".");
    const said = `${words}: ${away === 0 ? "nothing learnt" : `${number(belief)} available`}`;
    const state = `${said}${moved}`;
    if (element.dataset.state === state) return element;
    element.dataset.state = state;
    element.className = `belief ${away > 0 ? "yes" : away < 0 ? "no" : ""} ${moved ? "moved" : ""}`;
    element.style.setProperty("--strength", strength.toFixed(2));
    element.textContent = text;
    element.title = said;
    element.setAttribute("aria-label", said);
    return element;
  }
  const box = () => h("div", { role: "cell" });

  function make(page, given, go, privateGrid) {
    const data = { unit: 1, floor: 0, ...given };
    const { pairs, movers } = history(data);
    const seats = page.play.seats.length;
    const titles = privateGrid
      ? page.model.grids[page.model.private_grid].columns
      : Array.from({ length: data.slots }, (_, i) => String(i));
    const slot = titles.map((title) => `slot ${title}`);
    const most = [...pairs.entries()].sort((a, b) => total(b[1].moves.at(-1)) - total(a[1].moves.at(-1)))[0];
    const state = { key: most ? most[0] : "1 0", follow: true, step: null, drawn: "", lines: [] };

    const options = Array.from({ length: seats }, (_, seat) => [seat, `seat ${seat}`]);
    const picked = (kept) => () => pick(`${observer.lastChild.value} ${target.lastChild.value}`, kept);
    const observer = select("observer", options, state.key.split(" ")[0], picked(1));
    const target = select("target", options, state.key.split(" ")[1], picked(0));
    const follow = h("input", {
      type: "checkbox",
      on: {
        change: () => {
          state.follow = follow.checked;
          if (state.follow && state.step) show(state.step);
        },
      },
    });
    follow.checked = true;
    const table = h("div", { class: "history-place", vars: { lines: longest(pairs) } });
    const square = seats <= MATRIX ? makeSquare() : null;
    const element = h(
      "div",
      { class: "beliefs" },
      h(
        "div",
        { class: "bar-tools" },
        observer,
        h("span", { class: "dim" }, "believes of"),
        target,
        h("label", { class: "check" }, follow, "follow the messages"),
      ),
      table,
      square && square.element,
      h(
        "p",
        { class: "dim small" },
        `A belief that a slot is available starts each round at ${data.prior}. VPS is the sum over slots of how far it has moved${data.unit === 1 ? "" : `, times ${number(data.unit)}`}, in slots` +
          (data.floor ? `; a target's total counts what is above ${data.floor}.` : "."),
      ),
    );
    const now = { belief: titles.map(box), sum: h("div", { role: "cell", class: "sum" }), truth: titles.map(box) };

    function pick(key, kept) {
      const seat = key.split(" ").map(Number);
      if (seat[0] === seat[1]) seat[kept] = (seat[kept] + 1) % seats;
      state.key = seat.join(" ");
      state.follow = follow.checked = false;
      if (state.step) show(state.step);
    }
    const row = (title, cells, end, extra = "") =>
      h(
        "div",
        { role: "row", class: `belief-row ${extra}` },
        h("div", { role: "rowheader", class: "rowhead" }, title),
        cells,
        end,
      );

    function show(step) {
      state.step = step;
      const moved = movers.get(step.event);
      if (state.follow && moved && !moved.includes(state.key)) state.key = moved[0];
      const [o, t] = state.key.split(" ").map(Number);
      const pair = pairs.get(state.key);
      const drawn = `${state.key} ${step.round}`;
      if (state.drawn !== drawn) {
        state.drawn = drawn;
        draw(o, t, pair, step.round);
      }
      const latest = last(pair, step.event);
      const current = latest && latest.round === step.round ? latest : null;
      const fresh = current && current.event === step.event;
      now.belief.forEach((cell, i) =>
        paint(
          cell,
          current ? current.belief[i] : data.prior,
          data.prior,
          slot[i],
          Boolean(fresh && current.moved.has(i)),
        ),
      );
      now.sum.textContent = number(current ? current.sum : 0);
      if (privateGrid) privateGrid.row(t).forEach((held, i) => copy(now.truth[i], held, slot[i]));
      for (const { move, element: line } of state.lines)
        line.className = `belief-row ${move.event > step.event ? "later" : move.event === step.event ? "here" : ""}`;
      if (square) square.show(step);
    }
    function copy(cell, held, words) {
      const said = `${words}: ${held.words}`;
      if (cell.title === said && cell.className === held.look) return;
      cell.className = held.look;
      cell.textContent = held.text || "";
      cell.title = said;
      cell.setAttribute("aria-label", said);
    }

    /** The table of a pair in a round: what is true, what is believed, and each message that moved it. */
    function draw(o, t, pair, round) {
      observer.lastChild.value = String(o);
      target.lastChild.value = String(t);
      const moves = pair ? pair.moves.filter((move) => move.round === round) : [];
      state.lines = moves.map((move) => ({ move, element: line(move) }));
      const columns = { columns: data.slots, ...(privateGrid && privateGrid.wide ? { wide: privateGrid.wide } : {}) };
      table.replaceChildren(
        h(
          "div",
          { class: "scroll", tabindex: "0", role: "region", "aria-label": "Belief, step by step" },
          h(
            "div",
            {
              role: "table",
              "aria-label": `What seat ${o} believes of seat ${t}`,
              class: "belief-table",
              vars: columns,
            },
            row(
              h("span", { class: "dim" }, "slot"),
              titles.map((title) => h("div", { role: "columnheader", class: "colhead" }, title)),
              h("div", { role: "columnheader", class: "sum dim", title: "of this round" }, "VPS"),
            ),
            privateGrid ? row(["truth of ", chip(t)], now.truth, h("div", { role: "cell", class: "sum" })) : null,
            row(["belief of ", chip(o)], now.belief, now.sum, "now"),
            state.lines.map((one) => one.element),
          ),
        ),
        moves.length ? "" : h("p", { class: "dim small" }, "No message of this round moves this belief."),
      );
    }
    /** What one message did to the belief. */
    function line(move) {
      const at = page.places.get(move.event);
      const message = at === undefined ? null : page.play.steps[at];
      const gain = move.sum - move.before;
      const source = plain(data.sources[move.source]);
      const jump = h(
        "button",
        { type: "button", class: "plain", title: source, disabled: at === undefined, on: { click: () => go(at) } },
        message && message.id !== undefined ? `#${message.id} ` : "",
        h("span", { class: "source" }, source),
      );
      return row(
        jump,
        move.belief.map((belief, i) => paint(box(), belief, data.prior, slot[i], move.moved.has(i))),
        h(
          "div",
          { role: "cell", class: "sum" },
          number(move.sum),
          h("span", { class: "dim small" }, ` ${gain < 0 ? "−" : "+"}${number(Math.abs(gain))}`),
        ),
      );
    }

    /** VPS of every pair so far. */
    function makeSquare() {
      const high = Math.max(1, ...[...pairs.values()].map((pair) => total(pair.moves.at(-1))));
      const all = Array.from({ length: seats }, (_, seat) => seat);
      const buttons = all.map((o) =>
        all.map((t) =>
          o === t ? null : h("button", { type: "button", class: "plain", on: { click: () => pick(`${o} ${t}`, 1) } }),
        ),
      );
      const foot = all.map(() => h("td"));
      const shown = h(
        "div",
        { class: "matrix-place" },
        h("h3", null, "VPS of all rounds so far, every pair"),
        h(
          "div",
          { class: "scroll", tabindex: "0", role: "region", "aria-label": "VPS of every pair" },
          h(
            "table",
            { class: "matrix" },
            h("caption", { class: "unseen" }, "VPS so far by observer and target"),
            h(
              "thead",
              null,
              h(
                "tr",
                null,
                h("th", { scope: "col", class: "dim small" }, "observer \\ target"),
                all.map((t) => h("th", { scope: "col" }, chip(t))),
              ),
            ),
            h(
              "tbody",
              null,
              all.map((o) =>
                h(
                  "tr",
                  null,
                  h("th", { scope: "row" }, chip(o)),
                  all.map((t) => h("td", null, buttons[o][t])),
                ),
              ),
            ),
            h("tfoot", null, h("tr", null, h("th", { scope: "row", class: "dim small" }, "revealed"), foot)),
          ),
        ),
      );
      return {
        element: shown,
        show(step) {
          const totals = all.map(() => 0);
          all.forEach((o) =>
            all.forEach((t) => {
              if (o === t) return;
              const sum = total(last(pairs.get(`${o} ${t}`), step.event));
              totals[t] += sum;
              const button = buttons[o][t];
              const text = number(sum);
              if (button.textContent !== text) {
                button.textContent = text;
                button.style.setProperty("--strength", (sum / high).toFixed(2));
                button.setAttribute("aria-label", `seat ${o} of seat ${t}: ${text}`);
              }
              button.setAttribute("aria-pressed", state.key === `${o} ${t}` ? "true" : "false");
            }),
          );
          totals.forEach((sum, t) => {
            foot[t].textContent = number(sum);
          });
        },
      };
    }
    return { element, show };
  }

  return { make };
})();
