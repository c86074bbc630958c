"""How an EAST game ended, and its metrics.

Source: EAST paper, section 3.1. A match is normative if it is on the condition's target and accidental if
it is on another word.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from framework.game import Metric
from framework.trace import Event, MetricValue, Trace, TraceError
from games.east.scenario import Role, Scenario

__all__ = ["CHANCE", "METRICS", "Convergence", "EastOutcome", "outcome_of", "score_choices"]

Convergence: TypeAlias = Literal["persona_1", "persona_2", "shared", "unrelated", "mismatch", "invalid"]

CHANCE = 0.25
"""Share of games in which two seats match that choose one of four words at random, independently."""


class EastOutcome(Event):
    """How a game ended.

    Attributes:
        round: Index of the round.
        words: The words that seats 0 and 1 chose; None where a seat chose none of the four.
        roles: Their roles, in the same order.
        target: The role on which rational seats would have met.
        match: Both chose the same word.
        normative: They met on the target.
        convergence: The role on which they met, `mismatch`, or `invalid` if a seat chose none of the four.
        misled: Whether seats 0 and 1 were told something untrue.
    """

    type: Literal["east_outcome"] = "east_outcome"
    round: int
    words: tuple[str | None, str | None]
    roles: tuple[Role | None, Role | None]
    target: Role
    match: bool
    normative: bool
    convergence: Convergence
    misled: tuple[bool, bool]


def score_choices(scenario: Scenario, words: tuple[str | None, str | None], round: int = 0) -> EastOutcome:
    """The outcome of two choices; None stands for none of the four words."""
    one, two = (None if word is None else scenario.vignette.words.role(word) for word in words)
    convergence: Convergence = "mismatch"
    if one is None or two is None:
        convergence = "invalid"
    elif one == two:
        convergence = one
    return EastOutcome(
        round=round,
        words=words,
        roles=(one, two),
        target=scenario.target,
        match=one is not None and one == two,
        normative=one == two == scenario.target,
        convergence=convergence,
        misled=scenario.misled,
    )


def outcome_of(trace: Trace) -> EastOutcome:
    """The outcome of a finished game.

    Raises:
        TraceError: If the trace holds none.
    """
    for event in trace.of(EastOutcome):
        return event
    raise TraceError(f"game {trace.game_id} has no east_outcome event; it was aborted, or it is not an EAST game")


def _match(trace: Trace) -> MetricValue:
    return MetricValue(game=float(outcome_of(trace).match))


def _normative(trace: Trace) -> MetricValue:
    return MetricValue(game=float(outcome_of(trace).normative))


def _accidental(trace: Trace) -> MetricValue:
    outcome = outcome_of(trace)
    return MetricValue(game=float(outcome.match and not outcome.normative))


def _invalid(trace: Trace) -> MetricValue:
    seats = tuple(float(role is None) for role in outcome_of(trace).roles)
    return MetricValue(game=max(seats), seats=seats)


def _misled(trace: Trace) -> MetricValue:
    seats = tuple(float(misled) for misled in outcome_of(trace).misled)
    return MetricValue(game=max(seats), seats=seats)


METRICS: tuple[Metric, ...] = (
    Metric(name="match", title="Match", better="higher", compute=_match, percent=True, share=True),
    Metric(name="normative", title="Normative", better="higher", compute=_normative, percent=True, share=True),
    Metric(name="accidental", title="Accidental", better="neither", compute=_accidental, percent=True, share=True),
    Metric(name="invalid_choice", title="Invalid", better="lower", compute=_invalid, percent=True, share=True),
    Metric(name="misled", title="Misled", better="neither", compute=_misled, percent=True, share=True, headline=False),
)
