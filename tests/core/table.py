"""Seats that do what a test tells them, and a toy game whose phases a test chooses."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from pydantic import BaseModel

from framework import Action, Conflict, Game, Observation, Phase, Seating, Strategy, Topology, Trace, play
from framework.channels import Channel
from framework.trace import TurnStart
from tests.core.toy import Toy, ToyScenario, ToyState

Move = Callable[[Observation], Sequence[Action]]


def nothing(observation: Observation) -> Sequence[Action]:
    """Pass."""
    return ()


class Script(Strategy[Observation]):
    """Moves as a function says, and remembers what it was handed.

    Args:
        move: Observation to actions.
        again: The same for a rejected batch; without it a retry is declined.
    """

    def __init__(self, move: Move = nothing, again: Callable[[Observation, Conflict], Any] | None = None) -> None:
        super().__init__()
        self.move, self.again = move, again
        self.seen: list[Observation] = []
        self.conflicts: list[Conflict] = []
        self.ended = False

    async def act(self, observation: Observation) -> Sequence[Action]:
        self.seen.append(observation)
        return self.move(observation)

    async def retry(self, observation: Observation, conflict: Conflict) -> Sequence[Action] | None:
        self.seen.append(observation)
        self.conflicts.append(conflict)
        return self.again(observation, conflict) if self.again is not None else None

    async def end_game(self) -> None:
        self.ended = True

    @property
    def read(self) -> list[tuple[int, str]]:
        """Sender and content of all posts that reached it, in order."""
        return [(post.sender, post.content) for observation in self.seen for post in observation.inbox]


class Staged(Toy):
    """The toy with other phases, channels or topology."""

    def __init__(
        self,
        phases: Sequence[Phase[ToyState]],
        channels: Sequence[Channel] | None = None,
        topology: Topology | None = None,
    ) -> None:
        if channels is not None:
            vars(self)["channels"] = tuple(channels)
        super().__init__(self.rules_type(channels=tuple(channel.name for channel in self.channels)))
        self._staged, self._topology = list(phases), topology

    def phases(self) -> Sequence[Phase[ToyState]]:
        return self._staged

    def topology(self, scenario: ToyScenario) -> Topology:
        return self._topology or super().topology(scenario)


def talk(
    sweeps: int = 1, *, until_quiet: bool = False, activation: bool = True, channels: Any = None
) -> Phase[ToyState]:
    """A phase of talk on the toy's channels."""
    names = ("dm", "participant_groupchat", "all_agent_groupchat") if channels is None else tuple(channels)
    return Phase(name="talk", channels=names, sweeps=sweeps, until_quiet=until_quiet, activation=activation)


def scenario(seats: int, *groups: Sequence[int]) -> ToyScenario:
    """A scenario without secrets; each group is a round."""
    return ToyScenario(secrets=((),) * seats, groups=tuple(tuple(group) for group in groups))


async def run(game: Game[Any, Any], scenario: BaseModel, strategies: Sequence[Strategy[Any]], **options: Any) -> Trace:
    """Play a game with these strategies in its seats."""
    seating = [Seating(type(strategy).__name__, strategy) for strategy in strategies]
    async with asyncio.timeout(120):  # a post that is lost is waited for for ever
        return await play(game, scenario, seating, **options)


def order(trace: Trace) -> list[tuple[int, int]]:
    """Sweep and seat of each turn of talk."""
    return [(event.turn, event.seat) for event in trace.of(TurnStart)]
