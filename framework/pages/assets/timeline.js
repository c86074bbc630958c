"use strict";
// A game as a timeline: rounds, phases, sweeps, turns, and what happened in each.
Cheaptalk.timeline = (() => {
  const { h, number, count, plain, short, plural, seconds, money } = Cheaptalk;
  const { chip, tag, folded } = Cheaptalk.ui;
  const { LANES, audience, lanes, noLanes, fields, action, content, text, recorded } = Cheaptalk.said;

  const AT_ONCE = 500;

  // --- turns ------------------------------------------------------------------------------------

  function turnHead(page, turn, texts, silent) {
    const known = new Set(turn.texts || []);
    const used = turn.usage;
    const facts = [
      `sweep ${turn.sweep + 1}`,
      turn.attempt ? `attempt ${turn.attempt + 1}` : null,
      (turn.inbox || []).length ? `read ${(turn.inbox || []).map((id) => `#${id}`).join(" ")}` : null,
      used ? `${count(used.prompt)} + ${count(used.completion)} tokens` : null,
      used && used.cost !== null && used.cost !== undefined ? money(used.cost) : null,
      turn.latency >= 0.01 ? seconds(turn.latency) : null,
    ];
    const folds = [
      known.has("prompt") ? text("Prompt", `${turn.event}.prompt`, texts) : null,
      known.has("thinking") ? text("Reasoning", `${turn.event}.thinking`, texts) : null,
      known.has("view") ? text("Own state", `${turn.event}.view`, texts) : null,
      ...(turn.records || []).map((record) => recorded(record.title, record.event, texts)),
    ].filter(Boolean);
    const name = page.alike ? `seat ${turn.seat}` : short(page.play.seats[turn.seat].strategy);
    return h(
      "div",
      { class: "turn-line" },
      h("span", { class: "who" }, chip(turn.seat), h("span", { class: "name" }, name)),
      silent ? h("span", { class: "dim" }, "sends nothing") : null,
      h(
        "span",
        { class: "facts dim small" },
        facts.filter(Boolean).map((fact) => h("span", null, fact)),
      ),
      folds.length ? h("span", { class: "folds" }, folds) : null,
    );
  }

  // --- steps ------------------------------------------------------------------------------------

  const WRITERS = {
    message(page, step, link) {
      const seats = page.play.seats.length;
      const to =
        step.to === null || step.to === undefined
          ? h("span", { class: "to" }, "→ ", plain(step.channel))
          : h("span", { class: "to" }, "→ ", chip(step.to));
      return [
        h(
          "div",
          { class: "line" },
          to,
          h("a", { class: "anchor", href: link("message", step.id), title: "Link to this message" }, `#${step.id}`),
          h(
            "span",
            { class: "dim small" },
            `${step.to === null || step.to === undefined ? "" : `${plain(step.channel)}; `}${audience(step, seats)}`,
          ),
        ),
        content(step.content),
      ];
    },
    batch: (page, step) => [
      step.actions.length ? step.actions.map(action) : h("div", { class: "line dim" }, "submits nothing"),
      step.conflict
        ? h(
            "div",
            { class: "conflict" },
            tag("rejected", "bad"),
            " ",
            step.conflict.message,
            h(
              "div",
              { class: "small" },
              h("span", { class: "dim" }, "rule "),
              plain(step.conflict.rule),
              " ",
              fields(step.conflict.data || {}),
            ),
          )
        : null,
    ],
    invalid: (page, step) => [
      action(step.action),
      h("div", { class: "conflict" }, tag("refused", "bad"), " ", step.conflict.message),
    ],
    applied: (page, step) => [
      h(
        "div",
        { class: "line" },
        chip(step.seat),
        step.actions.length ? `takes effect: ${plural(step.actions.length, "action")}` : "changes nothing",
        step.cost ? tag(`cost ${number(step.cost)}`, "warn") : null,
      ),
    ],
    undone: (page, step) => [
      h("div", { class: "line" }, chip(step.seat), plural(step.actions.length, "action"), tag("undone", "warn")),
    ],
    aborted: (page, step, link, texts) => [
      h(
        "div",
        { class: "conflict" },
        tag(`aborted: ${step.boundary}`, "bad"),
        " ",
        step.seat === null || step.seat === undefined ? null : [chip(step.seat), " "],
        step.error,
      ),
      (step.texts || []).includes("detail") ? text("What was raised", `${step.event}.detail`, texts) : null,
    ],
    end: () => [h("div", { class: "line dim" }, "The game is over.")],
    event(page, step, link, texts, label) {
      if (step.recorded)
        return [
          h(
            "div",
            { class: "line" },
            step.seat >= 0 ? chip(step.seat) : null,
            h("span", { class: "small" }, fields(step.data)),
            recorded(step.recorded, step.event, texts),
          ),
        ];
      if (label)
        return [
          h("div", { class: "line" }, tag(label.text, label.tone)),
          folded(plain(step.type), (box) => box.append(h("div", { class: "payload" }, fields(step.data))), {
            class: "text",
          }),
        ];
      return [h("div", { class: "payload" }, h("strong", null, plain(step.type)), " ", fields(step.data))];
    },
  };

  // --- the timeline -----------------------------------------------------------------------------

  /**
   * The timeline of a game. `go(place)` steps to a step; `link(...)` is an address within the game;
   * `texts()` promises the long texts.
   */
  function make(page, { go, link, texts }) {
    const steps = page.play.steps;
    const rows = new Array(steps.length);
    let marked = null;
    const sections = [];
    for (let place = 0; place < steps.length;) {
      const round = steps[place].round ?? -1;
      let end = place;
      while (end < steps.length && (steps[end].round ?? -1) === round) end += 1;
      sections.push({ round, from: place, to: end, open: false });
      place = end;
    }
    const small = steps.length <= AT_ONCE;
    let settled = !small;
    for (const section of sections) {
      section.list = h("div", { class: "round-body" });
      section.fold = h(
        "details",
        {
          class: "round",
          open: small,
          hidden: small,
          on: {
            toggle: () => {
              if (section.fold.open && settled) fill(section);
            },
          },
        },
        h("summary", null, heading(page, section.round, section.from)),
        section.list,
      );
    }
    // The round that one looks at is drawn at once, the others as soon as it is on the screen; until then they take
    // no room, so that nothing is pushed away when they come.
    if (small) setTimeout(fillAll, 60);
    function fillAll() {
      const pane = element.parentElement;
      if (!pane) return;
      settled = true;
      const before = marked ? marked.getBoundingClientRect().top : 0;
      sections.forEach(fill);
      if (marked) pane.scrollTop += marked.getBoundingClientRect().top - before;
    }

    function fill(section) {
      if (section.open) return;
      section.open = true;
      section.fold.hidden = false;
      let phase = null,
        turn = null,
        list = null;
      for (let place = section.from; place < section.to; place += 1) {
        const step = steps[place];
        if (step.kind === "round") {
          rows[place] = section.fold.firstChild;
          continue;
        }
        if ((step.phase || "") !== phase) {
          phase = step.phase || "";
          turn = null;
          list = null;
          if (phase) section.list.append(h("h2", { class: "phase" }, plain(phase)));
        }
        const own = step.turn ?? null;
        if (list === null || own !== turn) {
          turn = own;
          list = h("ol", { class: "steps" });
          const head =
            own === null || step.kind === "silence"
              ? null
              : h("div", { class: "turn-head" }, noLanes(page), turnHead(page, page.play.turns[own], texts, false));
          section.list.append(h("div", { class: "turn" }, head, list));
        }
        rows[place] = row(place);
        list.append(rows[place]);
      }
    }
    function row(place) {
      const step = steps[place];
      const label = page.labels.get(step.event);
      const write =
        step.kind === "silence"
          ? () => turnHead(page, page.play.turns[step.turn], texts, true)
          : WRITERS[step.kind] || WRITERS.event;
      return h(
        "li",
        {
          class: `step ${step.kind} ${step.conflict ? "rejected" : ""} ${label ? label.tone || "" : ""}`,
          "data-place": place,
        },
        step.kind === "message" ? lanes(page, step.sender, step.readers) : noLanes(page),
        h("div", { class: "body" }, write(page, step, link, texts, label)),
      );
    }

    const element = h(
      "div",
      { class: "timeline" },
      sections.map((section) => section.fold),
    );
    element.addEventListener("click", (event) => {
      const target = event.target.closest("[data-place]");
      const title = event.target.closest(".round-title[data-place]");
      if (title) event.preventDefault(); // the rest of the heading folds the round
      if (target && (title || !event.target.closest("a, summary, pre")) && !String(getSelection()))
        go(Number(target.dataset.place));
    });
    /** Scroll the pane, and nothing around it, until an element is seen below the round's heading. */
    function reveal(seen, toTop) {
      const pane = element.parentElement;
      const box = pane.getBoundingClientRect();
      const own = seen.getBoundingClientRect();
      const head = toTop ? 0 : sections.find((part) => part.list.contains(seen)).fold.firstChild.offsetHeight + 8;
      if (toTop || own.top < box.top + head) pane.scrollTop += own.top - box.top - head;
      else if (own.bottom > box.bottom - 24)
        pane.scrollTop += Math.min(own.bottom - box.bottom + 24, own.top - box.top - head);
    }
    /** Mark a step, and bring it into sight. */
    function mark(place) {
      const section = sections.find((part) => place >= part.from && place < part.to);
      if (!section) return;
      fill(section);
      section.fold.open = true;
      if (marked) marked.removeAttribute("aria-current");
      marked = rows[place];
      marked.setAttribute("aria-current", "step");
      if (marked === section.fold.firstChild) reveal(section.fold, true);
      else reveal(marked, false);
    }
    /** Show only some steps; all of them without a set. */
    function only(found) {
      element.classList.toggle("filtered", Boolean(found));
      if (found) {
        settled = true;
        sections.forEach(fill);
      }
      for (const section of sections) {
        let some = !found;
        for (let place = section.from; place < section.to; place += 1) {
          const seen = !found || found.has(place);
          some ||= seen;
          if (rows[place] && rows[place] !== section.fold.firstChild) rows[place].hidden = !seen;
        }
        section.fold.hidden = !some;
        if (found && some) section.fold.open = true;
      }
    }
    return { element, mark, only };
  }

  function heading(page, index, place) {
    const round = page.roundBy.get(index);
    if (!round) return h("span", { class: "round-title" }, "Before the first round");
    const labels = page.headlines.get(index) || [];
    return [
      h(
        "span",
        { class: "round-title", title: "Step to this round", "data-place": place },
        `Round ${index + 1}`,
        round.label ? h("span", { class: "dim" }, ` ${round.label}`) : null,
      ),
      round.participants.length <= LANES
        ? h(
            "span",
            { class: "seats" },
            round.speakers.map((seat) => chip(seat)),
          )
        : h("span", { class: "dim" }, plural(round.participants.length, "seat")),
      labels.map((label) => tag(label.text, label.tone)),
    ];
  }

  return { make };
})();
