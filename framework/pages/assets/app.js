"use strict";
// Shows the page that the address names.
(() => {
  const { load, place, ui, h } = Cheaptalk;
  const root = document.getElementById("main");
  let page = null;

  function pageOf({ parts }) {
    if (parts[0] === "board") return [Cheaptalk.board, "Leaderboard"];
    if (parts[0] === "run" && parts[2] === "game" && parts[3]) return [Cheaptalk.game, `Game ${parts[3]}`];
    if (parts[0] === "run") return [Cheaptalk.run, parts[1]];
    return [Cheaptalk.runs, "Runs"];
  }

  function turn(front) {
    const here = place();
    if (page && page.update && page.update(here)) return;
    if (page && page.leave) page.leave();
    ui.bind([]);
    const [view, title] = pageOf(here);
    document.title = `${title} · ${front.title || "Cheaptalk"}`;
    for (const link of document.querySelectorAll("[data-nav]")) {
      const own = link.dataset.nav === "board" ? view === Cheaptalk.board : view !== Cheaptalk.board;
      if (own) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    page = view.show(root, front, here);
    scrollTo(0, 0);
  }

  ui.showTheme();
  document.getElementById("theme").addEventListener("click", ui.turnTheme);
  document.getElementById("help").addEventListener("click", ui.help);
  document.addEventListener("keydown", ui.onKey);
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    root.focus();
  });
  const first = place().parts;
  if (first[0] === "run") load(first.slice(0, first[2] === "game" ? 4 : 2).join("/")).catch(() => {}); // while the list of runs comes
  load("front").then(
    (front) => {
      front.runs = (front.runs || []).map((run) => ({ suite: "", aborted: 0, tokens: 0, cost: null, ...run }));
      for (const [full, short] of Object.entries(front.names || {})) Cheaptalk.names.set(full, short);
      addEventListener("hashchange", () => turn(front));
      turn(front);
      document.documentElement.dataset.ready = "yes";
    },
    (error) => root.replaceChildren(h("p", { class: "note bad" }, error.message)),
  );
})();
