"""Ratings of the players of some runs: standings, references beside them, and how each rating came about."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from framework import registry
from framework.analysis.findings import Field, Findings, Value
from framework.analysis.samples import Sample
from framework.errors import UserError
from framework.experiment import Reporting
from framework.ratings import BASE, SPREAD, Change, Ladder, Rated, Rating, player_of, ranked
from framework.results import GameResult
from framework.specs import StrategySpec
from framework.stats import Interval
from framework.tables import RunResults

__all__ = ["Ratings", "Standing", "Step", "history_table", "is_reference", "rate", "reference_table", "standings_table"]


class Standing(NamedTuple):
    """A player and how it has done.

    Attributes:
        player: The player.
        games: Finished games in which it played.
        rated: Games that have rated it, by what it is rated by; empty for a reference.
        mmr: Its MMR; None for a reference.
        ratings: Its ratings, in the order of `Ratings.rated`; empty for a reference.
        scores: The mean of the raw scores of its seats, in the same order, with an interval over games.
    """

    player: str
    games: int
    rated: tuple[int, ...]
    mmr: float | None
    ratings: tuple[Rating, ...]
    scores: tuple[Interval | None, ...]


class Step(NamedTuple):
    """A change of a rating, with the game that made it.

    Attributes:
        order: Place of the game in the order of rating, from 0.
        run: Its run.
        number: Its number in the run.
        task: Its task.
        change: What it did.
        mmr: The player's MMR after the game.
    """

    order: int
    run: str
    number: int
    task: str
    change: Change
    mmr: float


@dataclass(frozen=True, slots=True)
class Ratings:
    """What rating some runs gave.

    Attributes:
        game: The game.
        rated: What players are rated by.
        standings: The competitors, by MMR.
        references: The points of reference, by their raw scores: the first that is rated counts most.
        history: Every change, in the order of rating.
    """

    game: str
    rated: tuple[Rated, ...]
    standings: tuple[Standing, ...]
    references: tuple[Standing, ...]
    history: tuple[Step, ...]


@cache
def is_reference(player: str) -> bool:
    """Whether a player is a point of reference: a registered strategy that says so."""
    name = StrategySpec.parse(player.removesuffix(" (adversarial)")).name
    if all(entry.name != name for entry in registry.entries(registry.STRATEGIES)):
        return False
    try:
        return registry.strategy(name).reference
    except UserError:
        return False


def rate(
    runs: Sequence[RunResults],
    *,
    competes: Callable[[str], bool] = lambda player: not is_reference(player),
    reporting: Reporting | None = None,
) -> Ratings:
    """Rate the players of runs of one game, in the order of the runs and of the games' numbers.

    Args:
        runs: The games.
        competes: Whether a player is rated; the others are listed as references.
        reporting: How intervals are made.

    Raises:
        UserError: If the game is unknown, or rates nobody.
    """
    game = next(result.game for run in runs for result in run.results)
    kind = registry.game(game)
    if not kind.rated:
        raise UserError(f"game {game!r} declares nothing to rate players by; set `rated` on its class")
    ladder = Ladder(kind)
    history: list[Step] = []
    order = 0
    for run in runs:
        for result in run.results:
            changes = ladder.add(result, competes)
            history += [Step(order, run.name, result.number, result.task, c, ladder.mmr(c.player)) for c in changes]
            order += 1
    games = [result for run in runs for result in run.results if result.abort is None]
    found = [_standing(player, games, ladder, history, competes, reporting) for player in _players(games)]
    places = {player: place for place, player in enumerate(ranked([each.player for each in found], ladder))}
    lower = {metric.name for metric in kind.metrics if metric.better == "lower"}
    return Ratings(
        game=game,
        rated=kind.rated,
        standings=tuple(sorted((s for s in found if s.mmr is not None), key=lambda s: places[s.player])),
        references=tuple(
            sorted((s for s in found if s.mmr is None), key=lambda s: (_raw(s, kind.rated, lower), s.player))
        ),
        history=tuple(history),
    )


def _players(games: Sequence[GameResult]) -> list[str]:
    return sorted({player_of(result, seat) for result in games for seat in range(result.seats)})


def _standing(
    player: str,
    games: Sequence[GameResult],
    ladder: Ladder,
    history: Sequence[Step],
    competes: Callable[[str], bool],
    reporting: Reporting | None,
) -> Standing:
    own = [game for game in games if any(player_of(game, seat) == player for seat in range(game.seats))]
    scores = tuple(_mean_score(player, own, rated, ladder.complete, reporting or Reporting()) for rated in ladder.rated)
    if not competes(player):
        return Standing(player, len(own), (), None, (), scores)
    counts = tuple(
        sum(step.change.player == player and step.change.rated == rated.name for step in history)
        for rated in ladder.rated
    )
    ratings = tuple(ladder.rating(rated.name, player) for rated in ladder.rated)
    return Standing(player, len(own), counts, ladder.mmr(player), ratings, scores)


def _mean_score(
    player: str, games: Sequence[GameResult], rated: Rated, complete: Container[str], reporting: Reporting
) -> Interval | None:
    """The mean over the player's seats, of the first metric that has values for it."""
    for metric in rated.metrics:
        sample, whole = Sample(), True
        for number, game in enumerate(games):
            value = game.metrics.get(metric)
            for seat, score in enumerate(value.seats if value else ()):
                if player_of(game, seat) != player:
                    continue
                if score is not None:
                    sample.add(number, [score])
                elif metric in complete:
                    whole = False
        if len(sample) and whole:
            return sample.mean(reporting)
    return None


