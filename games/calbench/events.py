"""What CalBench adds to a trace."""

from __future__ import annotations

from typing import Literal

from framework import Event
from framework.trace import BatchApplied

__all__ = ["CalendarBatch", "ConsistencyViolation", "MeetingMoved", "MeetingResolved"]


class CalendarBatch(BatchApplied):
    """A batch that took effect on a calendar.

    Attributes:
        cost: Displacement cost of its moves, in levels.
        shown: The same on the scale that seats are shown.
        meetings: Ids of the earlier meetings that it moved.
    """

    cost: int = 0
    shown: int = 0
    meetings: tuple[int, ...] = ()


class MeetingResolved(Event):
    """How the round's meeting came out.

    Attributes:
        round: Index of the round.
        meeting_id: The meeting.
        participants: Its seats, ascending.
        scheduled: Whether all of them put it into one slot.
        slot: That slot; None if the meeting is unresolved.
        choices: The slot that each participant submitted, in the order of `participants`.
    """

    type: Literal["meeting_resolved"] = "meeting_resolved"
    round: int
    meeting_id: int
    participants: tuple[int, ...]
    scheduled: bool
    slot: int | None = None
    choices: tuple[int | None, ...] = ()


class MeetingMoved(Event):
    """An earlier meeting is in another slot than before, consistently for all its participants."""

    type: Literal["meeting_moved"] = "meeting_moved"
    round: int
    meeting_id: int
    from_slot: int
    to_slot: int


class ConsistencyViolation(Event):
    """An earlier meeting is no longer in one slot for all its participants; from now on it is lost.

    Attributes:
        round: Index of the round.
        meeting_id: The earlier meeting.
        participants: Its seats, ascending.
        slots: Where each of them has it, in the order of `participants`.
    """

    type: Literal["consistency_violation"] = "consistency_violation"
    round: int
    meeting_id: int
    participants: tuple[int, ...]
    slots: tuple[int | None, ...]
