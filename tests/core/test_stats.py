"""Intervals and tests, against hand-computed values and slow obvious implementations."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from framework.stats import benjamini_hochberg, bootstrap_mean, paired_test, wilson

finite = st.floats(-1e6, 1e6)
ordinary = finite.map(lambda value: round(value, 6))
"""Not so small that a square of it is 0, as it then is for scipy."""


def test_wilson_of_eight_in_ten_is_the_published_value():
    share, low, high = wilson(8, 10)
    assert share == 0.8
    # (0.8 + 1.96^2/20 -+ 1.96 sqrt(0.8*0.2/10 + 1.96^2/400)) / (1 + 1.96^2/10)
    assert low == pytest.approx(0.4902, abs=5e-5)
    assert high == pytest.approx(0.9433, abs=5e-5)


def test_wilson_of_none_starts_at_zero_and_does_not_end_there():
    assert wilson(0, 10) == pytest.approx((0.0, 0.0, 0.2775), abs=5e-5)
    assert wilson(10, 10) == pytest.approx((1.0, 0.7225, 1.0), abs=5e-5)


@pytest.mark.parametrize("n", range(1, 60))
def test_wilson_of_none_and_of_all_ends_exactly_at_zero_and_at_one(n: int):
    assert wilson(0, n).low == 0.0
    assert wilson(n, n).high == 1.0


@given(st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_ends_are_the_shares_that_the_score_test_just_rejects(case: tuple[int, int]):
    successes, n = case
    share, low, high = wilson(successes, n)
    z = statistics.NormalDist().inv_cdf(0.975)
    for end in (low, high):
        if 1e-9 < end < 1 - 1e-9:
            assert abs(share - end) == pytest.approx(z * math.sqrt(end * (1 - end) / n), rel=1e-6)


@pytest.mark.parametrize(("successes", "n"), [(1, 0), (3, 2), (-1, 2)])
def test_wilson_refuses_what_is_no_share(successes: int, n: int):
    with pytest.raises(ValueError, match=f"a share of {successes} in {n}"):
        wilson(successes, n)


def test_bootstrap_draws_whole_games():
    values = [1.0, 2.0, 3.0, 10.0, 20.0, 4.0]
    games = ["a", "a", "b", "b", "c", "c"]
    found = bootstrap_mean(values, games, resamples=300, seed=5)
    rng = np.random.default_rng(5)
    by_game = {"a": [1.0, 2.0], "b": [3.0, 10.0], "c": [20.0, 4.0]}
    means = []
    for draw in rng.integers(3, size=(300, 3)):
        sample = [value for index in draw for value in by_game["abc"[index]]]
        means.append(sum(sample) / len(sample))
    assert found.mean == pytest.approx(40 / 6)
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(means, [0.025, 0.975])))


def test_bootstrap_weighs_a_game_by_its_seats():
    assert bootstrap_mean([0.0, 0.0, 0.0, 1.0], [1, 1, 1, 2]).mean == 0.25


def test_bootstrap_is_the_same_for_the_same_seed_and_in_pieces(monkeypatch: pytest.MonkeyPatch):
    values = list(np.random.default_rng(0).normal(size=50))
    whole = bootstrap_mean(values, seed=3)
    monkeypatch.setattr("framework.stats._DRAWS_AT_ONCE", 1000)
    assert bootstrap_mean(values, seed=3) == whole
    assert bootstrap_mean(values, seed=4) != whole


def test_bootstrap_covers_the_mean_about_as_often_as_it_says():
    rng = np.random.default_rng(1)
    covered = 0
    for trial in range(300):
        low, high = bootstrap_mean(rng.exponential(size=60), resamples=400, seed=trial)[1:]
        covered += low <= 1.0 <= high
    assert 0.88 <= covered / 300 <= 0.98


def test_one_game_has_a_mean_and_no_interval():
    mean, low, high = bootstrap_mean([1.0, 3.0], ["only", "only"])
    assert mean == 2.0
    assert math.isnan(low)
    assert math.isnan(high)


def test_a_mean_of_nothing_is_refused():
    with pytest.raises(ValueError, match="a mean of 0 values"):
        bootstrap_mean([])
    with pytest.raises(ValueError, match="a mean of 2 values in 1 clusters"):
        bootstrap_mean([1.0, 2.0], ["a"])


def test_q_values_of_the_textbook_case():
    # p * 5 / rank, then the running minimum from the largest p down
    assert benjamini_hochberg([0.01, 0.04, 0.03, 0.005, 0.2]) == pytest.approx([0.025, 0.05, 0.05, 0.025, 0.2])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_q_is_the_smallest_rate_at_which_the_step_up_procedure_rejects(p: list[float]):
    q = benjamini_hochberg(p)
    assert q == pytest.approx(list(scipy_stats.false_discovery_control(p)))
    for i, value in enumerate(p):
        obvious = min(min(1.0, len(p) * other / sum(x <= other for x in p)) for other in p if other >= value)
        assert q[i] == pytest.approx(obvious)


def test_a_test_that_was_not_made_does_not_count():
    q = benjamini_hochberg([0.01, math.nan, 0.02])
    assert q[0] == pytest.approx(0.02)
    assert math.isnan(q[1])
    assert q[2] == pytest.approx(0.02)


@given(st.lists(st.tuples(ordinary, ordinary), min_size=3, max_size=40))
def test_paired_t_is_scipys(pairs: list[tuple[float, float]]):
    first, second = zip(*pairs, strict=True)
    differences = [a - b for a, b in pairs]
    if len(set(differences)) < 2 or statistics.stdev(differences) < 1e-6 * max(map(abs, differences)):
        return
    found = paired_test(first, second)
    expected = scipy_stats.ttest_rel(first, second)
    assert found.p == pytest.approx(float(expected.pvalue), rel=1e-6, abs=1e-12)
    assert (found.low, found.high) == pytest.approx(tuple(expected.confidence_interval()), rel=1e-6)


def test_paired_difference_by_hand():
    # differences 1, 2, 3: mean 2, standard error 1/sqrt(3), t = 3.4641 with 2 degrees of freedom
    n, difference, low, high, p = paired_test([2, 4, 6], [1, 2, 3])
    assert (n, difference) == (3, 2.0)
    assert (low, high) == pytest.approx((2 - 4.302653 / math.sqrt(3), 2 + 4.302653 / math.sqrt(3)), abs=1e-5)
    assert p == pytest.approx(0.0742, abs=5e-5)
    assert paired_test([2, 4, 6], [1, 2, 3], test="wilcoxon").p == 0.25


def test_equal_measurements_do_not_differ_and_one_pair_tells_nothing():
    assert paired_test([1, 2], [1, 2]).p == 1.0
    assert paired_test([1, 2], [1, 2], test="wilcoxon").p == 1.0
    assert math.isnan(paired_test([2], [1]).p)


def test_equal_differences_are_as_likely_as_their_signs():
    assert paired_test([2, 3], [1, 2]).p == 0.5
    first, second = [0.3, 1.3, 2.3, 3.3], [0.0, 1.0, 2.0, 3.0]  # equal but for rounding
    assert len({a - b for a, b in zip(first, second, strict=True)}) > 1
    assert paired_test(first, second).p == scipy_stats.binomtest(4, 4).pvalue
    assert paired_test(first, second, test="wilcoxon").p == scipy_stats.wilcoxon([0.3] * 4).pvalue


def test_what_does_not_pair_is_refused():
    with pytest.raises(ValueError, match="2 and 1 values do not pair"):
        paired_test([1, 2], [1])
