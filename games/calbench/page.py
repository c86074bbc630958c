"""What the pages show of a CalBench game: everyone's calendar at each step, costs, meetings, and outcomes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from framework import Event, Trace
from framework.pages import Card, Cell, CellChange, CellKind, Fact, Grid, Label, PageModel, Sheet, Tally, TallyChange
from framework.pages import diff as changed_cells
from framework.trace import RoundStart
from games.calbench.batches import apply_batch
from games.calbench.calendars import Calendar, Errand, Slot
from games.calbench.events import CalendarBatch, ConsistencyViolation, MeetingMoved, MeetingResolved
from games.calbench.labels import Assignment, assign
from games.calbench.scenario import Meeting, PriorMeeting, Scenario
from games.calbench.state import State

__all__ = ["page"]

KINDS = (
    CellKind(name="free", title="free", look="empty"),
    CellKind(name="level1", title="errand, cost level 1", look="fill", level=1),
    CellKind(name="level2", title="errand, cost level 2", look="fill", level=2),
    CellKind(name="level3", title="errand, cost level 3", look="fill", level=3),
    CellKind(name="blocked", title="blocked errand", look="hatch"),
    CellKind(name="meeting", title="meeting", look="solid"),
    CellKind(name="prior", title="meeting from before the game", look="outline"),
)


def page(trace: Trace) -> PageModel:
    """The page of a trace, of a finished or an aborted game."""
    scenario = Scenario.model_validate(trace.start.scenario)
    replay = _Replay(scenario, _Painter(scenario, _labels_in(trace, scenario)))
    for place, event in enumerate(trace.events):
        replay.read(place, event)
    return PageModel(
        grids=(replay.grid(),),
        cards=(_task(scenario),),
        sheets=(_meetings(scenario, replay),),
        labels=tuple(replay.labels),
        private_grid=0,
    )


def _labels_in(trace: Trace, scenario: Scenario) -> Assignment | None:
    """The private labels of a game; None where they came from another bank than the one at hand."""
    recorded = trace.start.facts.get("labels")
    labels = assign(scenario)
    return labels if isinstance(recorded, dict) and recorded.get("hash") == labels.bank.hash else None


@dataclass(frozen=True)
class _Painter:
    """Turns what fills a slot into a cell."""

    scenario: Scenario
    labels: Assignment | None

    def row(self, seat: int, calendar: Calendar) -> tuple[Cell, ...]:
        return tuple([self.cell(seat, item) for item in calendar.slots])

    def cell(self, seat: int, item: Slot) -> Cell:
        if item is None:
            return Cell(kind="free", title="free")
        label = self.labels.of(seat, item) if self.labels else None
        said = f': "{label.text}" ({label.tier.replace("_", " ")})' if label else ""
        cost = f"cost {self.scenario.cost_scale.cost(item.cost)}"
        if isinstance(item, Errand):
            key = f"e{item.errand_id}"
            if item.blocked:
                return Cell(kind="blocked", title=f"blocked errand {item.errand_id}{said}", key=key)
            text = str(self.scenario.cost_scale.cost(item.cost))
            return Cell(kind=f"level{item.cost}", text=text, title=f"errand {item.errand_id}, {cost}{said}", key=key)
        prior = any(item.meeting_id == meeting.id for meeting in self.scenario.prior_meetings)
        seats = ", ".join(map(str, item.participants))
        return Cell(
            kind="prior" if prior else "meeting",
            text=f"M{item.meeting_id}",
            title=f"meeting {item.meeting_id} of seats {seats}, {cost}{said}",
            key=f"m{item.meeting_id}",
        )


@dataclass
class _Replay:
    """Goes through the events once and notes what changes on the calendars."""

    scenario: Scenario
    painter: _Painter
    state: State = field(init=False)
    changes: list[CellChange] = field(default_factory=list)
    paid: list[TallyChange] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    slots: dict[int, int | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.state = State.of(self.scenario)

    def read(self, place: int, event: Event) -> None:
        match event:
            case RoundStart():
                self.state = replace(self.state, round=event.round.index)
            case CalendarBatch():
                self._apply(place, event)
            case MeetingResolved():
                self._resolve(place, event)
            case MeetingMoved():
                self.slots[event.meeting_id] = event.to_slot
                text = f"meeting {event.meeting_id} moved from slot {event.from_slot} to slot {event.to_slot}"
                self.labels.append(Label(event=place, text=text, tone="warn"))
            case ConsistencyViolation():
                self.slots[event.meeting_id] = None
                found = ", ".join("none" if slot is None else str(slot) for slot in event.slots)
                text = f"meeting {event.meeting_id} lost: its participants have it in slots {found}"
                self.labels.append(Label(event=place, text=text, tone="bad", headline=True))

    def _put(self, place: int, seat: int, calendar: Calendar) -> None:
        before, after = (self.painter.row(seat, each) for each in (self.state.calendars[seat], calendar))
        self.changes += changed_cells(before, after, event=place, row=seat)
        self.state = self.state.with_calendar(seat, calendar)

    def _apply(self, place: int, event: CalendarBatch) -> None:
        self._put(place, event.seat, apply_batch(self.state, event.seat, event.actions).calendar)
        if event.cost:
            self.state = self.state.with_batch(event.seat, self.state.calendars[event.seat], event.cost, event.shown)
            self.paid.append(TallyChange(event=place, row=event.seat, value=str(self.state.paid[event.seat])))

    def _resolve(self, place: int, event: MeetingResolved) -> None:
        self.slots[event.meeting_id] = event.slot
        if event.slot is not None:
            text = f"meeting {event.meeting_id} in slot {event.slot}"
            self.labels.append(Label(event=place, text=text, tone="good", headline=True))
            return
        chosen = ", ".join("none" if slot is None else str(slot) for slot in event.choices)
        text = f"meeting {event.meeting_id} unresolved: its participants chose {chosen}"
        self.labels.append(Label(event=place, text=text, tone="bad", headline=True))
        for seat in event.participants:
            self._put(place, seat, self.state.calendars[seat].remove(event.meeting_id))

    def grid(self) -> Grid:
        scenario = self.scenario
        seats = range(scenario.num_agents)
        start = tuple(self.painter.row(seat, scenario.calendars[seat]) for seat in seats)
        used = {cell.kind for row in start for cell in row} | {change.cell.kind for change in self.changes}
        tallies = [Tally(title="paid", values=("0",) * len(seats), changes=tuple(self.paid))]
        if scenario.oracle.per_agent:
            tallies.append(Tally(title="optimum", values=tuple(map(str, scenario.oracle.per_agent))))
        return Grid(
            title="Calendars",
            rows=tuple(f"Seat {seat}" for seat in seats),
            seats=tuple(seats),
            columns=tuple(map(str, range(scenario.num_slots))),
            kinds=tuple(kind for kind in KINDS if kind.name in used),
            cells=start,
            changes=tuple(self.changes),
            tallies=tuple(tallies),
        )


def _task(scenario: Scenario) -> Card:
    oracle = scenario.oracle
    greedy = "impossible" if scenario.greedy_cost is None else str(scenario.greedy_cost)
    facts = [
        Fact(label="optimal cost", value="infeasible" if oracle.total is None else f"{oracle.total} ({oracle.status})"),
        Fact(label="greedy cost", value=greedy),
        Fact(label="difficulty", value=f"{scenario.bucket or 'not in a bucket'}, d = {scenario.difficulty.d:.3f}"),
        Fact(label="costs as shown", value=" / ".join(map(str, scenario.cost_scale.shown))),
        Fact(label="density", value=" ".join(f"{share:.2f}" for share in scenario.realised_density)),
    ]
    return Card(title="Task", facts=tuple(facts))


def _meetings(scenario: Scenario, replay: _Replay) -> Sheet:
    return Sheet(
        title="Meetings",
        columns=("meeting", "seats", "slot", "optimum", "label"),
        rows=tuple(_meeting_rows(scenario, replay)),
    )


def _meeting_rows(scenario: Scenario, replay: _Replay) -> Iterator[tuple[str, ...]]:
    best = dict(zip((m.id for m in scenario.meetings), scenario.oracle.slots, strict=False))
    best |= dict(zip((m.id for m in scenario.prior_meetings), scenario.oracle.prior_slots, strict=False))
    starts = {meeting.id: meeting.slot for meeting in scenario.prior_meetings}
    labels = replay.painter.labels
    meetings: tuple[Meeting | PriorMeeting, ...] = (*scenario.meetings, *scenario.prior_meetings)
    for meeting in meetings:
        slot = replay.slots.get(meeting.id, starts.get(meeting.id))
        label = labels.meetings[meeting.id] if labels else None
        yield (
            f"M{meeting.id}",
            " ".join(map(str, meeting.participants)),
            "-" if slot is None else str(slot),
            str(best.get(meeting.id, "-")),
            f"{label.text} ({label.tier.replace('_', ' ')})" if label else "",
        )
