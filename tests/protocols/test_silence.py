"""Protocols that cannot speak: nothing is coordinated by guessing alike."""

from __future__ import annotations

import asyncio
from functools import cache

import pytest

from framework import Seating, Strategy, TopologySpec, Trace, play
from games.calbench import CalBench, CalBenchRules, Scenario
from games.calbench.generator import generate_scenario
from games.calbench.scenario import ScenarioParams
from games.calbench.suites import suite
from games.east import East
from protocols import DsmPrivate, DsmWelfare, Imap, SdMap, SdMapCareful

PROTOCOLS: tuple[type[Strategy], ...] = (Imap, SdMap, SdMapCareful, DsmPrivate, DsmWelfare)
CUT_OFF = {
    "no channel is open": CalBenchRules(channels=()),
    "nobody is within reach": CalBenchRules(topology=TopologySpec(name="edges")),
}


def play_all(protocol: type[Strategy], task: Scenario, rules: CalBenchRules | None = None) -> Trace:
    seating = [Seating(protocol.__name__, protocol()) for _ in range(task.num_agents)]
    trace = asyncio.run(play(CalBench(rules), task, seating))
    assert trace.aborted is None
    return trace


@cache
def tasks() -> tuple[Scenario, ...]:
    return (*suite("quick"), *suite("prior-meetings")[::8])


@pytest.mark.parametrize("rules", CUT_OFF.values(), ids=CUT_OFF)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_without_a_message_nothing_is_scheduled_and_nothing_is_moved(
    protocol: type[Strategy], rules: CalBenchRules
) -> None:
    for task in tasks():
        trace = play_all(protocol, task, rules)
        assert trace.posts == ()
        assert trace.metrics["coordination"].game == 0.0
        assert trace.final_state["total_cost"] == 0
        assert trace.final_state["calendars"] == [
            [None if item is None else item.model_dump(mode="json") for item in calendar.slots]
            for calendar in task.calendars
        ]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_meeting_with_nobody_else_takes_no_message_and_the_cheapest_slot(protocol: type[Strategy]) -> None:
    params = ScenarioParams(
        num_agents=2, num_slots=6, num_meetings=4, subset_size=1, density=0.9, cost_setting="varied"
    )
    task = generate_scenario(params, 3)
    trace = play_all(protocol, task)
    assert trace.posts == ()
    assert trace.metrics["coordination"].game == 1.0
    if protocol not in (SdMap, SdMapCareful):  # which take the first slot
        assert trace.final_state["total_cost"] == task.oracle.total


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_game_without_the_view_that_it_needs_is_not_played_in_silence(protocol: type[Strategy]) -> None:
    game = East()
    trace = asyncio.run(play(game, game.suite("quick", 0)[0], [Seating("a", protocol()) for _ in range(2)]))
    assert trace.aborted is not None
    assert "needs a game that offers an agreement view; EastObservation has none" in trace.aborted.error
