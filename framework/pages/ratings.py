"""The ratings beside a leaderboard: computed from the games that are shown, as `cheaptalk rate` does."""

from __future__ import annotations

import math
from collections.abc import Sequence

from framework.analysis.rating import Ratings, rate
from framework.errors import UserError
from framework.experiment import Reporting
from framework.messages import Frozen
from framework.ratings import BASE, SPREAD
from framework.stats import Interval
from framework.tables import RunResults

__all__ = ["RatedPlayer", "RatingPart", "RatingsPage", "ratings_page"]

_POINTS = 160
"""How many points of its history a player's line has at most."""


class RatingPart(Frozen):
    """One rating of a player.

    Attributes:
        mu: Its mean.
        sigma: Its standard deviation.
        games: Games that have rated it.
        score: The mean of the raw scores behind it; None if there are none.
    """

    mu: float
    sigma: float
    games: int
    score: float | None


class RatedPlayer(Frozen):
    """A player with its ratings.

    Attributes:
        player: The player.
        games: Finished games in which it played.
        mmr: What its ratings come to.
        parts: Its ratings, in the order of `RatingsPage.titles`.
        history: Place in the order of rating and MMR after it, of some of its games.
    """

    player: str
    games: int
    mmr: float
    parts: tuple[RatingPart, ...]
    history: tuple[tuple[int, float], ...]


class Reference(Frozen):
    """A point of reference with the means of its raw scores, in the order of `RatingsPage.titles`."""

    player: str
    games: int
    scores: tuple[float | None, ...]


class RatingsPage(Frozen):
    """The ratings of one game.

    Attributes:
        titles: What players are rated by.
        players: The players, best first.
        references: The points of reference, best first; they are in no rating.
        base: The MMR of a player of whom nothing is known.
        spread: MMR for each point of the mean of `mu - 3 sigma`.
    """

    titles: tuple[str, ...]
    players: tuple[RatedPlayer, ...]
    references: tuple[Reference, ...]
    base: float
    spread: float


def ratings_page(runs: Sequence[RunResults], reporting: Reporting) -> RatingsPage | None:
    """The ratings of runs of one game, in their order.

    Returns:
        The ratings; None where the game rates nobody, or no game had two competitors.
    """
    try:
        ratings = rate(runs, reporting=reporting)
    except UserError:  # the game is not at hand, or declares nothing to rate by
        return None
    if not ratings.history:
        return None
    histories = _histories(ratings)
    return RatingsPage(
        base=BASE,
        spread=SPREAD,
        titles=tuple(rated.title for rated in ratings.rated),
        players=tuple(
            RatedPlayer(
                player=standing.player,
                games=standing.games,
                mmr=round(standing.mmr or BASE, 2),
                parts=tuple(
                    RatingPart(mu=round(r.mu, 3), sigma=round(r.sigma, 3), games=n, score=_mean(score))
                    for r, n, score in zip(standing.ratings, standing.rated, standing.scores, strict=True)
                ),
                history=histories.get(standing.player, ()),
            )
            for standing in ratings.standings
            if any(standing.rated)  # whoever met nobody has no place among those who did
        ),
        references=tuple(
            Reference(player=s.player, games=s.games, scores=tuple(_mean(score) for score in s.scores))
            for s in ratings.references
        ),
    )


def _mean(score: Interval | None) -> float | None:
    return None if score is None or not math.isfinite(score.mean) else float(f"{score.mean:.6g}")


def _histories(ratings: Ratings) -> dict[str, tuple[tuple[int, float], ...]]:
    """Each player's MMR after its games, thinned out evenly; the last is always there."""
    found: dict[str, dict[int, float]] = {}
    for step in ratings.history:
        found.setdefault(step.change.player, {})[step.order] = round(step.mmr, 2)
    return {player: _thinned(tuple(points.items())) for player, points in found.items()}


def _thinned(points: tuple[tuple[int, float], ...]) -> tuple[tuple[int, float], ...]:
    every = -(-len(points) // _POINTS)
    return (*points[:-1][::every], points[-1])
