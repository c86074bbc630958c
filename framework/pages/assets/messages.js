"use strict";
// Searching what was said in all games of a run.
Cheaptalk.messages = (() => {
  const { h, count, plain, plural, address, load } = Cheaptalk;
  const { chip, search, note } = Cheaptalk.ui;

  const AT_ONCE = 50;
  const BEFORE = 60;
  const AROUND = 240;

  /** A section that loads the run's messages when one first searches them. */
  function section(run) {
    const found = h("ol", { class: "hits" });
    const status = h("p", { class: "status", role: "status" });
    let rows = null;
    let asked = "";
    const ask = (query) => {
      asked = query;
      if (!rows && !query.trim()) return;
      if (!rows) status.textContent = "…";
      rows ||= load(`run/${run}/messages`);
      rows.then(
        (all) => {
          if (query === asked) show(all, query);
        },
        (error) => {
          rows = null; // the next search tries again
          status.textContent = "";
          found.replaceChildren(h("li", null, note(error.message, "bad")));
        },
      );
    };
    function show(all, query) {
      const words = query.toLowerCase().split(/\s+/).filter(Boolean);
      if (!words.length) {
        status.textContent = "";
        found.replaceChildren();
        return;
      }
      const content = all.content || [];
      const hits = content.flatMap((text, i) => {
        const small = text.toLowerCase();
        return words.every((word) => small.includes(word)) ? [i] : [];
      });
      const games = new Set(hits.map((i) => all.number[i])).size;
      status.textContent = hits.length
        ? `${count(hits.length)} of ${plural(content.length, "message")}, in ${plural(games, "game")}`
        : content.length
          ? `None of ${plural(content.length, "message")}`
          : "Nobody sent a message in these games.";
      found.replaceChildren();
      more(all, hits, words, 0);
    }
    function more(all, hits, words, from) {
      found.append(...hits.slice(from, from + AT_ONCE).map((i) => hit(all, i, words)));
      if (hits.length <= from + AT_ONCE) return;
      const next = h(
        "button",
        {
          type: "button",
          class: "plain",
          on: {
            click: () => {
              next.parentElement.remove();
              more(all, hits, words, from + AT_ONCE);
            },
          },
        },
        `${count(hits.length - from - AT_ONCE)} more`,
      );
      found.append(h("li", null, next));
    }
    function hit(all, i, words) {
      const to = all.to[i];
      return h(
        "li",
        null,
        h(
          "div",
          { class: "line" },
          h(
            "a",
            { href: address("run", run, "game", all.number[i], "message", all.message[i]) },
            `Game ${all.number[i]}, round ${all.round[i] + 1}, #${all.message[i]}`,
          ),
          chip(all.sender[i]),
          "→",
          to === null || to === undefined ? h("span", { class: "dim" }, plain(all.channel[i])) : chip(to),
        ),
        h("div", { class: "prose" }, marked(excerpt(all.content[i], words), words)),
      );
    }
    const element = h(
      "section",
      null,
      h("h2", { id: "messages" }, "Messages"),
      h("div", { class: "bar-tools" }, search("messages of all games", ask, "Search messages", "m"), status),
      found,
    );
    return { element, focus: () => element.querySelector("input").focus() };
  }

  /** What stands around the first word that was asked for. */
  function excerpt(text, words) {
    const at = text.toLowerCase().indexOf(words[0]);
    const from = at > BEFORE ? at - BEFORE : 0;
    const part = text.slice(from, from + AROUND);
    return `${from ? "…" : ""}${part}${from + AROUND < text.length ? "…" : ""}`;
  }
  /** A text with what was asked for marked in it. */
  function marked(text, words) {
    const small = text.toLowerCase();
    if (small.length !== text.length) return [text]; // places differ where a small letter is two
    const parts = [];
    for (let place = 0; place < text.length;) {
      const next = words
        .map((word) => [small.indexOf(word, place), word.length])
        .filter(([at]) => at >= 0)
        .sort((a, b) => a[0] - b[0] || b[1] - a[1])[0];
      if (!next) {
        parts.push(text.slice(place));
        break;
      }
      parts.push(text.slice(place, next[0]), h("mark", null, text.slice(next[0], next[0] + next[1])));
      place = next[0] + next[1];
    }
    return parts;
  }

  return { section };
})();
