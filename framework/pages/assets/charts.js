"use strict";
// Figures: means with intervals, distributions, and one metric against another.
Cheaptalk.charts = (() => {
  const { h, s, number, writer } = Cheaptalk;

  function range(values) {
    const finite = values.filter((value) => value !== null && value !== undefined && Number.isFinite(value));
    if (!finite.length) return [0, 1];
    const low = Math.min(...finite);
    const high = Math.max(...finite);
    if (low === high) return low === 0 ? [0, 1] : [low - 0.5, high + 0.5];
    return [low, high];
  }
  const share = (value, [low, high]) => (100 * (value - low)) / (high - low);

  /** A mean with its interval on a shared scale; the numbers stand beside it as text. */
  function bar(cell, scale) {
    if (!cell) return h("span", { class: "bar" });
    const [mean, low, high] = cell;
    return h(
      "span",
      {
        class: "bar",
        "aria-hidden": "true",
        vars: {
          low: `${share(low ?? mean, scale)}%`,
          high: `${share(high ?? mean, scale)}%`,
          mean: `${share(mean, scale)}%`,
        },
      },
      h("i"),
      h("b"),
    );
  }

  /** The scale of a column of a board: over all means and interval ends, and 0 to 1 for a share. */
  function scaleOf(board, place) {
    const cells = board.rows.map((row) => row.cells[place]).filter(Boolean);
    if (board.columns[place].percent && cells.every((cell) => cell[0] >= 0 && cell[0] <= 1)) return [0, 1];
    const [low, high] = range(cells.flat());
    return low > 0 && low < high / 2 ? [0, high] : [low, high];
  }

  /** One figure for each metric: every row's mean and interval, and how the games are distributed. */
  function metricFigure(board, place, values) {
    const column = board.columns[place];
    const scale = scaleOf(board, place);
    const groups = new Set(board.rows.map((row) => row.group));
    const alone = groups.size > 1 && new Set(board.rows.map((row) => row.strategy)).size === 1;
    const write = writer(
      board.rows.flatMap((row) => row.cells[place] || []),
      column.percent,
    );
    const rows = board.rows
      .filter((row) => row.cells[place])
      .map((row) => {
        const cell = row.cells[place];
        const ends = cell[1] === null || cell[1] === undefined ? "" : ` [${write(cell[1])}, ${write(cell[2])}]`;
        return h(
          "li",
          null,
          h(
            "span",
            { class: "who", title: `${row.strategy} ${row.group}` },
            alone ? row.group : Cheaptalk.short(row.strategy),
            groups.size > 1 && !alone ? h("span", { class: "dim" }, ` ${row.group}`) : null,
          ),
          bar(cell, scale),
          h("span", { class: "num" }, write(cell[0]), h("span", { class: "dim" }, ends)),
        );
      });
    if (!rows.length) return null;
    return h(
      "figure",
      { class: "metric" },
      h("figcaption", null, column.title, way(column)),
      h("ul", { class: "bars" }, rows),
      values ? histogram(values, column) : null,
    );
  }
  const way = (column) =>
    column.better === "neither"
      ? null
      : h("span", { class: "dim", title: `${column.better} is better` }, column.better === "higher" ? " ↑" : " ↓");

  const BINS = 24;
  function histogram(values, column) {
    const finite = values.filter((value) => value !== null && Number.isFinite(value));
    if (new Set(finite).size < 2) return null;
    const [low, high] = range(finite);
    const bins = new Array(BINS).fill(0);
    for (const value of finite) bins[Math.min(BINS - 1, Math.floor((BINS * (value - low)) / (high - low)))] += 1;
    const most = Math.max(...bins);
    const label = `${finite.length} games from ${number(low, column.percent)} to ${number(high, column.percent)}`;
    return h(
      "div",
      { class: "histogram" },
      h(
        "div",
        { class: "bins", role: "img", "aria-label": `Distribution: ${label}` },
        bins.map((n) => h("i", { vars: { n: n / most }, class: n ? "" : "none" })),
      ),
      h("div", { class: "dim small" }, label),
    );
  }

  /** A number on an axis, with as many digits as tell it from the next. */
  const mark = (value, [low, high]) => (value && high - low < 0.05 ? value.toPrecision(2) : number(value));

  /** One metric against another, a point a game. points: {x, y, kind, title, go()}. */
  function scatter(points, xTitle, yTitle, kinds) {
    const box = h("div", { class: "scatter" });
    const fits = points.filter((p) => Number.isFinite(p.x) && Number.isFinite(p.y));
    const xs = range(fits.map((p) => p.x));
    const ys = range(fits.map((p) => p.y));
    responsive(box, (width) => {
      const height = Math.round(Math.min(420, Math.max(220, width * 0.5)));
      const left = 52,
        right = 12,
        top = 12,
        bottom = 38;
      const X = (v) => left + ((v - xs[0]) / (xs[1] - xs[0])) * (width - left - right);
      const Y = (v) => height - bottom - ((v - ys[0]) / (ys[1] - ys[0])) * (height - top - bottom);
      const ticks = [0, 0.25, 0.5, 0.75, 1];
      const lines = ticks.map((t) => {
        const x = xs[0] + t * (xs[1] - xs[0]);
        const y = ys[0] + t * (ys[1] - ys[0]);
        return [
          s("line", { class: "rule", x1: X(x), x2: X(x), y1: top, y2: height - bottom }),
          s("line", { class: "rule", x1: left, x2: width - right, y1: Y(y), y2: Y(y) }),
          s(
            "text",
            { x: X(x), y: height - bottom + 15, "text-anchor": t === 1 ? "end" : t ? "middle" : "start" },
            mark(x, xs),
          ),
          s("text", { x: left - 6, y: Y(y) + 4, "text-anchor": "end" }, mark(y, ys)),
        ];
      });
      const dots = fits.map((p, i) =>
        s(
          "circle",
          {
            class: `dot kind${p.kind % 8}`,
            cx: X(p.x).toFixed(1),
            cy: Y(p.y).toFixed(1),
            r: fits.length > 400 ? 3 : 4,
            "data-place": i,
          },
          s("title", null, p.title),
        ),
      );
      const svg = s(
        "svg",
        {
          viewBox: `0 0 ${width} ${height}`,
          width,
          height,
          role: "img",
          "aria-label": `${yTitle} against ${xTitle}, ${fits.length} games`,
        },
        lines,
        dots,
        s("text", { class: "axis", x: (left + width - right) / 2, y: height - 4, "text-anchor": "middle" }, xTitle),
      );
      svg.addEventListener("click", (event) => {
        const at = event.target.dataset.place;
        if (at !== undefined) fits[at].go();
      });
      return h("div", null, h("div", { class: "axis dim" }, yTitle), svg);
    });
    return h("div", null, box, kinds.length > 1 ? legendOf(kinds) : null);
  }

  /** Lines of named points over a shared axis. series: [name, [[x, y], ...]]. */
  function lines(series, title) {
    const drawn = series.filter(([, points]) => points.length > 1);
    if (!drawn.length) return null;
    const xs = range(drawn.flatMap(([, points]) => points.map((p) => p[0])));
    const ys = range(drawn.flatMap(([, points]) => points.map((p) => p[1])));
    const box = h("div", { class: "scatter" });
    responsive(box, (width) => {
      const height = 260,
        left = 48,
        right = 10,
        top = 10,
        bottom = 24;
      const X = (v) => left + ((v - xs[0]) / (xs[1] - xs[0])) * (width - left - right);
      const Y = (v) => height - bottom - ((v - ys[0]) / (ys[1] - ys[0])) * (height - top - bottom);
      const rules = [0, 0.5, 1].map((t) => {
        const y = ys[0] + t * (ys[1] - ys[0]);
        return [
          s("line", { class: "rule", x1: left, x2: width - right, y1: Y(y), y2: Y(y) }),
          s("text", { x: left - 6, y: Y(y) + 4, "text-anchor": "end" }, y.toFixed(0)),
        ];
      });
      const paths = drawn.map(([name, points], i) =>
        s(
          "polyline",
          {
            class: `series kind${i % 8}`,
            fill: "none",
            points: points.map(([x, y]) => `${X(x).toFixed(1)},${Y(y).toFixed(1)}`).join(" "),
          },
          s("title", null, name),
        ),
      );
      return s(
        "svg",
        {
          viewBox: `0 0 ${width} ${height}`,
          width,
          height,
          role: "img",
          "aria-label": `${title}: ${drawn.map(([name]) => name).join(", ")}`,
        },
        rules,
        paths,
      );
    });
    return h("figure", { class: "metric" }, h("figcaption", null, title), box, legendOf(drawn.map(([name]) => name)));
  }
  const legendOf = (kinds) =>
    h(
      "ul",
      { class: "legend" },
      kinds.map((kind, i) => h("li", null, h("i", { class: `swatch kind${i % 8}` }), kind)),
    );
  /** Draw at the width that there is, and again when it changes. */
  function responsive(box, draw) {
    let last = 0;
    new ResizeObserver(() => {
      if (box.clientWidth === last) return;
      last = box.clientWidth;
      box.replaceChildren(draw(Math.max(260, last)));
    }).observe(box);
  }

  return { lines, bar, scaleOf, metricFigure, scatter, way };
})();
