"""Tasks of the CalBench reference results, and what another implementation did on them."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from framework import Seating, Strategy, Trace, play
from games.calbench import CalBench, CalBenchRules, Scenario
from games.calbench.calendars import UNIFORM_SCALE, VARIED_SCALE, Calendar, Errand
from games.calbench.oracle import optimum
from games.calbench.scenario import Difficulty, Meeting, ScenarioParams

FOLDER = Path(
    os.environ.get("CALBENCH_REFERENCE", Path(__file__).parents[3] / "shared" / "data" / "calbench-reference")
)
SWEEPS = 15
"""The turn budget under which the reference was measured."""

needs_reference = pytest.mark.skipif(
    not (FOLDER / "uniform.tasks.jsonl").exists(),
    reason="the CalBench reference results are not here; name their folder in CALBENCH_REFERENCE",
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a task: the slot agreed in each round, and costs in levels and messages by seat."""

    slots: tuple[int | None, ...]
    costs: tuple[int, ...]
    messages: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ReferenceTask:
    """A task, and what each protocol did on it."""

    scenario: Scenario
    outcomes: dict[str, Outcome]


def task(
    calendars: Sequence[Sequence[dict[str, Any] | None]], meetings: Sequence[Meeting], setting: str, name: str = "task"
) -> Scenario:
    """A scenario from calendars and meetings."""
    rows = tuple(Calendar(tuple([None if item is None else Errand(**item) for item in row])) for row in calendars)
    parts = SimpleNamespace(calendars=rows, meetings=tuple(meetings), prior_meetings=())
    return Scenario(
        task_id=name,
        seed=0,
        params=ScenarioParams(
            num_agents=len(rows),
            num_slots=len(rows[0]),
            num_meetings=len(meetings),
            subset_size=len(meetings[0].participants),
            cost_setting="uniform" if setting == "uniform" else "varied",
            density=0.8,
        ),
        calendars=rows,
        meetings=parts.meetings,
        asked_density=(0.8,) * len(rows),
        realised_density=(0.8,) * len(rows),
        oracle=optimum(parts),
        greedy_cost=None,
        difficulty=Difficulty(d=0.0, feasible=0),
        cost_scale=UNIFORM_SCALE if setting == "uniform" else VARIED_SCALE,
    )


def drawn(calendars: Sequence[str], speakers: Sequence[Sequence[int]], setting: str = "varied") -> Scenario:
    """A scenario from one character a slot (`.` free, a level, `B` blocked) and the speaker order of each meeting."""
    rows = [
        [
            None
            if mark == "."
            else {"errand_id": 100 * seat + slot, "cost": 1 if mark == "B" else int(mark), "blocked": mark == "B"}
            for slot, mark in enumerate(text)
        ]
        for seat, text in enumerate(calendars)
    ]
    meetings = [
        Meeting(id=number, participants=tuple(sorted(order)), speaker_order=tuple(order))
        for number, order in enumerate(speakers, start=1)
    ]
    return task(rows, meetings, setting)


@cache
def reference(setting: str) -> tuple[ReferenceTask, ...]:
    """All tasks of a setting, `uniform` or `varied`."""
    outcomes: dict[str, dict[str, Outcome]] = {}
    for line in (FOLDER / f"{setting}.results.jsonl").read_text().splitlines():
        row = json.loads(line)
        outcomes.setdefault(row["task"], {})[row["protocol"]] = Outcome(
            tuple(row["slot_by_round"]), tuple(row["cost_by_seat"]), tuple(row["messages_sent_by_seat"])
        )
    tasks = []
    for line in (FOLDER / f"{setting}.tasks.jsonl").read_text().splitlines():
        row = json.loads(line)
        scenario = task(row["calendars"], [Meeting(**meeting) for meeting in row["meetings"]], setting, row["task_id"])
        tasks.append(ReferenceTask(scenario, outcomes[row["task_id"]]))
    return tuple(tasks)


def play_calbench(
    scenario: Scenario, make: Callable[[], Strategy[Any]] | Sequence[Strategy[Any]], sweeps: int = SWEEPS, seed: int = 0
) -> Trace:
    """Play a scenario with one strategy in all seats, or with one for each."""
    strategies = [make() for _ in range(scenario.num_agents)] if callable(make) else make
    seating = [Seating("strategy", strategy) for strategy in strategies]
    trace = asyncio.run(play(CalBench(CalBenchRules(turns=sweeps)), scenario, seating, seed=seed))
    assert trace.aborted is None, trace.aborted
    return trace


def outcome(trace: Trace, scenario: Scenario) -> Outcome:
    """What came of a game."""
    slots: Any = trace.final_state["slot_by_meeting"]
    costs: Any = trace.final_state["cost_by_seat"]
    senders = [post.sender for post in trace.posts]
    return Outcome(
        tuple(slots.get(str(meeting.id)) for meeting in scenario.meetings),
        tuple(costs),
        tuple(senders.count(seat) for seat in range(scenario.num_agents)),
    )
