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
from framework.testing._game import first_scenario, judge, made
from framework.testing._noise import NoiseStrategy
from framework.testing._probe import Factory, Playing, Probe, play_probed
from framework.testing._report import Check, Report
from framework.testing._watch import Watch

__all__ = ["check_strategy"]

_SEEDS = 3


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
        scenario: What to play; by default the first scenario of the default suite.
        seed: Seed of everything.

    Returns:
        The report; `report.raise_if_failed()` makes a test of it.

    Raises:
        ValueError: If the game ships no suite and no scenario is given.
    """
    game = made(game)
    scenario = first_scenario(game, seed) if scenario is None else scenario
    name = getattr(strategy, "__name__", type(strategy).__name__)
    return Report(f"strategy {name} in {game.name}", tuple(_Bench(strategy, game, scenario, seed).checks()))


class _Bench:
    """Plays the games that the checks look at, each of them once."""

    def __init__(self, strategy: Factory, game: Game[Any, Any], scenario: BaseModel, seed: int) -> None:
        self.strategy, self.game, self.scenario, self.seed = strategy, game, scenario, seed
        self.seats = game.seats(scenario)
        self.playings: list[Playing] = []

    def checks(self) -> Iterator[Check]:
        made_well = judge("an instance a seat", self._instances)
        yield made_well
        if not made_well.passed:
            return
        before = random.getstate()
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

    def _play(self, probes: Sequence[Probe], seed: int, game: Game[Any, Any] | None = None) -> Iterator[str]:
        playing = play_probed(game or self.game, self.scenario, probes, seed)
        self.playings.append(playing)
        if aborted := playing.trace.aborted:
            yield f"seed {seed}: {aborted.boundary}: {aborted.error}"

    def _itself(self) -> Iterator[str]:
        for seed in range(self.seed, self.seed + _SEEDS):
            yield from self._play([Probe(self.strategy()) for _ in range(self.seats)], seed)

    def _against_noise(self) -> Iterator[str]:
        noise = NoiseStrategy.of(self.game)
        for own in range(min(self.seats, 4)):
            probes = [Probe(self.strategy() if seat == own else noise()) for seat in range(self.seats)]
            yield from self._play(probes, self.seed + own)

    def _forged(self) -> Iterator[str]:
        for seed in range(self.seed, self.seed + _SEEDS):
            forger = Forger(random.Random(seed))
            yield from self._play([Probe(self.strategy(), forger) for _ in range(self.seats)], seed)

    def _refused(self) -> Iterator[str]:
        watch = Watch(self.game, self.scenario, refuse_first=True)
        yield from self._play([Probe(self.strategy()) for _ in range(self.seats)], self.seed, watch.game)

    def _same(self) -> Iterator[str]:
        first, second = (
            play_probed(self.game, self.scenario, [Probe(self.strategy()) for _ in range(self.seats)], self.seed)
            for _ in range(2)
        )
        for seat, (a, b) in enumerate(zip(first.seats, second.seats, strict=True)):
            if [_tuple(moves) for moves in a.returned] != [_tuple(moves) for moves in b.returned]:
                yield f"seat {seat} moves differently at the second playing; draw all randomness from self.rng"
        if first.trace.comparable() != second.trace.comparable():
            yield "the two traces differ; write nothing into the record that differs between two playings"

    def _returns(self) -> Iterator[str]:
        for probe in self._own():
            for moves in probe.returned:
                if moves is None:
                    continue
                if isinstance(moves, str | bytes) or not isinstance(moves, Sequence):
                    yield f"a move returned {type(moves).__name__}; return a list or a tuple of actions"
                elif strange := [move for move in moves if not isinstance(move, Action)]:
                    yield f"a move holds a {type(strange[0]).__name__}; return actions only"

    def _mutations(self) -> Iterator[str]:
        for probe in self._own():
            yield from dict.fromkeys(probe.mutations)

    def _global_state(self, before: object) -> Iterator[str]:
        if random.getstate() != before:
            yield "it draws from the global random module; draw from self.rng"

    def _own(self) -> Iterator[Probe]:
        for playing in self.playings:
            for probe in playing.seats:
                if not isinstance(probe.inner, NoiseStrategy):
                    yield probe


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
