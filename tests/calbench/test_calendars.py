"""Calendars: costs of insertion, changes, and how they are shown."""

from __future__ import annotations

import pytest
from pydantic import BaseModel, ValidationError

from games.calbench.calendars import VARIED_SCALE, Calendar, CalendarError, Errand, Item, MeetingItem

FREE = None
LOW = Errand(errand_id=3, cost=1)
HIGH = Errand(errand_id=4, cost=3)
FIXED = Errand(errand_id=7, cost=2, blocked=True)
MEETING = MeetingItem(meeting_id=2, participants=(0, 2))
CALENDAR = Calendar((LOW, FREE, FIXED, MEETING, HIGH, FREE))


class Holder(BaseModel):
    calendar: Calendar


def test_a_free_slot_costs_nothing_to_insert() -> None:
    assert CALENDAR.insertion_cost(1) == 0


def test_a_movable_errand_costs_its_level_to_insert() -> None:
    assert (CALENDAR.insertion_cost(0), CALENDAR.insertion_cost(4)) == (1, 3)


def test_blocked_errands_and_meetings_admit_no_insertion() -> None:
    assert CALENDAR.insertion_cost(2) is None
    assert CALENDAR.insertion_cost(3) is None


def test_an_errand_without_a_landing_slot_admits_no_insertion() -> None:
    assert Calendar((LOW, HIGH)).insertion_cost(0) is None


def test_the_last_free_slot_itself_is_feasible_without_a_landing() -> None:
    assert Calendar((LOW, FREE)).insertion_cost(1) == 0


def test_landing_is_the_lowest_free_slot_other_than_the_target() -> None:
    assert (CALENDAR.landing(0), CALENDAR.landing(1), Calendar((FREE, LOW)).landing(0)) == (1, 5, None)


def test_items_are_found_by_their_numbers() -> None:
    assert (CALENDAR.slot_of(2), CALENDAR.slot_of(3), CALENDAR.slot_of_errand(3)) == (3, None, 0)


def test_a_move_leaves_the_old_calendar_as_it_was() -> None:
    moved = CALENDAR.move(0, 5)
    assert moved.slots == (FREE, FREE, FIXED, MEETING, HIGH, LOW)
    assert CALENDAR.item_at(0) == LOW


def test_moves_at_once_may_swap_items() -> None:
    assert CALENDAR.rearrange({0: 4, 4: 0}).slots == (HIGH, FREE, FIXED, MEETING, LOW, FREE)


@pytest.mark.parametrize(
    ("moves", "sentence"),
    [
        ({1: 5}, "slot 1 is free: there is nothing to move"),
        ({2: 5}, "errand 7 in slot 2 is blocked and may not move"),
        ({0: 4}, "slot 4 is not free for the item from slot 0"),
        ({0: 1, 4: 1}, "slot 1 is not free for the item from slot 4"),
        ({0: 6}, "slot 6 is outside the calendar; slots are 0..5"),
        ({-1: 1}, "slot -1 is outside the calendar; slots are 0..5"),
    ],
)
def test_an_illegal_move_is_refused_with_its_reason(moves: dict[int, int], sentence: str) -> None:
    with pytest.raises(CalendarError) as caught:
        CALENDAR.rearrange(moves)
    assert str(caught.value) == sentence


def test_a_meeting_is_put_into_a_free_slot_only_and_removed_again() -> None:
    new = MeetingItem(meeting_id=9, participants=(0, 1))
    assert CALENDAR.put(1, new).remove(9) == CALENDAR
    with pytest.raises(CalendarError, match="slot 0 is not free"):
        CALENDAR.put(0, new)


def test_removing_an_absent_meeting_changes_nothing() -> None:
    assert CALENDAR.remove(99) is CALENDAR


def test_render_follows_the_format_of_the_paper() -> None:
    calendar = Calendar((FREE, Errand(errand_id=3, cost=2), FIXED, MEETING))
    assert calendar.render() == (
        "Slot 0: [FREE]\n"
        "Slot 1: Errand #3 (cost=2)\n"
        "Slot 2: Blocked Errand #7 (cost=2)\n"
        "Slot 3: Meeting M2 (cost=1) participants=[0, 2]"
    )


def test_render_shows_scaled_costs_and_the_labels_that_there_are() -> None:
    def label(item: Item) -> str | None:
        return "Fix the fence" if isinstance(item, Errand) else None

    assert Calendar((HIGH, MEETING)).render(label, VARIED_SCALE) == (
        "Slot 0: Errand #4 (cost=100) - Fix the fence\nSlot 1: Meeting M2 (cost=1) participants=[0, 2]"
    )


def test_a_calendar_is_a_plain_list_in_json_and_comes_back() -> None:
    text = Holder(calendar=CALENDAR).model_dump_json()
    assert text.startswith('{"calendar":[{"errand_id":3,"cost":1,"blocked":false},null,')
    assert Holder.model_validate_json(text).calendar == CALENDAR
    assert Holder.model_validate(Holder(calendar=CALENDAR).model_dump(mode="json")).calendar == CALENDAR


@pytest.mark.parametrize(
    "slot",
    [
        '{"errand_id": 1, "cost": 4}',
        '{"errand_id": 1, "cost": 1, "colour": 2}',
        '{"errand_id": "1", "cost": 1}',
        '{"errand_id": true, "cost": 1}',
        '{"meeting_id": 1, "cost": 1}',
        "7",
    ],
)
def test_a_malformed_slot_is_refused_once(slot: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Holder.model_validate_json(f'{{"calendar": [null, {slot}]}}')
    assert caught.value.error_count() == 1
