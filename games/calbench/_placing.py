"""Costs of placing meetings on calendars: the ground on which the oracle and the baselines stand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from games.calbench._problem import Problem
from games.calbench.calendars import LEVEL_SCALE, Calendar, CostScale, Errand, MeetingItem
from games.calbench.scenario import Layout, Meeting, PriorMeeting


def insertion_costs(calendar: Calendar, scale: CostScale = LEVEL_SCALE) -> tuple[int | None, ...]:
    """Return `Calendar.insertion_cost` for every slot, on a scale."""
    room = None in calendar.slots
    return tuple(
        [
            0
            if item is None
            else scale.shown[item.cost - 1]
            if room and type(item) is Errand and not item.blocked
            else None
            for item in calendar.slots
        ]
    )


def placement(layout: Layout, scale: CostScale, move_priors: bool) -> Problem:
    """Build the rows of the meetings and then of the prior meetings; priors leave their slots open."""
    columns = [
        [
            0 if item is None or type(item) is MeetingItem else None if item.blocked else scale.shown[item.cost - 1]
            for item in calendar.slots
        ]
        for calendar in layout.calendars
    ]
    rows: dict[tuple[int, ...], tuple[int | None, ...]] = {}
    costs: list[tuple[int | None, ...]] = []
    members: list[list[int]] = [[] for _ in layout.calendars]
    items: list[Meeting | PriorMeeting] = [*layout.meetings, *layout.prior_meetings]
    for item in items:
        row = rows.get(item.participants)
        if row is None:
            row = rows[item.participants] = joint([columns[seat] for seat in item.participants])
        if type(item) is PriorMeeting:
            fee = scale.shown[item.cost - 1] * len(item.participants)
            row = tuple(
                [
                    0 if slot == item.slot else cost + fee if move_priors and cost is not None else None
                    for slot, cost in enumerate(row)
                ]
            )
        for seat in item.participants:
            members[seat].append(len(costs))
        costs.append(row)
    groups = {tuple(group) for group in members if len(group) > 1}
    return Problem(len(layout.calendars[0]), tuple(costs), tuple(sorted(groups)))


def joint(columns: Sequence[Sequence[int | None]]) -> tuple[int | None, ...]:
    return tuple(
        [None if None in column else sum([cost for cost in column if cost]) for column in zip(*columns, strict=True)]
    )


Placed: TypeAlias = tuple[Meeting | PriorMeeting, int]
"""A meeting and the slot that it goes to."""


def charges(layout: Layout, placed: Sequence[Placed], scale: CostScale) -> tuple[int, ...]:
    """Return what each seat pays for some meetings in new slots, and some prior meetings in other slots."""
    paid = [0] * len(layout.calendars)
    for item, slot in placed:
        fee = scale.shown[item.cost - 1] if type(item) is PriorMeeting else 0
        for seat in item.participants:
            there = layout.calendars[seat].slots[slot]
            paid[seat] += fee + (scale.shown[there.cost - 1] if type(there) is Errand else 0)
    return tuple(paid)


def moved_priors(layout: Layout, prior_slots: Sequence[int]) -> list[tuple[PriorMeeting, int]]:
    """Return the prior meetings that leave their slots, and where they go."""
    return [(prior, slot) for prior, slot in zip(layout.prior_meetings, prior_slots, strict=True) if slot != prior.slot]


def made_way(placed: Sequence[Placed], moved: Sequence[tuple[PriorMeeting, int]]) -> list[tuple[PriorMeeting, int]]:
    """Return the moved prior meetings whose old slot is taken by a placed meeting, or by one of these."""
    takers = list(placed)
    counted: list[tuple[PriorMeeting, int]] = []
    waiting = list(moved)
    while takers:
        taker, slot = takers.pop()
        for entry in list(waiting):
            prior = entry[0]
            if prior.slot == slot and not set(prior.participants).isdisjoint(taker.participants):
                waiting.remove(entry)
                counted.append(entry)
                takers.append(entry)
    return counted


class Board:
    """Calendars in play, without checks: for replaying a schedule quickly."""

    def __init__(self, calendars: Sequence[Calendar], scale: CostScale) -> None:
        self.slots = [list(calendar.slots) for calendar in calendars]
        self.paid = [0] * len(calendars)
        self.scale = scale

    def cheapest(self, seats: Sequence[int]) -> int | None:
        """Return the slot of least joint insertion cost for some seats, None if none is feasible."""
        vectors = [insertion_costs(Calendar(tuple(self.slots[seat])), self.scale) for seat in seats]
        costs = {slot: cost for slot, cost in enumerate(joint(vectors)) if cost is not None}
        return min(costs, key=costs.__getitem__, default=None)

    def lift(self, prior: PriorMeeting) -> None:
        """Take a prior meeting off its slot and charge its participants."""
        for seat in prior.participants:
            self.slots[seat][prior.slot] = None
            self.paid[seat] += self.scale.shown[prior.cost - 1]

    def insert(self, meeting: Meeting | PriorMeeting, slot: int) -> None:
        """Put a meeting into a slot; an errand there is charged and drops on the first free slot."""
        item = MeetingItem(meeting_id=meeting.id, cost=meeting.cost, participants=meeting.participants)
        for seat in meeting.participants:
            own = self.slots[seat]
            there, own[slot] = own[slot], item
            if type(there) is Errand:
                self.paid[seat] += self.scale.shown[there.cost - 1]
                own[own.index(None)] = there
