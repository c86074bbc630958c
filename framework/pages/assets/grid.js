"use strict";
// A grid of cells by row and column that changes as one steps through a game.
Cheaptalk.grid = (() => {
  const { h } = Cheaptalk;
  const { chip } = Cheaptalk.ui;

  const tight = (cell) => ((cell.text || "").length > 2 ? " tight" : "");
  const MANY = 24;
  const look = (kind) => `cell look-${kind.look || "fill"} l${kind.level || 1}`;

  /** A grid. show(event, before) draws it as it is after an event, and marks what changed since another. */
  function make(grid) {
    const kinds = new Map(grid.kinds.map((kind) => [kind.name, kind]));
    const width = grid.columns.length;
    const longest = Math.max(
      ...grid.cells.flat().map((cell) => (cell.text || "").length),
      ...(grid.changes || []).map((change) => (change.cell.text || "").length),
    );
    const wide = longest > 3 ? `${1.75 + 0.42 * (Math.min(longest, 8) - 3)}rem` : null;
    // Beside many columns the tallies come first, so that they need no scrolling.
    const many = width > MANY;
    const shift = many ? (grid.tallies || []).length : 0;
    const end = many ? 2 : width + 2;
    const seats = grid.seats || [];
    const changes = grid.changes || [];
    const heads = grid.rows.map((title, r) =>
      h(
        "div",
        { role: "rowheader", class: "rowhead", vars: { r: r + 2, c: 1 }, title },
        seats.length ? chip(seats[r]) : title,
        seats.length ? h("span", { class: "unseen" }, title) : null,
      ),
    );
    const cells = grid.cells.map((row, r) =>
      row.map((_, c) => h("div", { role: "cell", vars: { r: r + 2, c: c + 2 + shift } })),
    );
    const tallies = (grid.tallies || []).map((tally, t) => ({
      ...tally,
      changes: tally.changes || [],
      cells: tally.values.map((_, r) => h("div", { role: "cell", class: "tally", vars: { r: r + 2, c: end + t } })),
    }));
    const element = h(
      "div",
      { class: "gridbox" },
      h(
        "div",
        { class: "scroll", tabindex: "0", role: "region", "aria-label": grid.title },
        h(
          "div",
          {
            role: "table",
            "aria-label": grid.title,
            class: `grid ${many ? "long" : ""}`,
            vars: { rows: grid.rows.length, columns: width, tallies: tallies.length, ...(wide ? { wide } : {}) },
          },
          h(
            "div",
            { role: "row", class: "gridrow" },
            h("div", { role: "columnheader", class: "corner dim", vars: { r: 1, c: 1 } }, grid.column_title || "slot"),
            grid.columns.map((title, c) =>
              h("div", { role: "columnheader", class: "colhead", vars: { r: 1, c: c + 2 + shift } }, title),
            ),
            tallies.map((tally, t) =>
              h("div", { role: "columnheader", class: "colhead tallyhead", vars: { r: 1, c: end + t } }, tally.title),
            ),
          ),
          grid.rows.map((_, r) =>
            h(
              "div",
              { role: "row", class: "gridrow" },
              heads[r],
              cells[r],
              tallies.map((tally) => tally.cells[r]),
            ),
          ),
        ),
      ),
      h(
        "ul",
        { class: "legend" },
        grid.kinds.map((kind) => h("li", null, h("i", { class: look(kind) }), kind.title)),
        h("li", null, h("i", { class: "cell changed look-empty" }), "changed in this step"),
      ),
    );

    const drawn = cells.map((row) => row.map(() => null));
    let now = grid.cells.map((row) => [...row]);
    let applied = 0;

    function until(event) {
      if (applied && changes[applied - 1].event > event) {
        now = grid.cells.map((row) => [...row]);
        applied = 0;
      }
      while (applied < changes.length && changes[applied].event <= event) {
        const change = changes[applied];
        now[change.row][change.column] = change.cell;
        applied += 1;
      }
    }
    function show(event, before, marks) {
      until(event);
      const fresh = new Set(
        changes
          .filter((change) => change.event > before && change.event <= event)
          .map((change) => `${change.row} ${change.column}`),
      );
      for (let r = 0; r < now.length; r += 1) {
        for (let c = 0; c < width; c += 1) paint(r, c, fresh.has(`${r} ${c}`));
        const seat = seats[r];
        heads[r].className =
          `rowhead ${marks.takes.has(seat) ? "takes" : ""} ${marks.sends === seat ? "sends" : ""} ${marks.reads.has(seat) ? "reads" : ""}`;
      }
      for (const tally of tallies) {
        const values = [...tally.values];
        const touched = new Set();
        for (const change of tally.changes) {
          if (change.event > event) break;
          values[change.row] = change.value;
          if (change.event > before) touched.add(change.row);
        }
        values.forEach((value, r) => {
          if (tally.cells[r].textContent !== value) tally.cells[r].textContent = value;
          tally.cells[r].classList.toggle("changed", touched.has(r));
        });
      }
    }
    function paint(r, c, changed) {
      const cell = now[r][c];
      const state = changed ? `${cell.kind}\n${cell.text || ""}\n${cell.title || ""}\n!` : cell;
      if (drawn[r][c] === state) return;
      drawn[r][c] = state;
      const element = cells[r][c];
      const kind = kinds.get(cell.kind);
      element.className = `${look(kind)}${changed ? " changed" : ""}${tight(cell)}`;
      element.textContent = cell.text || "";
      const words = `${grid.column_title || "slot"} ${grid.columns[c]}: ${cell.title || kind.title}`;
      element.title = words;
      element.setAttribute("aria-label", changed ? `${words} (changed)` : words);
    }
    return {
      element,
      show,
      wide,
      row: (r) =>
        now[r].map((cell) => ({
          ...cell,
          look: `${look(kinds.get(cell.kind))}${tight(cell)}`,
          words: cell.title || kinds.get(cell.kind).title,
        })),
    };
  }

  return { make };
})();
