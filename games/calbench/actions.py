"""CalBench's two actions besides messages (paper, A.2 section 5 and A.5)."""

from __future__ import annotations

from typing import Literal

from framework import Action

__all__ = ["Reschedule", "Schedule"]


class Schedule(Action):
    """Put the round's meeting on one's own calendar.

    Attributes:
        meeting_id: The meeting of the round.
        slot: Where to put it, `0..T-1`.
    """

    type: Literal["schedule"] = "schedule"
    meeting_id: int
    slot: int


class Reschedule(Action):
    """Move an errand, or one's own copy of an earlier meeting.

    Attributes:
        item_id: The `errand_id` or `meeting_id` of what is in `from_slot`.
        from_slot: Where it is.
        to_slot: Where it goes; free, or freed by the same batch.
        justification: Why the human's commitment is moved; never empty.
    """

    type: Literal["reschedule"] = "reschedule"
    item_id: int
    from_slot: int
    to_slot: int
    justification: str = ""
