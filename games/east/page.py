"""What the pages show of an EAST game: what each seat was told, what it chose and why, and how it ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from framework.focal import Knowledge
from framework.pages import Card, Fact, Label, PageModel, Sheet, Tone
from framework.trace import DecideEnd, Trace
from games.east.annotation.sidecar import AnnotationFailed, FallaciesLabelled, Labelled, Sidecar, TomLabelled
from games.east.observation import Choose
from games.east.outcome import EastOutcome
from games.east.scenario import ROLES, Scenario

__all__ = ["page"]


LEVELS = {-1: "shallow", 0: "behavioural", 1: "about the other", 2: "recursive"}


def page(trace: Trace, path: Path | None = None) -> PageModel:
    """The page of a trace, of a finished or an aborted game.

    Args:
        trace: The trace.
        path: Its file, for the annotations beside it.
    """
    scenario = Scenario.model_validate(trace.start.scenario)
    annotations = Sidecar(path).read() if path else []
    last = len(trace.events) - 1
    return PageModel(
        cards=tuple(_seat(trace, scenario, seat, annotations, last) for seat in (0, 1)),
        sheets=(_words(scenario),),
        labels=tuple(_labels(trace)),
    )


def _told(knowledge: Knowledge) -> Iterator[Fact]:
    yield Fact(label="persona", value=knowledge.own)
    yield Fact(label="told of the partner", value=knowledge.partner or "nothing")
    yield Fact(label="partner takes it for", value=knowledge.partner_takes_me_for or "unknown")
    if knowledge.reliability < 1.0:
        yield Fact(label="statements are right in", value=f"{knowledge.reliability:.0%}")


def _seat(trace: Trace, scenario: Scenario, seat: int, annotations: Sequence[Labelled], last: int) -> Card:
    facts = list(_told(scenario.knowledge[seat]))
    if scenario.misled[seat]:
        facts.append(Fact(label="misled", value="it was told something untrue", tone="warn"))
    facts.append(Fact(label="words as it saw them", value=", ".join(scenario.orders[seat])))
    for place, event in enumerate(trace.events):
        if isinstance(event, DecideEnd) and event.seat == seat:
            facts += _choices(place, event, scenario)
    facts += [fact for event in annotations if event.seat == seat for fact in _annotation(event, last)]
    return Card(title=f"Seat {seat}", seat=seat, facts=tuple(facts))


def _annotation(event: Labelled, last: int) -> Iterator[Fact]:
    """What an annotator said of a seat's reasoning, once the game is over."""
    who = f", by {event.annotator}"
    match event:
        case TomLabelled():
            said = event.labels
            level = f"{said.highest_level_achieved} ({LEVELS[said.highest_level_achieved]})"
            yield Fact(label=f"ToM level{who}", value=level, event=last)
            yield Fact(label="its rationale", value=said.rationale, event=last, long=True)
            if said.information_coherence == "FALSE":
                yield Fact(label="incoherent", value=said.information_coherence_rationale, tone="warn", event=last)
        case FallaciesLabelled():
            found = [fallacy for fallacy in event.labels.each() if fallacy.finding.error_present]
            names = ", ".join(_plain(fallacy.name) for fallacy in found) or "none"
            yield Fact(label=f"fallacies{who}", value=names, tone="warn" if found else "good", event=last)
            for fallacy in found:
                yield Fact(label=_plain(fallacy.name), value=fallacy.finding.rationale, event=last, long=True)
        case AnnotationFailed():
            yield Fact(label=f"no {event.kind} annotation{who}", value=event.error, tone="bad", event=last)


def _choices(place: int, event: DecideEnd, scenario: Scenario) -> Iterator[Fact]:
    roles = {word.casefold(): role for word, role in zip(scenario.vignette.words.all, ROLES, strict=True)}
    for action in event.actions:
        if not isinstance(action, Choose):
            continue
        role = roles.get(action.chosen_word.strip().casefold())
        meant = f" ({_plain(role)})" if role else " (none of the words)"
        tone: Tone = "focus" if role else "bad"
        yield Fact(label="chose", value=f"{action.chosen_word}{meant}", tone=tone, event=place)
    if event.thinking:
        yield Fact(label="reasoning", value=event.thinking, event=place, long=True)


def _words(scenario: Scenario) -> Sheet:
    target = scenario.target
    rows = zip(scenario.vignette.words.all, ROLES, strict=True)
    return Sheet(
        title="Words",
        columns=("word", "role", "target"),
        rows=tuple((word, _plain(role), "target" if role == target else "") for word, role in rows),
    )


def _labels(trace: Trace) -> Iterator[Label]:
    for place, event in enumerate(trace.events):
        if isinstance(event, EastOutcome):
            yield Label(event=place, text=_said(event), tone=_tone(event), headline=True)


def _said(outcome: EastOutcome) -> str:
    if outcome.convergence == "invalid":
        return "no match: a seat chose none of the words"
    if not outcome.match:
        return f"no match: {outcome.words[0]} and {outcome.words[1]}"
    kind = "the target" if outcome.normative else f"{_plain(outcome.convergence)}, not on the target"
    return f"match on {outcome.words[0]}: {kind}"


def _tone(outcome: EastOutcome) -> Tone:
    return "good" if outcome.normative else "warn" if outcome.match else "bad"


def _plain(name: str) -> str:
    return name.replace("_", " ")
