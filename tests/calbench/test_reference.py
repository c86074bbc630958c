"""IMAP on fixed tasks: the agreed slots, who paid what, who sent how much, and the optimum.

The numbers were computed by another implementation. All 90 tasks are read from the reference data where it
lies beside the project; a few are written out here, so that the comparison is also made where it does not.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from framework import Seating, Trace, play
from games.calbench import CalBench, Scenario
from protocols import Imap
from tests.calbench.builders import scenario

DATA = Path(__file__).parents[3] / "shared" / "data" / "calbench-reference"
SETTINGS = ("uniform", "varied")


def imap(task: Scenario) -> Trace:
    return asyncio.run(play(CalBench(), task, [Seating("imap", Imap()) for _ in range(task.num_agents)]))


def summary(task: Scenario) -> dict[str, object]:
    trace = imap(task)
    slots = trace.final_state["slot_by_meeting"]
    return {
        "slot_by_round": [slots.get(str(meeting.id)) for meeting in task.meetings],
        "cost_by_seat": trace.final_state["cost_by_seat"],
        "messages_sent_by_seat": [sum(p.sender == seat for p in trace.posts) for seat in range(task.num_agents)],
        "oracle_cost": task.oracle.total,
    }


class Example(NamedTuple):
    """One task as text (`.` free, `#` blocked, a digit for an errand of that cost), and what it must come to."""

    calendars: list[str]
    speakers: list[tuple[int, ...]]
    slots: list[int]
    costs: list[int]
    messages: list[int]
    oracle: int


EXAMPLES = (
    Example(
        calendars=["11.1#1.111###1.1", "#.#1.11.1#1#1##1", "##1.1111111.#.#1", "###1#11#1.11..#1", "#..11111.1...#11"],
        speakers=[(1, 0, 4), (2, 1, 3), (4, 0, 2), (0, 1, 3), (3, 2, 4)],
        slots=[1, 3, 2, 5, 8],
        costs=[3, 2, 2, 3, 0],
        messages=[12, 6, 6, 3, 3],
        oracle=7,
    ),
    Example(
        calendars=["#.1.11##1##11#1.", "1##11#1.1.111#1.", "1#11.##1.11#1#.#", ".11####1.#.11#11", "1#11##.1..#11#1#"],
        speakers=[(2, 0, 4), (1, 0, 3), (4, 1, 2), (0, 1, 3), (3, 2, 4)],
        slots=[8, 15, 9, 11, 14],
        costs=[2, 1, 1, 3, 1],
        messages=[12, 6, 6, 3, 3],
        oracle=7,
    ),
    Example(
        calendars=["##.132#3.2#12.11", "2.1.3.113.1.#.2#", ".#121.1.32.3#.1.", "1.3#11332.21###.", "#23.##213133#1.."],
        speakers=[(2, 1, 4), (0, 1, 3), (3, 0, 2), (1, 3, 4), (4, 0, 2)],
        slots=[13, 9, 15, 1, 3],
        costs=[4, 0, 2, 0, 4],
        messages=[12, 9, 3, 3, 3],
        oracle=7,
    ),
    Example(
        calendars=["2#.#2323.1..1.3.", "312.31##1#23.1#.", "#1.2211##.3#3#.#", ".#1#1.321.2..32.", "#1#3..#11223.#12"],
        speakers=[(0, 1, 2), (2, 3, 4), (3, 0, 4), (4, 1, 2), (1, 0, 3)],
        slots=[2, 5, 12, 1, 15],
        costs=[1, 3, 2, 0, 1],
        messages=[12, 6, 6, 3, 3],
        oracle=7,
    ),
)


@pytest.mark.parametrize("example", EXAMPLES)
def test_imap_agrees_with_numbers_computed_elsewhere(example: Example) -> None:
    assert summary(scenario(example.calendars, example.speakers)) == {
        "slot_by_round": example.slots,
        "cost_by_seat": example.costs,
        "messages_sent_by_seat": example.messages,
        "oracle_cost": example.oracle,
    }


def results(setting: str) -> Iterator[dict[str, object]]:
    for line in (DATA / f"{setting}.results.jsonl").read_text().splitlines():
        row = json.loads(line)
        if row["protocol"] == "imap":
            yield row


@pytest.mark.skipif(not DATA.is_dir(), reason="the reference data is not beside the project")
@pytest.mark.parametrize("setting", SETTINGS)
def test_imap_agrees_with_the_reference_on_every_task(setting: str) -> None:
    from games.calbench.taskfile import read_tasks

    tasks = {task.task_id: task for task in read_tasks(DATA / f"{setting}.tasks.jsonl")}
    expected = {str(row["task"]): row for row in results(setting)}
    assert tasks.keys() == expected.keys()
    assert len(tasks) == 45
    for task_id, task in tasks.items():
        ours = summary(task)
        assert ours == {key: expected[task_id][key] for key in ours}, task_id
