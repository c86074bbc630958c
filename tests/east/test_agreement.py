from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("nltk")

from games.east.annotation.agreement import agreement, agreements, ratings
from games.east.annotation.analysis import Judged, read_labels
from games.east.annotation.labels import Fallacies, TomLabels
from games.east.annotation.sidecar import Sidecar, TomLabelled
from games.east.results import played
from tests.east.authored import GAMES, write_run
from tests.east.playing import Says, play_one

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


def test_judgements_become_ratings_by_field() -> None:
    tom = TomLabels.model_validate(GAMES[1].thoughts[0].tom)
    found = Fallacies.model_validate(GAMES[1].thoughts[0].errors)
    game = played(play_one(GAMES[1].scenario, Says("flour"), Says("clay")))
    judged = [
        Judged(Path("a.json"), game, 0, "one", tom, found),
        Judged(Path("a.json"), game, 0, "two", tom, None),
        Judged(Path("b.json"), game, 0, "one", tom, None),  # the same game in another run
    ]
    assert ratings(judged, "highest_level_achieved") == {"one": {"a.json/0": 1, "b.json/0": 1}, "two": {"a.json/0": 1}}
    assert ratings(judged, "egocentric_projection") == {"one": {"a.json/0": 1}}
    assert {result.field for result in agreements(judged)} == {
        "highest_level_achieved",
        "recursive_target",
        "information_coherence",
    }


def test_two_annotators_of_a_run_are_compared_seat_by_seat_with_the_latest_labels(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    expected = iter(GAMES)
    for path in sorted((run / "traces").glob("*.json"))[:3]:
        game = next(expected)
        for seat, thought in enumerate(game.thoughts):
            for who, label in (("one", thought.tom), ("two", GAMES[0].thoughts[1].tom), ("two", thought.tom)):
                labels = TomLabels.model_validate(label)
                Sidecar(path).append(TomLabelled(game_id="same", seat=seat, annotator=who, labels=labels))
    level = agreements(read_labels([run]).judged)[0]
    assert (level.field, level.items, level.observed, level.kappa, level.alpha) == (
        "highest_level_achieved",
        6,
        1.0,
        1.0,
        1.0,
    )
