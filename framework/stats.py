"""Intervals and tests: Wilson, a bootstrap over games, Benjamini-Hochberg, and paired differences."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from statistics import NormalDist
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Interval",
    "Line",
    "Paired",
    "benjamini_hochberg",
    "bootstrap_mean",
    "paired_test",
    "regression",
    "share_test",
    "wilson",
]

_DRAWS_AT_ONCE = 2_000_000
_ROUNDING = 1e-12
"""Range, relative to the mean, within which differences are equal but for rounding."""


class Interval(NamedTuple):
    """An estimate with its interval; `low` and `high` are NaN where one observation gives no interval."""

    mean: float
    low: float
    high: float


class Paired(NamedTuple):
    """A paired comparison.

    Attributes:
        n: Number of pairs.
        difference: Mean of first minus second.
        low: Lower end of its interval.
        high: Upper end of its interval.
        p: Two-sided p value; NaN with fewer than two pairs.
    """

    n: int
    difference: float
    low: float
    high: float
    p: float


class Line(NamedTuple):
    """A least-squares line.

    Attributes:
        slope: Its slope.
        intercept: Its value at 0.
        low: Lower end of the slope's interval; NaN with two points.
        high: Upper end of it.
    """

    slope: float
    intercept: float
    low: float
    high: float


def wilson(successes: float, n: int, confidence: float = 0.95) -> Interval:
    """Wilson's score interval of a share (Wilson 1927).

    Args:
        successes: How many of the `n`; a mean of shares times `n` may stand for it.
        n: Number of independent observations.
        confidence: Coverage.

    Returns:
        The share itself, not the middle of the interval, and the interval; all within 0..1.

    Raises:
        ValueError: If `n` is below 1 or `successes` is not within 0..n.
    """
    if n < 1 or not 0 <= successes <= n:
        raise ValueError(f"a share of {successes} in {n} is none; give 0 to n of at least 1")
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share = successes / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * float(np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)))
    low = max(0.0, middle - half) if successes > 0 else 0.0  # rounding would leave a trace of itself at the ends
    return Interval(share, low, min(1.0, middle + half) if successes < n else 1.0)


def bootstrap_mean(
    values: Sequence[float] | NDArray[np.float64],
    clusters: Sequence[Hashable] | None = None,
    *,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Interval:
    """The mean with a percentile bootstrap interval over whole clusters.

    Seats of one game are not independent, so games are drawn, each with all its values; the mean is over
    values. Cost is `resamples` times the number of clusters.

    Args:
        values: The values, shape `(n,)`.
        clusters: The game of each value; None takes each value as a game of its own.
        confidence: Coverage.
        resamples: How often the games are drawn anew.
        seed: Seed of the draws; the same input gives the same interval.

    Raises:
        ValueError: If there are no values, or not one cluster for each.
    """
    data = np.asarray(values, dtype=np.float64)
    if not len(data) or (clusters is not None and len(clusters) != len(data)):
        raise ValueError(f"a mean of {len(data)} values in {len(clusters or ())} clusters; give one cluster a value")
    sums, counts = _by_cluster(data, clusters)
    if len(sums) < 2:
        return Interval(float(data.mean()), float("nan"), float("nan"))
    rng = np.random.default_rng(seed)
    means = np.empty(resamples)
    step = max(1, _DRAWS_AT_ONCE // len(sums))
    for begin in range(0, resamples, step):
        size = min(step, resamples - begin)
        drawn = rng.integers(len(sums), size=(size, len(sums)))
        means[begin : begin + size] = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.quantile(means, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(float(data.mean()), float(low), float(high))


def _by_cluster(
    data: NDArray[np.float64], clusters: Sequence[Hashable] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sum and count of the values of each cluster, in order of first appearance."""
    if clusters is None:
        return data, np.ones_like(data)
    number: dict[Hashable, int] = {}
    index = np.array([number.setdefault(cluster, len(number)) for cluster in clusters])
    return np.bincount(index, weights=data).astype(np.float64), np.bincount(index).astype(np.float64)


