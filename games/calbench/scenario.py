"""The data of one CalBench game: parameters, calendars, meetings, and what is known about its optimum.

Everything here is frozen and goes to JSON and back byte for byte. A `Scenario` is only built if its parts
fit together.

Source: CalBench paper, sections 3 and A.1 (table 3).
"""

from __future__ import annotations

from typing import Annotated, Literal, Protocol, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from games.calbench._faults import layout_faults, record_faults
from games.calbench.calendars import Calendar, CostScale, Id, Level
from games.calbench.params import CostSetting as CostSetting
from games.calbench.params import Count, Positive, Share
from games.calbench.params import ScenarioParams as ScenarioParams

Bucket: TypeAlias = Literal["easy", "medium", "hard"]
Status: TypeAlias = Literal["optimal", "feasible", "infeasible"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


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
    asked_density: tuple[Share, ...]
    realised_density: tuple[Share, ...]
    oracle: Oracle
    greedy_cost: Count | None
    difficulty: Difficulty
    bucket: Bucket | None = None
    cost_scale: CostScale

    @model_validator(mode="after")
    def _check(self) -> Self:
        for fault in layout_faults(self):
            raise ValueError(fault.sentence)
        for fault in record_faults(self):
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
