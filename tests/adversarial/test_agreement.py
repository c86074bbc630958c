"""The statistics of table 17, by hand, against SciPy and NLTK, and as the paper's own counts have them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from nltk.metrics.agreement import AnnotationTask
from scipy import stats

from adversarial.judge import Cell, agreement, statistics_of
from adversarial.judge.agreement import STATISTICS

# Judge and reflection: three cells of one sign, one of opposite signs, one of the judge alone, two of reflection
# alone, three of neither.
CELLS = [(3, 2), (-1, -3), (2, 1), (2, -2), (1, 0), (0, -1), (0, 3), (0, 0), (0, 0), (0, 0)]


def test_counts_and_support_by_hand():
    found = statistics_of(CELLS)
    assert (found["cells"], found["judge_nonzero"], found["reflection_nonzero"], found["both_nonzero"]) == (10, 5, 6, 4)
    assert found["jaccard"] == pytest.approx(4 / 7)
    assert found["judge_coverage"] == pytest.approx(4 / 6)
    assert found["reflection_coverage"] == pytest.approx(4 / 5)
    assert found["direction"] == pytest.approx(3 / 4)


def test_kappa_by_hand():
    # Judge: 4 positive, 1 negative, 5 zero. Reflection: 3 positive, 3 negative, 4 zero. Six cells agree.
    chance = (4 * 3 + 1 * 3 + 5 * 4) / 100
    assert statistics_of(CELLS)["kappa"] == pytest.approx((0.6 - chance) / (1 - chance))


def test_pearson_where_both_are_non_zero_by_hand():
    # x = 3, -1, 2, 2 and y = 2, -3, 1, -2: means 1.5 and -0.5.
    xy = 1.5 * 2.5 + -2.5 * -2.5 + 0.5 * 1.5 + 0.5 * -1.5
    xx, yy = 1.5**2 + 2.5**2 + 0.5**2 + 0.5**2, 2.5**2 + 2.5**2 + 1.5**2 + 1.5**2
    assert statistics_of(CELLS)["pearson_both"] == pytest.approx(xy / math.sqrt(xx * yy))


def test_the_papers_ratios_follow_from_its_counts():
    judge_alone, reflection_alone, both = 6828 - 4472, 7914 - 4472, 4472
    assert (judge_alone, reflection_alone) == (2356, 3442)
    same = round(0.643 * both)
    cells = [(1, 1)] * same + [(1, -1)] * (both - same) + [(1, 0)] * judge_alone + [(0, 1)] * reflection_alone
    cells += [(0, 0)] * (24727 - len(cells))
    found = {name: round(value, 3) for name, value in statistics_of(cells).items()}
    assert (found["cells"], found["judge_nonzero"], found["reflection_nonzero"]) == (24727, 6828, 7914)
    assert (found["jaccard"], found["judge_coverage"], found["reflection_coverage"]) == (0.435, 0.565, 0.655)
    assert found["direction"] == 0.643


DELTA = st.integers(-3, 3)
PAIRS = st.lists(st.tuples(DELTA, DELTA), min_size=2, max_size=40)


def sign(value: float) -> int:
    return (value > 0) - (value < 0)


@given(PAIRS)
def test_kappa_agrees_with_nltk(cells: list[tuple[int, int]]):
    signs = [(who, str(n), sign(pair[who])) for who in (0, 1) for n, pair in enumerate(cells)]
    assume(len({label for _, _, label in signs}) > 1)
    assert statistics_of(cells)["kappa"] == pytest.approx(AnnotationTask(signs).kappa())


@given(PAIRS)
def test_correlations_agree_with_scipy(cells: list[tuple[int, int]]):
    found = statistics_of(cells)
    for name, own in (("pearson", cells), ("pearson_both", [pair for pair in cells if all(pair)])):
        varies = len({x for x, _ in own}) > 1 and len({y for _, y in own}) > 1
        if varies:
            assert found[name] == pytest.approx(stats.pearsonr(*zip(*own, strict=True)).statistic)
        else:
            assert math.isnan(found[name])


def test_what_is_not_defined_is_not_a_number():
    found = statistics_of([(0, 0), (0, 0)])
    assert found.pop("cells") == 2
    assert [found.pop(name) for name in ("judge_nonzero", "reflection_nonzero", "both_nonzero")] == [0, 0, 0]
    assert all(math.isnan(value) for value in found.values())
    assert math.isnan(statistics_of([])["kappa"])


def by_cell(values: list[tuple[str, int, float]]) -> dict[Cell, float]:
    return {Cell(game, 0, 1, slot): value for game, slot, value in values}


def test_the_union_is_of_what_was_reported_and_of_what_the_judge_found():
    judge = by_cell([("a", 0, 3), ("a", 1, 0), ("a", 2, -1)])
    reflection = by_cell([("a", 0, 1), ("a", 3, 0), ("a", 4, 2)])
    found = agreement(judge, reflection)
    assert {name: found[name].mean for name in ("cells", "judge_nonzero", "reflection_nonzero", "both_nonzero")} == {
        "cells": 4,
        "judge_nonzero": 2,
        "reflection_nonzero": 2,
        "both_nonzero": 1,
    }


def test_intervals_are_over_whole_games():
    rng = np.random.default_rng(5)
    judge, reflection = {}, {}
    for game in range(12):
        for slot in range(20):
            cell = Cell(f"g{game:02}", 0, 1, slot)
            x, y = rng.integers(-3, 4, 2)
            judge[cell], reflection[cell] = float(x), float(x if rng.random() < 0.5 else y)
    found = agreement(judge, reflection, resamples=400, seed=3)
    games = sorted({cell.game_id for cell in judge})
    drawn = np.random.default_rng(3).multinomial(len(games), np.full(len(games), 1 / len(games)), size=400)
    slow = []
    for times in drawn:
        cells = [
            (judge[cell], reflection[cell])
            for game, count in zip(games, times, strict=True)
            for cell in judge
            if cell.game_id == game
            for _ in range(count)
        ]
        slow.append(statistics_of(cells))
    for statistic in STATISTICS:
        if not statistic.counted:
            low, high = np.quantile([row[statistic.name] for row in slow], [0.025, 0.975])
            assert found[statistic.name][1:] == pytest.approx((low, high))
        else:
            assert math.isnan(found[statistic.name].low)


def test_one_game_gives_no_interval():
    found = agreement(by_cell([("a", 0, 1)]), by_cell([("a", 0, 1)]))
    assert found["jaccard"].mean == 1
    assert math.isnan(found["jaccard"].low)
