"use strict";
// Tables that sort by their headings, filter by words and numbers, and draw as far as one has scrolled.
Object.assign(
  Cheaptalk.ui,
  (() => {
    const { h, count } = Cheaptalk;

    // --- filter -----------------------------------------------------------------------------------

    const COMPARE = {
      "<": (a, b) => a < b,
      ">": (a, b) => a > b,
      "<=": (a, b) => a <= b,
      ">=": (a, b) => a >= b,
      "=": (a, b) => a === b,
    };

    /** What a query asks of a row: every word is in its text, every comparison holds of its numbers. */
    function asks(query, numbers) {
      const tests = query
        .toLowerCase()
        .split(/\s+/)
        .filter(Boolean)
        .map((word) => {
          const found = /^([\w.]+)(<=|>=|<|>|=)(-?[\d.]+)(%?)$/.exec(word);
          if (found && numbers.has(found[1])) {
            const value = Number(found[3]) / (found[4] ? 100 : 1);
            return (row) => {
              const own = numbers.get(found[1])(row);
              return own !== null && own !== undefined && COMPARE[found[2]](own, value);
            };
          }
          return (row, text) => text.includes(word);
        });
      return (row, text) => tests.every((test) => test(row, text));
    }

    // --- files ------------------------------------------------------------------------------------

    const quoted = (value) => {
      const text = value === null || value === undefined ? "" : String(value);
      return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    /** Rows as CSV: a column is one value, or the parts that it names. */
    function csv(columns, rows) {
      const parts = columns.flatMap((column) => column.parts || [[column.key, column.value]]);
      const lines = [parts.map(([name]) => name), ...rows.map((row) => parts.map(([, value]) => value(row)))];
      return `${lines.map((line) => line.map(quoted).join(",")).join("\n")}\n`;
    }

    // --- tables -----------------------------------------------------------------------------------

    const CHUNK = 120;

    function compare(a, b) {
      const none = (value) => value === null || value === undefined || value === "";
      if (none(a) || none(b)) return none(a) - none(b);
      return typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b;
    }

    /**
     * A table that sorts by its headings and draws long lists as far as one has scrolled.
     * columns: {key, title, value(row), cell(row), end, long, text, better}; rows: anything; link(row): where a row leads.
     */
    function table({
      caption,
      columns,
      rows,
      sort,
      link,
      onChange,
      usual = "",
      hidden = [],
      empty = "Nothing fits.",
      filterable = true,
      file = "",
    }) {
      const state = { sort: sort || usual, query: "" };
      const text = new Map();
      const numbers = new Map(
        [...columns, ...hidden].filter((c) => c.number !== false).map((c) => [c.key.toLowerCase(), c.value]),
      );
      const body = h("tbody");
      const headings = columns.map((column) => {
        const button = h(
          "button",
          { type: "button", title: column.about || null, on: { click: () => sortBy(column) } },
          h("span", { class: "title" }, column.title),
          h("span", { class: "way", "aria-hidden": "true" }),
        );
        return h("th", { scope: "col", class: column.end ? "end" : "" }, button);
      });
      const status = h("p", { class: "status", role: "status" });
      const sentinel = h("div", { class: "sentinel", "aria-hidden": "true" });
      const element = h(
        "div",
        { class: "tablebox" },
        h(
          "div",
          { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
          h("table", null, h("caption", { class: "unseen" }, caption), h("thead", null, h("tr", null, headings)), body),
        ),
        sentinel,
      );
      let shown = [];
      let drawn = 0;
      let current = -1;

      function textOf(row) {
        if (!text.has(row))
          text.set(
            row,
            columns
              .map((c) => (c.text ? c.text(row) : c.value(row)) ?? "")
              .join(" ")
              .toLowerCase(),
          );
        return text.get(row);
      }
      function sortBy(column) {
        const down = state.sort === column.key || (state.sort === "" && column.better === "higher");
        state.sort = down && state.sort !== `-${column.key}` ? `-${column.key}` : column.key;
        refresh();
      }
      function refresh() {
        const test = asks(state.query, numbers);
        shown = state.query ? rows.filter((row) => test(row, textOf(row))) : [...rows];
        const key = state.sort.replace(/^-/, "");
        const column = columns.find((c) => c.key === key);
        if (column) {
          const way = state.sort.startsWith("-") ? -1 : 1;
          const keyed = shown.map((row) => [column.value(row), row]);
          keyed.sort((a, b) => (a[0] === null || b[0] === null ? compare(a[0], b[0]) : way * compare(a[0], b[0])));
          shown = keyed.map((pair) => pair[1]);
        }
        columns.forEach((c, i) =>
          headings[i].setAttribute(
            "aria-sort",
            c !== column ? "none" : state.sort.startsWith("-") ? "descending" : "ascending",
          ),
        );
        body.replaceChildren();
        drawn = 0;
        current = -1;
        draw();
        status.textContent =
          shown.length === rows.length ? `${count(rows.length)}` : `${count(shown.length)} of ${count(rows.length)}`;
        if (onChange) onChange(state, usual);
      }
      function draw() {
        const end = Math.min(shown.length, drawn + CHUNK);
        const made = [];
        for (; drawn < end; drawn += 1) made.push(line(shown[drawn]));
        if (!shown.length) made.push(h("tr", { class: "empty" }, h("td", { colspan: columns.length }, empty)));
        body.append(...made);
        sentinel.hidden = drawn >= shown.length;
      }
      function line(row) {
        const cells = columns.map((column, i) => {
          const content = column.cell ? column.cell(row) : column.value(row);
          const inner = i === 0 && link ? h("a", { href: link(row) }, content) : content;
          return h(i === 0 ? "th" : "td", { scope: i === 0 ? "row" : null, class: column.end ? "end" : column.long ? "long" : "" }, inner);
        });
        const tr = h("tr", null, cells);
        if (link) {
          tr.classList.add("leads");
          tr.addEventListener("click", (event) => {
            if (!event.target.closest("a, button, details")) location.hash = link(row);
          });
        }
        return tr;
      }
      /** Move the marked row, for keys. */
      function move(by) {
        if (!shown.length) return;
        current = Math.max(0, Math.min(shown.length - 1, current + by));
        while (drawn <= current) draw();
        const link = body.children[current].querySelector("a");
        if (link) link.focus({ preventScroll: true });
        body.children[current].scrollIntoView({ block: "nearest" });
      }
      new IntersectionObserver(
        (seen) => {
          if (seen.some((entry) => entry.isIntersecting) && drawn < shown.length) draw();
        },
        { rootMargin: "600px" },
      ).observe(sentinel);
      refresh();
      const saving = h(
        "button",
        {
          type: "button",
          class: "plain save",
          title: "Save these rows as CSV",
          on: { click: () => Cheaptalk.ui.save(`${file || caption}.csv`, csv([...columns, ...hidden], shown)) },
        },
        "CSV",
      );
      const filter = filterable
        ? search(caption, (query) => {
            state.query = query;
            refresh();
          })
        : null;
      return {
        element,
        status: h("span", { class: "beside" }, status, saving),
        move,
        state,
        filter,
        rows: () => shown,
        set(query, sort) {
          state.query = query;
          if (sort) state.sort = sort;
          if (filter) filter.querySelector("input").value = query;
          refresh();
        },
      };
    }

    /** A field to type in; the key leads to it. */
    function search(what, onQuery, words = "Filter", key = "/") {
      let timer = 0;
      const input = h("input", {
        type: "search",
        placeholder: words,
        "aria-label": `${words} ${what}`,
        autocomplete: "off",
        spellcheck: "false",
        "data-filter": key === "/",
        on: {
          input: () => {
            clearTimeout(timer);
            timer = setTimeout(() => {
              if (input.isConnected) onQuery(input.value); // else its page has been left
            }, 60);
          },
        },
      });
      return h("label", { class: "search" }, input, h("kbd", { "aria-hidden": "true" }, key));
    }

    return { table, search };
  })(),
);
