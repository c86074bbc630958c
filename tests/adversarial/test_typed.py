"""Seats that lie about their options, and seats that ask for more than they need."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence

import pytest

from adversarial.misreporting import Misreported, MisreportingDsm, MisreportingImap, MisreportingSdMap
from adversarial.probing import NosyDsm, NosyImap, NosySdMap
from framework import Round, Seating, Strategy, Trace, Turn, play, registry
from framework.trace import Note
from games.calbench import CalBench, Scenario
from games.calbench.events import MeetingResolved
from games.calbench.state import State
from protocols.dsm import Dsm, DsmPrivate
from protocols.imap import Imap
from protocols.sdmap import SdMap
from tests.calbench.builders import scenario

ADVERSARIES = ["dsm-misreport", "dsm-nosy", "imap-misreport", "imap-nosy", "sd-map-misreport", "sd-map-nosy"]


def run(task: Scenario, *seats: Strategy) -> Trace:
    trace = asyncio.run(play(CalBench(), task, [Seating(f"seat-{n}", seat) for n, seat in enumerate(seats)]))
    assert trace.aborted is None, trace.aborted
    return trace


def slots(trace: Trace) -> list[int | None]:
    return [event.slot for event in trace.of(MeetingResolved)]


def said(trace: Trace, kind: str, sender: int) -> list[dict[str, object]]:
    payloads = [json.loads(post.content) for post in trace.posts if post.sender == sender]
    return [payload for payload in payloads if payload["kind"] == kind]


def vps(trace: Trace) -> Sequence[float | None]:
    return trace.metrics["vps_total"].seats


@pytest.mark.parametrize("name", ADVERSARIES)
def test_it_is_registered_and_known_to_work_against_the_others(name: str):
    assert registry.strategy(name).adversarial


# --- lies -------------------------------------------------------------------------------------------

ONE_FREE_EACH = scenario(["2.1.", "1.3."], [(0, 1)])
CONFLICT = scenario(["1.", ".1"], [(0, 1)])
"""Either seat has to move an errand, at the same cost; the lowest slot wins, and that is seat 0's errand."""


def test_a_liar_says_that_what_would_cost_it_something_is_impossible():
    honest, liar = (run(ONE_FREE_EACH, Imap(), seat) for seat in (Imap(), MisreportingImap()))
    assert said(honest, "costs", 1)[0]["costs"] == [1, 0, 3, 0]
    assert said(liar, "costs", 1)[0]["costs"] == [None, 0, None, 0]


def test_or_that_it_is_more_costly_than_it_is():
    trace = run(ONE_FREE_EACH, Imap(), MisreportingImap(claim="costly", factor=4))
    assert said(trace, "costs", 1)[0]["costs"] == [4, 0, 12, 0]


def test_a_lie_moves_the_cost_onto_the_other():
    honest = run(CONFLICT, Imap(), Imap())
    assert (slots(honest), honest.metrics["burden"].seats) == ([0], (0, 0))
    lied = run(CONFLICT, MisreportingImap(claim="costly"), Imap())
    assert slots(lied) == [1]
    assert [event.cost for event in lied.events if event.type == "batch_applied" and event.cost] == [1]
    assert [event.seat for event in lied.events if event.type == "batch_applied" and event.cost] == [1]


def test_two_liars_find_no_slot():
    assert slots(run(CONFLICT, MisreportingImap(), MisreportingImap())) == [None]


def test_the_batch_of_a_liar_is_true():
    trace = run(scenario(["1#.", "..."], [(0, 1)]), MisreportingImap(claim="costly"), Imap())
    assert slots(trace) == [2]
    crowded = run(scenario(["1.", ".#"], [(0, 1)]), MisreportingImap(claim="costly"), Imap())
    assert slots(crowded) == [0]  # it lied about the cost and gave way all the same


def test_lies_are_noted_and_none_is_about_a_free_slot():
    trace = run(ONE_FREE_EACH, Imap(), MisreportingImap())
    assert [note.data["options"] for note in trace.of(Note) if note.kind == "lies"] == [[0, 2]]


def test_the_share_says_how_many_options_are_lied_about():
    task = scenario(["." * 60 + "#" * 60, "1" * 60 + "." * 60], [(0, 1)])
    trace = run(task, Imap(), MisreportingImap(share=0.5))
    (note,) = [note for note in trace.of(Note) if note.kind == "lies"]
    costs = said(trace, "costs", 1)[0]["costs"]
    assert 15 <= len(note.data["options"]) <= 45
    assert [place for place, cost in enumerate(costs) if cost is None] == note.data["options"]


