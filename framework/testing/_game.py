"""The conformance kit for games."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from pydantic import BaseModel

from framework.game import Game
from framework.testing._declared import channels_exist, phases_are_sound, rounds_are_within_the_seats
from framework.testing._noise import NoiseStrategy
from framework.testing._observed import first_sights_keep_secrets, observations_are_values, posts_stay_in_their_audience
from framework.testing._probe import Factory, Playing, Probe, play_probed
from framework.testing._report import Check, Report
from framework.testing._traced import audiences_are_kept, metrics_are_sound, same_game, trace_survives_the_disk
from framework.testing._watch import Watch

__all__ = ["check_game", "first_scenario", "judge", "made"]

_SEEDS = 3


def check_game(
    game: Game[Any, Any] | type[Game[Any, Any]],
    scenario: BaseModel | None = None,
    strategies: Factory | Sequence[Factory] | None = None,
    *,
    seed: int = 0,
) -> Report:
    """Put what a game promises to the test.

    The game is played several times: by the given strategies, and by noise that obeys no rule.

    Args:
        game: The game, or its class, which is then played under its default rules.
        scenario: What to play; by default the first scenario of the default suite.
        strategies: One class or factory for all seats, or one a seat; by default noise plays alone.
        seed: Seed of everything.

    Returns:
        The report; `report.raise_if_failed()` makes a test of it.

    Raises:
        ValueError: If the game ships no suite and no scenario is given.
    """
    game = made(game)
    scenario = first_scenario(game, seed) if scenario is None else scenario
    bench = _Bench(game, scenario, strategies, seed)
    return Report(f"game {game.name}", tuple(bench.checks()))


def made(game: Game[Any, Any] | type[Game[Any, Any]]) -> Game[Any, Any]:
    """An instance, from a game or its class."""
    return game() if isinstance(game, type) else game


def first_scenario(game: Game[Any, Any], seed: int) -> BaseModel:
    """The first scenario of the default suite.

    Raises:
        ValueError: If the game names no default suite, or the suite is empty.
    """
    scenarios = game.suite(game.default_suite, seed) if game.default_suite else ()
    for scenario in scenarios:
        found: BaseModel = scenario
        return found
    raise ValueError(f"{game.name} ships no scenario in a default suite; give one to the check")


def judge(name: str, complaints: Callable[[], Iterable[str]]) -> Check:
    """A check that passes where nothing complains; an exception is a complaint."""
    try:
        found = list(islice(complaints(), 5))
    except Exception as error:
        found = [f"{type(error).__name__}: {error}"]
    return Check(name, not found, "; ".join(found))


class _Bench:
    """Plays the games that the checks look at, each of them once."""

    def __init__(
        self, game: Game[Any, Any], scenario: BaseModel, strategies: Factory | Sequence[Factory] | None, seed: int
    ) -> None:
        self.game, self.scenario, self.seed = game, scenario, seed
        self.strategies = strategies

    def checks(self) -> Iterator[Check]:
        game, scenario = self.game, self.scenario
        yield judge("channels exist", lambda: channels_exist(game))
        yield judge("phases are sound", lambda: phases_are_sound(game))
        yield judge("rounds are within the seats", lambda: rounds_are_within_the_seats(game, scenario))
        yield judge(
            "secrets do not show in another seat's first observation",
            lambda: first_sights_keep_secrets(game, scenario, random.Random(self.seed)),
        )
        playings: list[Playing] = []
        yield judge("noise never breaks the game", lambda: self._noise(playings))
        if self.strategies is not None:
            yield judge("the given strategies play to the end", lambda: self._given(playings))
        if playings:
            yield from self._look_at(playings)

    def _look_at(self, playings: Sequence[Playing]) -> Iterator[Check]:
        game, scenario = self.game, self.scenario
        each = Each(playings)
        yield judge("the same seed plays the same game", lambda: same_game(playings[-1], self._again))
        yield judge(
            "observations are immutable values", lambda: each(lambda p: observations_are_values(game, scenario, p))
        )
        yield judge("posts stay in their audience", lambda: each(lambda p: posts_stay_in_their_audience(p)))
        yield judge("audiences are the channels'", lambda: each(lambda p: audiences_are_kept(game, scenario, p.trace)))
        yield judge("the trace survives the disk", lambda: each(lambda p: trace_survives_the_disk(game, p.trace)))
        yield judge("metrics are pure and finite", lambda: each(lambda p: metrics_are_sound(game, scenario, p.trace)))
        yield from self._rules()

    def _rules(self) -> Iterator[Check]:
        watch = Watch(self.game, self.scenario)
        for seed in range(self.seed, self.seed + _SEEDS):
            try:
                play_probed(watch.game, self.scenario, self._seat(None), seed)
            except Exception as error:
                watch.whole.append(f"{type(error).__name__}: {error}")
        yield judge("rules are pure", lambda: watch.pure)
        yield judge("conflicts are typed", lambda: watch.typed)
        yield judge("batches apply whole or not at all", lambda: watch.whole)

    def _seat(self, strategies: Factory | Sequence[Factory] | None) -> list[Probe]:
        seats = self.game.seats(self.scenario)
        if strategies is None:
            strategies = NoiseStrategy.of(self.game)
        factories = [strategies] * seats if callable(strategies) else list(strategies)
        return [Probe(factory()) for factory in factories]

    def _noise(self, playings: list[Playing]) -> Iterator[str]:
        for seed in range(self.seed, self.seed + _SEEDS):
            playing = play_probed(self.game, self.scenario, self._seat(None), seed)
            playings.append(playing)
            if aborted := playing.trace.aborted:
                yield f"seed {seed}: {aborted.boundary}: {aborted.error}"

    def _given(self, playings: list[Playing]) -> Iterator[str]:
        playing = play_probed(self.game, self.scenario, self._seat(self.strategies), self.seed)
        playings.append(playing)
        if aborted := playing.trace.aborted:
            yield f"{aborted.boundary}: {aborted.error}"

    def _again(self) -> Playing:
        if self.strategies is None:
            return play_probed(self.game, self.scenario, self._seat(None), self.seed + _SEEDS - 1)
        return play_probed(self.game, self.scenario, self._seat(self.strategies), self.seed)


class Each:
    """Asks the same of every game that was played."""

    def __init__(self, playings: Sequence[Playing]) -> None:
        self._playings = playings

    def __call__(self, question: Callable[[Playing], Iterable[str]]) -> Iterator[str]:
        for playing in self._playings:
            yield from question(playing)
