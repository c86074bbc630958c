"""A small game that offers the agreement view and is not about calendars: parties settle on a booth of a fair.

A seat's booths are one character each: `.` free, `1` to `9` something of its own that costs so much to move,
`#` out of the question, `a`, `b`, ... the agreement of round 0, 1, ... An agreement counts if at the end all
its parties have it in one booth; moving one's copy costs 1. A batch takes effect if it is valid.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

from pydantic import JsonValue

from framework import (
    Action,
    AgreementView,
    Ballot,
    Batch,
    Conflict,
    DirectMessage,
    Frozen,
    Game,
    Metric,
    Observation,
    Option,
    Phase,
    Round,
    Rules,
    Seating,
    Settled,
    Settlement,
    Stage,
    Strategy,
    TopologySpec,
    Trace,
    Turn,
    play,
)


class Take(Action):
    """Have the round's agreement in a booth."""

    type: Literal["booths_take"] = "booths_take"
    booth: int


class Shift(Action):
    """Move what is in one booth to another."""

    type: Literal["booths_shift"] = "booths_shift"
    source: int
    target: int


class Fair(Frozen):
    """The booths of each seat, and the parties of each round in speaker order."""

    booths: tuple[str, ...]
    groups: tuple[tuple[int, ...], ...]


class BoothsRules(Rules):
    """The knobs of the game."""

    channels: tuple[str, ...] = ("dm",)
    sweeps: int = 30


@dataclass(frozen=True)
class FairState:
    """Everyone's booths now, and what they have paid."""

    booths: tuple[str, ...]
    groups: tuple[tuple[int, ...], ...]
    paid: tuple[int, ...]


@dataclass(frozen=True)
class BoothsView(AgreementView):
    """A seat's booths as options."""

    booths: str
    groups: tuple[tuple[int, ...], ...]
    id: int = 0

    @property
    def parties(self) -> tuple[int, ...]:
        return tuple(sorted(self.groups[self.id]))

    @cached_property
    def options(self) -> tuple[Option, ...]:
        return tuple([self._option(booth, mark) for booth, mark in enumerate(self.booths)])

    def _option(self, booth: int, mark: str) -> Option:
        if mark == ".":
            return Option(booth, 0, "free")
        if mark == "#":
            return Option(booth, None, "fixed")
        if mark.isdigit():
            return Option(booth, int(mark) if "." in self.booths else None, "own")
        return Option(booth, None, "agreement", ord(mark) - ord("a"))

    @cached_property
    def settled(self) -> Mapping[int, Settled]:
        return {
            option.agreement: Settled(option.agreement, option.index, tuple(sorted(self.groups[option.agreement])), 1)
            for option in self.options
            if option.agreement is not None
        }

    def landing(self, option: int) -> int | None:
        return next((booth for booth, mark in enumerate(self.booths) if mark == "." and booth != option), None)

    def commit(self, option: int, moves: Mapping[int, int] | None = None) -> tuple[Action, ...]:
        moves = moves or {}
        return (*self._clear((*moves.values(), option), moves), Take(booth=option))

    def move(self, moves: Mapping[int, int]) -> tuple[Action, ...]:
        return self._clear(tuple(moves.values()), moves)

    def _clear(self, targets: tuple[int, ...], moves: Mapping[int, int]) -> tuple[Action, ...]:
        free = [booth for booth, mark in enumerate(self.booths) if mark == "." and booth not in targets]
        own = [booth for booth in targets if self.booths[booth].isdigit()]
        shifts = [Shift(source=booth, target=landing) for booth, landing in zip(own, free, strict=False)]
        shifts += [Shift(source=self.settled[id].option, target=target) for id, target in moves.items()]
        return tuple(shifts)


class BoothsObservation(Observation):
    """A seat's own booths, and who is party to what."""

    booths: str
    groups: tuple[tuple[int, ...], ...]

    @cached_property
    def agreement(self) -> BoothsView:
        return BoothsView(self.booths, self.groups, self.round.index)


