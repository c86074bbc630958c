"""Ratings of players from the raw scores of their games, by OpenSkill with score margins (CalBench paper, E).

A player is a strategy with its parameters. Each thing that a game declares as rated gives every player a
rating of its own, a belief `mu` with uncertainty `sigma` (Plackett-Luce, Weng and Lin 2011). Scores go in as
they are, larger being better; a gap beyond the margin counts for more. The MMR sums them up:
`1000 + 40 x mean(mu - 3 sigma)`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from framework.results import GameResult

if TYPE_CHECKING:
    from framework.game import Game

__all__ = ["BASE", "SPREAD", "START", "Change", "Ladder", "Rated", "Rating", "player_of", "scores_of"]

BASE = 1000.0
"""The MMR of a player of whom nothing is known."""
SPREAD = 40.0
"""MMR for each point of the mean ordinal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rated:
    """Something that players are rated by.

    Attributes:
        name: Its key.
        title: Its heading.
        metrics: The metric that holds the scores. Of several, that counts in a game which most of its
            competitors have a value of, and of equals the first: what a model gives away, say, is measured
            otherwise than what a protocol does.
        margin: The gap between two scores beyond which it counts for more, in units of the metric.
    """

    name: str
    title: str
    metrics: tuple[str, ...]
    margin: float


class Rating(NamedTuple):
    """A belief about a player's strength.

    Attributes:
        mu: Its mean.
        sigma: Its standard deviation.
    """

    mu: float
    sigma: float

    @property
    def ordinal(self) -> float:
        """What the player is good for almost surely: `mu - 3 sigma`."""
        return self.mu - 3.0 * self.sigma


START = Rating(25.0, 25.0 / 3.0)
"""The rating of a player of whom nothing is known."""


class Change(NamedTuple):
    """What one game did to one rating of one player.

    Attributes:
        rated: Name of what it is rated by.
        player: The player.
        metric: The metric that held the scores.
        score: The player's score, the mean over its seats, as the metric has it.
        before: The rating before the game.
        after: The rating after it.
    """

    rated: str
    player: str
    metric: str
    score: float
    before: Rating
    after: Rating


def player_of(result: GameResult, seat: int) -> str:
    """The player in a seat; an adversarial strategy is another player than a cooperative one of its name."""
    strategy = result.strategies[seat]
    return f"{strategy} (adversarial)" if seat in result.adversarial else strategy


def scores_of(result: GameResult, metric: str, *, complete: bool = False) -> dict[str, float]:
    """Each player's score in a finished game: the mean over its seats that have a value.

    Args:
        result: The game.
        metric: The metric.
        complete: Whether a player has a score only where each of its seats has a value.
    """
    value = result.metrics.get(metric)
    found: dict[str, list[float]] = {}
    lacking: set[str] = set()
    if value is not None and result.abort is None:
        for seat, score in enumerate(value.seats):
            if score is not None and math.isfinite(score):
                found.setdefault(player_of(result, seat), []).append(score)
            elif complete:
                lacking.add(player_of(result, seat))
    return {player: fmean(scores) for player, scores in found.items() if player not in lacking}


class Ladder:
    """Ratings that change game by game. The same games in the same order give the same ratings.

    Args:
        game: The game; what it declares as rated names metrics of it.
        known: Ratings to go on from, by what they are and by player.

    Attributes:
        ratings: The ratings, by what they are and by player; a player is in it once a game has rated it.
        complete: The metrics that a player has only where each of its seats has a value.
    """

    def __init__(self, game: type[Game[Any, Any]], known: Mapping[str, Mapping[str, Rating]] | None = None) -> None:
        self.rated: tuple[Rated, ...] = game.rated
        self._lower = {metric.name for metric in game.metrics if metric.better == "lower"}
        self.complete = {metric.name for metric in game.metrics if metric.complete}
        given = known or {}
        self.ratings: dict[str, dict[str, Rating]] = {each.name: dict(given.get(each.name, {})) for each in self.rated}

    @cached_property
    def _models(self) -> dict[str, Any]:
        from openskill.models import PlackettLuce

        return {each.name: PlackettLuce(mu=START.mu, sigma=START.sigma, margin=each.margin) for each in self.rated}

    def rating(self, rated: str, player: str) -> Rating:
        """A player's rating."""
        return self.ratings[rated].get(player, START)

    def mmr(self, player: str) -> float:
        """A player's MMR; a rating that no game has touched counts as that of an unknown player."""
        return BASE + SPREAD * fmean(self.rating(each.name, player).ordinal for each in self.rated)

    def add(self, result: GameResult, competes: Callable[[str], bool] = lambda player: True) -> list[Change]:
        """Rate a game.

        An aborted game changes nothing, nor does one in which fewer than two competitors have a score.

        Args:
            result: The game.
            competes: Whether a player is rated; others are as if they had not been there.
        """
        changes: list[Change] = []
        for rated in self.rated:
            found = [(metric, scores_of(result, metric, complete=metric in self.complete)) for metric in rated.metrics]
            scores = [(metric, {p: s for p, s in by.items() if competes(p)}) for metric, by in found]
            metric, own = max(scores, key=lambda each: len(each[1]))
            if len(own) > 1:
                changes += self._rate(rated, metric, own)
        return changes

    def _rate(self, rated: Rated, metric: str, scores: Mapping[str, float]) -> list[Change]:
        model, players = self._models[rated.name], sorted(scores)
        sign = -1.0 if metric in self._lower else 1.0
        before = [self.rating(rated.name, player) for player in players]
        teams = model.rate(
            [[model.rating(mu=old.mu, sigma=old.sigma)] for old in before],
            scores=[sign * scores[player] for player in players],
        )
        changes = []
        for player, old, (new,) in zip(players, before, teams, strict=True):
            after = Rating(float(new.mu), float(new.sigma))
            self.ratings[rated.name][player] = after
            changes.append(Change(rated.name, player, metric, scores[player], old, after))
        return changes


def ranked(players: Sequence[str], ladder: Ladder) -> list[str]:
    """Players by MMR, best first, then by name."""
    return sorted(players, key=lambda player: (-ladder.mmr(player), player))
