"""Private calendars: what fills a slot, what an insertion costs, and how a calendar is shown.

A calendar is a row of slots `0..T-1`. A slot is free (`None`), an `Errand` (movable, or blocked) or a
`MeetingItem`. Costs are kept as levels 1, 2 and 3; a `CostScale` turns a level into the number that an
agent is shown.

Source: CalBench paper, sections 3 and A.1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias, final

from pydantic import BaseModel, ConfigDict, Discriminator, Field, GetCoreSchemaHandler, Tag
from pydantic_core import CoreSchema, core_schema

Level = Annotated[int, Field(ge=1, le=3, strict=True)]
"""A displacement cost on the internal 1/2/3 scale."""
Id = Annotated[int, Field(ge=0, strict=True)]
"""The number of a seat, a slot, an errand or a meeting: a true integer, not a string or a bool."""


class CalendarError(ValueError):
    """A calendar operation that the rules do not allow; the message is one sentence."""


@final
class Errand(BaseModel):
    """An appointment of one agent alone.

    Attributes:
        errand_id: Identifies the errand on its calendar.
        cost: Displacement cost as a level (1, 2 or 3).
        blocked: True if the errand may never be moved.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    errand_id: Id
    cost: Level
    blocked: bool = False


@final
class MeetingItem(BaseModel):
    """One participant's copy of a meeting that is already on the calendars.

    Attributes:
        meeting_id: Identifies the meeting in its game.
        cost: Cost level of moving this copy.
        participants: Every seat that holds a copy, ascending.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    meeting_id: Id
    cost: Level = 1
    participants: tuple[Id, ...]


Item: TypeAlias = Errand | MeetingItem
Slot: TypeAlias = Errand | MeetingItem | None


def slot_kind(value: Any) -> Literal["free", "errand", "meeting"]:
    """Choose the slot model before validating, so that a fault is reported once and not per model."""
    if value is None:
        return "free"
    if type(value) is MeetingItem or (isinstance(value, dict) and "meeting_id" in value):
        return "meeting"
    return "errand"


SlotField: TypeAlias = Annotated[
    Annotated[None, Tag("free")] | Annotated[Errand, Tag("errand")] | Annotated[MeetingItem, Tag("meeting")],
    Discriminator(slot_kind),
]
"""A slot as a pydantic field."""


@final
class CostScale(BaseModel):
    """The numbers that agents are shown for the cost levels 1, 2 and 3.

    Attributes:
        shown: The shown cost of level 1, of level 2 and of level 3.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    shown: tuple[Id, Id, Id]

    def cost(self, level: int) -> int:
        """Return the shown cost of a level (1, 2 or 3)."""
        return self.shown[level - 1]


LEVEL_SCALE = CostScale(shown=(1, 2, 3))
"""The levels themselves: the scale on which tables report (section 4)."""
UNIFORM_SCALE = CostScale(shown=(1, 1, 1))
"""What agents are shown in the uniform-cost setting."""
VARIED_SCALE = CostScale(shown=(1, 10, 100))
"""What agents are shown in the varied-cost setting (section 3, Costs)."""

LabelLookup: TypeAlias = Callable[[Item], str | None]
"""Gives the private label of an item, or None where the reader may not see one."""


