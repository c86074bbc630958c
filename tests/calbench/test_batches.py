"""When a batch is valid: each rule by example, and all of them against a plain simulator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework import Action, Conflict
from games.calbench.actions import Reschedule, Schedule
from games.calbench.batches import DECISION_RULES, VOLUNTARY_RULES, Rule, apply_batch
from games.calbench.calendars import Calendar, Errand, MeetingItem
from games.calbench.scenario import Scenario
from games.calbench.state import State
from tests.calbench.builders import calendar, scenario

#                 0123456
STATE = replace(State.of(scenario(["..12#a.", ".....a."], [(0, 1)], [((0, 1), 5)])), round=0)


def first_conflict(state: State, batch: tuple[Action, ...], rules: Sequence[Rule] = DECISION_RULES) -> Conflict | None:
    return next((conflict for rule in rules if (conflict := rule(state, 0, batch))), None)


def move(item: int, source: int, target: int, why: str = "it can wait") -> Reschedule:
    return Reschedule(item_id=item, from_slot=source, to_slot=target, justification=why)


@pytest.mark.parametrize(
    ("rule", "batch"),
    [
        ("slot_bounds", (Schedule(meeting_id=1, slot=7),)),
        ("slot_bounds", (Schedule(meeting_id=1, slot=-1),)),
        ("slot_bounds", (move(2, 2, 99), Schedule(meeting_id=1, slot=0))),
        ("item_identity", (move(3, 2, 0), Schedule(meeting_id=1, slot=1))),
        ("item_identity", (move(2, 0, 1), Schedule(meeting_id=1, slot=0))),
        ("item_identity", (move(2, 2, 0), move(2, 2, 1), Schedule(meeting_id=1, slot=2))),
        ("blocked", (move(4, 4, 0), Schedule(meeting_id=1, slot=1))),
        ("destination_conflict", (move(2, 2, 0), move(3, 3, 0), Schedule(meeting_id=1, slot=1))),
        ("not_free", (move(2, 2, 3), Schedule(meeting_id=1, slot=1))),
        ("not_free", (move(2, 2, 2), Schedule(meeting_id=1, slot=1))),
        ("schedule_count", ()),
        ("schedule_count", (Schedule(meeting_id=1, slot=0), Schedule(meeting_id=1, slot=1))),
        ("meeting_id", (Schedule(meeting_id=2, slot=0),)),
        ("schedule_not_free", (Schedule(meeting_id=1, slot=2),)),
        ("schedule_not_free", (move(2, 2, 0), Schedule(meeting_id=1, slot=0))),
        ("justification", (move(2, 2, 0, " "), Schedule(meeting_id=1, slot=2))),
    ],
)
def test_a_batch_that_breaks_a_rule_is_told_which(rule: str, batch: tuple[Action, ...]) -> None:
    conflict = first_conflict(STATE, batch)
    assert conflict is not None
    assert conflict.rule == rule


def test_the_sentence_of_a_conflict_names_the_values() -> None:
    conflict = first_conflict(STATE, ())
    assert conflict is not None
    assert conflict.message == "Expected exactly 1 schedule action, got 0."
    assert conflict.data == {"schedules": 0}


def test_errands_may_swap_places_in_one_batch() -> None:
    batch = (move(2, 2, 3), move(3, 3, 2), Schedule(meeting_id=1, slot=0))
    assert first_conflict(STATE, batch) is None
    applied = apply_batch(STATE, 0, batch)
    assert applied.cost == 1 + 2
    assert [getattr(item, "errand_id", None) for item in applied.calendar.slots[2:4]] == [3, 2]


def test_an_earlier_meeting_may_move_and_is_reported() -> None:
    batch = (move(2, 5, 6), Schedule(meeting_id=1, slot=5))
    applied = apply_batch(STATE, 0, batch)
    assert first_conflict(STATE, batch) is None
    assert (applied.cost, applied.meetings) == (1, (2,))


def test_a_voluntary_batch_may_be_empty() -> None:
    assert first_conflict(STATE, (), VOLUNTARY_RULES) is None


# --- against a plain simulator ------------------------------------------------------------------------------

_SLOTS = st.integers(-1, 7)
_ACTIONS = st.one_of(
    st.builds(move, st.integers(1, 7), _SLOTS, _SLOTS, st.sampled_from(["", "because"])),
    st.builds(Schedule, meeting_id=st.integers(1, 2), slot=_SLOTS),
)
_TEXTS = st.text("..123#", min_size=7, max_size=7)


def simulate(before: Calendar, batch: tuple[Action, ...]) -> list[object] | None:
    """Lift every item that moves, then put each down; None as soon as something does not fit."""
    row: list[object] = list(before.slots)
    moves = [action for action in batch if isinstance(action, Reschedule)]
    schedules = [action for action in batch if isinstance(action, Schedule)]
    lifted: list[tuple[object, int]] = []
    for action in moves:
        inside = 0 <= action.from_slot < len(row) and 0 <= action.to_slot < len(row)
        item = row[action.from_slot] if inside else None
        if not isinstance(item, Errand) or item.errand_id != action.item_id or item.blocked:
            return None
        if action.to_slot == action.from_slot or not action.justification:
            return None
        row[action.from_slot] = None
        lifted.append((item, action.to_slot))
    for item, target in lifted:
        if row[target] is not None:
            return None
        row[target] = item
    if len(schedules) != 1 or schedules[0].meeting_id != 1 or not 0 <= schedules[0].slot < len(row):
        return None
    if row[schedules[0].slot] is not None:
        return None
    row[schedules[0].slot] = "meeting"
    return row


@given(_TEXTS, st.lists(_ACTIONS, max_size=4))
def test_the_rules_agree_with_a_plain_simulator(text: str, actions: list[Action]) -> None:
    state = replace(State.of(_with(text)), round=0)
    batch = tuple(actions)
    expected = simulate(state.calendars[0], batch)
    assert (first_conflict(state, batch) is None) == (expected is not None)
    if expected is not None:
        after = apply_batch(state, 0, batch).calendar.slots
        assert ["meeting" if isinstance(item, MeetingItem) else item for item in after] == expected


@given(_TEXTS, st.lists(_ACTIONS, max_size=4))
def test_no_valid_batch_loses_or_doubles_an_errand(text: str, actions: list[Action]) -> None:
    state = replace(State.of(_with(text)), round=0)
    batch = tuple(actions)
    if first_conflict(state, batch) is not None:
        return
    before, after = state.calendars[0].slots, apply_batch(state, 0, batch).calendar.slots
    errands = sorted(item.errand_id for item in before if isinstance(item, Errand))
    assert sorted(item.errand_id for item in after if isinstance(item, Errand)) == errands
    assert sum(isinstance(item, MeetingItem) for item in after) == 1


def _with(text: str) -> Scenario:
    calm = scenario(["." * 7, "." * 7], [(0, 1)])
    return calm.model_copy(update={"calendars": (calendar(text, first_errand=0), calm.calendars[1])})
