"""What the pages show of an EAST game: what each seat was told, what it chose and why, and how it ended."""

from __future__ import annotations

from collections.abc import Iterator

from framework.focal import Knowledge
from framework.pages import Card, Fact, Label, PageModel, Sheet, Tone
from framework.trace import DecideEnd, Trace
from games.east.observation import Choose
from games.east.outcome import EastOutcome
from games.east.scenario import ROLES, Scenario

__all__ = ["page"]


def page(trace: Trace) -> PageModel:
    """The page of a trace, of a finished or an aborted game."""
    scenario = Scenario.model_validate(trace.start.scenario)
    return PageModel(
        cards=tuple(_seat(trace, scenario, seat) for seat in (0, 1)),
        sheets=(_words(scenario),),
        labels=tuple(_labels(trace)),
    )


def _told(knowledge: Knowledge) -> Iterator[Fact]:
    yield Fact(label="persona", value=knowledge.own)
    yield Fact(label="told of the partner", value=knowledge.partner or "nothing")
    yield Fact(label="partner takes it for", value=knowledge.partner_takes_me_for or "unknown")
    if knowledge.reliability < 1.0:
        yield Fact(label="statements are right in", value=f"{knowledge.reliability:.0%}")


def _seat(trace: Trace, scenario: Scenario, seat: int) -> Card:
    facts = list(_told(scenario.knowledge[seat]))
    if scenario.misled[seat]:
        facts.append(Fact(label="misled", value="it was told something untrue", tone="warn"))
    facts.append(Fact(label="words as it saw them", value=", ".join(scenario.orders[seat])))
    for place, event in enumerate(trace.events):
        if isinstance(event, DecideEnd) and event.seat == seat:
            facts += _choices(place, event, scenario)
    return Card(title=f"Seat {seat}", seat=seat, facts=tuple(facts))


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
