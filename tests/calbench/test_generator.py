"""Generated scenarios: witness, density, blocked errands, costs, rotation and determinism."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from itertools import combinations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from games.calbench.calendars import Errand, MeetingItem
from games.calbench.generator import GeneratorError, generate_scenario
from games.calbench.oracle import overloads, schedule_cost
from games.calbench.scenario import Scenario, ScenarioParams

SEEDS = st.integers(0, 2**40)
MIXED = ScenarioParams(density=(0.6, 0.8, 1.0, 0.6, 0.8), blocked=(2, 4, 6, 2, 4), cost_setting="balanced")


def errands_of(task: Scenario, seat: int) -> list[Errand]:
    return [item for item in task.calendars[seat].slots if isinstance(item, Errand)]


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.booleans(), st.integers(0, 3))
def test_the_witness_is_a_feasible_schedule(seed: int, force: bool, priors: int) -> None:
    params = MIXED.model_copy(update={"force_witness_errand": force, "num_prior_meetings": priors})
    task = generate_scenario(params, seed)
    assert task.witness is not None
    assert task.oracle.total is not None
    assert sum(schedule_cost(task, task.witness)) >= task.oracle.total


@st.composite
def any_params(draw: st.DrawFn) -> ScenarioParams:
    """Parameters of every kind, feasible or not."""
    agents = draw(st.integers(1, 8))
    shares = st.sampled_from((0.0, 0.1, 0.29, 0.5, 0.8, 1.0))
    counts = st.integers(0, 4)
    return ScenarioParams(
        num_agents=agents,
        num_slots=draw(st.sampled_from((1, 2, 4, 8, 16, 20))),
        num_meetings=draw(st.integers(1, 8)),
        subset_size=draw(st.integers(1, agents)),
        density=draw(shares | st.lists(shares, min_size=agents, max_size=agents).map(tuple)),
        blocked=draw(counts | st.lists(counts, min_size=agents, max_size=agents).map(tuple)),
        cost_setting=draw(st.sampled_from(("uniform", "varied", "balanced"))),
        pref_level=draw(st.integers(1, 3)),
        errand_cost_level=draw(st.none() | st.integers(1, 3)),
        meeting_cost_level=draw(st.integers(1, 3)),
        force_witness_errand=draw(st.booleans()),
        num_prior_meetings=draw(st.integers(0, 4)),
        prior_subset_size=draw(st.integers(1, min(agents, 3))),
    )


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(any_params(), SEEDS)
def test_whatever_is_made_keeps_its_promises_and_the_rest_is_refused(params: ScenarioParams, seed: int) -> None:
    try:
        task = generate_scenario(params, seed)
    except GeneratorError:
        return  # what is said is tested below
    assert task.witness is not None
    assert overloads(task) == []
    assert 0 <= (task.oracle.total or 0) <= sum(schedule_cost(task, task.witness))
    for seat, calendar in enumerate(task.calendars):
        errands = errands_of(task, seat)
        own = {slot for meeting, slot in zip(task.meetings, task.witness, strict=True) if seat in meeting.participants}
        held = sum(isinstance(item, MeetingItem) for item in calendar.slots)
        asked = math.floor(params.agent_densities[seat] * params.num_slots + 1e-9)
        assert len(errands) == min(asked, params.num_slots - held - len(own))
        assert len({errand.errand_id for errand in errands}) == len(errands)
        assert sum(errand.blocked for errand in errands) == params.agent_blocked[seat]
        assert all(errand.cost <= params.max_errand_level for errand in errands)
        at_witness = [item for slot in own if (item := calendar.slots[slot]) is not None]
        assert all(isinstance(item, Errand) and not item.blocked for item in at_witness)


@settings(max_examples=30, deadline=None)
@given(SEEDS)
def test_each_agent_has_as_many_free_slots_as_meetings(seed: int) -> None:
    assert overloads(generate_scenario(MIXED, seed)) == []


def test_density_fills_the_floor_of_its_share_of_slots() -> None:
    task = generate_scenario(MIXED, 1)
    assert [len(errands_of(task, seat)) for seat in range(5)] == [9, 12, 13, 9, 12]


def test_a_density_too_high_for_the_meetings_is_lowered_and_both_are_recorded() -> None:
    task = generate_scenario(MIXED, 1)
    assert task.asked_density == (0.6, 0.8, 1.0, 0.6, 0.8)
    assert task.realised_density == (9 / 16, 12 / 16, 13 / 16, 9 / 16, 12 / 16)


def test_a_share_that_floats_cannot_hold_is_not_rounded_down() -> None:
    # 100 * 0.29 is 28.999999999999996 in floating point.
    task = generate_scenario(ScenarioParams(num_slots=100, density=0.29), 0)
    assert len(errands_of(task, 0)) == 29


def test_blocked_errands_are_as_many_as_asked_and_never_on_a_witness_slot() -> None:
    for seed in range(20):
        task = generate_scenario(MIXED, seed)
        assert task.witness is not None
        for seat, count in enumerate([2, 4, 6, 2, 4]):
            assert sum(errand.blocked for errand in errands_of(task, seat)) == count
            for meeting, slot in zip(task.meetings, task.witness, strict=True):
                item = task.calendars[seat].slots[slot]
                assert seat not in meeting.participants or not (isinstance(item, Errand) and item.blocked)


def test_witness_slots_hold_errands_when_that_is_forced() -> None:
    for seed in range(10):
        task = generate_scenario(MIXED, seed)
        assert task.witness is not None
        for meeting, slot in zip(task.meetings, task.witness, strict=True):
            assert all(task.calendars[seat].slots[slot] is not None for seat in meeting.participants)


def test_witness_slots_may_be_free_when_errands_are_not_forced() -> None:
    params = MIXED.model_copy(update={"force_witness_errand": False})
    tasks = [generate_scenario(params, seed) for seed in range(10)]
    assert any(
        task.calendars[seat].slots[slot] is None
        for task in tasks
        for meeting, slot in zip(task.meetings, task.witness or (), strict=True)
        for seat in meeting.participants
    )


def test_balanced_levels_differ_by_at_most_one_in_number() -> None:
    for seed in range(10):
        task = generate_scenario(MIXED, seed)
        for seat in range(5):
            counts = Counter(errand.cost for errand in errands_of(task, seat))
            assert max(counts.values()) - min(counts[level] for level in (1, 2, 3)) <= 1


def test_uniform_levels_are_all_one_and_shown_as_one() -> None:
    task = generate_scenario(ScenarioParams(cost_setting="uniform", pref_level=3), 0)
    assert {errand.cost for seat in range(5) for errand in errands_of(task, seat)} == {1}
    assert (task.cost_scale.shown, task.setting) == ((1, 1, 1), "uniform")


def test_varied_levels_keep_to_their_ceiling() -> None:
    varied = ScenarioParams(cost_setting="varied", pref_level=3)
    capped = ScenarioParams(cost_setting="varied", pref_level=3, errand_cost_level=2)
    for params, levels in ((varied, {1, 2, 3}), (capped, {1, 2})):
        task = generate_scenario(params, 3)
        assert {errand.cost for seat in range(5) for errand in errands_of(task, seat)} == levels
    assert task.cost_scale.shown == (1, 10, 100)


def test_the_cost_setting_changes_nothing_but_costs() -> None:
    uniform = generate_scenario(MIXED.model_copy(update={"cost_setting": "uniform"}), 9)
    balanced = generate_scenario(MIXED, 9)
    assert uniform.meetings == balanced.meetings
    for seat in range(5):
        for one, other in zip(uniform.calendars[seat].slots, balanced.calendars[seat].slots, strict=True):
            assert (one is None) == (other is None)
            if isinstance(one, Errand) and isinstance(other, Errand):
                assert (one.errand_id, one.blocked) == (other.errand_id, other.blocked)


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_five_agents_rotate_evenly(seed: int) -> None:
    task = generate_scenario(ScenarioParams(), seed)
    assert [len(task.meetings_of(seat)) for seat in range(5)] == [3] * 5
    assert sorted(meeting.speaker_order[0] for meeting in task.meetings) == [0, 1, 2, 3, 4]
    pairs = Counter(pair for meeting in task.meetings for pair in combinations(meeting.participants, 2))
    assert len(pairs) == 10
    assert set(pairs.values()) <= {1, 2}


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 12), SEEDS)
def test_rotation_is_even_in_any_size(agents: int, size: int, meetings: int, seed: int) -> None:
    size = min(size, agents)
    params = ScenarioParams(num_agents=agents, num_slots=32, num_meetings=meetings, subset_size=size, density=0.3)
    task = generate_scenario(params, seed)
    loads = [len(task.meetings_of(seat)) for seat in range(agents)]
    assert max(loads) - min(loads) <= 1
    leads = Counter(meeting.speaker_order[0] for meeting in task.meetings)
    assert max(leads.values()) <= -(-meetings // agents)


def test_given_participants_are_used_in_their_order() -> None:
    params = ScenarioParams(num_meetings=2, participant_lists=((4, 0), (1, 2, 3)))
    assert [meeting.participants for meeting in generate_scenario(params, 0).meetings] == [(0, 4), (1, 2, 3)]


def test_prior_meetings_are_on_their_participants_calendars_and_nowhere_else() -> None:
    task = generate_scenario(ScenarioParams(num_prior_meetings=4, prior_subset_size=3), 5)
    assert [prior.id for prior in task.prior_meetings] == [6, 7, 8, 9]
    for prior in task.prior_meetings:
        for seat, calendar in enumerate(task.calendars):
            expected = prior.slot if seat in prior.participants else None
            assert calendar.slot_of(prior.id) == expected
            item = calendar.slots[prior.slot]
            assert expected is None or isinstance(item, MeetingItem)


def test_errand_numbers_tell_nothing_about_other_calendars() -> None:
    task = generate_scenario(MIXED, 0)
    for seat in range(5):
        numbers = sorted(errand.errand_id for errand in errands_of(task, seat))
        assert numbers == list(range(16 * seat + 1, 16 * seat + 1 + len(numbers)))


def test_the_same_seed_gives_the_same_bytes_and_another_seed_does_not() -> None:
    first = generate_scenario(MIXED, 7).model_dump_json()
    assert generate_scenario(MIXED, 7).model_dump_json() == first
    assert generate_scenario(MIXED, 8, "s7").calendars != generate_scenario(MIXED, 7).calendars


def test_a_scenario_comes_back_from_json_byte_for_byte() -> None:
    text = generate_scenario(MIXED.model_copy(update={"num_prior_meetings": 2}), 7).model_dump_json()
    assert Scenario.model_validate_json(text).model_dump_json() == text


def test_draws_are_pinned_across_versions() -> None:
    task = generate_scenario(MIXED, 2026)
    text = "\n".join(calendar.render() for calendar in task.calendars)
    assert [meeting.speaker_order for meeting in task.meetings] == [
        (0, 4, 3),
        (1, 0, 2),
        (2, 1, 3),
        (4, 0, 1),
        (3, 4, 2),
    ]
    assert (
        hashlib.sha256(text.encode()).hexdigest() == "cea038306db93729cba48840751a53568d7253901e66465c284f7b3f9da0af00"
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"num_slots": 4, "num_meetings": 20, "density": 0.0}, "agent 0 has 12 meetings, 0 prior meetings"),
        ({"blocked": 13}, "agent 0 should have 13 blocked errands but at most 12 of its 16 slots can hold one"),
        ({"num_meetings": 17, "density": 0.0}, "no schedule of 17 meetings in 16 slots was found"),
    ],
)
def test_impossible_parameters_are_refused_with_agent_and_numbers(changes: dict[str, object], words: str) -> None:
    params = ScenarioParams.model_validate({"density": 0.8, **changes})
    with pytest.raises(GeneratorError) as caught:
        generate_scenario(params, 0)
    assert words in str(caught.value)


def test_a_negative_seed_is_refused() -> None:
    with pytest.raises(GeneratorError, match="seed -1 is negative"):
        generate_scenario(ScenarioParams(), -1)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"density": (0.5, 0.5)}, "density has 2 values for 5 agents"),
        ({"blocked": (1,)}, "blocked has 1 values for 5 agents"),
        ({"subset_size": 6}, "subset_size is 6 but there are 5 agents"),
        ({"num_prior_meetings": 1, "prior_subset_size": 6}, "prior_subset_size is 6 but there are 5 agents"),
        ({"participant_lists": ((0, 1),)}, "participant_lists has 1 entries for 5 meetings"),
        ({"num_meetings": 1, "participant_lists": ((0, 0),)}, "entry 1 of participant_lists lists participant 0 twice"),
        ({"num_meetings": 1, "participant_lists": ((0, 9),)}, "lists participant 9, but the agents are 0..4"),
        ({"densty": 0.5}, "densty"),
    ],
)
def test_contradictory_parameters_are_refused(fields: dict[str, object], words: str) -> None:
    with pytest.raises(ValidationError, match="(?s)" + words.replace(".", r"\.")):
        ScenarioParams.model_validate(fields)
