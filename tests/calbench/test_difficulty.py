"""The difficulty score and its buckets."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from games.calbench.difficulty import buckets, difficulty, feasible_slots
from games.calbench.scenario import Meeting
from tests.calbench.brute import Parts, feasible_assignments, layouts
from tests.calbench.builders import calendar


def layout_of(calendars: Sequence[str], meetings: Sequence[tuple[int, ...]]) -> Parts:
    """Calendars as text, and the participants of each meeting."""
    return Parts(
        tuple(calendar(text) for text in calendars),
        tuple(Meeting(id=i, participants=p, speaker_order=p) for i, p in enumerate(meetings, start=1)),
    )


def one_agent_a_meeting(calendars: Sequence[str]) -> Parts:
    """Meetings of one participant each, so that each calendar is a row of the matrix that is counted."""
    return layout_of(calendars, [(agent,) for agent in range(len(calendars))])


@settings(max_examples=100, deadline=None)
@given(
    st.integers(1, 6).flatmap(
        lambda slots: st.lists(st.lists(st.booleans(), min_size=slots, max_size=slots), min_size=1, max_size=slots)
    )
)
def test_the_count_is_that_of_a_listing_of_all_assignments(rows: list[list[bool]]) -> None:
    found = difficulty(one_agent_a_meeting(["".join("." if fits else "#" for fits in row) for row in rows]))
    assert found.feasible == feasible_assignments(rows)
    assert found.d == found.feasible / math.perm(len(rows[0]), len(rows))
    assert found.method == "exact"


@settings(max_examples=50, deadline=None)
@given(layouts(max_slots=5))
def test_a_slot_counts_where_each_participant_can_insert(layout: Parts) -> None:
    for meeting, row in zip(layout.meetings, feasible_slots(layout), strict=True):
        for slot, fits in enumerate(row):
            costs = [layout.calendars[seat].insertion_cost(slot) for seat in meeting.participants]
            assert fits == (None not in costs)


def test_by_hand_two_meetings_in_three_slots() -> None:
    # Meeting 1 may be in slots 0 and 1, meeting 2 in slots 1 and 2: 0-1, 0-2, 1-2 of 3 * 2 assignments.
    found = difficulty(layout_of(["..#", "#.."], [(0,), (1,)]))
    assert (found.feasible, found.d) == (3, 0.5)


def test_without_blocked_slots_every_assignment_is_feasible() -> None:
    assert difficulty(layout_of(["1.2..", "....."], [(0, 1), (0, 1), (0,)])).d == 1.0


def test_more_meetings_than_slots_have_no_assignment() -> None:
    assert difficulty(layout_of([".", "."], [(0,), (1,)])).d == 0.0


def test_counts_beyond_machine_integers_are_exact() -> None:
    # 20 meetings without constraints in 64 slots: 64! / 44!, more than 2**115.
    found = difficulty(layout_of(["." * 64], [(0,)] * 20))
    assert (found.feasible, found.d) == (math.perm(64, 20), 1.0)


def test_twelve_different_meetings_are_counted_in_well_under_a_second() -> None:
    calendars = ["".join("#" if (slot + agent) % 5 == 0 else "." for slot in range(64)) for agent in range(12)]
    task = one_agent_a_meeting(calendars)
    start = time.perf_counter()
    assert 0 < difficulty(task).d < 1
    assert time.perf_counter() - start < 0.5


def many_different_meetings(count: int) -> Parts:
    calendars = ["".join("#" if slot in (agent, agent + 7) else "." for slot in range(40)) for agent in range(count)]
    return one_agent_a_meeting(calendars)


def test_above_the_limit_the_score_is_an_estimate_and_says_so() -> None:
    found = difficulty(many_different_meetings(22))
    assert (found.method, found.feasible) == ("sampled", None)
    assert 0 < found.std_error < found.d
    assert difficulty(many_different_meetings(22)) == found


def test_the_estimate_is_within_its_error_of_the_exact_score(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = difficulty(many_different_meetings(8))
    monkeypatch.setattr("games.calbench.difficulty._MAX_STATES", 1)
    sampled = difficulty(many_different_meetings(8))
    assert (exact.method, sampled.method) == ("exact", "sampled")
    assert abs(sampled.d - exact.d) < 4 * sampled.std_error


def test_an_impossible_meeting_is_estimated_as_zero() -> None:
    layout = many_different_meetings(22)
    blocked = Parts((calendar("#" * 40), *layout.calendars[1:]), layout.meetings)
    assert difficulty(blocked).d == 0.0


def test_buckets_are_tertiles_and_a_low_score_is_hard() -> None:
    assert buckets([0.6, 0.1, 0.3, 0.2, 0.5, 0.4]) == ("easy", "hard", "medium", "hard", "easy", "medium")


def test_equal_scores_share_a_bucket() -> None:
    labels = buckets([0.1, 0.1, 0.1, 0.2, 0.3, 0.4])
    assert labels == ("hard", "hard", "hard", "medium", "easy", "easy")


def test_a_cell_of_equally_difficult_candidates_is_not_bucketed() -> None:
    with pytest.raises(ValueError, match="all 9 candidates have difficulty 1"):
        buckets([1.0] * 9)


def test_fewer_than_three_candidates_are_not_bucketed() -> None:
    with pytest.raises(ValueError, match="2 candidates cannot be split into three buckets"):
        buckets([0.1, 0.2])
