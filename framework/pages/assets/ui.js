"use strict";
// Parts that several pages use: seats, tables that sort and filter, keys, help, colours.
Cheaptalk.ui = (() => {
  const { h, count } = Cheaptalk;

  // --- seats ------------------------------------------------------------------------------------

  const chip = (seat, extra = "") => h("span", { class: `chip seat${seat % 8} ${extra}`, title: `seat ${seat}` }, seat);
  const tag = (text, tone = "", title = null) => h("span", { class: `tag ${tone}`, title }, text);
  const note = (text, tone = "") => h("p", { class: `note ${tone}` }, text);
  const folded = (title, make, attributes = {}) => {
    const body = h("div", { class: "folded" });
    const fold = h("details", attributes, h("summary", null, title), body);
    fold.addEventListener("toggle", () => { if (fold.open && !body.firstChild) make(body); });
    return fold;
  };

  // --- filter -----------------------------------------------------------------------------------

  const COMPARE = { "<": (a, b) => a < b, ">": (a, b) => a > b, "<=": (a, b) => a <= b, ">=": (a, b) => a >= b, "=": (a, b) => a === b };

  /** What a query asks of a row: every word is in its text, every comparison holds of its numbers. */
  function asks(query, numbers) {
    const tests = query.toLowerCase().split(/\s+/).filter(Boolean).map((word) => {
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

  // --- tables -----------------------------------------------------------------------------------

  const CHUNK = 120;

  function compare(a, b) {
    const none = (value) => value === null || value === undefined || value === "";
    if (none(a) || none(b)) return none(a) - none(b);
    return typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b;
  }

  /**
   * A table that sorts by its headings and draws long lists as far as one has scrolled.
   * columns: {key, title, value(row), cell(row), end, text, better}; rows: anything; link(row): where a row leads.
   */
  function table({ caption, columns, rows, sort, link, onChange, usual = "", hidden = [], empty = "Nothing fits.", filterable = true }) {
    const state = { sort: sort || usual, query: "" };
    const text = new Map();
    const numbers = new Map([...columns, ...hidden].filter((c) => c.number !== false).map((c) => [c.key.toLowerCase(), c.value]));
    const body = h("tbody");
    const headings = columns.map((column) => {
      const button = h("button", { type: "button", title: column.about || null, on: { click: () => sortBy(column) } }, h("span", { class: "title" }, column.title), h("span", { class: "way", "aria-hidden": "true" }));
      return h("th", { scope: "col", class: column.end ? "end" : "" }, button);
    });
    const status = h("p", { class: "status", role: "status" });
    const sentinel = h("div", { class: "sentinel", "aria-hidden": "true" });
    const element = h("div", { class: "tablebox" },
      h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
        h("table", null, h("caption", { class: "unseen" }, caption), h("thead", null, h("tr", null, headings)), body)),
      sentinel);
    let shown = [];
    let drawn = 0;
    let current = -1;

    function textOf(row) {
      if (!text.has(row)) text.set(row, columns.map((c) => (c.text ? c.text(row) : c.value(row)) ?? "").join(" ").toLowerCase());
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
      columns.forEach((c, i) => headings[i].setAttribute("aria-sort", c !== column ? "none" : state.sort.startsWith("-") ? "descending" : "ascending"));
      body.replaceChildren();
      drawn = 0;
      current = -1;
      draw();
      status.textContent = shown.length === rows.length ? `${count(rows.length)}` : `${count(shown.length)} of ${count(rows.length)}`;
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
        return h(i === 0 ? "th" : "td", { scope: i === 0 ? "row" : null, class: column.end ? "end" : "" }, inner);
      });
      const tr = h("tr", null, cells);
      if (link) {
        tr.classList.add("leads");
        tr.addEventListener("click", (event) => { if (!event.target.closest("a, button, details")) location.hash = link(row); });
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
    new IntersectionObserver((seen) => { if (seen.some((entry) => entry.isIntersecting) && drawn < shown.length) draw(); }, { rootMargin: "600px" }).observe(sentinel);
    refresh();
    const filter = filterable ? search(caption, (query) => { state.query = query; refresh(); }) : null;
    return {
      element, status, move, state, filter,
      rows: () => shown,
      set(query, sort) { state.query = query; if (sort) state.sort = sort; if (filter) filter.querySelector("input").value = query; refresh(); },
    };
  }

  function search(what, onQuery) {
    let timer = 0;
    const input = h("input", {
      type: "search", placeholder: "Filter", "aria-label": `Filter ${what}`, autocomplete: "off", spellcheck: "false", "data-filter": true,
      on: { input: () => { clearTimeout(timer); timer = setTimeout(() => onQuery(input.value), 60); } },
    });
    return h("label", { class: "search" }, input, h("kbd", { "aria-hidden": "true" }, "/"));
  }

  // --- choices ----------------------------------------------------------------------------------

  /** A row of buttons of which one is pressed; a menu where there are many. */
  function choice(label, options, value, onPick) {
    if (options.length > 4) {
      const menu = select(label, options, value, onPick, true);
      return { element: menu, mark: (key) => { menu.lastChild.value = key; } };
    }
    const buttons = options.map(([key, title]) => h("button", {
      type: "button", "data-key": key, "aria-pressed": key === value ? "true" : "false",
      on: { click: () => { mark(key); onPick(key); } },
    }, title));
    const mark = (key) => buttons.forEach((button) => button.setAttribute("aria-pressed", button.dataset.key === String(key) ? "true" : "false"));
    const element = h("div", { class: "choice", role: "group", "aria-label": label }, buttons);
    return { element, mark };
  }
  function select(label, options, value, onPick, unseen = false) {
    const box = h("select", { on: { change: () => onPick(box.value) } },
      options.map(([key, title]) => h("option", { value: key, selected: String(key) === String(value) }, title)));
    return h("label", { class: "select" }, h("span", { class: unseen ? "unseen" : "" }, label), box);
  }

  // --- keys and help ----------------------------------------------------------------------------

  let keys = new Map();
  const GLOBAL = [
    ["/", "Filter", () => { const box = document.querySelector("[data-filter]"); if (box) { box.focus(); box.select(); } }],
    ["?", "This help", () => help()],
    ["t", "Light, dark or as the system has it", () => turnTheme()],
    ["g", "Runs", () => { location.hash = "#/"; }],
    ["l", "Leaderboard", () => { location.hash = "#/board"; }],
  ];
  /** The keys of the page that is shown: [key or keys, what they do, handler]. */
  function bind(list) {
    keys = new Map();
    bind.list = list;
    for (const [names, , handler] of [...GLOBAL, ...list]) for (const name of names.split(" ")) keys.set(name, handler);
  }
  bind.list = [];
  const NAMES = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", Space: "Space" };
  const within = (target, selector) => target instanceof Element && target.closest(selector);

  function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const field = within(event.target, "input, select, textarea");
    if (event.key === "Escape" && field) { field.blur(); return; }
    if (field && !(field.type === "range" && !event.key.startsWith("Arrow") && event.key !== "Home" && event.key !== "End")) return;
    if (document.querySelector("dialog[open]")) return;
    const name = event.key === " " ? "Space" : event.key;
    if ((name === "Space" || name === "Enter") && within(event.target, "button, a, summary")) return;
    const handler = keys.get(event.shiftKey && name.length > 1 ? `Shift+${name}` : name);
    if (!handler) return;
    event.preventDefault();
    handler(event);
  }
  function help() {
    const rows = [...bind.list, ...GLOBAL].map(([names, what]) => h("tr", null,
      h("th", { scope: "row" }, names.split(" ").map((name) => h("kbd", null, name.replace(/Arrow\w+|Space/, (key) => NAMES[key])))),
      h("td", null, what)));
    const close = h("button", { type: "button", class: "plain", on: { click: () => dialog.close() } }, "Close");
    const dialog = h("dialog", { "aria-label": "Keyboard help", on: { close: () => dialog.remove() } },
      h("h2", null, "Keys"), h("table", { class: "keys" }, h("tbody", null, rows)), close);
    dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
    document.body.append(dialog);
    dialog.showModal();
  }

  // --- colours ----------------------------------------------------------------------------------

  const THEMES = ["system", "light", "dark"];
  const stored = () => { try { return localStorage.getItem("cheaptalk-theme") || "system"; } catch { return "system"; } };
  let theme = stored();
  function showTheme() {
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    const button = document.getElementById("theme");
    if (button) {
      button.replaceChildren(Cheaptalk.icon(theme));
      button.title = `Colours: ${theme} (t)`;
      button.setAttribute("aria-label", `Colours: ${theme}`);
    }
  }
  function turnTheme() {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    try { localStorage.setItem("cheaptalk-theme", theme); } catch { /* a page from disk may have no storage */ }
    showTheme();
  }
  showTheme();

  /** Note in the browser's timeline that a page is drawn. */
  const shown = () => { document.body.getBoundingClientRect(); performance.mark("shown"); };
  const say = (text) => { document.getElementById("live").textContent = text; };
  return { chip, tag, note, folded, table, search, choice, select, bind, onKey, help, turnTheme, showTheme, say, shown };
})();
