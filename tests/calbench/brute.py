"""Slow, obvious answers to compare the optimisation layer with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations, product
from typing import NamedTuple

from hypothesis import strategies as st

from games.calbench.calendars import Calendar, Errand, MeetingItem, Slot
from games.calbench.scenario import Layout, Meeting, PriorMeeting


class Parts(NamedTuple):
    """Calendars and meetings."""

    calendars: tuple[Calendar, ...]
    meetings: tuple[Meeting, ...]
    prior_meetings: tuple[PriorMeeting, ...] = ()


class Schedule(NamedTuple):
    """A schedule and what each seat pays for it."""

    slots: tuple[int, ...]
    paid: tuple[int, ...]


def schedules(layout: Layout) -> Iterator[Schedule]:
    """Try every slot for every meeting, prior ones last, in lexicographic order; yield what is feasible."""
    items = (*layout.meetings, *layout.prior_meetings)
    for slots in product(range(len(layout.calendars[0])), repeat=len(items)):
        paid = [pay(layout, seat, slots) for seat in range(len(layout.calendars))]
        if None not in paid:
            yield Schedule(slots, tuple(cost for cost in paid if cost is not None))


def pay(layout: Layout, seat: int, slots: Sequence[int]) -> int | None:
    """What a seat pays, None if its calendar cannot hold its meetings and errands."""
    items: list[Meeting | PriorMeeting] = [*layout.meetings, *layout.prior_meetings]
    own = [(item, slot) for item, slot in zip(items, slots, strict=True) if seat in item.participants]
    used = [slot for _, slot in own]
    if len(set(used)) < len(used):
        return None
    cost = sum(item.cost for item, slot in own if isinstance(item, PriorMeeting) and slot != item.slot)
    homeless = 0
    staying = set(used)
    for slot, there in enumerate(layout.calendars[seat].slots):
        if isinstance(there, Errand) and slot in used:
            if there.blocked:
                return None
            homeless += 1
            cost += there.cost
        elif isinstance(there, Errand):
            staying.add(slot)
    return cost if homeless <= len(layout.calendars[seat]) - len(staying) else None


def feasible_assignments(rows: Sequence[Sequence[bool]]) -> int:
    """Count the ways to give each row a column of its own in which it is true, by listing them."""
    columns = range(len(rows[0]))
    return sum(
        all(row[column] for row, column in zip(rows, chosen, strict=True))
        for chosen in permutations(columns, len(rows))
    )


@st.composite
def layouts(draw: st.DrawFn, max_slots: int = 5, max_items: int = 4, priors: bool = True) -> Parts:
    """Small layouts, feasible or not."""
    agents = draw(st.integers(1, 4))
    slots = draw(st.integers(1, max_slots))
    seats = st.sets(st.integers(0, agents - 1), min_size=1).map(lambda chosen: tuple(sorted(chosen)))
    meetings = draw(st.lists(seats, min_size=1, max_size=max_items - 1))
    grid: list[list[Slot]] = [
        [draw(st.none() | errands(seat * slots + slot)) for slot in range(slots)] for seat in range(agents)
    ]
    placed: list[PriorMeeting] = []
    for index in range(draw(st.integers(0, max_items - len(meetings))) if priors else 0):
        members, slot = draw(seats), draw(st.integers(0, slots - 1))
        if any(isinstance(grid[seat][slot], MeetingItem) for seat in members):
            continue
        prior = PriorMeeting(id=len(meetings) + 1 + index, participants=members, slot=slot)
        placed.append(prior)
        for seat in members:
            grid[seat][slot] = MeetingItem(meeting_id=prior.id, participants=members)
    return Parts(
        tuple(Calendar(tuple(row)) for row in grid),
        tuple(Meeting(id=i, participants=p, speaker_order=p) for i, p in enumerate(meetings, start=1)),
        tuple(placed),
    )


def errands(number: int) -> st.SearchStrategy[Errand]:
    """Errands with a number, rarely blocked."""
    return st.builds(
        Errand, errand_id=st.just(number), cost=st.integers(1, 3), blocked=st.sampled_from([False, False, True])
    )
