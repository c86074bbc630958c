"""The conformance kit for strategies."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import BaseModel

from framework.game import Game
from framework.messages import Action, Observation, Post
from framework.strategy import Strategy
from framework.testing._game import judge, made, scenarios_of
from framework.testing._noise import NoiseStrategy
from framework.testing._probe import Factory, Playing, Probe, play_probed
from framework.testing._report import Check, Report
from framework.testing._watch import Watch

__all__ = ["check_strategy"]

_GAMES = 3


def check_strategy(
    strategy: Factory,
    game: Game[Any, Any] | type[Game[Any, Any]],
    scenario: BaseModel | None = None,
    *,
    seed: int = 0,
) -> Report:
    """Put what a strategy promises to the test.

    It plays against itself, against noise, against forged and broken messages, and has batches refused.

    Args:
        strategy: The strategy's class, or a function without parameters that makes one instance.
        game: A game that it plays, or the game's class.
        scenario: What to play; by default the first scenarios of the default suite.
        seed: Seed of everything.

    Returns:
        The report; `report.raise_if_failed()` makes a test of it.

    Raises:
        ValueError: If the game ships no suite and no scenario is given.
    """
    game = made(game)
    scenarios = scenarios_of(game, scenario, seed)
    name = getattr(strategy, "__name__", type(strategy).__name__)
    return Report(f"strategy {name} in {game.name}", tuple(_Bench(strategy, game, scenarios, seed).checks()))


class _Bench:
    """Plays the games that the checks look at.

    Attributes:
        playings: All games that were played.
        aborts: What aborted some of them, each with where it happened first: said once, however often it happens.
    """

    def __init__(self, strategy: Factory, game: Game[Any, Any], scenarios: Sequence[BaseModel], seed: int) -> None:
        self.strategy, self.game, self.scenarios, self.seed = strategy, game, scenarios, seed
        self.playings: list[Playing] = []
        self.aborts: dict[str, str] = {}

    def checks(self) -> Iterator[Check]:
        before = random.getstate()
        instances = judge("an instance a seat", self._instances)
        yield instances
        if not instances.passed:
            return
        yield judge("plays against itself", self._itself)
        yield judge("plays against noise", self._against_noise)
        yield judge("survives broken, late, doubled and forged messages", self._forged)
        yield judge("survives a refused batch", self._refused)
        yield judge("the same seed makes the same moves", self._same)
        yield judge("returns actions only", self._returns)
        yield judge("leaves what it is handed alone", self._mutations)
        yield judge("leaves the global random state alone", lambda: self._global_state(before))

    def _instances(self) -> Iterator[str]:
        one, other = self.strategy(), self.strategy()
        if not isinstance(one, Strategy):
            yield f"the factory makes a {type(one).__name__}; subclass Strategy"
            return
        if one is other:
            yield "the factory gives the same instance twice; make a new one for each seat"
        if not isinstance(getattr(one, "params", None), BaseModel):
            yield "the instance has no params; call super().__init__() in __init__"
        elif type(one.params).model_validate(one.params.model_dump(mode="json")) != one.params:
            yield "its params do not come back from JSON equal; keep to JSON values"

    def _own(self, scenario: BaseModel, forge: bool = False, seed: int = 0) -> list[Probe]:
        seats = range(self.game.seats(scenario))
        return [Probe(self.strategy(), Forger(random.Random(f"{seed}/{seat}")) if forge else None) for seat in seats]

    def _play(
        self, scenario: BaseModel, probes: Sequence[Probe], seed: int, game: Game[Any, Any] | None = None
    ) -> Iterator[str]:
        playing = play_probed(game or self.game, scenario, probes, seed)
        self.playings.append(playing)
        if aborted := playing.trace.aborted:
            what = aborted.error.removeprefix(f"seat {aborted.seat} ({Probe.__name__}): ")
            first = self.aborts.setdefault(what, f"{aborted.boundary}: seat {aborted.seat}, seed {seed}: {what}")
            yield first

    def _itself(self) -> Iterator[str]:
        for number, scenario in enumerate(self.scenarios):
            yield from self._play(scenario, self._own(scenario), self.seed + number)

    def _against_noise(self) -> Iterator[str]:
        noise = NoiseStrategy.of(self.game)
        for number in range(_GAMES):
            scenario = self.scenarios[number % len(self.scenarios)]
            seats = self.game.seats(scenario)
            alone = [Probe(self.strategy() if seat == number % seats else noise()) for seat in range(seats)]
            yield from self._play(scenario, alone, self.seed + number)
            mixed = [Probe(noise() if seat == number % seats else self.strategy()) for seat in range(seats)]
            yield from self._play(scenario, mixed, self.seed + number)

    def _forged(self) -> Iterator[str]:
        for seed in range(self.seed, self.seed + _GAMES):
            scenario = self.scenarios[seed % len(self.scenarios)]
            yield from self._play(scenario, self._own(scenario, True, seed), seed)

    def _refused(self) -> Iterator[str]:
        for scenario in self.scenarios:
            watch = Watch(self.game, scenario, refuse_first=True)
            yield from self._play(scenario, self._own(scenario), self.seed, watch.game)

    def _same(self) -> Iterator[str]:
        scenario = self.scenarios[0]
        first, second = (play_probed(self.game, scenario, self._own(scenario), self.seed) for _ in range(2))
        for seat, (a, b) in enumerate(zip(first.seats, second.seats, strict=True)):
            if [_tuple(moves) for moves in a.returned] != [_tuple(moves) for moves in b.returned]:
                yield f"seat {seat} moves differently at the second playing; draw all randomness from self.rng"
        if first.trace.comparable() != second.trace.comparable():
            yield "the two traces differ; write nothing into the record that differs between two playings"

    def _returns(self) -> Iterator[str]:
        for moves in (moves for probe in self._probes() for moves in probe.returned if moves is not None):
            if isinstance(moves, str | bytes) or not isinstance(moves, Sequence):
                yield f"a move returned {type(moves).__name__}; return a list or a tuple of actions"
            elif strange := [move for move in moves if not isinstance(move, Action)]:
                yield f"a move holds a {type(strange[0]).__name__}; return actions only"

    def _mutations(self) -> Iterator[str]:
        return (found for probe in self._probes() for found in probe.mutations)

    def _global_state(self, before: object) -> Iterator[str]:
        if random.getstate() != before:
            yield "it draws from the global random module; draw from self.rng"

    def _probes(self) -> Iterator[Probe]:
        """The seats that the strategy itself played."""
        seats = (probe for playing in self.playings for probe in playing.seats)
        return (probe for probe in seats if not isinstance(probe.inner, NoiseStrategy))


def _tuple(moves: Any) -> Any:
    return tuple(moves) if isinstance(moves, list) else moves


class Forger:
    """Puts posts into an inbox that no honest seat would send.

    Args:
        rng: Its randomness.
    """

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._seen: list[Post] = []

    def __call__(self, observation: Observation) -> Observation:
        self._seen = [*self._seen, *observation.inbox][-60:]
        if not self._seen or self._rng.random() < 0.3:
            return observation
        forged = [self._forge(observation) for _ in range(self._rng.randint(1, 4))]
        inbox = [*observation.inbox, *forged]
        self._rng.shuffle(inbox)
        return observation.model_copy(update={"inbox": tuple(inbox)})

    def _forge(self, observation: Observation) -> Post:
        post = self._rng.choice(self._seen)
        seats = [seat for seat in range(observation.turn.seats) if seat != observation.seat]
        sender = self._rng.choice(seats or [post.sender])
        way = self._rng.randrange(5)
        if way == 0:  # late or doubled, as it was
            return post
        if way == 1:  # torn
            return post.model_copy(update={"content": post.content[: len(post.content) // 2]})
        if way == 2:  # said by somebody else
            return post.model_copy(update={"sender": sender, "round": observation.round.index})
        return post.model_copy(update={"sender": sender, "content": self._broken(post.content)})

    def _broken(self, content: str) -> str:
        values: list[Any] = [None, -1, 10**9, 1.5, "", "?", [], {}, [[None]], {"a": []}, True]
        try:
            data = json.loads(content)
        except (ValueError, RecursionError):
            data = None
        if not isinstance(data, dict) or self._rng.random() < 0.2:
            return json.dumps(self._rng.choice([*values, {"kind": "unheard-of"}])) + self._rng.choice(
                ["", "}", " \x00"]
            )
        for key in list(data):
            draw = self._rng.random()
            if draw < 0.3:
                data[key] = self._rng.choice(values)
            elif draw < 0.4:
                del data[key]
        return json.dumps(data)
