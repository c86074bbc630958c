"""Plays EAST games for tests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from framework import Action, Conflict, Seating, Strategy, Trace, play
from games.east import Choose, East, EastObservation, Scenario

Factory = Callable[[], Strategy[Any]]


class Says(Strategy[EastObservation]):
    """Says the given words, one a try; None submits nothing."""

    def __init__(self, *words: str | None) -> None:
        super().__init__()
        self._words = list(words)

    def _next(self) -> Sequence[Action]:
        word = self._words.pop(0) if self._words else None
        return () if word is None else (Choose(chosen_word=word),)

    async def act(self, observation: EastObservation) -> Sequence[Action]:
        return self._next()

    async def retry(self, observation: EastObservation, conflict: Conflict) -> Sequence[Action] | None:
        return self._next() or None


def play_one(scenario: Scenario, one: Strategy[Any], two: Strategy[Any], seed: int = 0) -> Trace:
    """One game, whole."""
    trace = asyncio.run(play(East(), scenario, [Seating("one", one), Seating("two", two)], seed=seed))
    assert trace.aborted is None, trace.aborted
    return trace


def play_all(scenarios: Sequence[Scenario], one: Factory, two: Factory | None = None, seed: int = 0) -> list[Trace]:
    """Every scenario once, in self-play unless a second strategy is given."""
    return [play_one(s, one(), (two or one)(), seed=seed * 100_000 + i) for i, s in enumerate(scenarios)]
