"""Fisher's test and least squares, against scipy, a slow obvious sum and a hand computation."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from framework.stats import regression, share_test

counts = st.integers(1, 25).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
finite = st.floats(-1e3, 1e3)


def slow_fisher(a: int, n: int, b: int, m: int) -> Fraction:
    """The chance of all tables with the same margins that are no likelier than this one."""
    whole = math.comb(n + m, a + b)
    possible = range(max(0, a + b - m), min(n, a + b) + 1)
    chances = {k: Fraction(math.comb(n, k) * math.comb(m, a + b - k), whole) for k in possible}
    return sum((p for p in chances.values() if p <= chances[a]), Fraction(0))


@given(counts, counts)
def test_fishers_test_sums_the_tables_that_are_no_likelier(one: tuple[int, int], two: tuple[int, int]):
    assert share_test(*one, *two) == pytest.approx(float(slow_fisher(*one, *two)), rel=1e-6)


def test_fishers_test_of_the_lady_tasting_tea():
    # 3 of 4 and 1 of 4: (1 + 16) / 70 on either side
    assert share_test(3, 4, 1, 4) == pytest.approx(34 / 70)


def test_fishers_test_refuses_what_is_no_share():
    with pytest.raises(ValueError, match="a share of 5 in 4"):
        share_test(1, 4, 5, 4)


def test_least_squares_by_hand():
    # x - 2 = -1, 0, 1 and y - 3 = -2, 1, 1: slope 3/2; residuals -1/2, 1, -1/2: s^2 = 3/2, error sqrt(3/4)
    line = regression([1, 2, 3], [1, 4, 4])
    assert line is not None
    assert (line.slope, line.intercept) == pytest.approx((1.5, 0.0))
    half = 12.7062 * math.sqrt(0.75)
    assert (line.low, line.high) == pytest.approx((1.5 - half, 1.5 + half), abs=1e-3)


@given(st.lists(st.tuples(finite, finite), min_size=3, max_size=30))
def test_least_squares_is_scipys(points: list[tuple[float, float]]):
    x, y = zip(*points, strict=True)
    if max(x) - min(x) < 1e-3 or max(y) - min(y) < 1e-3:
        return
    line, expected = regression(x, y), scipy_stats.linregress(x, y)
    assert line is not None
    assert (line.slope, line.intercept) == pytest.approx((expected.slope, expected.intercept), rel=1e-6, abs=1e-6)
    half = scipy_stats.t.ppf(0.975, len(x) - 2) * expected.stderr
    assert line.high - line.slope == pytest.approx(half, rel=1e-4, abs=1e-4)


def test_no_line_through_one_place_and_no_interval_through_two_points():
    assert regression([1.0, 1.0], [0.0, 5.0]) is None
    assert regression([1.0], [0.0]) is None
    line = regression([0.0, 1.0], [0.0, 5.0])
    assert line is not None
    assert line.slope == 5.0
    assert math.isnan(line.low)
    with pytest.raises(ValueError, match="2 and 1 values do not pair"):
        regression([1.0, 2.0], [1.0])
