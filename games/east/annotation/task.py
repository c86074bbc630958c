"""The reasoning to annotate: what a trace holds of each seat's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from framework.messages import Turn
from framework.trace import DecideEnd, DecideStart, Trace
from games.east.game import East
from games.east.outcome import EastOutcome, outcome_of
from games.east.results import scenario_of
from games.east.scenario import Scenario

__all__ = ["Reasoning", "reasonings"]


@dataclass(frozen=True, slots=True)
class Reasoning:
    """One seat's reasoning.

    Attributes:
        game_id: The game.
        seat: The seat.
        scenario: The scenario.
        outcome: How the game ended.
        strategies: What sat in seats 0 and 1.
        prompt: What the seat was asked.
        text: Its reasoning.
    """

    game_id: str
    seat: int
    scenario: Scenario
    outcome: EastOutcome
    strategies: tuple[str, str]
    prompt: str
    text: str


def reasonings(trace: Trace) -> Iterator[Reasoning]:
    """The seats of a finished game that left reasoning, with that of their last attempt.

    Raises:
        TraceError: If the trace is not one of EAST.
    """
    scenario = scenario_of(trace)
    if trace.aborted:
        return
    one, two = trace.start.strategies
    for seat in (0, 1):
        thoughts = [event.thinking for event in trace.of(DecideEnd) if event.seat == seat and event.thinking.strip()]
        if thoughts:
            yield Reasoning(
                game_id=trace.game_id,
                seat=seat,
                scenario=scenario,
                outcome=outcome_of(trace),
                strategies=(one, two),
                prompt=_asked(trace, scenario, seat),
                text=thoughts[-1],
            )


def _asked(trace: Trace, scenario: Scenario, seat: int) -> str:
    """What the trace says the seat was asked, or what it would have been asked by the shipped prompts."""
    for event in trace.of(DecideStart):
        if event.seat == seat and event.prompt:
            return event.prompt
    game = East()
    turn = Turn(seat=seat, seats=2, round=game.rounds(scenario)[0], phase="choose")
    return game.prompts().message(game.observe(game.start(scenario), turn), first=True)
