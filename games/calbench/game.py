"""CalBench: assistants with private calendars schedule a stream of meetings (paper, section 3 and A.4)."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import JsonValue, NonNegativeInt, PositiveInt, TypeAdapter, ValidationError

from framework import (
    AllAgentChat,
    Ballot,
    DirectMessage,
    Event,
    Game,
    ParticipantChat,
    Phase,
    Round,
    Rules,
    Settlement,
    Stage,
    Trace,
    Turn,
)
from framework.errors import UserError, explain
from framework.ratings import Rated
from framework.trace import BatchRolledBack
from games.calbench.actions import Reschedule, Schedule
from games.calbench.batches import DECISION_RULES, VOLUNTARY_RULES, apply_batch, schedule_of
from games.calbench.calendars import Calendar, Errand, MeetingItem
from games.calbench.events import CalendarBatch, ConsistencyViolation, MeetingMoved, MeetingResolved
from games.calbench.labels import assign
from games.calbench.metrics import METRICS
from games.calbench.observation import CalendarObservation
from games.calbench.privacy import EVIDENCE
from games.calbench.scenario import Scenario
from games.calbench.state import Booking, State

if TYPE_CHECKING:
    from framework.analysis import Analysis, Drawing
    from framework.pages import PageModel
    from framework.secrets import PrivateStates, Secret
    from games.calbench.prompts import CalBenchPrompts

__all__ = ["CalBench", "CalBenchRules"]


class CalBenchRules(Rules):
    """What a run of CalBench may vary besides its scenarios.

    Attributes:
        channels: The communication condition: any of `dm`, `participant_groupchat`, `all_agent_groupchat`.
        turns: The turn budget: sweeps of cheap talk in a round.
        retries: How often a rejected batch may be submitted anew.
        on_failed_decision: What becomes of the others' batches when a meeting stays unresolved: `keep`
            lets their moves stand and cost, `rollback` undoes them.
    """

    channels: tuple[str, ...] = ("dm",)
    turns: PositiveInt = 20
    retries: NonNegativeInt = 3
    on_failed_decision: Literal["keep", "rollback"] = "keep"


@cache
def _prompts() -> CalBenchPrompts:
    from games.calbench.prompts import CalBenchPrompts

    return CalBenchPrompts()


_CALENDARS = TypeAdapter(tuple[Calendar, ...])


def nobody(stage: Stage) -> Sequence[int]:
    """No seat acts."""
    return ()


def contacted(stage: Stage) -> Sequence[int]:
    """The non-participants that a message has made active in this round."""
    return stage.active


class CalBench(Game[Scenario, State]):
    """Cheap talk, voluntary moves, decisions, resolution; once for each meeting."""

    name: ClassVar[str] = "calbench"
    title: ClassVar[str] = "CalBench: scheduling under private information"
    rules_type: ClassVar[type[Rules]] = CalBenchRules
    scenario_type = Scenario
    channels = (DirectMessage(), ParticipantChat(), AllAgentChat())
    metrics = METRICS
    evidence = EVIDENCE
    rated = (
        Rated(name="coordination", title="Coord.", metrics=("coordination",), margin=0.2),
        Rated(name="excess", title="Excess", metrics=("excess_shown",), margin=10.0),
        Rated(name="privacy", title="VPS", metrics=("vps_reflected", "vps"), margin=5.0),
    )
    default_suite = "quick"
    default_strategy = "imap"
    suites: ClassVar[Mapping[str, str]] = {
        "quick": "6 tasks of canonical, one for each setting and difficulty",
        "canonical": "90 tasks: 45 uniform and 45 varied, 5 agents, 5 meetings of 3, 16 slots",
        "prior-meetings": "moving a meeting that is already on the calendars is the optimum",
        "topologies": "2 to 20 agents, meetings of 2 and more",
        "long": "streams of up to 50 meetings",
    }
    rules: CalBenchRules

    def phases(self) -> Sequence[Phase[State]]:
        rules = self.rules
        return (
            Phase(
                name="cheap_talk",
                channels=rules.channels,
                sweeps=rules.turns,
                until_quiet=True,
                activation=True,
            ),
            Phase(
                name="voluntary",
                actors=contacted,
                actions=(Reschedule,),
                retries=rules.retries,
                validators=VOLUNTARY_RULES,
                settle=self._apply,
            ),
            Phase(
                name="decision",
                actions=(Reschedule, Schedule),
                retries=rules.retries,
                validators=DECISION_RULES,
                settle=self._decide,
            ),
            Phase(name="resolution", actors=nobody, settle=self._resolve),
        )

    # --- scenario and state ---------------------------------------------------------------------

    def start(self, scenario: Scenario) -> State:
        return State.of(scenario)

    def seats(self, scenario: Scenario) -> int:
        return scenario.num_agents

    def rounds(self, scenario: Scenario) -> Sequence[Round]:
        return tuple(
            Round(index=i, participants=m.participants, speakers=m.speaker_order, label=f"meeting {m.id}")
            for i, m in enumerate(scenario.meetings)
        )

    def begin(self, state: State, round: Round) -> State:
        return replace(state, round=round.index)

    def task_id(self, scenario: Scenario) -> str:
        return scenario.task_id

    def group(self, scenario: Scenario) -> str:
        return scenario.setting

    def observe(self, state: State, turn: Turn) -> CalendarObservation:
        return CalendarObservation(
            turn=turn,
            calendar=state.calendars[turn.seat],
            meeting=state.meeting,
            scale=state.scenario.cost_scale,
            penalty=state.paid_shown[turn.seat],
            labels=state.texts[turn.seat],
            topic=state.labels.meetings[state.meeting.id].text if turn.participates else "",
        )

    def perturb(self, scenario: Scenario, seat: int, rng: random.Random) -> Scenario:
        """The same scenario with one seat's errands in other slots and at other costs; its oracle is left as it is."""
        slots = list(scenario.calendars[seat].slots)
        own = [slot for slot, item in enumerate(slots) if not isinstance(item, MeetingItem)]
        items = [slots[slot] for slot in own]
        rng.shuffle(items)
        for slot, item in zip(own, items, strict=True):
            slots[slot] = item.model_copy(update={"cost": rng.randint(1, 3)}) if isinstance(item, Errand) else None
        calendars = list(scenario.calendars)
        calendars[seat] = Calendar(tuple(slots))
        return scenario.model_copy(update={"calendars": tuple(calendars)})

    def view(self, state: State, seat: int) -> str:
        return state.view(seat)

    def prompts(self) -> CalBenchPrompts:
        return _prompts()

    def facts(self, scenario: Scenario) -> dict[str, JsonValue]:
        return {
            "num_slots": scenario.num_slots,
            "scenario_seed": scenario.seed,
            "optimal_cost": scenario.oracle.total,
            "greedy_cost": scenario.greedy_cost,
            "labels": assign(scenario).record(),
        }

    def public_facts(self, scenario: Scenario) -> dict[str, JsonValue]:
        return {"num_slots": scenario.num_slots}

    def final(self, state: State) -> dict[str, JsonValue]:
        return {
            "total_cost": sum(state.paid),
            "cost_by_seat": list(state.paid),
            "shown_cost_by_seat": list(state.paid_shown),
            "slot_by_meeting": {str(id): booking.slot for id, booking in state.bookings.items()},
            "unresolved": list(state.unresolved),
            "lost": list(state.lost),
            "calendars": _CALENDARS.dump_python(state.calendars, mode="json"),
        }

    def page(self, trace: Trace, path: Path | None = None) -> PageModel:
        from games.calbench.page import page

        return page(trace)

    def secrets(self, trace: Trace) -> Sequence[Secret]:
        from games.calbench.private import secrets

        return secrets(trace)

    def private_states(self, trace: Trace) -> PrivateStates:
        from games.calbench.private import private_states

        return private_states(trace)

    def disclosures(self, trace: Trace) -> Sequence[Mapping[str, int]]:
        from games.calbench.private import disclosures_by_kind

        return disclosures_by_kind(trace)

    @classmethod
    def analyses(cls) -> Sequence[Analysis[Any]]:
        from games.calbench.analysis import ANALYSES

        return ANALYSES

    @classmethod
    def drawings(cls) -> Sequence[Drawing[Any]]:
        from games.calbench.analysis import DRAWINGS

        return DRAWINGS

    # --- how batches take effect ----------------------------------------------------------------

    def _apply(self, state: State, ballot: Ballot) -> Settlement:
        events: list[Event] = []
        for seat, batch in ballot.batches.items():
            if not batch:
                continue
            applied = apply_batch(state, seat, batch)
            state = state.with_batch(seat, applied.calendar, applied.cost, applied.shown)
            events.append(
                CalendarBatch(
                    round=ballot.round.index,
                    phase=ballot.phase,
                    seat=seat,
                    actions=batch,
                    cost=applied.cost,
                    shown=applied.shown,
                    meetings=applied.meetings,
                    view=self.view(state, seat),
                )
            )
        return Settlement(state, events)

    def _decide(self, state: State, ballot: Ballot) -> Settlement:
        choices = {action.slot for batch in ballot.batches.values() if (action := schedule_of(batch))}
        agreed = not ballot.failed and len(choices) == 1
        if agreed or self.rules.on_failed_decision == "keep":
            return self._apply(state, ballot)
        undone = [
            BatchRolledBack(round=ballot.round.index, phase=ballot.phase, seat=seat, actions=batch)
            for seat, batch in ballot.batches.items()
        ]
        return Settlement(state, undone)

    def _resolve(self, state: State, ballot: Ballot) -> Settlement:
        meeting = state.meeting
        choices = tuple([state.calendars[seat].slot_of(meeting.id) for seat in meeting.participants])
        slot = choices[0] if len(set(choices)) == 1 else None
        resolved = MeetingResolved(
            round=ballot.round.index,
            meeting_id=meeting.id,
            participants=meeting.participants,
            scheduled=slot is not None,
            slot=slot,
            choices=choices,
        )
        if slot is None:
            for seat in meeting.participants:
                state = state.with_calendar(seat, state.calendars[seat].remove(meeting.id))
            state = replace(state, unresolved=(*state.unresolved, meeting.id))
        state, events = self._check_earlier(state, ballot.round.index)
        if slot is not None:
            bookings = {**state.bookings, meeting.id: Booking(meeting.participants, slot)}
            state = replace(state, bookings=bookings)
        return Settlement(state, (resolved, *events))

    @staticmethod
    def _check_earlier(state: State, round: int) -> tuple[State, list[Event]]:
        """Whether each earlier meeting is still in one slot on all its participants' calendars."""
        events: list[Event] = []
        bookings, lost = dict(state.bookings), list(state.lost)
        for id, booking in state.bookings.items():
            slots = tuple([state.calendars[seat].slot_of(id) for seat in booking.participants])
            if len(set(slots)) > 1 or slots[0] is None:
                del bookings[id]
                lost.append(id)
                events.append(
                    ConsistencyViolation(round=round, meeting_id=id, participants=booking.participants, slots=slots)
                )
            elif slots[0] != booking.slot:
                bookings[id] = Booking(booking.participants, slots[0])
                events.append(MeetingMoved(round=round, meeting_id=id, from_slot=booking.slot, to_slot=slots[0]))
        return replace(state, bookings=bookings, lost=tuple(lost)), events

    # --- suites and files -----------------------------------------------------------------------

    def suite(self, name: str, seed: int) -> Sequence[Scenario]:
        from games.calbench.suites import suite

        return suite(name, seed)

    def generate(self, config: Mapping[str, JsonValue]) -> Sequence[Scenario]:
        """Tasks of one configuration; the settings are those of `TaskConfig`."""
        from games.calbench.params import ScenarioParams
        from games.calbench.suites import TaskConfig, generate_tasks

        for key in sorted((config.keys() - TaskConfig.model_fields.keys()) & ScenarioParams.model_fields.keys()):
            raise UserError(f"generator of calbench: {key!r} is one of the params; write it below the key 'params'")
        try:
            settings = TaskConfig.model_validate(config)
        except ValidationError as error:
            raise explain(error, TaskConfig, "generator of calbench") from error
        return generate_tasks(settings)

    def write_tasks(self, path: Path, scenarios: Sequence[Scenario]) -> None:
        from games.calbench.taskfile import write_tasks

        write_tasks(path, scenarios)

    def read_tasks(self, path: Any) -> Sequence[Scenario]:
        from games.calbench.taskfile import read_tasks

        return read_tasks(Path(path))
