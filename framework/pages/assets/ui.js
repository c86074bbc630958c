"use strict";
// Parts that several pages use: seats, tables that sort and filter, keys, help, colours.
Cheaptalk.ui = (() => {
  const { h } = Cheaptalk;

  // --- seats ------------------------------------------------------------------------------------

  const chip = (seat, extra = "") => h("span", { class: `chip seat${seat % 8} ${extra}`, title: `seat ${seat}` }, seat);
  const tag = (text, tone = "", title = null) => h("span", { class: `tag ${tone}`, title }, text);
  const note = (text, tone = "") => h("p", { class: `note ${tone}` }, text);
  const folded = (title, make, attributes = {}) => {
    const body = h("div", { class: "folded" });
    const fold = h("details", attributes, h("summary", null, title), body);
    fold.addEventListener("toggle", () => {
      if (fold.open && !body.firstChild) make(body);
    });
    return fold;
  };

  // --- choices ----------------------------------------------------------------------------------

  /** A row of buttons of which one is pressed; a menu where there are many. */
  function choice(label, options, value, onPick) {
    if (options.length > 4) {
      const menu = select(label, options, value, onPick, true);
      return {
        element: menu,
        mark: (key) => {
          menu.lastChild.value = key;
        },
      };
    }
    const buttons = options.map(([key, title]) =>
      h(
        "button",
        {
          type: "button",
          "data-key": key,
          "aria-pressed": key === value ? "true" : "false",
          on: {
            click: () => {
              mark(key);
              onPick(key);
            },
          },
        },
        title,
      ),
    );
    const mark = (key) =>
      buttons.forEach((button) =>
        button.setAttribute("aria-pressed", button.dataset.key === String(key) ? "true" : "false"),
      );
    const element = h("div", { class: "choice", role: "group", "aria-label": label }, buttons);
    return { element, mark };
  }
  function select(label, options, value, onPick, unseen = false) {
    const box = h(
      "select",
      { on: { change: () => onPick(box.value) } },
      options.map(([key, title]) => h("option", { value: key, selected: String(key) === String(value) }, title)),
    );
    return h("label", { class: "select" }, h("span", { class: unseen ? "unseen" : "" }, label), box);
  }

  // --- keys and help ----------------------------------------------------------------------------

  let keys = new Map();
  const GLOBAL = [
    [
      "/",
      "Filter",
      () => {
        const box = document.querySelector("[data-filter]");
        if (box) {
          box.focus();
          box.select();
        }
      },
    ],
    ["?", "This help", () => help()],
    ["t", "Light, dark or as the system has it", () => turnTheme()],
    [
      "g",
      "Runs",
      () => {
        location.hash = "#/";
      },
    ],
    [
      "l",
      "Leaderboard",
      () => {
        location.hash = "#/board";
      },
    ],
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
    if (event.key === "Escape" && field) {
      event.preventDefault(); // which would empty a search field, and leave its filter as it is
      field.blur();
      return;
    }
    if (
      field &&
      !(field.type === "range" && !event.key.startsWith("Arrow") && event.key !== "Home" && event.key !== "End")
    )
      return;
    if (document.querySelector("dialog[open]")) return;
    const name = event.key === " " ? "Space" : event.key;
    if ((name === "Space" || name === "Enter") && within(event.target, "button, a, summary")) return;
    const handler = keys.get(event.shiftKey && name.length > 1 ? `Shift+${name}` : name);
    if (!handler) return;
    event.preventDefault();
    handler(event);
  }
  function help() {
    const rows = [...bind.list, ...GLOBAL].map(([names, what]) =>
      h(
        "tr",
        null,
        h(
          "th",
          { scope: "row" },
          names.split(" ").map((name) =>
            h(
              "kbd",
              null,
              name.replace(/Arrow\w+|Space/, (key) => NAMES[key]),
            ),
          ),
        ),
        h("td", null, what),
      ),
    );
    const close = h("button", { type: "button", class: "plain", on: { click: () => dialog.close() } }, "Close");
    const dialog = h(
      "dialog",
      { "aria-label": "Keyboard help", on: { close: () => dialog.remove() } },
      h("h2", null, "Keys"),
      h("table", { class: "keys" }, h("tbody", null, rows)),
      close,
    );
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) dialog.close();
    });
    document.body.append(dialog);
    dialog.showModal();
  }

  // --- colours ----------------------------------------------------------------------------------

  const THEMES = ["system", "light", "dark"];
  const stored = () => {
    try {
      return localStorage.getItem("cheaptalk-theme") || "system";
    } catch {
      return "system";
    }
  };
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
    try {
      localStorage.setItem("cheaptalk-theme", theme);
    } catch {
      /* a page from disk may have no storage */
    }
    showTheme();
  }
  showTheme();

  /** Note in the browser's timeline that a page is drawn. */
  const shown = () => {
    document.body.getBoundingClientRect();
    performance.mark("shown");
  };
  /** Put a text on the clipboard; whether that could be done. */
  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      return false;
    }
  }
  /** Let the browser save a text as a file. */
  function save(name, text, type = "text/csv") {
    const address = URL.createObjectURL(new Blob([text], { type }));
    const link = h("a", { download: name });
    link.href = address;
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
  }
  const say = (text) => {
    document.getElementById("live").textContent = text;
  };
  return {
    chip,
    tag,
    note,
    folded,

    choice,
    select,
    bind,
    onKey,
    help,
    turnTheme,
    showTheme,
    copy,
    save,
    say,
    shown,
  };
})();
