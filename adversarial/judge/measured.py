"""The games that are judged: what seats reported of themselves, what is true, and what typed messages say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adversarial.judge.cases import Case, cases_of
from framework import Game, Trace, registry
from framework.beliefs import move
from framework.errors import UserError
from framework.evidence import Talk, gather
from framework.reflection import Reflection
from framework.secrets import PrivateStates

__all__ = ["JudgedGame", "Reported", "game_with_states", "reader_of"]


@dataclass(frozen=True, slots=True)
class Reported:
    """What a seat reported of its beliefs about one other seat after one round."""

    round: int
    observer: int
    target: int
    deltas: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class JudgedGame:
    """What is kept of a game.

    Attributes:
        game_id: Id of the playing.
        seats: Number of seats.
        states: What the seats kept to themselves.
        cases: What the judge is shown.
        reported: What seats reported, answers that could not be read left out.
        typed: Typed VPS of the game before any floor; None if a message of it was in plain words, or the game
            has no such measure.
        typed_above_floor: The same above the floor of each target.
        floor: VPS that a game costs a target at the least.
    """

    game_id: str
    seats: int
    states: PrivateStates
    cases: tuple[Case, ...]
    reported: tuple[Reported, ...]
    typed: float | None
    typed_above_floor: float | None
    floor: float

    def truth(self, round: int, target: int) -> NDArray[np.bool_]:
        """How the states of a seat were when a round ended."""
        row: NDArray[np.bool_] = self.states.truth[round, target]
        return row


def game_with_states(name: str) -> Game[Any, Any]:
    """A game whose seats keep states to themselves.

    Raises:
        UserError: If there is no such game, or it declares none.
    """
    kind = registry.game(name)
    if kind.private_states is Game.private_states:
        raise UserError(
            f"game {name!r} declares no private states, so there is nothing to judge; "
            "define `private_states` on its class"
        )
    return kind()


def reader_of(game: Game[Any, Any]) -> Callable[[Trace], JudgedGame]:
    """What reads a trace of a game."""

    def read(trace: Trace) -> JudgedGame:
        states = game.private_states(trace)
        if states is None:
            raise UserError(f"game {trace.game_id} has no private states, so there is nothing to judge in it")
        floor = game.evidence.floor if game.evidence is not None else 0.0
        typed = _typed(game, trace)
        return JudgedGame(
            game_id=trace.game_id,
            seats=trace.start.seats,
            states=states,
            cases=tuple(cases_of(trace, states.states)),
            reported=tuple(
                Reported(asked.round, asked.seat, asked.target, asked.deltas)
                for asked in trace.of(Reflection)
                if len(asked.deltas) == states.states
            ),
            typed=None if typed is None else float(typed.sum()),
            typed_above_floor=None if typed is None else float(np.maximum(typed - floor, 0.0).sum()),
            floor=floor,
        )

    return read


def _typed(game: Game[Any, Any], trace: Trace) -> NDArray[np.float64] | None:
    """Typed VPS by target; None if it does not tell all."""
    if game.evidence is None:
        return None
    evidence = gather(Talk.of(trace), game.evidence)
    return None if any(evidence.unread) else move([evidence]).by_target()
