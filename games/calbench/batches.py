"""When a batch is valid, and what it does to the calendar (paper, A.5).

Each rule is a validator of its own, asked in the order of the paper; the first that objects is what the
seat is told. Nothing is applied until the whole batch has passed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from pydantic import JsonValue

from framework import Batch, Conflict
from games.calbench.actions import Reschedule, Schedule
from games.calbench.calendars import Calendar, Errand, Item, MeetingItem
from games.calbench.state import State

__all__ = ["DECISION_RULES", "VOLUNTARY_RULES", "Applied", "apply_batch", "schedule_of"]

Rule = Callable[[State, int, Batch], Conflict | None]


def _reschedules(batch: Batch) -> list[Reschedule]:
    return [action for action in batch if isinstance(action, Reschedule)]


def schedule_of(batch: Batch) -> Schedule | None:
    """The schedule action of a batch, if it has one."""
    return next((action for action in batch if isinstance(action, Schedule)), None)


def _conflict(rule: str, message: str, **data: JsonValue) -> Conflict:
    return Conflict(rule=rule, message=message, data=data)


def slot_bounds(state: State, seat: int, batch: Batch) -> Conflict | None:
    """Rule 1: every slot is on the calendar."""
    most = len(state.calendars[seat]) - 1
    for action in batch:
        for name in ("slot", "from_slot", "to_slot"):
            slot = getattr(action, name, 0)
            if not 0 <= slot <= most:
                return _conflict(
                    "slot_bounds",
                    f"{name} {slot} is outside the calendar; slots are 0 to {most}.",
                    field=name,
                    slot=slot,
                )
    return None


def _id_of(item: Item) -> int:
    return item.meeting_id if isinstance(item, MeetingItem) else item.errand_id


def item_identity(state: State, seat: int, batch: Batch) -> Conflict | None:
    """Rule 2: what is moved is what is there, and it is moved once."""
    moved: set[int] = set()
    for action in _reschedules(batch):
        item = state.calendars[seat].slots[action.from_slot]
        if item is None or _id_of(item) != action.item_id:
            there = "is free" if item is None else f"holds item {_id_of(item)}"
            return _conflict(
                "item_identity",
                f"Item {action.item_id} is not in slot {action.from_slot}, which {there}.",
                item_id=action.item_id,
                from_slot=action.from_slot,
            )
        if action.from_slot in moved:
            return _conflict(
                "item_identity",
                f"Item {action.item_id} in slot {action.from_slot} is moved twice.",
                item_id=action.item_id,
                from_slot=action.from_slot,
            )
        moved.add(action.from_slot)
    return None


def no_blocked_moves(state: State, seat: int, batch: Batch) -> Conflict | None:
    """Rule 3: a blocked errand stays."""
    for action in _reschedules(batch):
        item = state.calendars[seat].slots[action.from_slot]
        if isinstance(item, Errand) and item.blocked:
            return _conflict(
                "blocked",
                f"Errand {item.errand_id} in slot {action.from_slot} is blocked and cannot be moved.",
                item_id=item.errand_id,
                from_slot=action.from_slot,
            )
    return None


def no_destination_conflicts(state: State, seat: int, batch: Batch) -> Conflict | None:
    """Rule 4: no two items go to one slot."""
    targets: set[int] = set()
    for action in _reschedules(batch):
        if action.to_slot in targets:
            return _conflict(
                "destination_conflict", f"Two actions move an item to slot {action.to_slot}.", to_slot=action.to_slot
            )
        targets.add(action.to_slot)
    return None


def free_after_batch(state: State, seat: int, batch: Batch) -> Conflict | None:
    """Rule 5: a target is free, or freed by another reschedule of the batch."""
    moves = _reschedules(batch)
    for action in moves:
        freed = any(other is not action and other.from_slot == action.to_slot for other in moves)
        if state.calendars[seat].slots[action.to_slot] is not None and not freed:
            return _conflict(
                "not_free",
                f"Slot {action.to_slot} is not free and nothing in the batch frees it.",
                to_slot=action.to_slot,
            )
    return None


def one_schedule(state: State, seat: int, batch: Batch) -> Conflict | None:
    """Rule 6: a decision holds exactly one schedule action, for the meeting of the round."""
    schedules = [action for action in batch if isinstance(action, Schedule)]
    if len(schedules) != 1:
        return _conflict(
            "schedule_count", f"Expected exactly 1 schedule action, got {len(schedules)}.", schedules=len(schedules)
        )
    if schedules[0].meeting_id != state.meeting.id:
        return _conflict(
            "meeting_id",
            f"This round schedules meeting {state.meeting.id}, not meeting {schedules[0].meeting_id}.",
            meeting_id=schedules[0].meeting_id,
        )
    return None


def schedule_slot_free(state: State, seat: int, batch: Batch) -> Conflict | None:
    """Rule 7: the slot of the meeting is free once everything has been moved."""
    schedule = schedule_of(batch)
    if schedule is None:
        return None
    moves = _reschedules(batch)
    occupied = state.calendars[seat].slots[schedule.slot] is not None
    freed = any(action.from_slot == schedule.slot for action in moves)
    filled = any(action.to_slot == schedule.slot for action in moves)
    if filled or (occupied and not freed):
        return _conflict(
            "schedule_not_free",
            f"Slot {schedule.slot} is not free for meeting {schedule.meeting_id} after the reschedules of the batch.",
            slot=schedule.slot,
        )
    return None


def justified(state: State, seat: int, batch: Batch) -> Conflict | None:
    """Every reschedule says why the human's commitment is moved."""
    for action in _reschedules(batch):
        if not action.justification.strip():
            return _conflict(
                "justification",
                f"The reschedule of item {action.item_id} has no justification.",
                item_id=action.item_id,
            )
    return None


_MOVES: tuple[Rule, ...] = (
    slot_bounds,
    item_identity,
    no_blocked_moves,
    no_destination_conflicts,
    free_after_batch,
)
VOLUNTARY_RULES: tuple[Rule, ...] = (*_MOVES, justified)
DECISION_RULES: tuple[Rule, ...] = (*_MOVES, one_schedule, schedule_slot_free, justified)


class Applied(NamedTuple):
    """What a batch does.

    Attributes:
        calendar: The calendar after it.
        cost: What its moves cost, in levels.
        shown: The same on the scale that seats are shown.
        meetings: Ids of the earlier meetings that it moves.
    """

    calendar: Calendar
    cost: int
    shown: int
    meetings: tuple[int, ...]


def apply_batch(state: State, seat: int, batch: Batch) -> Applied:
    """What a valid batch does to a seat's calendar; the state itself is unchanged.

    Raises:
        CalendarError: If the batch is not valid.
    """
    calendar, scale = state.calendars[seat], state.scenario.cost_scale
    moves = _reschedules(batch)
    items = [item for action in moves if (item := calendar.item_at(action.from_slot)) is not None]
    levels = [item.cost for item in items]
    meetings = tuple([item.meeting_id for item in items if isinstance(item, MeetingItem)])
    calendar = calendar.rearrange({action.from_slot: action.to_slot for action in moves})
    schedule = schedule_of(batch)
    if schedule is not None:
        meeting = state.meeting
        copy = MeetingItem(meeting_id=meeting.id, cost=meeting.cost, participants=meeting.participants)
        calendar = calendar.put(schedule.slot, copy)
    return Applied(calendar, sum(levels), sum(map(scale.cost, levels)), meetings)
