"""Each metric against numbers computed by hand on a game small enough to see through.

Three seats, four slots, two meetings. Seat 0 has an errand of cost 2 in slot 0 and one of cost 3 in
slot 1; seat 1 is free; seat 2 has an errand of cost 1 in slot 2.

    seat 0   2 3 . .
    seat 1   . . . .
    seat 2   . . 1 .

Meeting 1 joins seats 0 and 1, meeting 2 seats 0 and 2. With meeting 1 in slot 2 and meeting 2 in slot 3
nobody moves anything: the optimum is 0.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from framework import Action, Seating, Send, Strategy, Trace, play, read_trace, write_trace
from games.calbench import CalBench, CalendarObservation, Reschedule, Schedule
from tests.calbench.builders import scenario

TASK = scenario(["23..", "....", "..1."], [(0, 1), (0, 2)])


class Plan(Strategy[CalendarObservation]):
    """Chooses the planned slot of each meeting, clearing it to `landing`, after some messages."""

    def __init__(self, slots: dict[int, int], landing: int, messages: int = 0) -> None:
        super().__init__()
        self.slots, self.landing, self.messages = slots, landing, messages

    async def act(self, seen: CalendarObservation) -> Sequence[Action]:
        if seen.phase == "cheap_talk":
            count = self.messages if seen.turn.sweep == 0 else 0
            return [Send(channel="dm", to=seen.others[0], content="hello")] * count
        if seen.phase != "decision" or seen.meeting.id not in self.slots:
            return ()
        slot = self.slots[seen.meeting.id]
        item = seen.calendar.item_at(slot)
        schedule = Schedule(meeting_id=seen.meeting.id, slot=slot)
        if item is None:
            return (schedule,)
        errand = item.errand_id  # type: ignore[union-attr]
        move = Reschedule(item_id=errand, from_slot=slot, to_slot=self.landing, justification="to make room")
        return (move, schedule)


def finish(*plans: Plan) -> Trace:
    trace = asyncio.run(play(CalBench(), TASK, [Seating("plan", plan) for plan in plans]))
    assert trace.aborted is None, trace.aborted
    return trace


@pytest.fixture(scope="module")
def wasteful() -> Trace:
    """Meeting 1 in slot 0 (seat 0 pays 2), meeting 2 in slot 2 (seat 2 pays 1); both are scheduled."""
    return finish(Plan({1: 0, 2: 2}, landing=3, messages=2), Plan({1: 0}, 3, messages=1), Plan({2: 2}, 3))


@pytest.fixture(scope="module")
def half() -> Trace:
    """Meeting 1 in slot 0 (seat 0 pays 2); meeting 2 fails because seat 2 submits nothing."""
    return finish(Plan({1: 0, 2: 2}, landing=3), Plan({1: 0}, 3), Plan({}, 3))


def values(trace: Trace, name: str) -> tuple[float | None, ...]:
    return trace.metrics[name].seats


def test_the_optimum_of_the_example_costs_nothing() -> None:
    assert (TASK.oracle.total, TASK.oracle.slots) == (0, (2, 3))


def test_meetings_counts_those_that_were_scheduled(wasteful: Trace, half: Trace) -> None:
    assert values(wasteful, "meetings") == (2.0, 1.0, 1.0)
    assert values(half, "meetings") == (1.0, 1.0, 0.0)


def test_coordination_is_the_share_of_scheduled_meetings(wasteful: Trace, half: Trace) -> None:
    assert values(wasteful, "coordination") == (1.0, 1.0, 1.0)
    assert values(half, "coordination") == (0.5, 1.0, 0.0)
    assert half.metrics["coordination"].game == pytest.approx(0.5)


def test_excess_is_what_was_paid_beyond_the_optimum(wasteful: Trace) -> None:
    assert values(wasteful, "excess") == (2.0, 0.0, 1.0)
    assert values(wasteful, "burden") == (2.0, 0.0, 1.0)


def test_fairness_is_the_distance_from_the_mean_burden(wasteful: Trace) -> None:
    assert values(wasteful, "fairness") == (1.0, 1.0, 0.0)


def test_messages_are_counted_for_each_scheduled_meeting(wasteful: Trace) -> None:
    # seat 0 speaks in both rounds: 4 messages for 2 meetings; seat 1 sends 1 for 1; seat 2 sends none
    assert values(wasteful, "messages") == (2.0, 1.0, 0.0)


def test_a_missed_meeting_is_charged_with_the_largest_insertion_cost(half: Trace) -> None:
    # seat 0: w = mean(3, 3) over slots feasible for all, o = 0; C_adj = (2 + 1 * 3) / 2
    # seat 1: paid 0, nothing missed; seat 2: w = 1, o = 0, one missed: (0 + 1 * 1) / 1
    assert values(half, "adjusted") == (2.5, 0.0, 1.0)


def test_burden_spread_and_gini(wasteful: Trace) -> None:
    assert wasteful.metrics["least_burden"].game == 0.0
    assert wasteful.metrics["most_burden"].game == 2.0
    # mean absolute difference of (0, 1, 2) over all ordered pairs is 8/9; Gini = (8/9) / (2 * mean 1)
    assert wasteful.metrics["gini"].game == pytest.approx(4 / 9)


def test_completion_without_a_rejected_batch(half: Trace, wasteful: Trace) -> None:
    assert values(wasteful, "completed") == (1.0, 1.0, 1.0)
    assert values(half, "completed") == (0.0, 1.0, 0.0)
    assert values(half, "fallback_free") == (0.0, 1.0, 0.0)
    assert values(half, "rejected") == (0.0, 0.0, 1.0)


def test_metrics_are_the_same_from_disk(wasteful: Trace, tmp_path) -> None:
    write_trace(tmp_path / "game.json", wasteful)
    assert CalBench().score(read_trace(tmp_path / "game.json")) == wasteful.metrics
