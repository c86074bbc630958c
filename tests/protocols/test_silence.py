"""Protocols that cannot speak: nothing is coordinated by guessing alike."""

from __future__ import annotations

import asyncio
from functools import cache

import pytest

from framework import Seating, Strategy, TopologySpec, play
from games.calbench import CalBench, CalBenchRules, Scenario
from games.calbench.suites import suite
from protocols import DsmPrivate, DsmWelfare, Imap, SdMap, SdMapCareful

PROTOCOLS: tuple[type[Strategy], ...] = (Imap, SdMap, SdMapCareful, DsmPrivate, DsmWelfare)
CUT_OFF = {
    "no channel is open": CalBenchRules(channels=()),
    "nobody is within reach": CalBenchRules(topology=TopologySpec(name="edges")),
}


@cache
def tasks() -> tuple[Scenario, ...]:
    return (*suite("quick"), *suite("prior-meetings")[::8])


@pytest.mark.parametrize("rules", CUT_OFF.values(), ids=CUT_OFF)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_without_a_message_nothing_is_scheduled_and_nothing_is_moved(
    protocol: type[Strategy], rules: CalBenchRules
) -> None:
    for task in tasks():
        seating = [Seating(protocol.__name__, protocol()) for _ in range(task.num_agents)]
        trace = asyncio.run(play(CalBench(rules), task, seating))
        assert trace.aborted is None
        assert trace.posts == ()
        assert trace.metrics["coordination"].game == 0.0
        assert trace.final_state["total_cost"] == 0
        assert trace.final_state["calendars"] == [
            [None if item is None else item.model_dump(mode="json") for item in calendar.slots]
            for calendar in task.calendars
        ]
