"""What a CalBench seat sees: its own calendar and the meeting of the round."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from framework import Action, AgreementView, Observation, Option, Settled
from games.calbench.actions import Reschedule, Schedule
from games.calbench.calendars import Calendar, CostScale, Errand, MeetingItem, Slot
from games.calbench.scenario import Meeting

__all__ = ["CalendarAgreement", "CalendarObservation"]


class CalendarObservation(Observation):
    """All that a seat may know: its calendar, the meeting, and what it has paid.

    Attributes:
        calendar: The seat's own calendar now.
        meeting: The meeting of the round.
        scale: What costs are shown as.
        penalty: Displacement cost that the seat has paid so far, as shown.
        labels: What the seat may read about each of its own slots; None where there is nothing to read.
        topic: The label of the meeting of the round; empty for a seat that takes no part in it.
    """

    calendar: Calendar
    meeting: Meeting
    scale: CostScale
    penalty: int = 0
    labels: tuple[str | None, ...] = ()
    topic: str = ""

    @property
    def agreement(self) -> CalendarAgreement:
        """The round's meeting as an agreement over slots, at the seat's own insertion costs in levels."""
        return CalendarAgreement(self.calendar, self.meeting)

    def describe(self) -> str:
        """The seat's own calendar with its private labels, one line a slot."""
        labels = {item: text for item, text in zip(self.calendar.slots, self.labels, strict=False) if item is not None}
        return self.calendar.render(labels.get, self.scale)


@dataclass(frozen=True)
class CalendarAgreement(AgreementView):
    """Slots are options; errands give way, prior meetings are earlier agreements."""

    calendar: Calendar
    meeting: Meeting

    @property
    def id(self) -> int:
        return self.meeting.id

    @property
    def parties(self) -> tuple[int, ...]:
        return self.meeting.participants

    @cached_property
    def options(self) -> tuple[Option, ...]:
        room = None in self.calendar.slots
        return tuple([_option(slot, item, room) for slot, item in enumerate(self.calendar.slots)])

    @cached_property
    def settled(self) -> Mapping[int, Settled]:
        return {
            item.meeting_id: Settled(item.meeting_id, slot, item.participants, item.cost)
            for slot, item in enumerate(self.calendar.slots)
            if isinstance(item, MeetingItem) and item.meeting_id != self.meeting.id
        }

    def landing(self, option: int) -> int | None:
        return self.calendar.landing(option)

    def commit(self, option: int, moves: Mapping[int, int] | None = None) -> tuple[Action, ...]:
        moves = moves or {}
        room = self._make_room((*moves.values(), option), moves, f"make room for meeting {self.id}")
        return (*room, Schedule(meeting_id=self.id, slot=option))

    def move(self, moves: Mapping[int, int]) -> tuple[Action, ...]:
        return self._make_room(tuple(moves.values()), moves, "keep an agreement made in this round")

    def _make_room(self, targets: tuple[int, ...], moves: Mapping[int, int], reason: str) -> tuple[Action, ...]:
        """Reschedules that empty `targets`: own errands to the lowest free slots, agreements as `moves` says."""
        actions: list[Action] = []
        landings = iter([slot for slot in self.calendar.free_slots() if slot not in targets])
        for slot in targets:
            item = self.calendar.slots[slot]
            if isinstance(item, Errand):
                landing = next(landings, None)
                if landing is not None:
                    actions.append(_reschedule(item.errand_id, slot, landing, reason))
        for agreement, target in moves.items():
            source = self.calendar.slot_of(agreement)
            if source is not None and source != target:
                actions.append(_reschedule(agreement, source, target, f"move meeting {agreement} as agreed"))
        return tuple(actions)


_shared = lru_cache(maxsize=4096)(Option)
"""Options are values that recur at every turn: each is made once."""


def _option(slot: int, item: Slot, room: bool) -> Option:
    if item is None:
        return _shared(slot, 0, "free")
    if type(item) is MeetingItem:
        return _shared(slot, None, "agreement", item.meeting_id)
    if item.blocked:
        return _shared(slot, None, "fixed")
    return _shared(slot, item.cost if room else None, "own")


def _reschedule(item: int, source: int, target: int, reason: str) -> Reschedule:
    return Reschedule(item_id=item, from_slot=source, to_slot=target, justification=reason)