def benjamini_hochberg(p: Sequence[float]) -> list[float]:
    """q values that control the false discovery rate (Benjamini and Hochberg 1995), in the order of `p`.

    A NaN stands for a test that was not made: it stays NaN and does not count.
    """
    values = np.asarray(p, dtype=np.float64)
    q = np.full(len(values), np.nan)
    made = np.flatnonzero(~np.isnan(values))
    order = made[np.argsort(values[made], kind="stable")]
    scaled = values[order] * len(order) / np.arange(1, len(order) + 1)
    q[order] = np.minimum(1.0, np.minimum.accumulate(scaled[::-1])[::-1])
    return [float(value) for value in q]


def paired_test(
    first: Sequence[float],
    second: Sequence[float],
    *,
    test: Literal["t", "wilcoxon"] = "t",
    confidence: float = 0.95,
) -> Paired:
    """Compare two measurements of the same things.

    Args:
        first: One measurement of each thing.
        second: The other, in the same order.
        test: Student's paired t, or Wilcoxon's signed ranks. Where all differences are equal, Student's t does not
            exist, and p is that of the exact test of signs, `2 ** (1 - n)`.
        confidence: Coverage of the interval, which is Student's in both cases.

    Raises:
        ValueError: If the two differ in length or are empty.
    """
    if len(first) != len(second) or not len(first):
        raise ValueError(f"{len(first)} and {len(second)} values do not pair; give two sequences of one length")
    from scipy import stats

    differences = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    n, mean = len(differences), float(differences.mean())
    if n < 2:
        return Paired(n, mean, float("nan"), float("nan"), float("nan"))
    error = float(differences.std(ddof=1)) / float(np.sqrt(n))
    half = float(stats.t.ppf((1 + confidence) / 2, n - 1)) * error
    if not differences.any():
        p = 1.0
    elif test == "wilcoxon":
        p = float(stats.wilcoxon(differences).pvalue)
    elif np.ptp(differences) <= _ROUNDING * abs(mean):
        p = 2.0 ** (1 - n)
    else:
        p = float(stats.ttest_1samp(differences / abs(differences).max(), 0.0).pvalue)
    return Paired(n, mean, mean - half, mean + half, p)


def share_test(successes: int, n: int, other_successes: int, other_n: int) -> float:
    """The two-sided p value of Fisher's exact test that two shares are one (Fisher 1922).

    Raises:
        ValueError: If a number of successes is not within 0..n.
    """
    for count, total in ((successes, n), (other_successes, other_n)):
        if not 0 <= count <= total:
            raise ValueError(f"a share of {count} in {total} is none; give 0 to n")
    from scipy import stats

    table = [[successes, n - successes], [other_successes, other_n - other_successes]]
    return float(stats.fisher_exact(table).pvalue)


def regression(x: Sequence[float], y: Sequence[float], *, confidence: float = 0.95) -> Line | None:
    """The least-squares line of `y` on `x`, with Student's interval of its slope.

    Returns:
        The line; None with fewer than two points, or where `x` does not vary.

    Raises:
        ValueError: If the two differ in length.
    """
    if len(x) != len(y):
        raise ValueError(f"{len(x)} and {len(y)} values do not pair; give two sequences of one length")
    across, up = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if len(across) < 2 or np.ptp(across) == 0:
        return None
    from scipy import stats

    offset = across - across.mean()
    spread = float(offset @ offset)
    slope = float(offset @ up) / spread
    intercept = float(up.mean() - slope * across.mean())
    freedom = len(across) - 2
    if freedom < 1:
        return Line(slope, intercept, float("nan"), float("nan"))
    residual = up - intercept - slope * across
    error = float(np.sqrt(float(residual @ residual) / freedom / spread))
    half = float(stats.t.ppf((1 + confidence) / 2, freedom)) * error
    return Line(slope, intercept, slope - half, slope + half)
