"""The scenario generator: calendars are built backwards from a hidden feasible schedule (the witness).

The same seed and parameters give the same scenario, byte for byte, on any machine and Python version. What a
seed draws for one purpose does not depend on another: scenarios that differ only in their cost setting
have the same meetings, and errands in the same slots.

Source: CalBench paper, section A.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from games.calbench._dice import Dice
from games.calbench.calendars import Calendar, Errand, MeetingItem, Slot
from games.calbench.difficulty import difficulty
from games.calbench.oracle import greedy, optimum
from games.calbench.rotation import participant_sets, speaker_orders
from games.calbench.scenario import Difficulty, Meeting, PriorMeeting, Scenario, ScenarioParams

_WITNESS_ATTEMPTS = 200


class GeneratorError(ValueError):
    """The parameters admit no scenario; the message names the agent and the numbers."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A scenario's layout before its optimum is known.

    Attributes:
        seed: Its seed.
        params: Its parameters.
        calendars: Each seat's calendar.
        meetings: The meetings to be scheduled.
        prior_meetings: The meetings on the calendars.
        witness: The hidden feasible slot of each meeting.
    """

    seed: int
    params: ScenarioParams
    calendars: tuple[Calendar, ...]
    meetings: tuple[Meeting, ...]
    prior_meetings: tuple[PriorMeeting, ...]
    witness: tuple[int, ...]


def generate_scenario(
    params: ScenarioParams, seed: int, task_id: str | None = None, *, effort: float = 60.0
) -> Scenario:
    """Generate a scenario with its oracle, greedy cost and difficulty.

    Args:
        params: The parameters.
        seed: 0 or more; fixes all randomness.
        task_id: Name of the scenario; by default `s<seed>`.
        effort: Limit of the oracle's search, as for `optimum`.

    Raises:
        GeneratorError: The parameters admit no scenario.
    """
    return complete(draft(params, seed), task_id, effort=effort)


def draft(params: ScenarioParams, seed: int) -> Draft:
    """Generate calendars and meetings only, as for `generate_scenario`."""
    if seed < 0:
        raise GeneratorError(f"seed {seed} is negative: use 0 or more")
    meetings = _meetings(params, seed)
    priors, witness = _place(params, meetings, seed)
    plan = _Plan(params, meetings, priors, witness)
    calendars = tuple([_calendar(plan, agent, seed) for agent in range(params.num_agents)])
    return Draft(seed, params, calendars, meetings, priors, witness)


def complete(
    layout: Draft, task_id: str | None = None, score: Difficulty | None = None, *, effort: float = 60.0
) -> Scenario:
    """Add oracle, greedy cost and difficulty to a draft.

    Args:
        layout: The draft.
        task_id: Name of the scenario; by default `s<seed>`.
        score: Its difficulty, if it is known already.
    """
    walk = greedy(layout)
    slots = layout.params.num_slots
    return Scenario(
        task_id=f"s{layout.seed}" if task_id is None else task_id,
        seed=layout.seed,
        params=layout.params,
        calendars=layout.calendars,
        meetings=layout.meetings,
        prior_meetings=layout.prior_meetings,
        witness=layout.witness,
        asked_density=layout.params.agent_densities,
        realised_density=tuple([_errands(calendar) / slots for calendar in layout.calendars]),
        oracle=optimum(layout, effort=effort),
        greedy_cost=walk.total if walk.complete else None,
        difficulty=difficulty(layout, seed=layout.seed) if score is None else score,
        cost_scale=layout.params.cost_scale,
    )


def _errands(calendar: Calendar) -> int:
    return sum(1 for item in calendar.slots if type(item) is Errand)


def _meetings(params: ScenarioParams, seed: int) -> tuple[Meeting, ...]:
    if params.participant_lists is None:
        sets = participant_sets(params.num_agents, params.subset_size, params.num_meetings, Dice(seed, "participants"))
    else:
        sets = tuple([tuple(sorted(participants)) for participants in params.participant_lists])
    orders = speaker_orders(sets, params.num_agents, Dice(seed, "speakers"))
    return tuple(
        [
            Meeting(id=index, participants=participants, speaker_order=order)
            for index, (participants, order) in enumerate(zip(sets, orders, strict=True), start=1)
        ]
    )


class _Plan(NamedTuple):
    """What a calendar is built around."""

    params: ScenarioParams
    meetings: tuple[Meeting, ...]
    priors: tuple[PriorMeeting, ...]
    witness: tuple[int, ...]


def _place(
    params: ScenarioParams, meetings: Sequence[Meeting], seed: int
) -> tuple[tuple[PriorMeeting, ...], tuple[int, ...]]:
    """Draw a slot for each prior meeting and each meeting, distinct for each participant."""
    dice = Dice(seed, "prior meetings")
    sets = participant_sets(params.num_agents, params.prior_subset_size, params.num_prior_meetings, dice)
    costs = [1 + dice.below(params.meeting_cost_level) for _ in sets]
    _check_room(params, [meeting.participants for meeting in meetings], sets)
    dice = Dice(seed, "witness")
    wanted = [*sets, *[meeting.participants for meeting in meetings]]
    for _ in range(_WITNESS_ATTEMPTS):
        slots = _draw_slots(wanted, params, dice)
        if slots is not None:
            break
    else:
        raise GeneratorError(
            f"no schedule of {len(wanted)} meetings in {params.num_slots} slots was found in "
            f"{_WITNESS_ATTEMPTS} attempts: use more slots or fewer meetings"
        )
    priors = [
        PriorMeeting(id=len(meetings) + index, participants=participants, slot=slot, cost=cost)
        for index, (participants, slot, cost) in enumerate(zip(sets, slots, costs, strict=False), start=1)
    ]
    return tuple(priors), tuple(slots[len(priors) :])


def _draw_slots(sets: Sequence[tuple[int, ...]], params: ScenarioParams, dice: Dice) -> list[int] | None:
    """Draw slots one after another; None if one finds all slots used by its participants."""
    used: list[set[int]] = [set() for _ in range(params.num_agents)]
    slots: list[int] = []
    for participants in sets:
        taken = set().union(*[used[seat] for seat in participants])
        free = [slot for slot in range(params.num_slots) if slot not in taken]
        if not free:
            return None
        slots.append(dice.pick(free))
        for seat in participants:
            used[seat].add(slots[-1])
    return slots


def _check_room(params: ScenarioParams, meetings: Sequence[tuple[int, ...]], priors: Sequence[tuple[int, ...]]) -> None:
    for agent, blocked in enumerate(params.agent_blocked):
        new = sum(agent in participants for participants in meetings)
        old = sum(agent in participants for participants in priors)
        if new + old + blocked > params.num_slots:
            raise GeneratorError(
                f"agent {agent} has {new} meetings, {old} prior meetings and {blocked} blocked errands, "
                f"more than its {params.num_slots} slots: use more slots, or fewer of these"
            )


def _calendar(plan: _Plan, agent: int, seed: int) -> Calendar:
    """Fill one calendar: prior meetings, errands up to the density, levels, and last the blocked errands."""
    params = plan.params
    slots: list[Slot] = [None] * params.num_slots
    for prior in plan.priors:
        if agent in prior.participants:
            slots[prior.slot] = MeetingItem(meeting_id=prior.id, cost=prior.cost, participants=prior.participants)
    own_witness = [
        slot for meeting, slot in zip(plan.meetings, plan.witness, strict=True) if agent in meeting.participants
    ]
    places = _errand_places(params, agent, slots, own_witness, Dice(seed, f"errands {agent}"))
    levels = _levels(params, len(places), Dice(seed, f"levels {agent}"))
    numbers = Dice(seed, f"numbers {agent}").shuffled(range(1, len(places) + 1))
    blocked = _blocked_places(params, agent, places, own_witness, Dice(seed, f"blocked {agent}"))
    for place, level, number in zip(places, levels, numbers, strict=True):
        # Numbers start at the same place for each agent whatever the others hold, and tell nothing of them.
        number += agent * params.num_slots
        slots[place] = Errand(errand_id=number, cost=level, blocked=place in blocked)
    return Calendar(tuple(slots))


def _errand_places(
    params: ScenarioParams, agent: int, slots: Sequence[Slot], own_witness: Sequence[int], dice: Dice
) -> list[int]:
    """Choose the slots that hold errands; as many stay free as the agent has meetings to schedule."""
    open_slots = [slot for slot, item in enumerate(slots) if item is None]
    # A product of floats such as 100 * 0.29 falls short of the integer that is meant.
    asked = int(Fraction(repr(params.agent_densities[agent])) * params.num_slots)
    count = min(asked, len(open_slots) - len(own_witness))
    others = dice.shuffled([slot for slot in open_slots if slot not in own_witness])
    wanted = params.agent_blocked[agent]
    if wanted > min(count, len(others)):
        raise GeneratorError(
            f"agent {agent} should have {wanted} blocked errands but at most {min(count, len(others))} of its "
            f"{params.num_slots} slots can hold one (density {params.agent_densities[agent]:g}, "
            f"{len(own_witness)} meetings): ask for fewer, raise its density or use more slots"
        )
    to_block, others = others[:wanted], others[wanted:]
    if params.force_witness_errand:
        return [*to_block, *dice.shuffled(own_witness), *others][:count]
    return [*to_block, *dice.sample([*own_witness, *others], count - wanted)]


def _levels(params: ScenarioParams, count: int, dice: Dice) -> list[int]:
    top = params.max_errand_level
    if params.cost_setting != "balanced":
        return [1 + dice.below(top) for _ in range(count)]
    # Which levels are there once more than the others is drawn too, so that no level is favoured.
    order = dice.shuffled(range(1, top + 1))
    return dice.shuffled([order[index % top] for index in range(count)])


def _blocked_places(
    params: ScenarioParams, agent: int, places: Sequence[int], own_witness: Sequence[int], dice: Dice
) -> frozenset[int]:
    movable = sorted(place for place in places if place not in own_witness)
    return frozenset(dice.sample(movable, params.agent_blocked[agent]))