@final
@dataclass(frozen=True, slots=True)
class Calendar:
    """An immutable calendar; every change returns a new one.

    Attributes:
        slots: The content of the slots `0..T-1`.
    """

    slots: tuple[Slot, ...]

    def __len__(self) -> int:
        return len(self.slots)

    def item_at(self, slot: int) -> Slot:
        """Return what fills a slot, None if it is free.

        Raises:
            CalendarError: The slot is outside the calendar.
        """
        if not 0 <= slot < len(self.slots):
            raise CalendarError(f"slot {slot} is outside the calendar; slots are 0..{len(self.slots) - 1}")
        return self.slots[slot]

    def free_slots(self) -> tuple[int, ...]:
        """Return the free slots, ascending."""
        return tuple([slot for slot, item in enumerate(self.slots) if item is None])

    def landing(self, slot: int) -> int | None:
        """Return the lowest-numbered free slot other than `slot`, None if there is none."""
        for candidate, item in enumerate(self.slots):
            if item is None and candidate != slot:
                return candidate
        return None

    def insertion_cost(self, slot: int) -> int | None:
        """Return the cost level of putting a meeting into a slot.

        Returns:
            0 for a free slot; the errand's cost level if a movable errand is there and another slot is
            free for it; None for a blocked errand, for a meeting, and where no slot is left to land on.

        Raises:
            CalendarError: The slot is outside the calendar.
        """
        item = self.item_at(slot)
        if item is None:
            return 0
        if type(item) is Errand and not item.blocked and self.landing(slot) is not None:
            return item.cost
        return None

    def slot_of(self, meeting_id: int) -> int | None:
        """Return the slot that holds a meeting, None if the calendar does not hold it."""
        for slot, item in enumerate(self.slots):
            if type(item) is MeetingItem and item.meeting_id == meeting_id:
                return slot
        return None

    def slot_of_errand(self, errand_id: int) -> int | None:
        """Return the slot that holds an errand, None if the calendar does not hold it."""
        for slot, item in enumerate(self.slots):
            if type(item) is Errand and item.errand_id == errand_id:
                return slot
        return None

    def put(self, slot: int, item: Item) -> Calendar:
        """Return the calendar with an item in a free slot.

        Raises:
            CalendarError: The slot is outside the calendar or not free.
        """
        if self.item_at(slot) is not None:
            raise CalendarError(f"slot {slot} is not free")
        return Calendar((*self.slots[:slot], item, *self.slots[slot + 1 :]))

    def move(self, from_slot: int, to_slot: int) -> Calendar:
        """Return the calendar with the item of one slot in another, free one.

        Raises:
            CalendarError: As for `rearrange`.
        """
        return self.rearrange({from_slot: to_slot})

    def rearrange(self, moves: Mapping[int, int]) -> Calendar:
        """Return the calendar after several moves at once, so that a slot freed by one may take another.

        Args:
            moves: Target slot by source slot.

        Raises:
            CalendarError: A slot is outside the calendar, a source is free or blocked, two items have one
                target, or a target is neither free nor freed by another move.
        """
        slots = list(self.slots)
        for source in moves:
            item = self.item_at(source)
            if item is None:
                raise CalendarError(f"slot {source} is free: there is nothing to move")
            if type(item) is Errand and item.blocked:
                raise CalendarError(f"errand {item.errand_id} in slot {source} is blocked and may not move")
            slots[source] = None
        for source, target in moves.items():
            self.item_at(target)
            if slots[target] is not None:
                raise CalendarError(f"slot {target} is not free for the item from slot {source}")
            slots[target] = self.slots[source]
        return Calendar(tuple(slots))

    def remove(self, meeting_id: int) -> Calendar:
        """Return the calendar without a meeting; the same calendar if it does not hold it."""
        slot = self.slot_of(meeting_id)
        return self if slot is None else Calendar((*self.slots[:slot], None, *self.slots[slot + 1 :]))

    def render(self, label: LabelLookup | None = None, scale: CostScale = LEVEL_SCALE) -> str:
        """Return the calendar as agents read it: one line a slot (section A.1).

        Args:
            label: Gives each item's private label; without it no labels are shown.
            scale: Turns cost levels into shown costs.
        """
        return "\n".join(f"Slot {slot}: {_describe(item, label, scale)}" for slot, item in enumerate(self.slots))

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """As a field a calendar is its list of slots; an instance passes through unchecked."""
        from_slots = core_schema.no_info_after_validator_function(cls, handler(tuple[SlotField, ...]))
        return core_schema.json_or_python_schema(
            json_schema=from_slots,
            python_schema=core_schema.union_schema([core_schema.is_instance_schema(cls), from_slots]),
            serialization=core_schema.plain_serializer_function_ser_schema(
                _slots_of, return_schema=handler.generate_schema(tuple[SlotField, ...])
            ),
        )


def _slots_of(calendar: Calendar) -> tuple[Slot, ...]:
    return calendar.slots


def _describe(item: Slot, label: LabelLookup | None, scale: CostScale) -> str:
    if item is None:
        return "[FREE]"
    cost = f"(cost={scale.cost(item.cost)})"
    if type(item) is MeetingItem:
        text = f"Meeting M{item.meeting_id} {cost} participants={list(item.participants)}"
    else:
        text = f"{'Blocked Errand' if item.blocked else 'Errand'} #{item.errand_id} {cost}"
    words = label(item) if label is not None else None
    return text if words is None else f"{text} - {words}"
