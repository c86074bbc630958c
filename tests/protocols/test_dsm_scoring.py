"""The formulas of DSM, by hand and against slow implementations."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.dsm import (
    Dsm,
    DsmParams,
    DsmPrivate,
    DsmPrivateParams,
    DsmWelfare,
    choose_offers,
    reward,
    satisfaction,
    scoring_cost,
    success,
    utility,
)


def test_satisfaction_falls_with_cost_and_tells_infeasible_from_dear() -> None:
    assert [satisfaction(cost, 12) for cost in (0, 1, 3, 10, 100, None)] == [11, 10, 8, 1, 1, 0]


def test_a_score_costs_what_it_lacks_and_infeasible_costs_nothing() -> None:
    assert [scoring_cost(score, 12) for score in (11, 10, 1, 0)] == [0, 1, 10, 0]


@pytest.mark.parametrize(
    ("score", "scored", "offered", "points"),
    [(8, 5, 12, 7), (10, 1, 12, 1), (10, 9, 3, 3), (11, 5, 12, 0), (0, 5, 12, 0)],
)
def test_the_reward_grows_with_what_was_given_up_and_with_flexibility(
    score: int, scored: int, offered: int, points: int
) -> None:
    assert reward(score, scored, offered, 12) == points


def test_utility_is_the_papers_formula() -> None:
    # p = .5^2 = .25, p_succ(2) = 1 - .75^2 = .4375, v = (11 + 10) / 2 / 11
    chance = success(2, 0.5, 2)
    assert chance == pytest.approx(0.4375)
    knobs = DsmParams(theta=0.1, c_priv=2.0, beta=0.5, w_soc=3.0)
    value = 10.5 / 11
    assert utility(2, value, chance, knobs) == pytest.approx(0.4375 * value + 1.3125 - 0.4 - 0.28125)


@pytest.mark.parametrize(("free", "responders", "p"), [(0.0, 1, 0.05), (0.0, 2, 0.01), (1.0, 1, 0.95), (0.5, 3, 0.125)])
def test_the_chance_that_an_offer_suits_everyone_is_clamped(free: float, responders: int, p: float) -> None:
    assert success(1, free, responders) == pytest.approx(p)


@given(
    st.lists(st.integers(1, 11), min_size=1, max_size=15),
    st.floats(0, 1),
    st.integers(1, 6),
    st.floats(0, 2),
    st.tuples(st.integers(1, 15), st.integers(1, 15)).map(sorted),
)
def test_the_offer_set_has_the_size_of_greatest_utility(
    levels: list[int], free: float, responders: int, theta: float, bounds: list[int]
) -> None:
    levels.sort(reverse=True)
    knobs = DsmParams(L_min=bounds[0], L_max=bounds[1], theta=theta)
    size, worth = choose_offers(levels, free, responders, knobs)
    sizes = [n for n in range(1, len(levels) + 1) if bounds[0] <= n <= bounds[1]] or [len(levels)]
    p = min(max(min(max(free, 0.05), 0.95) ** responders, 0.01), 0.95)
    worths = {}
    for n in sizes:
        ps = 1 - (1 - p) ** n
        worths[n] = ps * math.fsum(levels[:n]) / n / 11 + ps - theta * n - (1 - ps)
    assert size in worths
    assert worth == pytest.approx(max(worths.values()), abs=1e-9)


def test_more_weight_on_privacy_never_makes_a_larger_offer_set() -> None:
    levels = [11, 11, 10, 10, 10, 9, 9, 8, 8, 8, 8, 8]
    sizes = [choose_offers(levels, 0.3, 2, DsmParams(theta=theta / 100)).size for theta in range(100)]
    assert sizes == sorted(sizes, reverse=True)
    assert (sizes[0], sizes[-1]) == (12, 1)


def test_the_presets_have_the_values_of_table_9() -> None:
    shown = ("L_min", "L_max", "beta", "theta", "w_soc", "cascade_depth", "displacement_targets", "exhaustive")
    assert [getattr(DsmWelfare().params, name) for name in shown] == [1, 12, 1.0, 0.0, 1.0, 2, 4, True]
    assert [getattr(DsmPrivate().params, name) for name in shown] == [1, 2, 0.25, 10.0, 0.25, 1, 2, False]
    assert Dsm().params == DsmWelfare().params
    assert DsmPrivateParams(theta=0.5).L_max == 2
    with pytest.raises(ValueError, match="L_min is 5 and L_max is 3"):
        DsmParams(L_min=5, L_max=3)
