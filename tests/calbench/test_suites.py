"""The suites that ship, and suites of one's own."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections import Counter
from functools import cache

import pytest

from games.calbench.calendars import Errand
from games.calbench.generator import generate_scenario
from games.calbench.oracle import optimum
from games.calbench.scenario import Scenario, ScenarioParams
from games.calbench.suites import SUITES, TaskConfig, generate_tasks, suite


@cache
def made(name: str) -> tuple[Scenario, ...]:
    return tuple(suite(name))


def fingerprint(tasks: tuple[Scenario, ...] | list[Scenario]) -> str:
    return hashlib.sha256("\n".join(task.model_dump_json() for task in tasks).encode()).hexdigest()


def test_canonical_has_fifteen_tasks_of_each_setting_and_bucket() -> None:
    cells = Counter((task.setting, task.bucket) for task in made("canonical"))
    assert cells == {
        (setting, bucket): 15 for setting in ("uniform", "varied") for bucket in ("easy", "medium", "hard")
    }


def test_canonical_tasks_have_the_papers_sizes() -> None:
    for task in made("canonical"):
        assert (task.num_agents, task.num_slots, len(task.meetings)) == (5, 16, 5)
        assert {len(meeting.participants) for meeting in task.meetings} == {3}
        assert set(task.asked_density) <= {0.6, 0.8, 1.0}
        blocked = [sum(isinstance(i, Errand) and i.blocked for i in calendar.slots) for calendar in task.calendars]
        assert set(blocked) <= {2, 4, 6}


def test_canonical_densities_differ_in_the_calendars_they_give() -> None:
    realised = {
        (asked, real)
        for task in made("canonical")
        for asked, real in zip(task.asked_density, task.realised_density, strict=True)
    }
    assert realised == {(0.6, 9 / 16), (0.8, 12 / 16), (1.0, 13 / 16)}


@pytest.mark.parametrize("setting", ["uniform", "varied"])
def test_canonical_buckets_are_ordered_by_difficulty(setting: str) -> None:
    scores: dict[str, list[float]] = {"easy": [], "medium": [], "hard": []}
    for task in made("canonical"):
        if task.setting == setting:
            scores[str(task.bucket)].append(task.difficulty.d)
    assert max(scores["hard"]) < min(scores["medium"])
    assert max(scores["medium"]) < min(scores["easy"])


def test_canonical_settings_are_paired_task_by_task() -> None:
    tasks = {task.task_id: task for task in made("canonical")}
    for name, task in tasks.items():
        other = tasks[name.replace("uniform", "varied")]
        assert (task.meetings, task.difficulty) == (other.meetings, other.difficulty)


def test_quick_is_the_first_task_of_each_kind_of_canonical() -> None:
    canonical = {task.task_id: task for task in made("canonical")}
    quick = made("quick")
    assert len({(task.setting, task.bucket) for task in quick}) == len(quick) == 6
    assert all(canonical[task.task_id] == task for task in quick)


def test_in_prior_meetings_the_optimum_moves_one_and_nothing_else_is_as_cheap() -> None:
    tasks = made("prior-meetings")
    assert len(tasks) == 24
    for task in tasks:
        assert any(prior.slot != slot for prior, slot in zip(task.prior_meetings, task.oracle.prior_slots, strict=True))
        in_place = optimum(task, move_priors=False).total
        assert task.oracle.total is not None
        assert in_place is None or in_place > task.oracle.total


def test_topologies_reach_from_two_to_twenty_agents() -> None:
    sizes = {(task.num_agents, len(task.meetings[0].participants)) for task in made("topologies")}
    assert {(2, 2), (20, 5), (20, 20)} <= sizes


def test_each_agent_speaks_first_equally_often_in_the_suites_where_that_is_possible() -> None:
    for task in (*made("canonical"), *made("topologies")):
        leads = Counter(meeting.speaker_order[0] for meeting in task.meetings)
        assert set(leads.values()) == {len(task.meetings) // task.num_agents}
        assert len(leads) == task.num_agents


def test_long_reaches_fifty_meetings_with_proven_optima() -> None:
    tasks = made("long")
    assert max(len(task.meetings) for task in tasks) == 50
    assert {task.oracle.status for task in tasks} == {"optimal"}


@pytest.mark.parametrize("name", list(SUITES))
def test_task_names_are_unique_and_costs_come_in_both_settings(name: str) -> None:
    tasks = made(name)
    assert len({task.task_id for task in tasks}) == len(tasks)
    assert name == "prior-meetings" or {task.setting for task in tasks} == {"uniform", "varied"}


def test_a_task_is_generated_again_from_its_parameters_and_seed() -> None:
    for task in made("quick"):
        again = generate_scenario(task.params, task.seed, task.task_id)
        assert again.model_copy(update={"bucket": task.bucket}) == task


def test_canonical_is_the_same_bytes_in_another_process_with_another_hash_seed() -> None:
    code = "from tests.calbench.test_suites import *; print(fingerprint(suite('canonical')))"
    environment = {**os.environ, "PYTHONHASHSEED": "4242"}
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert other.stdout.strip() == fingerprint(made("canonical")) == fingerprint(suite("canonical"))


def test_the_solver_is_imported_only_when_it_is_needed() -> None:
    code = "import sys; from games.calbench.suites import suite; suite('quick'); print('ortools' in sys.modules)"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert other.stdout.strip() == "False"


def test_another_seed_gives_another_suite() -> None:
    assert fingerprint(suite("quick", 1)) != fingerprint(made("quick"))


def test_an_unknown_suite_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(ValueError, match="there is no suite 'cannonical': choose one of canonical, quick"):
        suite("cannonical")


def test_a_suite_of_ones_own_may_be_bucketed() -> None:
    params = ScenarioParams(blocked=3, cost_setting="balanced")
    tasks = generate_tasks(TaskConfig(name="mine", params=params, count=6, seed=3, bucketed=True))
    assert [task.bucket for task in tasks] == ["easy", "easy", "medium", "medium", "hard", "hard"]
    assert tasks[0].task_id == "mine-easy-01"


def test_a_suite_of_ones_own_without_buckets_has_none() -> None:
    tasks = generate_tasks(TaskConfig(count=2))
    assert [(task.task_id, task.bucket) for task in tasks] == [("custom-01", None), ("custom-02", None)]


def test_a_cell_without_blocked_errands_is_not_bucketed() -> None:
    with pytest.raises(ValueError, match="all 12 candidates have difficulty 1"):
        generate_tasks(TaskConfig(count=6, bucketed=True))


def test_buckets_need_a_multiple_of_three_tasks() -> None:
    with pytest.raises(ValueError, match="10 tasks cannot be split"):
        generate_tasks(TaskConfig(count=10, bucketed=True))
