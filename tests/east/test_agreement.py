from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("nltk")

from games.east.annotation.agreement import agreement, agreements, ratings
from games.east.annotation.labels import Fallacies, TomLabels
from games.east.annotation.sidecar import FallaciesLabelled, TomLabelled
from tests.east.authored import GAMES

FIRST = "aaaabbbbcc"
SECOND = "aaabbbbacc"


def labels(text: str) -> dict[str, str]:
    return {str(item): label for item, label in enumerate(text) if label != "-"}


def kappa_by_hand(one: str, two: str) -> float:
    n = len(one)
    observed = sum(a == b for a, b in zip(one, two, strict=True)) / n
    expected = sum((one.count(c) / n) * (two.count(c) / n) for c in set(one + two))
    return (observed - expected) / (1 - expected)


def alpha_by_hand(raters: list[str]) -> float:
    """Krippendorff's alpha for nominal data, from the pairs of values within items."""
    items = [[r[i] for r in raters if r[i] != "-"] for i in range(len(raters[0]))]
    items = [item for item in items if len(item) > 1]
    values = [value for item in items for value in item]
    n = len(values)
    within = sum(
        sum(a != b for k, a in enumerate(item) for m, b in enumerate(item) if k != m) / (len(item) - 1)
        for item in items
    )
    among = sum(a != b for k, a in enumerate(values) for m, b in enumerate(values) if k != m)
    return 1 - (within / n) / (among / (n * (n - 1)))


def test_two_annotators_by_hand() -> None:
    result = agreement("x", {"one": labels(FIRST), "two": labels(SECOND)})
    assert result.items == 10
    assert result.annotators == 2
    assert result.observed == pytest.approx(0.8)
    assert result.kappa == pytest.approx((0.8 - 0.36) / 0.64)
    assert result.alpha == pytest.approx(alpha_by_hand([FIRST, SECOND]))


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=3, max_size=20))
def test_kappa_and_alpha_agree_with_their_definitions(pairs: list[tuple[str, str]]) -> None:
    one, two = ("".join(side) for side in zip(*pairs, strict=True))
    result = agreement("x", {"one": labels(one), "two": labels(two)})
    if len(set(one + two)) == 1:
        assert math.isnan(result.kappa)
        assert math.isnan(result.alpha)
    else:
        assert result.kappa == pytest.approx(kappa_by_hand(one, two))
        assert result.alpha == pytest.approx(alpha_by_hand([one, two]))


@given(st.lists(st.tuples(*[st.sampled_from("ab-")] * 3), min_size=4, max_size=15))
def test_items_that_an_annotator_lacks_are_left_out_of_its_pairs(rows: list[tuple[str, str, str]]) -> None:
    raters = ["".join(side) for side in zip(*rows, strict=True)]
    result = agreement("x", {str(n): labels(r) for n, r in enumerate(raters)})
    shared = [row for row in rows if sum(value != "-" for value in row) > 1]
    assert result.items == len(shared)
    if len({value for row in shared for value in row if value != "-"}) == 2:
        assert result.alpha == pytest.approx(alpha_by_hand(raters))


def test_near_levels_disagree_less_than_far_ones() -> None:
    base = [-1, 0, 1, 2, -1, 2]
    given_ = {"one": dict(enumerate_(base)), "near": dict(enumerate_([0, *base[1:]]))}
    far = {"one": dict(enumerate_(base)), "far": dict(enumerate_([2, *base[1:]]))}
    assert agreement("x", given_, interval=True).alpha > agreement("x", far, interval=True).alpha


def enumerate_(values: list[int]) -> list[tuple[str, int]]:
    return [(str(number), value) for number, value in enumerate(values)]


def test_annotators_without_a_common_item_agree_on_nothing() -> None:
    result = agreement("x", {"one": {"1": "a"}, "two": {"2": "a"}})
    assert result.items == 0
    assert math.isnan(result.alpha)


def test_events_become_ratings_by_field_and_the_latest_counts() -> None:
    thought = GAMES[1].thoughts[0]
    tom, other = TomLabels.model_validate(thought.tom), TomLabels.model_validate(GAMES[0].thoughts[0].tom)
    found = Fallacies.model_validate(thought.errors)
    events = [
        TomLabelled(game_id="g", seat=0, annotator="one", labels=other),
        TomLabelled(game_id="g", seat=0, annotator="one", labels=tom),
        TomLabelled(game_id="g", seat=0, annotator="two", labels=tom),
        FallaciesLabelled(game_id="g", seat=0, annotator="one", labels=found),
    ]
    assert ratings(events, "highest_level_achieved") == {"one": {"g/0": 1}, "two": {"g/0": 1}}
    assert ratings(events, "egocentric_projection") == {"one": {"g/0": 1}}
    assert {result.field for result in agreements(events)} == {
        "highest_level_achieved",
        "recursive_target",
        "information_coherence",
    }