def after(booths: str, batch: Batch, letter: str) -> str:
    """The booths after a batch.

    Raises:
        ValueError: If the batch is not valid.
    """
    marks = list(booths)
    shifts = [action for action in batch if isinstance(action, Shift)]
    takes = [action.booth for action in batch if isinstance(action, Take)]
    if len(takes) > 1:
        raise ValueError("one booth at most")
    for shift in shifts:
        if not 0 <= shift.source < len(marks) or marks[shift.source] in ".#":
            raise ValueError(f"nothing to move in {shift.source}")
        marks[shift.source] = "."
    for target, mark in [(s.target, booths[s.source]) for s in shifts] + [(booth, letter) for booth in takes]:
        if not 0 <= target < len(marks) or marks[target] != ".":
            raise ValueError(f"booth {target} is not free")
        marks[target] = mark
    return "".join(marks)


def letter_of(stage_round: Round) -> str:
    """The letter that marks a round's agreement."""
    return chr(ord("a") + stage_round.index)


class Booths(Game[Fair, FairState]):
    """The game."""

    name = "booths"
    rules_type = BoothsRules
    scenario_type = Fair
    channels = (DirectMessage(),)
    metrics: ClassVar[tuple[Metric, ...]] = ()
    suites = {"one": "one fair"}
    default_suite = "one"

    def suite(self, name: str, seed: int) -> Sequence[Fair]:
        return [Fair(booths=(".1..#2.", "1.#...3", "..2#1..", "#..1..1"), groups=((0, 1, 2), (3, 1), (2, 0, 3)))]

    def start(self, scenario: Fair) -> FairState:
        return FairState(scenario.booths, scenario.groups, (0,) * len(scenario.booths))

    def seats(self, scenario: Fair) -> int:
        return len(scenario.booths)

    def rounds(self, scenario: Fair) -> Sequence[Round]:
        return [
            Round(index=index, participants=tuple(sorted(group)), speakers=group)
            for index, group in enumerate(scenario.groups)
        ]

    def phases(self) -> Sequence[Phase[FairState]]:
        def valid(state: FairState, seat: int, batch: Batch) -> Conflict | None:
            try:
                after(state.booths[seat], batch, "?")
            except ValueError as error:
                return Conflict(rule="booths", message=str(error))
            return None

        def contacted(stage: Stage) -> Sequence[int]:
            return stage.active

        talk = Phase[FairState](
            name="talk", channels=("dm",), sweeps=self.rules.sweeps, until_quiet=True, activation=True
        )
        favours = Phase[FairState](
            name="favours", actors=contacted, actions=(Shift,), validators=(valid,), settle=self._settle
        )
        choice = Phase[FairState](name="choice", actions=(Shift, Take), validators=(valid,), settle=self._settle)
        return (talk, favours, choice)

    @staticmethod
    def _settle(state: FairState, ballot: Ballot) -> Settlement:
        booths, paid = list(state.booths), list(state.paid)
        for seat, batch in ballot.batches.items():
            for action in batch:
                if isinstance(action, Shift):
                    mark = booths[seat][action.source]
                    paid[seat] += int(mark) if mark.isdigit() else 1
            booths[seat] = after(booths[seat], batch, letter_of(ballot.round))
        return Settlement(replace(state, booths=tuple(booths), paid=tuple(paid)), ())

    def observe(self, state: FairState, turn: Turn) -> BoothsObservation:
        return BoothsObservation(turn=turn, booths=state.booths[turn.seat], groups=state.groups)

    def task_id(self, scenario: Fair) -> str:
        return "fair"

    def final(self, state: FairState) -> dict[str, JsonValue]:
        agreed: list[JsonValue] = []
        for index, group in enumerate(state.groups):
            places = {state.booths[seat].find(chr(ord("a") + index)) for seat in group}
            agreed.append(places.pop() if len(places) == 1 and -1 not in places else None)
        return {"agreed": agreed, "booths": list(state.booths), "paid": list(state.paid)}


def play_booths(
    fair: Fair,
    make: Callable[[], Strategy[Any]] | Sequence[Strategy[Any]],
    sweeps: int = 30,
    seed: int = 0,
    edges: Sequence[tuple[int, int]] = (),
) -> Trace:
    """Play with one strategy in all seats, or with one for each; who may address whom is `edges`, or everyone."""
    strategies = [make() for _ in fair.booths] if callable(make) else make
    seating = [Seating(type(strategy).__name__, strategy) for strategy in strategies]
    topology = TopologySpec(name="edges", edges=tuple(edges)) if edges else TopologySpec()
    trace = asyncio.run(play(Booths(BoothsRules(sweeps=sweeps, topology=topology)), fair, seating, seed=seed))
    assert trace.aborted is None, trace.aborted
    return trace
