"""Plays single games with a block, for an optimizer that asks from several threads."""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Self

from pydantic import BaseModel

from dspy_variants.record import PlayedGame
from dspy_variants.scoring import Weights, feedback, score
from framework import Game, Seating, Strategy, Trace, Usage, play
from framework.results import result_of, total_usage

__all__ = ["Player", "Score"]


class Score(NamedTuple):
    """What a game with a block came to."""

    value: float
    feedback: str


class Player:
    """Plays tasks with a block in every seat.

    Args:
        game: The game.
        scenarios: The tasks, by id.
        seat: Makes the strategy of one seat, from the text of a block.
        weights: What a game counts for, by metric.
        seed: Seed from which each game's own is derived; the same task is always played with the same one.
    """

    def __init__(
        self,
        game: Game[Any, Any],
        scenarios: Mapping[str, BaseModel],
        seat: Callable[[str], Strategy[Any]],
        weights: Weights,
        seed: int,
    ) -> None:
        self._game, self._scenarios, self._seat = game, scenarios, seat
        self._weights, self._seed = weights, seed
        self._lock = threading.Lock()
        self.games: list[PlayedGame] = []
        self.blocks: dict[str, str] = {}
        self.usage = Usage()
        self.failure = ""

    def __deepcopy__(self, memo: Any) -> Self:  # an optimizer copies the program that holds it
        return self

    def __call__(self, block: str, task: str) -> Score:
        """Play one game. After a failure nothing more is played: what could not be played has no score."""
        if self.failure:
            return Score(0.0, "not played")
        trace = asyncio.run(self._play(block, task))
        with self._lock:
            self.usage = total_usage([self.usage, result_of(trace).usage])
        if trace.aborted is not None:
            self.failure = f"a game was aborted: {trace.aborted.error}"
            return Score(0.0, "not played")
        value = score(trace, self._game.metrics, self._weights)
        played = PlayedGame(
            block=hashlib.sha256(block.encode()).hexdigest(),
            task=task,
            seed=self._seed_of(task),
            score=value,
            metrics={name: trace.metrics[name].game for name in self._weights if name in trace.metrics},
        )
        with self._lock:
            self.games.append(played)
            self.blocks[played.block] = block
        return Score(value, feedback(trace, self._weights))

    async def _play(self, block: str, task: str) -> Trace:
        scenario = self._scenarios[task]
        seating = [Seating("candidate", self._seat(block)) for _ in range(self._game.seats(scenario))]
        return await play(self._game, scenario, seating, seed=self._seed_of(task))

    def _seed_of(self, task: str) -> int:
        return int.from_bytes(hashlib.sha256(f"{self._seed}/{task}".encode()).digest()[:4], "big")
