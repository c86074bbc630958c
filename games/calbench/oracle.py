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

from games.calbench._placing import Board, Placed, charges, made_way, moved_priors, placement
from games.calbench._placing import insertion_costs as insertion_costs
from games.calbench._solvers import Method, solve
from games.calbench.calendars import LEVEL_SCALE, CostScale
from games.calbench.scenario import Layout, Oracle, PriorMeeting, Scenario


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
    if overloads(layout):
        return Oracle(status="infeasible", total=None, bound=None)
    answer = solve(placement(layout, scale, move_priors), method, effort)
    if answer.total is None:
        return Oracle(status="infeasible", total=None, bound=None)
    count = len(layout.meetings)
    slots, prior_slots = answer.slots[:count], answer.slots[count:]
    return Oracle(
        status=answer.status,
        total=answer.total,
        bound=answer.bound,
        per_agent=schedule_cost(layout, slots, prior_slots, scale=scale),
        slots=slots,
        prior_slots=prior_slots,
    )


def schedule_cost(
    layout: Layout, slots: Sequence[int], prior_slots: Sequence[int] | None = None, *, scale: CostScale = LEVEL_SCALE
) -> tuple[int, ...]:
    """Return what each seat pays for a schedule.

    Args:
        layout: A scenario, or its calendars and meetings.
        slots: Slot of each meeting.
        prior_slots: Slot of each prior meeting; by default they stay.
        scale: The scale of the result.

    Raises:
        ValueError: The schedule is not feasible; the message names the meeting and its slot.
    """
    targets = [prior.slot for prior in layout.prior_meetings] if prior_slots is None else list(prior_slots)
    items: list[Placed] = [
        *zip(layout.meetings, slots, strict=True),
        *zip(layout.prior_meetings, targets, strict=True),
    ]
    problem = placement(layout, scale, move_priors=True)
    taken: set[tuple[int, int]] = set()
    for (item, slot), row in zip(items, problem.costs, strict=True):
        wanted = {(seat, slot) for seat in item.participants}
        if slot >= problem.num_slots or row[slot] is None or taken & wanted:
            raise ValueError(f"meeting {item.id} cannot be in slot {slot}")
        taken |= wanted
    placed: list[Placed] = [*zip(layout.meetings, slots, strict=True)]
    return charges(layout, [*placed, *moved_priors(layout, targets)], scale)


def dead_meetings(layout: Layout) -> tuple[int, ...]:
    """Return the ids of meetings for which each slot is blocked on some participant's calendar."""
    rows = placement(layout, LEVEL_SCALE, move_priors=True).costs
    return tuple([meeting.id for meeting, row in zip(layout.meetings, rows, strict=False) if set(row) == {None}])


class Overload(NamedTuple):
    """An agent with more meetings than free slots."""

    agent: int
    meetings: int
    free: int


def overloads(layout: Layout) -> list[Overload]:
    """Return the agents that have more meetings to schedule than free slots.

    Such an agent cannot have all its meetings, whatever the slots: its calendar would overflow.
    """
    loads = [0] * len(layout.calendars)
    for meeting in layout.meetings:
        for seat in meeting.participants:
            loads[seat] += 1
    return [
        Overload(agent, loads[agent], free)
        for agent, calendar in enumerate(layout.calendars)
        if (free := calendar.slots.count(None)) < loads[agent]
    ]


class _Restricted(NamedTuple):
    """The part of an optimum that serves some of its meetings."""

    placed: list[Placed]
    moved: list[tuple[PriorMeeting, int]]


def _restricted(scenario: Scenario, meeting_ids: Collection[int] | None) -> _Restricted:
    known = {meeting.id for meeting in scenario.meetings}
    wanted = known if meeting_ids is None else set(meeting_ids)
    if wanted - known:
        raise ValueError(f"{scenario.task_id} has no meeting {min(wanted - known)}")
    if scenario.oracle.status == "infeasible":
        raise ValueError(f"{scenario.task_id} has no feasible schedule to compare with")
    placed: list[Placed] = [
        (meeting, slot)
        for meeting, slot in zip(scenario.meetings, scenario.oracle.slots, strict=True)
        if meeting.id in wanted
    ]
    return _Restricted(placed, made_way(placed, moved_priors(scenario, scenario.oracle.prior_slots)))


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
    placed, moved = _restricted(scenario, meeting_ids)
    return charges(scenario, [*placed, *moved], scale)


def replayed(
    scenario: Scenario, meeting_ids: Collection[int] | None = None, *, scale: CostScale = LEVEL_SCALE
) -> tuple[int, ...]:
    """Return each seat's cost when the optimal slots are taken one after another.

    Each displaced errand drops on its calendar's first free slot, where a later meeting may displace it
    again; so this is at least the oracle's cost. It serves comparison with numbers that were computed so.

    Args:
        scenario: A scenario whose oracle has a schedule.
        meeting_ids: The meetings that are replayed, by default all; prior meetings as for `oracle_for`.
        scale: The scale of the result.

    Raises:
        ValueError: As for `oracle_for`.
    """
    placed, moved = _restricted(scenario, meeting_ids)
    board = Board(scenario.calendars, scale)
    for prior, _ in moved:
        board.lift(prior)
    for item, slot in (*moved, *placed):
        board.insert(item, slot)
    return tuple(board.paid)


def greedy(layout: Layout, *, scale: CostScale = LEVEL_SCALE) -> Greedy:
    """Schedule each meeting in turn at the slot of least joint insertion cost, the lowest on a tie.

    Displaced errands land on the lowest-numbered free slot. Meetings on the calendars are never moved.
    """
    board = Board(layout.calendars, scale)
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


def _largest_where_all(costs: Sequence[Sequence[int | None]]) -> list[int]:
    joint = [column for column in zip(*costs, strict=True) if None not in column]
    return [max((column[place] or 0 for column in joint), default=0) for place in range(len(costs))]
