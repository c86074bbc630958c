"""A game whose rules are watched while it is played: are they pure, typed, and all or nothing?"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pydantic import BaseModel

from framework.game import Ballot, Game, Phase, Settlement, Validator
from framework.messages import Batch, Conflict, Round, Turn
from framework.trace import BatchApplied, Event

__all__ = ["Watch", "turn_of"]


def turn_of(game: Game[Any, Any], scenario: BaseModel, round: Round, phase: Phase[Any], seat: int) -> Turn:
    """A seat's turn in the first sweep of a phase, as the referee would announce it."""
    return Turn(
        seat=seat,
        seats=game.seats(scenario),
        round=round,
        phase=phase.name,
        sweeps=phase.sweeps,
        channels=tuple(name for name in phase.channels if name in game.rules.channels),
        reachable=game.topology(scenario).neighbours(seat),
        retries=phase.retries,
    )


class Watch:
    """Wraps a game's validators and settlements.

    Args:
        game: The game; it is not changed.
        scenario: The scenario that will be played.
        refuse_first: Reject the first try of each batch, whatever it is, so that strategies meet `retry`.

    Attributes:
        game: The watched copy, to play with.
        rejected: How many batches a rule of the game's own rejected.
        applied: How many batches took effect.
        pure: What shows that a rule is not a pure function.
        typed: What shows that a rule's answer is of no use to a seat or to a trace.
        whole: What shows that a part of a batch took effect.
    """

    def __init__(self, game: Game[Any, Any], scenario: BaseModel, *, refuse_first: bool = False) -> None:
        self.game = copy.copy(game)
        self.rejected = self.applied = 0
        self.pure: list[str] = []
        self.typed: list[str] = []
        self.whole: list[str] = []
        self._turns = _turns(game, scenario)
        phases = [self._watched(phase, refuse_first) for phase in game.phases()]
        vars(self.game)["phases"] = lambda: phases

    def _watched(self, phase: Phase[Any], refuse_first: bool) -> Phase[Any]:
        rules: list[Validator[Any]] = [self._rule(phase, rule) for rule in phase.validators]
        if refuse_first and phase.retries:
            rules.insert(0, _RefuseFirst())
        settle = None if phase.settle is None else self._settle(phase, phase.settle)
        return replace(phase, validators=tuple(rules), settle=settle)

    def _rule(self, phase: Phase[Any], rule: Validator[Any]) -> Validator[Any]:
        def watched(state: Any, seat: int, batch: Batch) -> Conflict | None:
            before = self._sight(state, phase)
            answer = rule(state, seat, batch)
            again = rule(state, seat, batch)
            name = getattr(rule, "__name__", repr(rule))
            if answer != again:
                self.pure.append(f"rule {name} answers {answer!r} and then {again!r} to the same batch")
            if self._sight(state, phase) != before:
                self.whole.append(f"rule {name} changed the state while it judged the batch of seat {seat}")
            self._judge(name, answer)
            return answer

        return watched

    def _judge(self, name: str, answer: Any) -> None:
        if answer is None:
            return
        self.rejected += 1
        if not isinstance(answer, Conflict):
            self.typed.append(f"rule {name} answers {type(answer).__name__}; return a Conflict or None")
        elif not (answer.rule.strip() and answer.message.strip()):
            self.typed.append(f"rule {name} gives a conflict without a rule name or a sentence")

    def _settle(
        self, phase: Phase[Any], settle: Callable[[Any, Ballot], Settlement]
    ) -> Callable[[Any, Ballot], Settlement]:
        def watched(state: Any, ballot: Ballot) -> Settlement:
            before = self._sight(state, phase)
            settlement = settle(state, ballot)
            if self._sight(state, phase) != before:
                self.whole.append(f"phase {phase.name!r} settles by changing the state; return a new one")
            again = settle(state, ballot)
            if self._sight(again.state, phase) != self._sight(settlement.state, phase) or list(again.events) != list(
                settlement.events
            ):
                self.pure.append(f"phase {phase.name!r} settles the same ballot in two ways")
            for event in settlement.events:
                self._account(phase, ballot, event)
            return settlement

        return watched

    def _account(self, phase: Phase[Any], ballot: Ballot, event: Event) -> None:
        if not isinstance(event, BatchApplied):
            return
        self.applied += 1
        if event.seat not in ballot.batches:
            self.whole.append(f"phase {phase.name!r} applied a batch of seat {event.seat}, which has no valid one")
        elif tuple(event.actions) != tuple(ballot.batches[event.seat]):
            self.whole.append(f"phase {phase.name!r} applied a part of the batch of seat {event.seat}")

    def _sight(self, state: Any, phase: Phase[Any]) -> tuple[Any, ...]:
        """All that anybody can see of a state."""
        game, turns = self.game, self._turns[phase.name]
        views = tuple(game.view(state, turn.seat) for turn in turns)
        return (views, tuple(game.observe(state, turn) for turn in turns), game.final(state))


def _turns(game: Game[Any, Any], scenario: BaseModel) -> dict[str, tuple[Turn, ...]]:
    """Each seat's turn in the first round, by phase."""
    round, seats = game.rounds(scenario)[0], range(game.seats(scenario))
    return {phase.name: tuple(turn_of(game, scenario, round, phase, seat) for seat in seats) for phase in game.phases()}


class _RefuseFirst:
    """Rejects every other batch of a seat."""

    def __init__(self) -> None:
        self._waiting: set[int] = set()

    def __call__(self, state: Any, seat: int, batch: Batch) -> Conflict | None:
        if seat in self._waiting:
            self._waiting.discard(seat)
            return None
        self._waiting.add(seat)
        return Conflict(rule="tried_out", message=f"The first batch of seat {seat} is refused to see what it does.")
