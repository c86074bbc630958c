"""The conformance kit for games."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any

from pydantic import BaseModel

from framework.game import Game
from framework.testing._declared import channels_exist, phases_are_sound, rounds_are_within_the_seats
from framework.testing._noise import NoiseStrategy
from framework.testing._observed import (
    first_sights_keep_secrets,
    nothing_else_is_in_reach,
    observations_are_values,
    posts_stay_in_their_audience,
)
from framework.testing._probe import Factory, Playing, Probe, play_probed
from framework.testing._report import Check, Report
from framework.testing._traced import audiences_are_kept, metrics_are_sound, same_game, trace_survives_the_disk
from framework.testing._watch import Watch

__all__ = ["check_game", "judge", "made", "scenarios_of"]

_GAMES = 3


def check_game(
    game: Game[Any, Any] | type[Game[Any, Any]],
    scenario: BaseModel | None = None,
    strategies: Factory | Sequence[Factory] | None = None,
    *,
    seed: int = 0,
) -> Report:
    """Put what a game promises to the test.

    The game is played several times: by noise that obeys no rule, and by the given strategies, alone and
    against noise. Give strategies that know the game: noise alone seldom submits a valid batch.

    Args:
        game: The game, or its class, which is then played under its default rules.
        scenario: What to play; by default the first scenarios of the default suite.
        strategies: One class or factory for all seats, or one a seat; by default noise plays alone.
        seed: Seed of everything.

    Returns:
        The report; `report.raise_if_failed()` makes a test of it.

    Raises:
        ValueError: If the game ships no suite and no scenario is given.
    """
    game = made(game)
    bench = _Bench(game, scenarios_of(game, scenario, seed), strategies, seed)
    return Report(f"game {game.name}", tuple(bench.checks()))


def made(game: Game[Any, Any] | type[Game[Any, Any]]) -> Game[Any, Any]:
    """An instance, from a game or its class."""
    return game() if isinstance(game, type) else game


def scenarios_of(game: Game[Any, Any], scenario: BaseModel | None, seed: int) -> tuple[BaseModel, ...]:
    """The given scenario, or the first ones of the default suite.

    Raises:
        ValueError: If none is given and the game names no default suite, or an empty one.
    """
    if scenario is not None:
        return (scenario,)
    shipped = tuple(game.suite(game.default_suite, seed)[:_GAMES]) if game.default_suite else ()
    if not shipped:
        raise ValueError(f"{game.name} ships no scenario in a default suite; give one to the check")
    return shipped


def judge(name: str, complaints: Callable[[], Iterable[str]], note: Callable[[], str] = str) -> Check:
    """A check that passes where nothing complains, with a note then; an exception is a complaint."""
    try:
        found = list(dict.fromkeys(islice(complaints(), 50)))[:5]
    except Exception as error:
        found = [f"{type(error).__name__}: {error}"]
    return Check(name, not found, "; ".join(found) if found else note())


class _Bench:
    """Plays the games that the checks look at."""

    def __init__(
        self,
        game: Game[Any, Any],
        scenarios: Sequence[BaseModel],
        strategies: Factory | Sequence[Factory] | None,
        seed: int,
    ) -> None:
        self.game, self.scenarios, self.strategies = game, scenarios, strategies
        self.seeds = range(seed, seed + _GAMES)
        self.playings: list[Playing] = []

    def checks(self) -> Iterator[Check]:
        game = self.game
        before = random.getstate()
        yield judge("channels exist", lambda: channels_exist(game))
        yield judge("phases are sound", lambda: phases_are_sound(game))
        yield judge("rounds are within the seats", lambda: self._in_each_scenario(rounds_are_within_the_seats))
        yield self._secrets()
        yield judge("noise never breaks the game", lambda: self._play(self._noise))
        if self.strategies is not None:
            yield judge("the given strategies play to the end", lambda: self._play(self._given))
        if self.playings:
            yield from self._look_at_the_games()
            yield from self._watch_the_rules()
        yield judge("the global random state is left alone", lambda: _global_state(before))

    def _in_each_scenario(self, question: Callable[[Game[Any, Any], BaseModel], Iterable[str]]) -> Iterator[str]:
        for scenario in self.scenarios:
            yield from question(self.game, scenario)

    def _secrets(self) -> Check:
        rng = random.Random(self.seeds[0])
        offered = type(self.game).perturb is not Game.perturb
        return judge(
            "secrets do not show in another seat's first observation",
            lambda: self._in_each_scenario(partial(first_sights_keep_secrets, rng=rng)),
            lambda: "" if offered else "not looked into: the game has no perturb",
        )

    def _look_at_the_games(self) -> Iterator[Check]:
        game = self.game
        yield judge("the same seed plays the same game", self._same)
        yield judge("observations are immutable values", lambda: self._of_each(partial(observations_are_values, game)))
        yield judge("nothing else is in reach", lambda: self._of_each(partial(nothing_else_is_in_reach, game)))
        yield judge("posts stay in their audience", lambda: self._of_each(posts_stay_in_their_audience))
        yield judge("audiences are the channels'", lambda: self._of_each(partial(audiences_are_kept, game)))
        yield judge("the trace survives the disk", lambda: self._of_each(partial(trace_survives_the_disk, game)))
        yield judge("metrics are pure and finite", lambda: self._of_each(partial(metrics_are_sound, game)))

    def _of_each(self, question: Callable[[Playing], Iterable[str]]) -> Iterator[str]:
        for playing in self.playings:
            yield from question(playing)

    def _watch_the_rules(self) -> Iterator[Check]:
        watches = [Watch(self.game, scenario) for scenario in self.scenarios]
        for number, seed in enumerate(self.seeds):
            watch, scenario = watches[number % len(watches)], self.scenarios[number % len(watches)]
            for seats in (self._noise,) if self.strategies is None else (self._noise, self._given, self._mixed):
                play_probed(watch.game, scenario, seats(scenario), seed)
        batches = sum(watch.applied for watch in watches), sum(watch.rejected for watch in watches)
        note = f"{batches[0]} applied, {batches[1]} rejected"
        yield judge("rules are pure", lambda: [found for watch in watches for found in watch.pure])
        yield judge("conflicts are typed", lambda: [found for watch in watches for found in watch.typed])
        yield judge(
            "batches apply whole or not at all",
            lambda: [found for watch in watches for found in watch.whole],
            lambda: note,
        )

    def _factories(self, scenario: BaseModel) -> list[Factory]:
        strategies = NoiseStrategy.of(self.game) if self.strategies is None else self.strategies
        return [strategies] * self.game.seats(scenario) if callable(strategies) else list(strategies)

    def _given(self, scenario: BaseModel) -> list[Probe]:
        return [Probe(factory()) for factory in self._factories(scenario)]

    def _noise(self, scenario: BaseModel) -> list[Probe]:
        noise = NoiseStrategy.of(self.game)
        return [Probe(noise()) for _ in range(self.game.seats(scenario))]

    def _mixed(self, scenario: BaseModel) -> list[Probe]:
        noise = NoiseStrategy.of(self.game)
        return [Probe(noise() if seat % 2 else factory()) for seat, factory in enumerate(self._factories(scenario))]

    def _play(self, seats: Callable[[BaseModel], list[Probe]]) -> Iterator[str]:
        for number, seed in enumerate(self.seeds):
            scenario = self.scenarios[number % len(self.scenarios)]
            playing = play_probed(self.game, scenario, seats(scenario), seed)
            self.playings.append(playing)
            if aborted := playing.trace.aborted:
                yield f"seed {seed}: {aborted.boundary}: {aborted.error}"

    def _same(self) -> Iterator[str]:
        for seats in (self._noise,) if self.strategies is None else (self._noise, self._given):
            scenario, seed = self.scenarios[0], self.seeds[0]
            first, second = (play_probed(self.game, scenario, seats(scenario), seed).trace for _ in range(2))
            yield from same_game(first, second)


def _global_state(before: object) -> Iterator[str]:
    if random.getstate() != before:
        yield "something draws from the global random module; draw from the seed that is given"