def test_a_lying_sd_map_seat_says_impossible():
    honest, liar = (run(scenario(["...", "1.."], [(0, 1)]), SdMap(), seat) for seat in (SdMap(), MisreportingSdMap()))
    assert [reply["status"] for reply in said(honest, "reply", 1)] == ["PENDING"]
    assert [reply["status"] for reply in said(liar, "reply", 1)] == ["IMPOSSIBLE", "PENDING"]
    assert (slots(honest), slots(liar)) == ([0], [1])


def test_a_lying_dsm_seat_scores_lower():
    task = scenario(["...", "1.."], [(0, 1)])
    scores = [
        said(run(task, Dsm(L_min=3), seat), "scores", 1)[0]["scores"]
        for seat in (Dsm(), MisreportingDsm(), MisreportingDsm(claim="costly", factor=5))
    ]
    assert scores == [{"0": 10, "1": 11, "2": 11}, {"0": 0, "1": 11, "2": 11}, {"0": 6, "1": 11, "2": 11}]


def test_a_misreported_view_prices_as_it_looks_and_commits_as_it_is():
    state = CalBench().begin(State.of(ONE_FREE_EACH), Round(index=0, participants=(0, 1), speakers=(0, 1)))
    turn = Turn(seat=1, seats=2, round=Round(index=0, participants=(0, 1), speakers=(0, 1)), phase="cheap_talk")
    true = CalBench().observe(state, turn).agreement
    denied, dear = Misreported(true, frozenset({0})), Misreported(true, frozenset({0}), factor=3)
    assert [view.price(0) for view in (true, denied, dear)] == [1, None, 3]
    assert [view.price(2) for view in (true, denied, dear)] == [3, 3, 3]
    assert denied.commit(0) == true.commit(0)
    assert (denied.id, denied.parties, denied.settled) == (true.id, true.parties, true.settled)


# --- questions --------------------------------------------------------------------------------------


def test_a_nosy_imap_seat_asks_everybody_and_honest_seats_do_not_answer():
    task = scenario(["1..", ".2.", "..3"], [(0, 1)])
    trace = run(task, Imap(), NosyImap(), Imap())
    assert {post.to for post in trace.posts if post.sender == 1 and "cost_request" in post.content} == {0, 2}
    assert said(trace, "costs", 0) == said(trace, "costs", 2) == []
    assert vps(trace) == vps(run(task, Imap(), Imap(), Imap()))


def test_a_nosy_imap_initiator_asks_each_seat_once():
    trace = run(scenario(["1..", ".2.", "..3"], [(0, 1)]), NosyImap(), Imap(), Imap())
    assert len(said(trace, "cost_request", 0)) == 2


def test_a_nosy_sd_map_initiator_learns_of_slots_that_it_could_not_take():
    task = scenario(["##..#.", "#....#"], [(0, 1)])
    honest, nosy = run(task, SdMap(), SdMap()), run(task, NosySdMap(), SdMap())
    assert [proposal["option"] for proposal in said(honest, "propose", 0)] == [2]
    assert [proposal["option"] for proposal in said(nosy, "propose", 0)] == [0, 1, 4, 2]
    assert [reply["status"] for reply in said(nosy, "reply", 1)] == ["IMPOSSIBLE", "PENDING", "PENDING", "PENDING"]
    assert slots(honest) == slots(nosy) == [2]
    assert (vps(honest)[1], vps(nosy)[1]) == (0.5, 2.0)


def test_a_nosy_sd_map_seat_that_can_take_everything_is_like_any_other():
    task = scenario(["....", "#..."], [(0, 1)])
    honest, nosy = run(task, SdMap(), SdMap()), run(task, NosySdMap(), SdMap())
    assert [post.content for post in nosy.posts] == [post.content for post in honest.posts]


def test_a_nosy_dsm_initiator_has_every_slot_scored():
    task = scenario(["#..1", "1.#."], [(0, 1)])
    honest, nosy = run(task, DsmPrivate(), DsmPrivate()), run(task, NosyDsm(), DsmPrivate())
    plans = [plan["option"] for plan in said(nosy, "proposals", 0)[0]["plans"]]
    assert sorted(plans) == [0, 1, 2, 3]
    scored = dict(zip(plans, said(nosy, "scores", 1)[0]["scores"].values(), strict=True))
    assert {option: score > 0 for option, score in scored.items()} == {0: True, 1: True, 2: False, 3: True}
    assert slots(nosy) == [1]
    assert vps(nosy)[1] > vps(honest)[1]
