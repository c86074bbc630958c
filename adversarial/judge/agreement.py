"""How far two measurements of the same beliefs agree, cell by cell (CalBench paper, I.5 and table 17).

A cell is one belief of a game: of an observer, about one state of a target. What is compared are signed changes,
summed over the rounds. A cell that only one of the two measured counts as 0 for the other.

Everything in table 17 follows from a few sums over cells. They are kept by game, so that an interval costs no
second pass: games are drawn anew, and their sums added up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from framework.stats import Interval

__all__ = ["STATISTICS", "Cell", "Statistic", "agreement", "statistics_of"]

Floats = NDArray[np.float64]


class Cell(NamedTuple):
    """Which belief it is."""

    game_id: str
    observer: int
    target: int
    slot: int


@dataclass(frozen=True, slots=True)
class _Sums:
    """Sums over cells; each attribute has the shape (...,), and the moments end in one more axis.

    Attributes:
        signs: Number of cells by sign of the first and of the second, each -1, 0 and 1; shape (..., 3, 3).
        union: n, sum x, sum y, sum xx, sum yy, sum xy over all cells; shape (..., 6).
        both: The same over the cells in which both are non-zero; shape (..., 6).
    """

    signs: Floats
    union: Floats
    both: Floats

    @property
    def n(self) -> Floats:
        total: Floats = self.signs.sum(axis=(-1, -2))
        return total

    @property
    def first(self) -> Floats:
        """Cells in which the first is non-zero."""
        nonzero: Floats = self.n - self.signs[..., 1, :].sum(axis=-1)
        return nonzero

    @property
    def second(self) -> Floats:
        """Cells in which the second is non-zero."""
        nonzero: Floats = self.n - self.signs[..., :, 1].sum(axis=-1)
        return nonzero

    @property
    def same(self) -> Floats:
        """Cells in which both are non-zero and of one sign."""
        return self.signs[..., 0, 0] + self.signs[..., 2, 2]

    @property
    def shared(self) -> Floats:
        """Cells in which both are non-zero."""
        return self.same + self.signs[..., 0, 2] + self.signs[..., 2, 0]


def _ratio(above: Floats, below: Floats) -> Floats:
    """NaN where there is nothing to divide by."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(below > 0, above / below, np.nan)


def _kappa(sums: _Sums) -> Floats:
    """Cohen's kappa of the signs; NaN where chance alone would always agree."""
    n = sums.n
    seen = _ratio(np.trace(sums.signs, axis1=-2, axis2=-1), n)
    chance = _ratio((sums.signs.sum(axis=-1) * sums.signs.sum(axis=-2)).sum(axis=-1), n * n)
    return _ratio(seen - chance, 1.0 - chance)


def _pearson(moments: Floats) -> Floats:
    """Pearson's correlation from its moments; NaN where one of the two never varies."""
    n, x, y, xx, yy, xy = np.moveaxis(moments, -1, 0)
    spread = (n * xx - x * x) * (n * yy - y * y)
    return _ratio(n * xy - x * y, np.sqrt(np.maximum(spread, 0.0)))


class Statistic(NamedTuple):
    """A line of table 17.

    Attributes:
        name: Its key.
        title: What it is.
        of: Its value, from sums over cells.
        counted: Whether it is a plain count.
    """

    name: str
    title: str
    of: Callable[[_Sums], Floats]
    counted: bool = False


STATISTICS = (
    Statistic("cells", "Union cells compared", lambda sums: sums.n, counted=True),
    Statistic("judge_nonzero", "Judge non-zero cells", lambda sums: sums.first, counted=True),
    Statistic("reflection_nonzero", "Self-reflection non-zero cells", lambda sums: sums.second, counted=True),
    Statistic("both_nonzero", "Both non-zero", lambda sums: sums.shared, counted=True),
    Statistic(
        "jaccard",
        "Non-zero support, Jaccard",
        lambda sums: _ratio(sums.shared, sums.first + sums.second - sums.shared),
    ),
    Statistic("judge_coverage", "Judge's coverage of reflection", lambda sums: _ratio(sums.shared, sums.second)),
    Statistic("reflection_coverage", "Reflection's coverage of judge", lambda sums: _ratio(sums.shared, sums.first)),
    Statistic("direction", "Same direction where both non-zero", lambda sums: _ratio(sums.same, sums.shared)),
    Statistic("kappa", "Cohen's kappa of signs", _kappa),
    Statistic("pearson", "Pearson, union", lambda sums: _pearson(sums.union)),
    Statistic("pearson_both", "Pearson, both non-zero", lambda sums: _pearson(sums.both)),
)
"""Table 17, line by line."""


def _sums(cells: Sequence[tuple[float, float]]) -> _Sums:
    values = np.array(cells, dtype=np.float64).reshape(-1, 2)
    x, y = values.T
    signs = np.zeros((3, 3))
    np.add.at(signs, (np.sign(x).astype(int) + 1, np.sign(y).astype(int) + 1), 1.0)
    nonzero = (x != 0) & (y != 0)
    return _Sums(signs, _moments(x, y), _moments(x[nonzero], y[nonzero]))


def _moments(x: Floats, y: Floats) -> Floats:
    return np.array([len(x), x.sum(), y.sum(), (x * x).sum(), (y * y).sum(), (x * y).sum()])


def statistics_of(cells: Sequence[tuple[float, float]]) -> dict[str, float]:
    """The statistics of table 17 of some cells, by name.

    Args:
        cells: The summed change of each by the judge and by reflection.
    """
    sums = _sums(cells)
    return {statistic.name: float(statistic.of(sums)) for statistic in STATISTICS}


def agreement(
    judge: Mapping[Cell, float],
    reflection: Mapping[Cell, float],
    *,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> dict[str, Interval]:
    """The statistics of table 17 with bootstrap intervals over games, by name.

    The union is of all cells that reflection measured, zero or not, and of the judge's non-zero ones.

    Args:
        judge: The judge's summed changes.
        reflection: The reported ones.
        confidence: Coverage.
        resamples: How often the games are drawn anew.
        seed: Seed of the draws.

    Returns:
        NaN for what is not defined, as a correlation of what never varies; no interval of counts and of one game.
    """
    by_game: dict[str, list[tuple[float, float]]] = {}
    for cell in sorted({*reflection, *(cell for cell, delta in judge.items() if delta)}):
        by_game.setdefault(cell.game_id, []).append((judge.get(cell, 0.0), reflection.get(cell, 0.0)))
    games = [_sums(cells) for cells in by_game.values()]
    found = {statistic.name: Interval(np.nan, np.nan, np.nan) for statistic in STATISTICS}
    if not games:
        return {
            **found,
            **{statistic.name: Interval(0.0, np.nan, np.nan) for statistic in STATISTICS if statistic.counted},
        }
    signs, union, both = (np.stack([getattr(game, part) for game in games]) for part in ("signs", "union", "both"))
    whole = _Sums(signs.sum(axis=0), union.sum(axis=0), both.sum(axis=0))
    drawn = np.random.default_rng(seed).multinomial(len(games), np.full(len(games), 1 / len(games)), size=resamples)
    redrawn = _Sums(*(np.tensordot(drawn.astype(np.float64), part, axes=1) for part in (signs, union, both)))
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    for statistic in STATISTICS:
        low = high = np.nan
        values = np.atleast_1d(statistic.of(redrawn))
        defined = values[~np.isnan(values)]
        if not statistic.counted and len(games) > 1 and len(defined):
            low, high = np.quantile(defined, tails)
        found[statistic.name] = Interval(float(statistic.of(whole)), float(low), float(high))
    return found
