"use strict";
// The page of one game: the timeline on one side, the state of the game at each step on the other.
Cheaptalk.game = (() => {
  const { h, plain, plural, seconds, day, address, load } = Cheaptalk;
  const { bind, choice, tag, note, say } = Cheaptalk.ui;

  const PACE = 700;
  const FEW = 8;

  function show(root, front, { parts }) {
    const [, run, , id] = parts;
    const summary = front.runs.find((one) => one.id === run);
    const key = `run/${run}/game/${id}`;
    let gone = false;
    let view = null;
    document.body.classList.add("playing");
    const title = h("h1", null, `Game ${id}`);
    root.replaceChildren(h("div", { class: "head" }, crumbs(summary, run), title), h("div", { class: "waiting" }));
    const ready = summary ? load(key) : Promise.reject(new Error(`There is no run ${run}.`));
    ready.then(
      (page) => {
        if (gone) return;
        prepare(page);
        view = draw(root, front, summary, page, (...more) => address("run", run, "game", id, ...more));
        view.open(parts.slice(4));
        Cheaptalk.ui.shown();
      },
      (error) => {
        if (gone) return;
        document.body.classList.remove("playing");
        root.replaceChildren(h("div", { class: "head" }, crumbs(summary, run), title), note(error.message, "bad"));
      },
    );
    return {
      update({ parts: next }) {
        if (next[1] !== run || next[3] !== id || !view) return false;
        view.open(next.slice(4));
        return true;
      },
      leave() {
        gone = true;
        document.body.classList.remove("playing");
        if (view) view.leave();
      },
    };
  }

  const crumbs = (summary, run) =>
    h(
      "p",
      { class: "crumbs" },
      h("a", { href: "#/" }, "Runs"),
      " / ",
      h("a", { href: address("run", run) }, summary ? summary.name : run),
    );

  /** Look-ups that several parts need. */
  function prepare(page) {
    page.model = page.model || {};
    page.play.facts = page.play.facts || {};
    page.alike = new Set(page.play.seats.map((seat) => seat.strategy)).size === 1;
    page.roundBy = new Map(page.play.rounds.map((round) => [round.index, round]));
    page.labels = new Map((page.model.labels || []).map((label) => [label.event, label]));
    page.places = new Map(page.play.steps.map((step, place) => [step.event, place]));
    page.headlines = new Map();
    for (const label of page.model.labels || []) {
      const step = label.headline ? page.play.steps[page.places.get(label.event)] : null;
      if (step) page.headlines.set(step.round ?? -1, [...(page.headlines.get(step.round ?? -1) || []), label]);
    }
  }

  function draw(root, front, summary, page, link) {
    const steps = page.play.steps;
    const texts = () => load(`run/${summary.id}/texts/${page.number ?? 0}`);
    const state = { place: -1, timer: 0, shift: 0, found: null };
    // Where there is nothing to watch change, one wants to see at once how it ended.
    const revealing = !(page.model.grids || []).length && (page.model.cards || []).length > 0;
    const timeline = Cheaptalk.timeline.make(page, { go: (place) => go(place), link, texts });
    const panels = Cheaptalk.panels.make(page, { go: (place) => go(place), texts });
    const finder = steps.length > FEW ? Cheaptalk.find.make(page, (found) => only(found)) : null;
    const stepper = makeStepper(
      page,
      (place) => go(place),
      (by) => beside(by),
      (last) => end(last),
      () => play(),
      () => copy(),
    );
    const panes = h(
      "div",
      { class: "panes", "data-tab": "talk" },
      h(
        "section",
        { class: "talk-side", "aria-label": "What was said and done" },
        finder && finder.element,
        h("div", { class: "pane talk", tabindex: "0", role: "group", "aria-label": "Timeline" }, timeline.element),
      ),
      h("section", { class: "pane state", "aria-label": "The state of the game at this step" }, panels.element),
    );
    const tabs = choice(
      "Part of the page",
      [
        ["talk", "Talk"],
        ["state", "State"],
      ],
      "talk",
      (tab) => {
        panes.dataset.tab = tab;
        if (tab === "talk") timeline.mark(state.place);
      },
    );
    root.replaceChildren(
      header(front, summary, page),
      h("div", { class: "tabs" }, tabs.element),
      panes,
      stepper.element,
    );
    setTimeout(siblings, 40, summary, page, root.querySelector(".siblings-place"));

    function go(place, quiet = false) {
      const next = Math.max(0, Math.min(steps.length - 1, place));
      if (!steps.length || next === state.place) return;
      const before = next > 0 ? steps[next - 1].event : -1;
      state.place = next;
      timeline.mark(next);
      panels.show(steps[next], before);
      stepper.show(next);
      if (!quiet) {
        clearTimeout(state.shift);
        state.shift = setTimeout(() => {
          say(Cheaptalk.said.tell(page, steps[next], page.labels.get(steps[next].event)));
          history.replaceState(null, "", where(steps[next], link));
        }, 160);
      }
    }
    /** Step through what was found alone, from the first of it that is not yet over. */
    function only(found) {
      state.found = found && [...found];
      timeline.only(found);
      if (!found) timeline.mark(state.place);
      else if (state.found.length && !found.has(state.place))
        go(state.found.find((place) => place >= state.place) ?? state.found.at(-1));
    }
    /** The step next to this one, among those that were found. */
    function beside(by) {
      if (!state.found) return state.place + by;
      const next = by > 0 ? state.found.find((place) => place > state.place) : state.found.findLast((place) => place < state.place);
      return next ?? state.place;
    }
    function end(last) {
      if (!state.found || !state.found.length) return last ? steps.length - 1 : 0;
      return last ? state.found.at(-1) : state.found[0];
    }
    async function copy() {
      history.replaceState(null, "", where(steps[state.place], link));
      const done = await Cheaptalk.ui.copy(location.href);
      say(done ? "Link copied" : "The link is in the address bar");
      stepper.copied(done);
    }
    function play() {
      if (state.timer) {
        clearInterval(state.timer);
        state.timer = 0;
      } else
        state.timer = setInterval(() => {
          const next = beside(1);
          if (next >= steps.length || next === state.place) play();
          else go(next);
        }, PACE);
      stepper.playing(Boolean(state.timer));
    }
    /** Step to what an address names: `round/2`, `message/17` or `event/105`. */
    function open([kind, value]) {
      const wanted = Number(value);
      const found =
        kind === "message"
          ? steps.findIndex((step) => step.kind === "message" && step.id === wanted)
          : kind === "round"
            ? steps.findIndex((step) => step.round === wanted)
            : kind === "event"
              ? steps.findIndex((step) => step.event >= wanted)
              : -1;
      if (found >= 0) go(found, true);
      else if (state.place < 0) go(revealing ? steps.length - 1 : 0, true);
      if (found < 0 && kind) stepper.tell(`There is no ${kind} ${value ?? ""} in this game`);
    }
    const toRound = (by) => {
      const round = steps[state.place].round ?? -1;
      const starts = steps
        .map((step, place) => [step, place])
        .filter(([step]) => step.kind === "round")
        .map(([, place]) => place);
      const at =
        by > 0
          ? starts.find((place) => (steps[place].round ?? -1) > round)
          : [...starts].reverse().find((place) => place < state.place);
      if (at !== undefined) go(at);
    };
    const neighbour = (by) => () => {
      const found = root.querySelector(by > 0 ? "[data-next]" : "[data-previous]");
      if (found) location.hash = found.getAttribute("href");
    };
    bind([
      ["ArrowRight j", "Next step", () => go(beside(1))],
      ["ArrowLeft k", "Step before", () => go(beside(-1))],
      ["] Shift+ArrowRight", "Next round", () => toRound(1)],
      ["[ Shift+ArrowLeft", "Round before", () => toRound(-1)],
      ["Home", "First step", () => go(end(false))],
      ["End", "Last step", () => go(end(true))],
      ["Space", "Play or pause", play],
      [
        "s",
        "Talk or state, on a narrow screen",
        () => {
          const tab = panes.dataset.tab === "talk" ? "state" : "talk";
          tabs.mark(tab);
          panes.dataset.tab = tab;
          if (tab === "talk") timeline.mark(state.place);
        },
      ],
      ["c", "Copy a link to this step", copy],
      ["n", "Next game", neighbour(1)],
      ["p", "Game before", neighbour(-1)],
    ]);
    return {
      open,
      leave() {
        clearInterval(state.timer);
        clearTimeout(state.shift);
      },
    };
  }

  const where = (step, link) =>
    step.kind === "message"
      ? link("message", step.id)
      : step.kind === "round"
        ? link("round", step.round)
        : link("event", step.event);

  function header(front, summary, page) {
    const outcome = page.play.rounds.length === 1 ? [...page.headlines.values()].flat() : [];
    const messages = page.play.steps.filter((step) => step.kind === "message").length;
    const aborted = page.play.steps.find((step) => step.kind === "aborted");
    const facts = [
      page.task,
      page.group,
      page.repeat ? `repeat ${page.repeat + 1}` : null,
      Cheaptalk.run.seating(page.play.seats.map((seat) => seat.strategy)),
      plural(page.play.rounds.length, "round"),
      messages ? plural(messages, "message") : null,
      seconds(page.seconds || 0),
      `${day(page.started)} UTC`,
    ];
    return h(
      "div",
      { class: "head game-head" },
      h(
        "div",
        { class: "head-line" },
        crumbs(summary, summary.id),
        h(
          "nav",
          { class: "siblings", "aria-label": "Games of this run" },
          h("span", { class: "siblings-place" }),
          front.traces
            ? h(
                "a",
                {
                  href: `traces/${summary.id}/${page.number ?? 0}.json`,
                  download: `${summary.id}-${page.number ?? 0}.json`,
                },
                "Trace",
              )
            : null,
        ),
      ),
      h("h1", null, `Game ${page.number ?? 0}`, h("span", { class: "dim" }, ` ${page.task || page.title || ""}`)),
      h(
        "p",
        { class: "facts dim" },
        facts
          .slice(1)
          .filter(Boolean)
          .map((fact) => h("span", null, fact)),
        outcome.map((label) => tag(label.text, label.tone)),
        aborted ? tag(`aborted: ${aborted.boundary}`, "bad") : null,
      ),
      (page.notes || []).map((text) => note(text, "warn")),
    );
  }

  /** Links to the games before and after, and their data in advance. */
  function siblings(summary, page, box) {
    load(`run/${summary.id}`).then(
      ({ games }) => {
        const at = games.number.indexOf(page.number ?? 0);
        if (at < 0) return;
        const to = (place, arrow, words, attribute) => {
          const text = [
            arrow === "←" ? `${arrow} ` : "",
            h("span", { class: "words" }, words),
            arrow === "→" ? ` ${arrow}` : "",
          ];
          return place < 0 || place >= games.number.length
            ? h("span", { class: "dim" }, text)
            : h("a", { href: address("run", summary.id, "game", games.number[place]), [attribute]: true }, text);
        };
        box.replaceChildren(
          to(at - 1, "←", "game before", "data-previous"),
          h("span", { class: "dim" }, `${at + 1} of ${games.number.length}`),
          to(at + 1, "→", "next game", "data-next"),
        );
        if (at + 1 < games.number.length)
          setTimeout(() => load(`run/${summary.id}/game/${games.number[at + 1]}`).catch(() => {}), 300);
      },
      () => {},
    );
  }

  function makeStepper(page, go, beside, end, play, copy) {
    const steps = page.play.steps;
    const range = h("input", {
      type: "range",
      min: 0,
      max: Math.max(0, steps.length - 1),
      value: 0,
      step: 1,
      "aria-label": "Step",
      on: { input: () => go(Number(range.value)) },
    });
    const parts = [];
    steps.forEach((step) => {
      const round = step.round ?? -1,
        phase = step.phase || "";
      const part = parts.at(-1);
      if (part && part.round === round && part.phase === phase) part.n += 1;
      else parts.push({ round, phase, n: 1 });
    });
    const names = [...new Set(parts.map((part) => part.phase))];
    const track = h(
      "div",
      { class: "track", "aria-hidden": "true" },
      parts.map((part, i) =>
        h("i", {
          class: `phase${names.indexOf(part.phase) % 6} ${i && parts[i - 1].round !== part.round ? "first" : ""}`,
          vars: { n: part.n },
          title: `${part.round < 0 ? "before the first round" : `round ${part.round + 1}`} ${plain(part.phase)}`,
        }),
      ),
    );
    const said = h("p", { class: "said" });
    const at = h("span", { class: "num dim", vars: { digits: String(steps.length).length } });
    const button = (sign, label, act, extra = "") =>
      h(
        "button",
        { type: "button", class: `icon ${extra}`, title: label, "aria-label": label, on: { click: act } },
        Cheaptalk.icon(sign),
      );
    const copying = button("link", "Copy a link to this step (c)", copy);
    const playing = button("play", "Play (space)", play, "play");
    const element = h(
      "div",
      { class: "stepper", role: "group", "aria-label": "Steps" },
      said,
      h(
        "div",
        { class: "controls" },
        button("first", "First step (Home)", () => go(end(false)), "wide-only"),
        button("back", "Step before (←)", () => go(beside(-1))),
        playing,
        button("forward", "Next step (→)", () => go(beside(1))),
        button("last", "Last step (End)", () => go(end(true)), "wide-only"),
        h("div", { class: "scrub" }, track, range),
        at,
        copying,
      ),
    );
    return {
      element,
      show(place) {
        range.value = String(place);
        const step = steps[place];
        at.textContent = `${place + 1} / ${steps.length}`;
        said.textContent = Cheaptalk.said.tell(page, step, page.labels.get(step.event));
      },
      tell(text) {
        said.textContent = text;
        say(text);
      },
      copied(done) {
        copying.replaceChildren(Cheaptalk.icon(done ? "done" : "link"));
        setTimeout(() => copying.replaceChildren(Cheaptalk.icon("link")), 1500);
      },
      playing(on) {
        playing.replaceChildren(Cheaptalk.icon(on ? "pause" : "play"));
        playing.setAttribute("aria-label", on ? "Pause (space)" : "Play (space)");
      },
    };
  }

  return { show };
})();
