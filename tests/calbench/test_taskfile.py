"""Task files: both formats, and one clear sentence for each faulty task."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from games.calbench.generator import generate_scenario
from games.calbench.scenario import Scenario, ScenarioParams
from games.calbench.suites import suite
from games.calbench.taskfile import TaskFileError, read_tasks, write_tasks

Edit = Callable[[dict[str, Any]], object]

PUBLIC: dict[str, Any] = {
    "task_id": "t1",
    "seed": 5,
    "params": {"total_agents": 3, "num_slots": 4, "num_meetings": 2, "subset_size": 2, "pref_level": 1, "density": 0.5},
    "calendars": [
        [None, {"errand_id": 1, "cost": 2}, None, {"errand_id": 2, "cost": 1, "blocked": True}],
        [{"errand_id": 5, "cost": 3}, None, None, None],
        [None, None, {"errand_id": 9, "cost": 1}, None],
    ],
    "meetings": [
        {"id": 1, "participants": [0, 1], "speaker_order": [1, 0], "duration": 1, "cost": 1},
        {"id": 2, "participants": [0, 2], "speaker_order": [0, 2], "duration": 1, "cost": 1},
    ],
}


def public_file(folder: Path, *edits: Edit) -> Path:
    """A file of one public task after some edits."""
    task = deepcopy(PUBLIC)
    for edit in edits:
        edit(task)
    path = folder / "public.jsonl"
    path.write_text(json.dumps(task) + "\n")
    return path


def own_file(folder: Path, edit: Edit) -> Path:
    """A file of one task in our format after an edit."""
    task = json.loads(own_task().model_dump_json())
    edit(task)
    path = folder / "own.jsonl"
    path.write_text(json.dumps(task) + "\n")
    return path


def own_task() -> Scenario:
    return generate_scenario(ScenarioParams(blocked=2, cost_setting="balanced", num_prior_meetings=2), 4, "mine")


def sentence(path: Path) -> str:
    """What is said about the single faulty task."""
    with pytest.raises(TaskFileError) as caught:
        read_tasks(path)
    (fault,) = caught.value.faults
    assert str(caught.value) == fault
    assert "\n" not in fault
    return fault


def test_scenarios_come_back_from_a_file_byte_for_byte(tmp_path: Path) -> None:
    tasks = [*suite("quick"), own_task()]
    write_tasks(tmp_path / "a.jsonl", tasks)
    again = read_tasks(tmp_path / "a.jsonl")
    assert again == tasks
    write_tasks(tmp_path / "b.jsonl", again)
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    write_tasks(path, [own_task()])
    before = path.read_bytes()
    with pytest.raises(AttributeError):
        write_tasks(path, [own_task(), None])  # type: ignore[list-item]
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_the_public_format_is_completed_on_reading(tmp_path: Path) -> None:
    (task,) = read_tasks(public_file(tmp_path))
    # Meeting 1 in slot 2 (free for both); meeting 2 in slot 0.
    assert (task.task_id, task.oracle.slots, task.oracle.total, task.greedy_cost) == ("t1", (2, 0), 0, 0)
    assert (task.setting, task.params.num_agents, task.params.agent_blocked) == ("varied", 3, (1, 0, 0))
    assert task.realised_density == (0.5, 0.25, 0.25)
    # Meeting 1: slots 0, 1, 2; meeting 2: the same; 3 * 2 of 4 * 3 assignments.
    assert (task.difficulty.feasible, task.difficulty.d, task.witness) == (6, 0.5, None)


def test_public_meetings_on_the_calendars_become_prior_meetings(tmp_path: Path) -> None:
    def book(task: dict[str, Any]) -> None:
        for seat in (1, 2):
            task["calendars"][seat][3] = {"meeting_id": 8, "cost": 1}

    (task,) = read_tasks(public_file(tmp_path, book))
    (prior,) = task.prior_meetings
    assert (prior.id, prior.participants, prior.slot) == (8, (1, 2), 3)


def test_the_same_file_may_hold_both_formats(tmp_path: Path) -> None:
    path = tmp_path / "both.jsonl"
    path.write_text(own_task().model_dump_json() + "\n\n" + json.dumps(PUBLIC))
    assert [task.task_id for task in read_tasks(path)] == ["mine", "t1"]


def put(value: Any, *keys: str | int) -> Edit:
    """An edit that sets a value at a place."""

    def edit(task: dict[str, Any]) -> None:
        place: Any = task
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = value

    return edit


BLOCKED = {"errand_id": 7, "cost": 1, "blocked": True}

FAULTS: list[tuple[Edit, str]] = [
    (
        put([0, 0], "meetings", 0, "participants"),
        "meeting 1 lists participant 0 twice: name each participant once",
    ),
    (
        put([0, 5], "meetings", 0, "participants"),
        "meeting 1 lists participant 5, but the agents are 0..2: name existing agents only",
    ),
    (
        put([1, 0], "meetings", 0, "participants"),
        "meeting 1 lists participants [1, 0]: list them in ascending order",
    ),
    (
        put([0, 2], "meetings", 0, "speaker_order"),
        "meeting 1 has speaker order [0, 2] but participants [0, 1]: let each participant speak once",
    ),
    (put(1, "meetings", 1, "id"), "meeting 1 is there twice: number the meetings 1, 2, 3, ..."),
    (put(3, "meetings", 1, "id"), "meeting 3 comes in place 2: number the meetings 1, 2, 3, ... in their order"),
    (
        put(1, "calendars", 0, 3, "errand_id"),
        "errand 1 is on the calendar of agent 0 twice: number the errands of a calendar differently",
    ),
    (
        put([None] * 3, "calendars", 2),
        "the calendar of agent 2 has 3 slots and that of agent 0 has 4: give all calendars the same length",
    ),
    (
        put([BLOCKED | {"errand_id": i} for i in range(4)], "calendars", 1),
        "meeting 1 has no feasible slot: unblock a slot on all its participants' calendars",
    ),
    (
        put({"errand_id": 4, "cost": 1}, "calendars", 0, 0),
        "agent 0 has 2 meetings but only 1 free slots, so displaced errands cannot land: free at least 2 slots",
    ),
    (put(3, "oracle_cost"), "the stored oracle costs 3 but the optimum is 0: compute it again"),
    (put(1, "colour"), "the key colour is unknown: remove it or correct its spelling"),
    (
        put(1, "calendars", 0, 1, "blokced"),
        "the key calendars[0][1].blokced is unknown: remove it or correct its spelling",
    ),
    (lambda task: task["params"].pop("num_slots"), "the key params.num_slots is missing: add it"),
    (
        put(7, "calendars", 0, 1, "cost"),
        "calendars[0][1].cost is 7: input should be less than or equal to 3",
    ),
    (put(2, "meetings", 0, "duration"), "meetings[0].duration is 2: input should be 1"),
    (put("x", "seed"), "seed is 'x': input should be a valid integer"),
    (put(4, "params", "total_agents"), "params.total_agents is 4 but there are 3 calendars: set it to 3"),
    (put(9, "params", "num_slots"), "params.num_slots is 9 but there are 4 slots on the first calendar: set it to 4"),
    (put([[], [], []], "calendars"), "params.num_slots is 4 but there are 0 slots on the first calendar: set it to 0"),
    (
        put({"meeting_id": 2, "cost": 1}, "calendars", 1, 3),
        "prior meeting 2 has the number of another meeting: number all meetings differently",
    ),
    (
        put({"meeting_id": 9, "cost": 1, "participants": [1, 2]}, "calendars", 1, 3),
        "meeting 9 is on the calendars of agents [1]: list these as participants",
    ),
]


@pytest.mark.parametrize(("edit", "said"), FAULTS, ids=[said[:40] for _, said in FAULTS])
def test_a_faulty_public_task_is_named_with_value_and_remedy(tmp_path: Path, edit: Edit, said: str) -> None:
    path = public_file(tmp_path, edit)
    assert sentence(path) == f"{path}:1 (task t1): {said}"


def test_a_prior_meeting_in_two_slots_is_a_fault(tmp_path: Path) -> None:
    path = public_file(
        tmp_path,
        put({"meeting_id": 9, "cost": 1}, "calendars", 1, 3),
        put({"meeting_id": 9, "cost": 1}, "calendars", 2, 1),
    )
    assert "meeting 9 is on the calendars of agents [1, 2] with different slots or costs" in sentence(path)


OWN_FAULTS: list[tuple[Edit, str]] = [
    (put(0, "oracle", "total"), "the stored oracle costs 0 but the optimum is"),
    (lambda task: task["oracle"]["per_agent"].reverse(), "the stored oracle has slots"),
    (put("infeasible", "oracle", "status"), "the stored oracle has slots"),
    (put(99, "greedy_cost"), "the stored greedy cost is 99 but greedy costs"),
    (put([0.1] * 5, "realised_density"), "realised_density is [0.1, 0.1, 0.1, 0.1, 0.1]: set it to ["),
    (put(15, "prior_meetings", 0, "slot"), "does not agree with the list of prior meetings"),
    (put("cheaptalk.calbench/9", "format"), "format is 'cheaptalk.calbench/9': input should be"),
    (put(1.5, "params", "density"), "params.density"),
    (lambda task: task["params"].update(densty=1), "the key params.densty is unknown"),
    (lambda task: task.pop("oracle"), "the key oracle is missing"),
    (put([0] * 5, "witness"), "the witness is no schedule (meeting 2 cannot be in slot 0): set it to null, or to one"),
    (put([99] * 5, "witness"), "the witness is no schedule (meeting 1 cannot be in slot 99)"),
    (put(0.25, "difficulty", "d"), "the stored difficulty is 0.25 but it comes out as "),
    (put([1], "witness"), "the witness has 1 slots for 5 meetings: give one for each"),
    (put("uniform", "params", "cost_setting"), "the cost setting is uniform but an errand costs more than 1"),
]


@pytest.mark.parametrize(("edit", "said"), OWN_FAULTS, ids=[said[:40] for _, said in OWN_FAULTS])
def test_a_faulty_task_of_ours_is_named_with_value_and_remedy(tmp_path: Path, edit: Edit, said: str) -> None:
    path = own_file(tmp_path, edit)
    fault = sentence(path)
    assert fault.startswith(f"{path}:1 (task mine): ")
    assert said in fault


def test_a_schedule_that_is_not_proven_optimal_must_still_be_a_schedule(tmp_path: Path) -> None:
    assert read_tasks(own_file(tmp_path, put("feasible", "oracle", "status")))[0].oracle.status == "feasible"

    def overlap(task: dict[str, Any]) -> None:
        task["oracle"].update(status="feasible", slots=[0] * 5)

    assert "the stored oracle is no schedule (meeting" in sentence(own_file(tmp_path, overlap))


def test_every_faulty_task_of_a_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "many.jsonl"
    path.write_text("\n".join(["{", "[]", json.dumps(PUBLIC), json.dumps(PUBLIC), '{"seed": 1, "seed": 2}']))
    with pytest.raises(TaskFileError) as caught:
        read_tasks(path)
    assert [fault.removeprefix(f"{path}:") for fault in caught.value.faults] == [
        "1: broken JSON at column 2 (Expecting property name enclosed in double quotes): "
        "mend the line or generate the file again",
        "2: the line holds a list: write one JSON object a line",
        "4 (task t1): the task_id is used in line 3 already: give each task its own",
        "5: the key 'seed' is there twice in one object: keep one of the two",
    ]


def test_a_file_that_is_faulty_all_over_is_said_in_few_words(tmp_path: Path) -> None:
    path = tmp_path / "pretty.jsonl"
    path.write_text(json.dumps(PUBLIC, indent=1))
    with pytest.raises(TaskFileError) as caught:
        read_tasks(path)
    assert str(caught.value).count("broken JSON") <= 3
    assert str(caught.value).endswith(f"; {len(caught.value.faults) - 3} more tasks are faulty")


def test_a_missing_file_a_foreign_file_and_an_empty_file_are_refused(tmp_path: Path) -> None:
    assert "cannot read" in sentence(tmp_path / "absent.jsonl")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    assert "is not UTF-8 text" in sentence(tmp_path / "binary")
    (tmp_path / "empty").write_text("\n")
    assert "holds no tasks" in sentence(tmp_path / "empty")
