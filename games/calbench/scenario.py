"""The data of one CalBench game: parameters, calendars, meetings, and what is known about its optimum.

Everything here is frozen and goes to JSON and back byte for byte. A `Scenario` is only built if its parts
fit together; `layout_faults` names what does not.

Source: CalBench paper, sections 3 and A.1 (table 3).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Literal, NamedTuple, Protocol, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from games.calbench.calendars import LEVEL_SCALE as LEVEL_SCALE
from games.calbench.calendars import (
    UNIFORM_SCALE,
    VARIED_SCALE,
    Calendar,
    CostScale,
    Errand,
    Id,
    Level,
    MeetingItem,
)

CostSetting: TypeAlias = Literal["uniform", "varied", "balanced"]
"""How errands get their levels: all 1; drawn at random; drawn in counts that differ by at most one."""
Bucket: TypeAlias = Literal["easy", "medium", "hard"]
Status: TypeAlias = Literal["optimal", "feasible", "infeasible"]

Count = Annotated[int, Field(ge=0, strict=True)]
Positive = Annotated[int, Field(ge=1, strict=True)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ScenarioParams(_Frozen):
    """The parameters of the generator (table 3, and our additions).

    Attributes:
        num_agents: Seats `N`.
        num_slots: Calendar length `T`.
        density: Share of slots filled with errands, for all agents or one for each.
        num_meetings: Meetings to schedule, `M`; one a round.
        subset_size: Participants of a meeting, `k`.
        pref_level: Highest errand level.
        errand_cost_level: Overrides `pref_level` for errands.
        meeting_cost_level: Highest level of a prior meeting.
        participant_lists: Participants of each meeting, instead of rotating ones.
        force_witness_errand: Put errands on the witness slots first, for displacement pressure.
        blocked: Blocked errands on each calendar, the same for all agents or one number for each.
        cost_setting: How errands get their levels.
        num_prior_meetings: Meetings that are on the calendars at the start.
        prior_subset_size: Participants of a prior meeting.
    """

    num_agents: Positive = 5
    num_slots: Positive = 16
    density: Share | tuple[Share, ...] = 0.8
    num_meetings: Positive = 5
    subset_size: Positive = 3
    pref_level: Level = 3
    errand_cost_level: Level | None = None
    meeting_cost_level: Level = 1
    participant_lists: tuple[tuple[Id, ...], ...] | None = None
    force_witness_errand: bool = True
    blocked: Count | tuple[Count, ...] = 0
    cost_setting: CostSetting = "uniform"
    num_prior_meetings: Count = 0
    prior_subset_size: Positive = 2

    @model_validator(mode="after")
    def _check(self) -> Self:
        for fault in _param_faults(self):
            raise ValueError(fault)
        return self

    @property
    def max_errand_level(self) -> int:
        """The highest level that an errand may get: 1 in the uniform setting."""
        if self.cost_setting == "uniform":
            return 1
        return self.pref_level if self.errand_cost_level is None else self.errand_cost_level

    @property
    def agent_densities(self) -> tuple[float, ...]:
        """The asked density of each agent."""
        return self.density if isinstance(self.density, tuple) else (self.density,) * self.num_agents

    @property
    def agent_blocked(self) -> tuple[int, ...]:
        """The number of blocked errands of each agent."""
        return self.blocked if isinstance(self.blocked, tuple) else (self.blocked,) * self.num_agents

    @property
    def cost_scale(self) -> CostScale:
        """The scale on which agents are shown costs."""
        return UNIFORM_SCALE if self.cost_setting == "uniform" else VARIED_SCALE


class Meeting(_Frozen):
    """A meeting to be scheduled.

    Attributes:
        id: 1 for the first round's meeting, and so on.
        participants: Its seats, ascending.
        speaker_order: The same seats in the order in which they speak.
        duration: Length in slots; always 1.
        cost: Cost level of moving one copy once it is on the calendars.
    """

    id: Positive
    participants: tuple[Id, ...]
    speaker_order: tuple[Id, ...]
    duration: Literal[1] = 1
    cost: Level = 1


class PriorMeeting(_Frozen):
    """A meeting that is on the calendars of its participants at the start.

    Attributes:
        id: Numbered after the meetings to be scheduled.
        participants: Its seats, ascending.
        slot: Where it is at the start.
        cost: Cost level of moving one participant's copy.
    """

    id: Positive
    participants: tuple[Id, ...]
    slot: Id
    cost: Level = 1


class Oracle(_Frozen):
    """The full-information optimum.

    Attributes:
        status: `optimal`; `feasible` if the search ended early (then `bound < total`); `infeasible`.
        total: Displacement cost of the assignment, on the scale that was asked for; None if infeasible.
        bound: Proven lower bound of the total; None if infeasible.
        per_agent: Displacement cost of each seat; they sum to the total.
        slots: Slot of each meeting, the lexicographically smallest vector among the optima.
        prior_slots: Slot of each prior meeting in the optimum.
    """

    status: Status
    total: Count | None
    bound: Count | None
    per_agent: tuple[Count, ...] = ()
    slots: tuple[Id, ...] = ()
    prior_slots: tuple[Id, ...] = ()


class Difficulty(_Frozen):
    """The share of assignments of distinct slots that need nobody's blocked slot.

    Attributes:
        d: `F / (T! / (T-M)!)`, from 0 (hard) to 1 (easy).
        feasible: `F`, if counted exactly.
        method: `exact`, or `sampled` where the count would be too long.
        std_error: Standard error of a sampled `d`, 0 for an exact one.
    """

    d: Annotated[float, Field(ge=0.0)]
    feasible: Count | None
    method: Literal["exact", "sampled"] = "exact"
    std_error: Annotated[float, Field(ge=0.0)] = 0.0


class Layout(Protocol):
    """Calendars and meetings: all that the optimisation layer needs of a scenario."""

    @property
    def calendars(self) -> tuple[Calendar, ...]: ...
    @property
    def meetings(self) -> tuple[Meeting, ...]: ...
    @property
    def prior_meetings(self) -> tuple[PriorMeeting, ...]: ...


class Scenario(_Frozen):
    """One game's data.

    Attributes:
        format: Marks our own files.
        task_id: Names the scenario in its suite.
        seed: Fixes, with `params`, everything else.
        params: How it was generated.
        calendars: Each seat's calendar at the start.
        meetings: The meetings in the order of the rounds.
        prior_meetings: The meetings that are on the calendars already.
        witness: The hidden feasible slot of each meeting; None if it came from elsewhere.
        asked_density: Density asked for, by seat.
        realised_density: Share of slots that hold errands, by seat.
        oracle: The optimum on the 1/2/3 scale.
        greedy_cost: Cost of scheduling one meeting after another at the cheapest slot; None if it cannot.
        difficulty: The share of feasible assignments.
        bucket: Tertile of the difficulty within its cell of a suite.
        cost_scale: What agents are shown.
    """

    format: Literal["cheaptalk.calbench/1"] = "cheaptalk.calbench/1"
    task_id: str
    seed: Count
    params: ScenarioParams
    calendars: tuple[Calendar, ...]
    meetings: tuple[Meeting, ...]
    prior_meetings: tuple[PriorMeeting, ...] = ()
    witness: tuple[Id, ...] | None = None
    asked_density: tuple[float, ...]
    realised_density: tuple[float, ...]
    oracle: Oracle
    greedy_cost: Count | None
    difficulty: Difficulty
    bucket: Bucket | None = None
    cost_scale: CostScale

    @model_validator(mode="after")
    def _check(self) -> Self:
        for fault in layout_faults(self):
            raise ValueError(fault.sentence)
        return self

    @property
    def setting(self) -> Literal["uniform", "varied"]:
        """The cost setting under which tables list the scenario."""
        return "uniform" if self.params.cost_setting == "uniform" else "varied"

    @property
    def num_agents(self) -> int:
        """Seats `N`."""
        return len(self.calendars)

    @property
    def num_slots(self) -> int:
        """Calendar length `T`."""
        return len(self.calendars[0])

    def meetings_of(self, seat: int) -> tuple[Meeting, ...]:
        """Return the meetings in which a seat takes part."""
        return tuple([meeting for meeting in self.meetings if seat in meeting.participants])


class Fault(NamedTuple):
    """What is wrong with a layout, and how to mend it."""

    problem: str
    remedy: str

    @property
    def sentence(self) -> str:
        """Both in one sentence."""
        return f"{self.problem}: {self.remedy}"


def layout_faults(layout: Layout) -> Iterator[Fault]:
    """Yield every way in which calendars and meetings contradict each other or the rules."""
    if not layout.calendars:
        yield Fault("there are no calendars", "give one calendar for each agent")
        return
    if not layout.meetings:
        yield Fault("there are no meetings", "give at least one meeting")
    num_slots = len(layout.calendars[0])
    for agent, calendar in enumerate(layout.calendars):
        yield from _calendar_faults(agent, calendar, num_slots)
    for index, meeting in enumerate(layout.meetings, start=1):
        yield from _meeting_faults(index, meeting, layout)
    yield from _prior_faults(layout, num_slots)


def _calendar_faults(agent: int, calendar: Calendar, num_slots: int) -> Iterator[Fault]:
    if len(calendar) != num_slots:
        yield Fault(
            f"the calendar of agent {agent} has {len(calendar)} slots and that of agent 0 has {num_slots}",
            "give all calendars the same length",
        )
    seen: set[int] = set()
    for item in calendar.slots:
        if type(item) is Errand:
            if item.errand_id in seen:
                yield Fault(
                    f"errand {item.errand_id} is on the calendar of agent {agent} twice",
                    "number the errands of a calendar differently",
                )
            seen.add(item.errand_id)


def _seat_faults(what: str, participants: Sequence[int], num_agents: int) -> Iterator[Fault]:
    if not participants:
        yield Fault(f"{what} has no participants", "name at least one")
    for seat in sorted(set(participants)):
        if participants.count(seat) > 1:
            yield Fault(f"{what} lists participant {seat} twice", "name each participant once")
        if seat >= num_agents:
            yield Fault(
                f"{what} lists participant {seat}, but the agents are 0..{num_agents - 1}",
                "name existing agents only",
            )
    if list(participants) != sorted(participants):
        yield Fault(f"{what} lists participants {list(participants)}", "list them in ascending order")


def _meeting_faults(index: int, meeting: Meeting, layout: Layout) -> Iterator[Fault]:
    what = f"meeting {meeting.id}"
    if any(other.id == meeting.id for other in layout.meetings[: index - 1]):
        yield Fault(f"{what} is there twice", "number the meetings 1, 2, 3, ...")
    elif meeting.id != index:
        yield Fault(f"{what} comes in place {index}", "number the meetings 1, 2, 3, ... in their order")
    yield from _seat_faults(what, meeting.participants, len(layout.calendars))
    if sorted(meeting.speaker_order) != sorted(meeting.participants):
        yield Fault(
            f"{what} has speaker order {list(meeting.speaker_order)} "
            f"but participants {list(meeting.participants)}",
            "let each participant speak once",
        )


def _prior_faults(layout: Layout, num_slots: int) -> Iterator[Fault]:
    ids = {meeting.id for meeting in layout.meetings}
    expected: dict[tuple[int, int], MeetingItem] = {}
    for prior in layout.prior_meetings:
        what = f"prior meeting {prior.id}"
        if prior.id in ids:
            yield Fault(f"{what} has the number of another meeting", "number all meetings differently")
        ids.add(prior.id)
        yield from _seat_faults(what, prior.participants, len(layout.calendars))
        if prior.slot >= num_slots:
            yield Fault(f"{what} is in slot {prior.slot} of {num_slots}", f"use slots 0..{num_slots - 1}")
        item = MeetingItem(meeting_id=prior.id, cost=prior.cost, participants=prior.participants)
        expected.update({(seat, prior.slot): item for seat in prior.participants})
    found = {
        (seat, slot): item
        for seat, calendar in enumerate(layout.calendars)
        for slot, item in enumerate(calendar.slots)
        if type(item) is MeetingItem
    }
    for seat, slot in sorted(expected.keys() | found.keys()):
        if expected.get((seat, slot)) != found.get((seat, slot)):
            yield Fault(
                f"slot {slot} of agent {seat} does not agree with the list of prior meetings",
                "put each prior meeting into its slot on the calendars of its participants, and no other",
            )


def _param_faults(params: ScenarioParams) -> Iterator[str]:
    agents = params.num_agents
    for name, value in (("density", params.density), ("blocked", params.blocked)):
        if isinstance(value, tuple) and len(value) != agents:
            yield f"{name} has {len(value)} values for {agents} agents: give one number or {agents}"
    for name, size in (("subset_size", params.subset_size), ("prior_subset_size", params.prior_subset_size)):
        used = name == "prior_subset_size" or params.participant_lists is None
        wanted = params.num_prior_meetings if name == "prior_subset_size" else params.num_meetings
        if used and wanted and size > agents:
            yield f"{name} is {size} but there are {agents} agents: use at most {agents}"
    lists = params.participant_lists
    if lists is None:
        return
    if len(lists) != params.num_meetings:
        yield (
            f"participant_lists has {len(lists)} entries for {params.num_meetings} meetings: "
            "give one for each meeting"
        )
    for index, participants in enumerate(lists, start=1):
        for fault in _seat_faults(f"entry {index} of participant_lists", participants, agents):
            yield fault.sentence
