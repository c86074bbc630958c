"""The full-information optimum of a scenario, and the baselines and bounds that metrics take from it.

With at least as many free slots on each calendar as its agent has meetings, every displaced errand finds a
slot, so a schedule's cost is the sum of what each meeting displaces in its slot. A prior meeting is one more
meeting to place: free where it is, at its own cost for all participants anywhere else.

All costs are on a scale: the 1/2/3 levels unless another is given.

Source: CalBench paper, sections 3, 4.2 and A.1.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from games.calbench._problem import Problem
from games.calbench._solvers import Method, solve
from games.calbench.calendars import LEVEL_SCALE, Calendar, CostScale, Errand, MeetingItem
from games.calbench.scenario import Layout, Meeting, Oracle, PriorMeeting, Scenario


class Greedy(NamedTuple):
    """What scheduling one meeting after another at its cheapest slot leads to.

    Attributes:
        slots: Slot of each meeting; None if no slot was feasible for all its participants.
        per_agent: Displacement cost of each seat.
        total: Displacement cost of all seats.
    """

    slots: tuple[int | None, ...]
    per_agent: tuple[int, ...]
    total: int

    @property
    def complete(self) -> bool:
        """Whether every meeting got a slot."""
        return None not in self.slots


class AdjustmentTerms(NamedTuple):
    """One seat's terms of the coordination-adjusted cost (section 4.2).

    Attributes:
        worst: `w`: its largest finite insertion cost, averaged over its meetings.
        oracle: `o`: its oracle cost per meeting.
    """

    worst: float
    oracle: float


def optimum(
    layout: Layout,
    *,
    scale: CostScale = LEVEL_SCALE,
    move_priors: bool = True,
    method: Method = "auto",
    effort: float = 60.0,
) -> Oracle:
    """Compute the schedule of least total displacement cost.

    Among optimal schedules it is the one whose slot vector (meetings in order, then prior meetings) is
    lexicographically smallest.

    Args:
        layout: A scenario, or its calendars and meetings.
        scale: The scale on which cost is minimised and reported.
        move_priors: Whether prior meetings may be moved.
        method: Which solver; all give the same answer.
        effort: Limit of one CP-SAT search in its deterministic seconds; when it is reached, the status is
            `feasible` and the bound is below the total or the slots are not the smallest.
    """
    if landing_faults(layout):
        return Oracle(status="infeasible", total=None, bound=None)
    answer = solve(_problem(layout, scale, move_priors), method, effort)
    if answer.total is None:
        return Oracle(status="infeasible", total=None, bound=None)
    count = len(layout.meetings)
    slots, prior_slots = answer.slots[:count], answer.slots[count:]
    return Oracle(
        status=answer.status,
        total=answer.total,
        bound=answer.bound,
        per_agent=_charges(layout, slots, prior_slots, scale),
        slots=slots,
        prior_slots=prior_slots,
    )


def landing_faults(layout: Layout) -> list[tuple[int, int, int]]:
    """Return (agent, meetings, free slots) of each agent that has more meetings than free slots.

    Such an agent cannot have all its meetings, whatever the slots: its calendar would overflow.
    """
    loads = [0] * len(layout.calendars)
    for meeting in layout.meetings:
        for seat in meeting.participants:
            loads[seat] += 1
    return [
        (agent, loads[agent], free)
        for agent, calendar in enumerate(layout.calendars)
        if (free := calendar.slots.count(None)) < loads[agent]
    ]


def oracle_for(scenario: Scenario, meeting_ids: Collection[int], *, scale: CostScale = LEVEL_SCALE) -> tuple[int, ...]:
    """Return each seat's cost in the stored optimum, restricted to some of the meetings.

    This is the scheduled-only oracle of table 1. A prior meeting that the optimum moves is counted if it
    makes way for one of these meetings, directly or through another prior meeting.

    Args:
        scenario: A scenario whose oracle has a schedule.
        meeting_ids: The meetings that count, such as those that a game scheduled.
        scale: The scale of the result.

    Raises:
        ValueError: The scenario's oracle is infeasible, or a meeting does not exist.
    """
    unknown = set(meeting_ids) - {meeting.id for meeting in scenario.meetings}
    if unknown:
        raise ValueError(f"{scenario.task_id} has no meeting {min(unknown)}")
    if scenario.oracle.status == "infeasible":
        raise ValueError(f"{scenario.task_id} has no feasible schedule to compare with")
    return _charges(scenario, scenario.oracle.slots, scenario.oracle.prior_slots, scale, frozenset(meeting_ids))


def replayed(
    scenario: Scenario, meeting_ids: Collection[int] | None = None, *, scale: CostScale = LEVEL_SCALE
) -> tuple[int, ...]:
    """Return each seat's cost when the optimal slots are taken one after another.

    Each displaced errand drops on its calendar's first free slot, where a later meeting may displace it
    again; so this is at least the oracle's cost. It serves comparison with numbers that were computed so.

    Args:
        scenario: A scenario whose oracle has a schedule.
        meeting_ids: The meetings that are taken; None for all.
        scale: The scale of the result.

    Raises:
        ValueError: The scenario's oracle is infeasible.
    """
    if scenario.oracle.status == "infeasible":
        raise ValueError(f"{scenario.task_id} has no feasible schedule to replay")
    board = _Board(scenario.calendars, scale)
    moved = [
        (prior, slot)
        for prior, slot in zip(scenario.prior_meetings, scenario.oracle.prior_slots, strict=True)
        if slot != prior.slot
    ]
    for prior, _ in moved:
        board.lift(prior)
    for prior, slot in moved:
        board.insert(prior, slot)
    for meeting, slot in zip(scenario.meetings, scenario.oracle.slots, strict=True):
        if meeting_ids is None or meeting.id in meeting_ids:
            board.insert(meeting, slot)
    return tuple(board.paid)


def greedy(layout: Layout, *, scale: CostScale = LEVEL_SCALE) -> Greedy:
    """Schedule each meeting in turn at the slot of least joint insertion cost, the lowest on a tie.

    Displaced errands land on the lowest-numbered free slot. Meetings on the calendars are never moved.
    """
    board = _Board(layout.calendars, scale)
    slots: list[int | None] = []
    for meeting in layout.meetings:
        slot = board.cheapest(meeting.participants)
        slots.append(slot)
        if slot is not None:
            board.insert(meeting, slot)
    return Greedy(tuple(slots), tuple(board.paid), sum(board.paid))


def worst_insertion(layout: Layout, *, scale: CostScale = LEVEL_SCALE) -> tuple[tuple[int | None, ...], ...]:
    """Return, by agent and meeting, the largest insertion cost over the slots feasible for all.

    The costs are those of the calendars at the start.

    Returns:
        For each agent one entry a meeting: None if the agent takes no part, 0 if no slot is feasible.
    """
    vectors = [insertion_costs(calendar, scale) for calendar in layout.calendars]
    table: list[list[int | None]] = [[None] * len(layout.meetings) for _ in layout.calendars]
    for index, meeting in enumerate(layout.meetings):
        costs = [vectors[seat] for seat in meeting.participants]
        for seat, worst in zip(meeting.participants, _largest_where_all(costs), strict=True):
            table[seat][index] = worst
    return tuple([tuple(row) for row in table])


def adjustment_terms(scenario: Scenario, *, scale: CostScale = LEVEL_SCALE) -> tuple[AdjustmentTerms, ...]:
    """Return each seat's `w` and `o` of the coordination-adjusted cost; both 0 without meetings.

    Raises:
        ValueError: The scenario's oracle is infeasible.
    """
    worst = worst_insertion(scenario, scale=scale)
    paid = oracle_for(scenario, [meeting.id for meeting in scenario.meetings], scale=scale)
    terms: list[AdjustmentTerms] = []
    for row, cost in zip(worst, paid, strict=True):
        own = [value for value in row if value is not None]
        terms.append(AdjustmentTerms(sum(own) / len(own), cost / len(own)) if own else AdjustmentTerms(0.0, 0.0))
    return tuple(terms)


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


def _largest_where_all(costs: Sequence[Sequence[int | None]]) -> list[int]:
    joint = [column for column in zip(*costs, strict=True) if None not in column]
    return [max((column[place] or 0 for column in joint), default=0) for place in range(len(costs))]


def _problem(layout: Layout, scale: CostScale, move_priors: bool) -> Problem:
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
    for item in (*layout.meetings, *layout.prior_meetings):
        row = rows.get(item.participants)
        if row is None:
            row = rows[item.participants] = _joint([columns[seat] for seat in item.participants])
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


def _joint(columns: Sequence[Sequence[int | None]]) -> tuple[int | None, ...]:
    return tuple(
        [None if None in column else sum([cost for cost in column if cost]) for column in zip(*columns, strict=True)]
    )


def _charges(
    layout: Layout,
    slots: Sequence[int],
    prior_slots: Sequence[int],
    scale: CostScale,
    only: frozenset[int] | None = None,
) -> tuple[int, ...]:
    """Return what each seat pays in a schedule for the meetings in `only` (None: for all)."""
    paid = [0] * len(layout.calendars)
    placed: list[tuple[Meeting | PriorMeeting, int]] = [
        (meeting, slot)
        for meeting, slot in zip(layout.meetings, slots, strict=True)
        if only is None or meeting.id in only
    ]
    moved = [
        (prior, slot) for prior, slot in zip(layout.prior_meetings, prior_slots, strict=True) if slot != prior.slot
    ]
    placed += moved if only is None else _made_way(placed, moved)
    for item, slot in placed:
        fee = scale.shown[item.cost - 1] if type(item) is PriorMeeting else 0
        for seat in item.participants:
            there = layout.calendars[seat].slots[slot]
            paid[seat] += fee + (scale.shown[there.cost - 1] if type(there) is Errand else 0)
    return tuple(paid)


def _made_way(
    placed: Sequence[tuple[Meeting | PriorMeeting, int]], moved: Sequence[tuple[PriorMeeting, int]]
) -> list[tuple[PriorMeeting, int]]:
    """Return the moved prior meetings whose old slot is taken by a placed meeting, or by one of these."""
    takers: list[tuple[Meeting | PriorMeeting, int]] = list(placed)
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


class _Board:
    """Calendars in play, without checks: for replaying a schedule quickly."""

    def __init__(self, calendars: Sequence[Calendar], scale: CostScale) -> None:
        self.slots = [list(calendar.slots) for calendar in calendars]
        self.paid = [0] * len(calendars)
        self.scale = scale

    def cheapest(self, seats: Sequence[int]) -> int | None:
        """Return the slot of least joint insertion cost for some seats, None if none is feasible."""
        vectors = [insertion_costs(Calendar(tuple(self.slots[seat])), self.scale) for seat in seats]
        costs = {slot: cost for slot, cost in enumerate(_joint(vectors)) if cost is not None}
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
