"""Plays games with a witness in every seat, who writes down all that the seat is handed and returns."""

from __future__ import annotations

import asyncio
import pickle
import threading
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from pydantic import BaseModel

from framework.game import Game
from framework.messages import Action, Conflict, Observation
from framework.referee import Limits, Seating, play
from framework.strategy import SeatStart, Strategy
from framework.trace import Trace

__all__ = ["Factory", "Handed", "Playing", "Probe", "play_probed", "run_now"]

Factory = Callable[[], Strategy[Any]]
"""Makes a strategy for one seat of one game; a strategy class is one."""

Hook = Literal["start_round", "act", "retry", "end_round"]
ResultT = TypeVar("ResultT")
_LIMITS = Limits(seconds=60.0)


@dataclass(frozen=True, slots=True)
class Handed:
    """One observation that a seat was handed, and by which hook."""

    hook: Hook
    observation: Observation


class Probe(Strategy[Observation]):
    """Sits between the framework and a strategy, and passes everything on.

    Args:
        inner: The strategy that plays.
        meddle: Changes what the strategy is handed at its moves; the probe notes the observation that it got.

    Attributes:
        handed: All observations, in order.
        start: What the seat was told before the first round.
        returned: What its moves returned, as it is.
        mutations: One sentence for each hook that changed what it was handed.
    """

    def __init__(self, inner: Strategy[Any], meddle: Callable[[Observation], Observation] | None = None) -> None:
        self.inner = inner
        self.params = getattr(inner, "params", None)
        setattr(self, "adversarial", inner.adversarial)  # noqa: B010 (the base declares it for the class)
        self._meddle = meddle or (lambda observation: observation)
        self._meddled: tuple[Observation, Observation] | None = None
        self.handed: list[Handed] = []
        self.start: SeatStart | None = None
        self.returned: list[Any] = []
        self.mutations: list[str] = []

    @property
    def system_prompt(self) -> str:
        return self.inner.system_prompt

    async def start_game(self, start: SeatStart) -> None:
        self.start = start
        self.inner.rng, self.inner.record = self.rng, self.record
        with _Unchanged(self, "start_game", start):
            await self.inner.start_game(start)

    async def start_round(self, observation: Observation) -> None:
        given = self._hand("start_round", observation)
        with _Unchanged(self, "start_round", given):
            await self.inner.start_round(given)

    async def act(self, observation: Observation) -> Sequence[Action]:
        given = self._hand("act", observation)
        with _Unchanged(self, "act", given):
            actions = await self.inner.act(given)
        self.returned.append(actions)
        return actions

    async def retry(self, observation: Observation, conflict: Conflict) -> Sequence[Action] | None:
        given = self._hand("retry", observation)
        with _Unchanged(self, "retry", given, conflict):
            actions = await self.inner.retry(given, conflict)
        self.returned.append(actions)
        return actions

    async def end_round(self, observation: Observation) -> None:
        given = self._hand("end_round", observation)
        with _Unchanged(self, "end_round", given):
            await self.inner.end_round(given)

    async def end_game(self) -> None:
        self.inner.record = self.record
        await self.inner.end_game()

    def _hand(self, hook: Hook, observation: Observation) -> Observation:
        self.inner.record = self.record
        self.handed.append(Handed(hook, observation))
        if self._meddled is None or observation is not self._meddled[0]:  # the same goes to two hooks
            self._meddled = (observation, self._meddle(observation))
        return self._meddled[1]


class _Unchanged:
    """Notes it where a hook changes what it was handed; an object that does not pickle is not compared."""

    def __init__(self, probe: Probe, hook: str, *handed: Any) -> None:
        self._probe, self._hook, self._handed = probe, hook, handed

    def __enter__(self) -> None:
        self._before = [_frozen_copy(item) for item in self._handed]

    def __exit__(self, *_: object) -> None:
        for item, before in zip(self._handed, self._before, strict=True):
            if before is not None and before != item:
                self._probe.mutations.append(
                    f"{self._hook} changed the {type(item).__name__} that it was handed; work on a copy"
                )


def _frozen_copy(item: Any) -> Any:
    try:
        return pickle.loads(pickle.dumps(item))
    except Exception:
        return None


@dataclass(frozen=True, slots=True)
class Playing:
    """A finished game and the witness of each seat."""

    scenario: BaseModel
    trace: Trace
    seats: tuple[Probe, ...]


def play_probed(game: Game[Any, Any], scenario: BaseModel, probes: Sequence[Probe], seed: int) -> Playing:
    """Play a game to its end with a witness in every seat."""
    seating = [Seating(type(probe.inner).__name__, probe) for probe in probes]
    trace = run_now(play(game, scenario, seating, seed=seed, game_id=f"check-{seed}", limits=_LIMITS))
    return Playing(scenario, trace, tuple(probes))


def run_now(work: Coroutine[Any, Any, ResultT]) -> ResultT:
    """The result of a coroutine, also for a caller that runs in an event loop already."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    results: list[ResultT] = []
    errors: list[BaseException] = []

    def there() -> None:
        try:
            results.append(asyncio.run(work))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=there)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]
