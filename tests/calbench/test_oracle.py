"""The optimum, its per-seat costs, and the baselines, against hand-made and brute-force answers."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings

from games.calbench.calendars import VARIED_SCALE
from games.calbench.generator import draft, generate_scenario
from games.calbench.oracle import (
    adjustment_terms,
    greedy,
    optimum,
    oracle_for,
    replayed,
    schedule_cost,
    worst_insertion,
)
from games.calbench.scenario import Scenario, ScenarioParams
from games.calbench.taskfile import read_tasks
from tests.calbench.brute import Parts, layouts, schedules
from tests.calbench.builders import scenario

REFERENCE = Path(__file__).parents[3] / "shared" / "data" / "calbench-reference"


@settings(max_examples=150, deadline=None)
@given(layouts())
def test_the_optimum_is_the_first_of_the_cheapest_schedules(layout: Parts) -> None:
    every = list(schedules(layout))
    found = optimum(layout)
    if not every:
        assert (found.status, found.total, found.slots) == ("infeasible", None, ())
        return
    best = min(every, key=lambda schedule: (sum(schedule.paid), schedule.slots))
    assert found.status == "optimal"
    assert (*found.slots, *found.prior_slots) == best.slots
    assert found.per_agent == best.paid
    assert found.total == found.bound == sum(best.paid)


@settings(max_examples=40, deadline=None)
@given(layouts(max_slots=8, max_items=6))
def test_all_solvers_give_the_same_optimum(layout: Parts) -> None:
    assert optimum(layout, method="cpsat") == optimum(layout, method="branch") == optimum(layout)


@settings(max_examples=60, deadline=None)
@given(layouts(max_slots=4))
def test_a_schedule_is_priced_as_if_played(layout: Parts) -> None:
    count = len(layout.meetings)
    for schedule in list(schedules(layout))[:20]:
        assert schedule_cost(layout, schedule.slots[:count], schedule.slots[count:]) == schedule.paid


def test_by_hand_two_meetings_share_a_participant_and_avoid_each_other() -> None:
    # Slot 1 is free for all, but agent 0 cannot be in both meetings there; the second goes to slot 2.
    task = scenario(["2.1.", "3.3.", "1.1."], [(0, 1), (0, 2)])
    assert task.oracle.slots == (1, 3)
    assert task.oracle.per_agent == (0, 0, 0)
    task = scenario(["2.1.3", "3.331", "1.13."], [(0, 1), (0, 2)])
    # Meeting 1 in slot 1 (free), meeting 2 in slot 2 (1 + 1) is 2; slots 3 and 1 (3 + 0) is 3.
    assert (task.oracle.slots, task.oracle.per_agent, task.oracle.total) == ((1, 2), (1, 0, 1), 2)


def test_a_tie_goes_to_the_lexicographically_smallest_slots() -> None:
    task = scenario(["....", "...."], [(0, 1), (0, 1), (0, 1)])
    assert task.oracle.slots == (0, 1, 2)


def test_a_prior_meeting_is_moved_where_that_is_cheaper() -> None:
    # Agent 1 can meet agent 0 in slot 1 only, where agents 1 and 2 meet already.
    task = scenario(["..", "#a", ".a"], [(0, 1)], [((1, 2), 1)])
    assert task.oracle.status == "infeasible"
    task = scenario(["3.3", "#a.", ".a."], [(0, 1)], [((1, 2), 1)])
    assert (task.oracle.slots, task.oracle.prior_slots, task.oracle.per_agent) == ((1,), (2,), (0, 1, 1))
    assert optimum(task, move_priors=False).total == 3


def test_more_meetings_than_free_slots_are_infeasible() -> None:
    assert optimum(scenario(["1.", ".."], [(0, 1), (0, 1)])).status == "infeasible"


def test_the_scheduled_only_oracle_counts_the_scheduled_meetings_alone() -> None:
    task = scenario(["2.1.3", "3.331", "1.13."], [(0, 1), (0, 2)])
    assert oracle_for(task, [1, 2]) == task.oracle.per_agent
    assert oracle_for(task, [1]) == (0, 0, 0)
    assert oracle_for(task, [2]) == (1, 0, 1)
    assert oracle_for(task, []) == (0, 0, 0)
    with pytest.raises(ValueError, match="has no meeting 3"):
        oracle_for(task, [3])


def test_a_moved_prior_meeting_counts_with_the_meeting_it_makes_way_for() -> None:
    task = scenario(["3.3#.", "#a.#3", ".a..3"], [(0, 1), (0,)], [((1, 2), 1)])
    assert (task.oracle.slots, task.oracle.prior_slots) == ((1, 4), (2,))
    assert oracle_for(task, [1]) == (0, 1, 1)
    assert oracle_for(task, [2]) == (0, 0, 0)
    assert replayed(task, [2]) == (0, 0, 0)


def test_costs_are_reported_on_the_scale_that_is_asked_for() -> None:
    task = scenario(["2.1.3", "3.331", "1.13."], [(0, 1), (0, 2)])
    assert oracle_for(task, [1, 2], scale=VARIED_SCALE) == (1, 0, 1)
    task = scenario(["2.#", "3#."], [(0, 1)])
    assert (oracle_for(task, [1]), oracle_for(task, [1], scale=VARIED_SCALE)) == ((2, 3), (10, 100))


def test_the_optimum_may_differ_on_the_shown_scale() -> None:
    # Slot 0 displaces one errand of level 3 (shown 100), slot 1 two of level 2 (shown 10 each).
    task = scenario(["32.", "..#", ".2."], [(0, 1, 2)])
    assert (task.oracle.slots, task.oracle.total) == ((0,), 3)
    shown = optimum(task, scale=VARIED_SCALE)
    assert (shown.slots, shown.total) == ((1,), 20)


def test_an_infeasible_schedule_is_refused_by_name() -> None:
    task = scenario(["2.#", "3.."], [(0, 1)])
    with pytest.raises(ValueError, match="meeting 1 cannot be in slot 2"):
        schedule_cost(task, (2,))


def test_greedy_takes_the_cheapest_slot_of_each_meeting_and_the_lowest_on_a_tie() -> None:
    # Meeting 1 takes slot 1 for nothing; agent 0's errand from slot 0 then lands in slot 2 for meeting 2.
    task = scenario(["1..3", "2.##", "12#."], [(0, 1), (0, 2)])
    walk = greedy(task)
    assert (walk.slots, walk.per_agent, walk.total, walk.complete) == ((1, 0), (1, 0, 1), 2, True)


def test_greedy_never_moves_a_meeting_and_may_be_incomplete() -> None:
    task = scenario(["a.", "a#"], [(0, 1)], [((0, 1), 0)])
    assert greedy(task).slots == (None,)


def test_a_replay_pays_twice_for_an_errand_that_lands_in_the_way() -> None:
    # The optimum takes slots 0 and 1. Replayed, the errand of slot 0 drops into slot 1 and is moved again.
    task = scenario(["1..", "..#"], [(0, 1), (0, 1)])
    assert (task.oracle.slots, task.oracle.per_agent) == ((0, 1), (1, 0))
    assert replayed(task) == (2, 0)
    assert replayed(task, [1]) == (1, 0)


@settings(max_examples=60, deadline=None)
@given(layouts(priors=False))
def test_a_complete_greedy_schedule_is_never_cheaper_than_the_optimum(layout: Parts) -> None:
    best = optimum(layout)
    walk = greedy(layout)
    if best.total is not None and walk.complete:
        assert walk.total >= best.total


def test_the_worst_insertion_is_taken_over_slots_feasible_for_all() -> None:
    task = scenario(["32.1", "#1..", "1..."], [(0, 1), (0, 2)])
    # Meeting 1: slot 0 is blocked for agent 1. Meeting 2: all slots are feasible.
    assert worst_insertion(task) == ((2, 3), (1, None), (None, 1))
    assert worst_insertion(task, scale=VARIED_SCALE) == ((10, 100), (1, None), (None, 1))


def test_the_terms_of_the_adjusted_cost_are_averages_over_the_seats_meetings() -> None:
    task = scenario(["32.1.", "#1...", "1...."], [(0, 1), (0, 2)])
    terms = adjustment_terms(task)
    assert [(term.worst, term.oracle) for term in terms] == [(2.5, 0.0), (1.0, 0.0), (1.0, 0.0)]


SIZES = [(5, 16, 12, 3), (5, 32, 20, 3), (5, 64, 20, 5), (20, 64, 20, 20), (50, 64, 20, 50)]


@pytest.mark.parametrize("size", SIZES)
def test_large_scenarios_are_solved_to_the_smallest_slots_within_a_second(size: Sequence[int]) -> None:
    agents, slots, meetings, participants = size
    params = ScenarioParams(
        num_agents=agents,
        num_slots=slots,
        num_meetings=meetings,
        subset_size=participants,
        density=0.5,
        blocked=1,
        cost_setting="balanced",
    )
    layout = draft(params, 1)
    start = time.perf_counter()
    found = optimum(layout)
    assert time.perf_counter() - start < 1.0
    assert found.status == "optimal"


def test_earlier_meetings_in_a_generated_scenario_are_solved_alike_by_cpsat() -> None:
    params = ScenarioParams(cost_setting="balanced", num_prior_meetings=4, blocked=2, density=0.7)
    for seed in range(5):
        task = generate_scenario(params, seed)
        assert optimum(task, method="cpsat") == task.oracle


@pytest.mark.parametrize("effort", [0.0, 0.02])
def test_a_search_that_ends_early_gives_a_schedule_and_a_bound(effort: float) -> None:
    params = ScenarioParams(
        num_agents=20,
        num_slots=64,
        num_meetings=50,
        subset_size=5,
        density=0.7,
        blocked=8,
        cost_setting="balanced",
    )
    layout = draft(params, 1)
    found = optimum(layout, method="cpsat", effort=effort)
    assert found.status == "feasible"
    assert found.total is not None
    assert found.bound is not None
    assert 0 <= found.bound <= found.total
    assert schedule_cost(layout, found.slots) == found.per_agent
    best = optimum(layout)
    assert best.total is not None
    assert found.bound <= best.total <= found.total


@pytest.mark.skipif(not REFERENCE.is_dir(), reason="the reference data is not beside the project")
@pytest.mark.parametrize("setting", ["uniform", "varied"])
def test_the_optimum_and_greedy_agree_with_the_reference_on_all_tasks(setting: str) -> None:
    rows = [json.loads(line) for line in (REFERENCE / f"{setting}.results.jsonl").read_text().splitlines()]
    expected = {row["task"]: row for row in rows if row["protocol"] == "imap"}
    tasks: list[Scenario] = read_tasks(REFERENCE / f"{setting}.tasks.jsonl")
    assert len(tasks) == len(expected) == 45
    for task in tasks:
        row = expected[task.task_id]
        walk = greedy(task)
        assert task.oracle.total == row["oracle_cost"]
        assert (list(walk.slots), list(walk.per_agent)) == (row["slot_by_round"], row["cost_by_seat"])
