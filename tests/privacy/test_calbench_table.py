"""CalBench's table of evidence: each row of the paper's table 10, and known games."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from framework import Seating, Trace, play
from framework.beliefs import belief_history, move
from framework.evidence import Talk, gather
from games.calbench import CalBench, Scenario
from games.calbench.history import calendars_by_round
from games.calbench.privacy import EVIDENCE, slot_weights
from games.calbench.taskfile import read_tasks
from protocols.imap import Imap
from protocols.sdmap import SdMap
from tests.calbench.builders import scenario
from tests.privacy.talking import Line, trace_of

DATA = Path(__file__).parents[3] / "shared" / "data" / "calbench-reference"
PROTOCOLS = {"imap": Imap, "sd-map": SdMap}

OFFER = {"kind": "proposals", "agreement": 1, "plans": [{"id": 0, "option": 5}, {"id": 1, "option": 2}]}
OUTSIDE = {
    "kind": "proposals",
    "agreement": 1,
    "plans": [
        {"id": 3, "option": None, "displacements": [{"agreement": 1, "option": 4}, {"agreement": 2, "option": 6}]}
    ],
}
REQUEST = {"kind": "cost_request", "agreement": 1, "options": [0, 1, 2]}

ROWS: list[tuple[str, list[dict[str, Any]], dict[int, float]]] = [
    ("proposals", [OFFER], {5: 1.0, 2: 1.0}),
    ("scores", [OFFER, {"kind": "scores", "scores": {"0": 0, "1": 4}}], {5: 0.0, 2: 4 / 11}),
    ("scores", [OFFER, {"kind": "scores", "scores": {"1": -1, "0": 11, "9": 3}}], {5: 1.0, 2: 0.0}),
    ("scores", [{"kind": "scores", "scores": {"0": 3}}], {}),
    ("proposals", [OUTSIDE], {4: 1.0, 6: 1.0}),
    ("scores", [OUTSIDE, {"kind": "scores", "scores": {"3": 2}}], {4: 2 / 11, 6: 2 / 11}),
    ("decision", [{"kind": "decision", "option": 7}], {7: 1.0}),
    ("decision", [{"kind": "decision", "plan": None, "option": None, "reward": 0}], {}),
    ("cost_request", [REQUEST], {}),
    ("costs", [REQUEST, {"kind": "costs", "costs": [None, 0, 3]}], {0: 0.0, 1: 1.0, 2: 1.0}),
    ("costs", [REQUEST, {"kind": "costs", "costs": [0, 0, 0, 0, 0]}], {0: 1.0, 1: 1.0, 2: 1.0}),
    ("costs", [{"kind": "costs", "costs": [0, 0, 0]}], {}),
    ("propose", [{"kind": "propose", "option": 3}], {3: 0.3 * 0.5 + 0.7 * 0.85}),
    ("reply", [{"kind": "reply", "option": 3, "status": "IMPOSSIBLE"}], {3: 0.0}),
    ("reply", [{"kind": "reply", "option": 3, "status": "PENDING"}], {3: 1.0}),
    ("confirm", [{"kind": "confirm", "option": 3}], {}),
    ("fail", [{"kind": "fail"}], {}),
    ("reschedule_request", [{"kind": "reschedule_request"}], {}),
    ("propose_reschedule", [{"kind": "propose_reschedule", "option": 3}], {3: 0.3 * 0.5 + 0.7 * 0.85}),
    ("reschedule_reply", [{"kind": "reschedule_reply", "option": 3, "status": "IMPOSSIBLE"}], {3: 0.0}),
    ("reschedule_reply", [{"kind": "reschedule_reply", "option": 3, "status": "PENDING"}], {3: 1.0}),
    ("confirm_reschedule", [{"kind": "confirm_reschedule", "option": 3}], {}),
    ("fail_reschedule", [{"kind": "fail_reschedule"}], {}),
]


@pytest.mark.parametrize(("kind", "talk", "beliefs"), ROWS, ids=[row[0] for row in ROWS])
def test_a_message_moves_the_beliefs_that_table_10_says(kind, talk, beliefs):
    """The last message goes from seat 1 to seat 0; the one before it is what it answers."""
    *before, said = talk
    lines = [*(Line(0, 0, (1,), question) for question in before), Line(0, 1, (0,), said)]
    trace = trace_of(lines, slots=8)
    expected = [beliefs.get(slot, 0.5) for slot in range(8)]
    assert belief_history(trace, 0, 1, table=EVIDENCE).belief[-1].tolist() == pytest.approx(expected)
    assert gather(Talk.of(trace), EVIDENCE).unread == (0, 0, 0)


def test_every_kind_of_the_table_is_tested():
    assert {row[0] for row in ROWS} == set(EVIDENCE.sources)


def test_a_score_above_the_top_is_not_read():
    assert EVIDENCE.read('{"kind": "scores", "scores": {"0": 12}}') is None


# --- known games --------------------------------------------------------------------------------

# The numbers were computed by another implementation; all 90 tasks are compared where its data lies beside
# the project.

TASK = scenario(
    [".2313#..#1#2###1", "##3.#.232.11###3", "3.#11#1##.22.#2#", "1#31#.2#32.2#.11", "#322#131.11#.#2."],
    [(4, 2, 3), (0, 1, 2), (3, 0, 4), (2, 1, 4), (1, 0, 3)],
)


def played(task: Scenario, protocol: str) -> Trace:
    kind = PROTOCOLS[protocol]
    return asyncio.run(play(CalBench(), task, [Seating(protocol, kind()) for _ in range(task.num_agents)]))


def vps(trace: Trace) -> list[float]:
    return move([gather(Talk.of(trace), EVIDENCE)]).by_target().tolist()


@pytest.mark.parametrize(
    ("protocol", "expected"),
    [("imap", [3.0, 17.0, 17.0, 24.0, 24.0]), ("sd-map", [7.84, 9.44, 7.47, 6.5, 6.0])],
)
def test_vps_of_a_known_task(protocol, expected):
    assert vps(played(TASK, protocol)) == pytest.approx(expected, abs=0.005)


def test_imap_gives_the_headline_of_the_paper():
    assert played(TASK, "imap").metrics["vps"].game == pytest.approx(12.40)


@pytest.mark.skipif(not DATA.is_dir(), reason="the reference data is not beside the project")
@pytest.mark.parametrize("setting", ["uniform", "varied"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_vps_agrees_with_the_reference_on_every_task_that_is_played_alike(setting, protocol):
    tasks = {task.task_id: task for task in read_tasks(DATA / f"{setting}.tasks.jsonl")}
    lines = (DATA / f"{setting}.results.jsonl").read_text(encoding="utf-8").splitlines()
    expected = {row["task"]: row for row in map(json.loads, lines) if row["protocol"] == protocol}
    alike = 0
    for task_id, task in tasks.items():
        trace, row = played(task, protocol), expected[task_id]
        slots = trace.final_state["slot_by_meeting"]
        sent = [sum(post.sender == seat for post in trace.posts) for seat in range(task.num_agents)]
        agreed = [slots.get(str(meeting.id)) for meeting in task.meetings]
        if (agreed, sent) == (row["slot_by_round"], row["messages_sent_by_seat"]):
            alike += 1
            assert vps(trace) == pytest.approx(row["vps_by_target"], abs=0.005), task_id
    assert alike == 45 if protocol == "imap" else alike > 40


# --- cost-weighted ------------------------------------------------------------------------------


def test_a_slot_weighs_the_level_of_what_is_in_it_when_the_round_starts():
    trace = played(scenario([".3#.2#", "#1.#3."], [(0, 1), (0, 1)]), "imap")
    assert trace.final_state["slot_by_meeting"] == {"1": 1, "2": 4}
    first, second = slot_weights(trace).tolist()
    assert first == [[1, 3, 1, 1, 2, 1], [1, 1, 1, 1, 3, 1]]
    assert second == [[3, 1, 1, 1, 2, 1], [1, 1, 1, 1, 3, 1]]


def test_weighted_vps_counts_a_slot_as_often_as_its_level():
    trace = played(scenario([".3#.2#", "#1.#3."], [(0, 1), (0, 1)]), "imap")
    game = replace(gather(Talk.of(trace), EVIDENCE), weights=slot_weights(trace))
    assert vps(trace) == [2 * 0.5, 2 * 6 * 0.5]
    assert move([game]).by_target().tolist() == [(3 + 2) * 0.5, 2 * (5 + 3) * 0.5]


def test_the_replayed_calendars_end_as_the_game_did():
    trace = played(TASK, "sd-map")
    ended = [[i and i.model_dump(mode="json") for i in calendar.slots] for calendar in calendars_by_round(trace)[-1]]
    assert ended == trace.final_state["calendars"]
