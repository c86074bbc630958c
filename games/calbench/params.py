"""The parameters of the scenario generator.

Source: CalBench paper, table 3 (section A.1).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from games.calbench._faults import seat_faults
from games.calbench.calendars import UNIFORM_SCALE, VARIED_SCALE, CostScale, Id, Level

CostSetting: TypeAlias = Literal["uniform", "varied", "balanced"]
"""How errands get their levels: all 1; drawn at random; drawn in counts that differ by at most one."""

Count = Annotated[int, Field(ge=0, strict=True)]
Positive = Annotated[int, Field(ge=1, strict=True)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]


class ScenarioParams(BaseModel):
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

    model_config = ConfigDict(frozen=True, extra="forbid")

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
            f"participant_lists has {len(lists)} entries for {params.num_meetings} meetings: give one for each meeting"
        )
    for index, participants in enumerate(lists, start=1):
        for fault in seat_faults(f"entry {index} of participant_lists", sorted(participants), agents):
            yield fault.sentence