def _raw(standing: Standing, rated: Sequence[Rated], lower: set[str]) -> tuple[float, ...]:
    """Orders by raw scores, best first; a score that is missing comes last."""
    signs = (1.0 if each.metrics[0] in lower else -1.0 for each in rated)
    return tuple(float("inf") if s is None else sign * s.mean for s, sign in zip(standing.scores, signs, strict=True))


def standings_table(ratings: Ratings, reporting: Reporting | None = None) -> Findings:
    """The competitors by MMR, with each rating and the raw scores behind it."""
    fields = [
        Field("rank", "#", "count"),
        Field("player", "player", "text"),
        Field("games", "games", "count"),
        Field("mmr", "MMR", better="higher", digits=0),
    ]
    for each in ratings.rated:
        fields += [
            Field(f"{each.name}_mu", f"{each.title} mu", better="higher"),
            Field(f"{each.name}_sigma", "sigma"),
            Field(f"{each.name}_games", "n", "count"),
            Field(f"{each.name}_score", f"{each.title}, raw"),
        ]
    rows: list[tuple[Value, ...]] = []
    for rank, standing in enumerate(ratings.standings, start=1):
        cells: list[Value] = [rank, standing.player, standing.games, standing.mmr]
        for rating, count, score in zip(standing.ratings, standing.rated, standing.scores, strict=True):
            cells += [rating.mu, rating.sigma, count, score]
        rows.append(tuple(cells))
    note = (
        f"MMR = {BASE:g} + {SPREAD:g} x the mean of mu - 3 sigma. Raw scores are means over seats with "
        f"{100 * (reporting or Reporting()).confidence:g} % intervals over games; n counts the games that rated."
    )
    if not ratings.history:
        note += " No game had two competitors with scores, so nobody is rated yet."
    return Findings(tuple(fields), tuple(rows), note, "ratings", "Ratings")


def reference_table(ratings: Ratings) -> Findings:
    """The points of reference by their raw scores."""
    fields = (
        Field("rank", "#", "count"),
        Field("player", "player", "text"),
        Field("games", "games", "count"),
        *(Field(f"{each.name}_score", f"{each.title}, raw") for each in ratings.rated),
    )
    rows = tuple((rank, s.player, s.games, *s.scores) for rank, s in enumerate(ratings.references, start=1))
    note = "Ranked by raw scores, from left to right; they are in no rating."
    return Findings(fields, rows, note, "references", "Points of reference")


def history_table(ratings: Ratings) -> Findings:
    """Every change of a rating, in the order of rating."""
    fields = (
        Field("order", "order", "count"),
        Field("run", "run", "text"),
        Field("number", "game", "count"),
        Field("task", "task", "text"),
        Field("rated", "rated by", "text"),
        Field("player", "player", "text"),
        Field("metric", "metric", "text"),
        Field("score", "score"),
        Field("mu_before", "mu before"),
        Field("sigma_before", "sigma before"),
        Field("mu", "mu"),
        Field("sigma", "sigma"),
        Field("mmr", "MMR after the game"),
    )
    rows = tuple(
        (
            *step[:4],
            *step.change[:4],
            *step.change.before,
            *step.change.after,
            step.mmr,
        )
        for step in ratings.history
    )
    return Findings(fields, rows, "", "history", "How the ratings came about")
