"""Task files: one scenario a line, in our own format or in the public CalBench format.

Our own lines are whole scenarios (`Scenario.format` marks them). A public line holds `task_id`, `seed`,
`params`, `calendars` and `meetings`; oracle, greedy cost and difficulty are computed on reading. Nothing in a
file is believed that can be checked.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, NoReturn

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationError

from games.calbench._faults import layout_faults
from games.calbench.calendars import Calendar, Errand, Id, Level, MeetingItem, slot_kind
from games.calbench.difficulty import difficulty
from games.calbench.oracle import dead_meetings, greedy, optimum, overloads, schedule_cost
from games.calbench.params import Count, Positive, Share
from games.calbench.scenario import Layout, Meeting, PriorMeeting, Scenario, ScenarioParams

_MOST_SAID = 3


class TaskFileError(ValueError):
    """A task file cannot be used. The message names the first faulty tasks and counts the others.

    Attributes:
        faults: One sentence for each faulty task, with file, line, value and remedy.
    """

    def __init__(self, faults: Sequence[str]) -> None:
        more = [f"{len(faults) - _MOST_SAID} more tasks are faulty"] if len(faults) > _MOST_SAID else []
        super().__init__("; ".join([*faults[:_MOST_SAID], *more]))
        self.faults = tuple(faults)


class _TaskError(ValueError):
    """One task is faulty; the message is a sentence without the place."""


def read_tasks(path: str | Path) -> list[Scenario]:
    """Read and check a task file.

    Args:
        path: A JSONL file in our own or in the public format; blank lines are skipped.

    Raises:
        TaskFileError: The file cannot be read or holds no tasks, or some tasks are faulty: broken JSON,
            unknown or missing keys, participants or meetings or errands that are there twice, calendars
            of unequal length, a meeting without a feasible slot, a stored oracle that is not the optimum.
    """
    tasks: list[Scenario] = []
    faults: list[str] = []
    lines_by_id: dict[str, int] = {}
    for number, line in _lines(Path(path)):
        place = f"{path}:{number}"
        try:
            fields = _parse(line)
            if isinstance(fields.get("task_id"), str):
                place += f" (task {fields['task_id']})"
            task = _read_own(line) if "format" in fields else _read_public(line)
            first = lines_by_id.setdefault(task.task_id, number)
            if first != number:
                _fail(f"the task_id is used in line {first} already", "give each task its own")
            tasks.append(task)
        except _TaskError as error:
            faults.append(f"{place}: {error}")
    if faults:
        raise TaskFileError(faults)
    if not tasks:
        raise TaskFileError([f"{path} holds no tasks: write one JSON object a line"])
    return tasks


def write_tasks(path: str | Path, tasks: Iterable[Scenario]) -> None:
    """Write scenarios to a file in our own format, all or nothing; the same scenarios give the same bytes."""
    target = Path(path)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            for task in tasks:
                file.write(task.model_dump_json() + "\n")
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _fail(problem: str, remedy: str) -> NoReturn:
    raise _TaskError(f"{problem}: {remedy}")


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise TaskFileError([f"cannot read {path} ({error.strerror}): give the path of a task file"]) from error
    except UnicodeDecodeError as error:
        raise TaskFileError([f"{path} is not UTF-8 text: give a JSONL task file"]) from error
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, line


def _parse(line: str) -> dict[str, object]:
    try:
        fields = json.loads(line, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        _fail(f"broken JSON at column {error.colno} ({error.msg})", "mend the line or generate the file again")
    except RecursionError:
        _fail("the JSON is nested too deeply", "generate the file again")
    if not isinstance(fields, dict):
        _fail(f"the line holds a {type(fields).__name__}", "write one JSON object a line")
    return fields


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        twice = next(key for index, (key, _) in enumerate(pairs) if key in dict(pairs[:index]))
        _fail(f"the key {twice!r} is there twice in one object", "keep one of the two")
    return fields


def _read_own(line: str) -> Scenario:
    try:
        task = Scenario.model_validate_json(line)
    except ValidationError as error:
        raise _TaskError(_sentence(error)) from error
    _check_feasible(task)
    _check_records(task)
    return task


def _check_feasible(layout: Layout) -> None:
    for meeting in dead_meetings(layout):
        _fail(f"meeting {meeting} has no feasible slot", "unblock a slot on all its participants' calendars")
    for agent, meetings, free in overloads(layout):
        _fail(
            f"agent {agent} has {meetings} meetings but only {free} free slots, so displaced errands cannot land",
            f"free at least {meetings} slots",
        )


def _check_records(task: Scenario) -> None:
    stored = task.oracle
    if stored.status == "feasible":
        try:
            costs = schedule_cost(task, stored.slots, stored.prior_slots)
        except ValueError as error:
            _fail(f"the stored oracle is no schedule ({error})", "compute it again")
        if costs != stored.per_agent or sum(costs) != stored.total:
            _fail(f"the stored oracle costs {sum(costs)}, not {stored.total}", "compute it again")
    else:
        best = optimum(task)
        if best.total is None:
            _fail("no schedule has all meetings", "use fewer meetings or unblock slots")
        if stored.total != best.total:
            _fail(f"the stored oracle costs {stored.total} but the optimum is {best.total}", "compute it again")
        if stored != best:
            _fail(
                f"the stored oracle has slots {list(stored.slots)} and costs {list(stored.per_agent)}, "
                f"but the optimum has {list(best.slots)} and {list(best.per_agent)}",
                "compute it again",
            )
    _check_witness(task)
    score = difficulty(task, seed=task.seed)
    if task.difficulty != score:
        _fail(f"the stored difficulty is {task.difficulty.d:g} but it comes out as {score.d:g}", "compute it again")
    walk = greedy(task)
    cost = walk.total if walk.complete else None
    if task.greedy_cost != cost:
        _fail(f"the stored greedy cost is {task.greedy_cost} but greedy costs {cost}", "compute it again")
    density = _densities(task.calendars)
    if task.realised_density != density:
        _fail(f"realised_density is {list(task.realised_density)}", f"set it to {list(density)}")


def _check_witness(task: Scenario) -> None:
    if task.witness is None:
        return
    try:
        schedule_cost(task, task.witness)
    except ValueError as error:
        _fail(f"the witness is no schedule ({error})", "set it to null, or to one")


class _Public(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _PublicMeetingItem(_Public):
    meeting_id: Id
    cost: Level = 1
    participants: tuple[Id, ...] | None = None


class _PublicParams(_Public):
    agent_densities: tuple[Share, ...] | None = None
    density: Share | None = None
    duration: Literal[1] = 1
    num_meetings: Positive
    num_slots: Positive
    pref_level: Level = 1
    subset_size: Positive = 3
    total_agents: Positive


_PublicSlot = Annotated[
    Annotated[None, Tag("free")] | Annotated[Errand, Tag("errand")] | Annotated[_PublicMeetingItem, Tag("meeting")],
    Discriminator(slot_kind),
]


class _PublicTask(_Public):
    task_id: Annotated[str, Field(min_length=1)]
    seed: Count
    params: _PublicParams
    calendars: Annotated[tuple[tuple[_PublicSlot, ...], ...], Field(min_length=1)]
    meetings: Annotated[tuple[Meeting, ...], Field(min_length=1)]
    oracle_cost: Count | None = None


class _Parts(NamedTuple):
    calendars: tuple[Calendar, ...]
    meetings: tuple[Meeting, ...]
    prior_meetings: tuple[PriorMeeting, ...]


def _read_public(line: str) -> Scenario:
    try:
        task = _PublicTask.model_validate_json(line)
        _check_counts(task)
        parts = _parts(task)
        for fault in layout_faults(parts):
            raise _TaskError(fault.sentence)
        _check_feasible(parts)
        scenario = _build(task, parts)
    except ValidationError as error:
        raise _TaskError(_sentence(error)) from error
    if scenario.oracle.total is None:
        _fail("no schedule has all meetings", "use fewer meetings or unblock slots")
    if task.oracle_cost not in (None, scenario.oracle.total):
        _fail(
            f"the stored oracle costs {task.oracle_cost} but the optimum is {scenario.oracle.total}",
            "compute it again",
        )
    return scenario


def _check_counts(task: _PublicTask) -> None:
    agents = len(task.calendars)
    densities = task.params.agent_densities
    counts = (
        ("params.total_agents", task.params.total_agents, agents, "calendars"),
        ("params.num_slots", task.params.num_slots, len(task.calendars[0]), "slots on the first calendar"),
        ("params.num_meetings", task.params.num_meetings, len(task.meetings), "meetings"),
        ("the length of params.agent_densities", agents if densities is None else len(densities), agents, "calendars"),
    )
    for name, stated, real, what in counts:
        if stated != real:
            _fail(f"{name} is {stated} but there are {real} {what}", f"set it to {real}")


def _parts(task: _PublicTask) -> _Parts:
    """Find out who holds each meeting that is on the calendars already: the format may leave it unsaid."""
    holders: dict[int, list[tuple[int, int, _PublicMeetingItem]]] = {}
    for seat, slots in enumerate(task.calendars):
        for slot, item in enumerate(slots):
            if isinstance(item, _PublicMeetingItem):
                holders.setdefault(item.meeting_id, []).append((seat, slot, item))
    priors: dict[int, PriorMeeting] = {}
    for meeting_id, copies in sorted(holders.items()):
        seats = tuple([seat for seat, _, _ in copies])
        if len({slot for _, slot, _ in copies}) > 1 or len({item.cost for _, _, item in copies}) > 1:
            _fail(
                f"meeting {meeting_id} is on the calendars of agents {list(seats)} with different slots or costs",
                "put it into one slot for all, at one cost",
            )
        if any(item.participants not in (None, seats) for _, _, item in copies):
            _fail(f"meeting {meeting_id} is on the calendars of agents {list(seats)}", "list these as participants")
        _, slot, item = copies[0]
        priors[meeting_id] = PriorMeeting(id=meeting_id, participants=seats, slot=slot, cost=item.cost)
    calendars = [
        Calendar(tuple([_filled(item, priors) if isinstance(item, _PublicMeetingItem) else item for item in slots]))
        for slots in task.calendars
    ]
    return _Parts(tuple(calendars), task.meetings, tuple(priors.values()))


def _filled(item: _PublicMeetingItem, priors: dict[int, PriorMeeting]) -> MeetingItem:
    prior = priors[item.meeting_id]
    return MeetingItem(meeting_id=prior.id, cost=prior.cost, participants=prior.participants)


def _densities(calendars: Sequence[Calendar]) -> tuple[float, ...]:
    return tuple([sum(type(item) is Errand for item in calendar.slots) / len(calendar) for calendar in calendars])


def _build(task: _PublicTask, parts: _Parts) -> Scenario:
    errands = [[item for item in calendar.slots if type(item) is Errand] for calendar in parts.calendars]
    top = max((errand.cost for row in errands for errand in row), default=1)
    realised = _densities(parts.calendars)
    density = task.params.agent_densities
    if density is None:
        density = realised if task.params.density is None else (task.params.density,) * len(realised)
    params = ScenarioParams(
        num_agents=task.params.total_agents,
        num_slots=task.params.num_slots,
        density=density,
        num_meetings=task.params.num_meetings,
        subset_size=task.params.subset_size,
        pref_level=max(top, task.params.pref_level),
        participant_lists=tuple([meeting.participants for meeting in parts.meetings]),
        blocked=tuple([sum(errand.blocked for errand in row) for row in errands]),
        cost_setting="uniform" if top == 1 else "varied",
        num_prior_meetings=len(parts.prior_meetings),
        prior_subset_size=max((len(prior.participants) for prior in parts.prior_meetings), default=1),
    )
    walk = greedy(parts)
    return Scenario(
        task_id=task.task_id,
        seed=task.seed,
        params=params,
        calendars=parts.calendars,
        meetings=parts.meetings,
        prior_meetings=parts.prior_meetings,
        asked_density=density,
        realised_density=realised,
        oracle=optimum(parts),
        greedy_cost=walk.total if walk.complete else None,
        difficulty=difficulty(parts, seed=task.seed),
        cost_scale=params.cost_scale,
    )


def _sentence(error: ValidationError) -> str:
    """Say the first fault of a line in one sentence, with its place in the object."""
    fault = error.errors(include_url=False)[0]
    path = [part for part in fault["loc"] if part not in ("free", "errand", "meeting")]
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")
    if fault["type"] == "value_error":
        return fault["msg"].removeprefix("Value error, ")
    if fault["type"] == "extra_forbidden":
        return f"the key {where} is unknown: remove it or correct its spelling"
    if fault["type"] == "missing":
        return f"the key {where} is missing: add it"
    value = repr(fault["input"])
    shown = value if len(value) <= 60 else value[:57] + "..."
    return f"{where} is {shown}: {fault['msg'][0].lower()}{fault['msg'][1:]}"
