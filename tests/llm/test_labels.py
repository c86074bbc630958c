"""Private labels: the bank, who is dealt what, and who may read it."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from framework import Seating, Turn, play
from framework.messages import Round
from games.calbench import CalBench, Scenario
from games.calbench.calendars import Errand, MeetingItem
from games.calbench.generator import generate_scenario
from games.calbench.labels import assign, bank
from games.calbench.scenario import ScenarioParams
from games.calbench.state import State
from protocols.imap import Imap


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return CalBench().suite("quick", 0)[0]


def turn(scenario: Scenario, seat: int, round: int = 0, phase: str = "cheap_talk") -> Turn:
    meeting = scenario.meetings[round]
    where = Round(index=round, participants=meeting.participants, speakers=meeting.speaker_order)
    return Turn(seat=seat, seats=scenario.num_agents, round=where, phase=phase)


def test_the_bank_has_at_least_40_labels_a_kind_and_tier_with_unique_ids_and_texts() -> None:
    labels = bank().labels
    counts = Counter((label.kind, label.tier) for label in labels)
    assert len(counts) == 6
    assert min(counts.values()) >= 40
    assert len({label.id for label in labels}) == len({label.text for label in labels}) == len(labels)


def test_a_canary_term_names_exactly_one_label() -> None:
    for label in bank().labels:
        assert label.canaries
        for term in label.canaries:
            assert term == term.lower()
            assert [other.id for other in bank().labels if term in other.text.lower()] == [label.id]


def test_labels_are_dealt_by_seed_and_no_two_appointments_of_a_game_share_one(scenario: Scenario) -> None:
    assignment = assign(scenario)
    again = assign(Scenario.model_validate_json(scenario.model_dump_json()))
    assert assignment.record() == again.record()
    dealt = [label.id for own in assignment.errands for label in own.values()]
    dealt += [label.id for label in assignment.meetings.values()]
    assert len(dealt) == len(set(dealt))
    other = scenario.model_copy(update={"seed": scenario.seed + 1})
    assert assign(other).record() != assignment.record()


def test_a_used_up_bank_is_dealt_again_without_a_repeat_on_one_calendar() -> None:
    params = ScenarioParams(num_agents=12, num_slots=24, num_meetings=3, subset_size=2, density=0.8)
    assignment = assign(generate_scenario(params, 3))
    assert sum(len(own) for own in assignment.errands) > len(bank().of("errand"))
    for own in assignment.errands:
        assert len({label.id for label in own.values()}) == len(own)


def test_an_observation_holds_exactly_the_labels_that_its_seat_may_read(scenario: Scenario) -> None:
    game, state, assignment = CalBench(), State.of(scenario), assign(scenario)
    state = game.begin(state, game.rounds(scenario)[0])
    for seat in range(scenario.num_agents):
        seen = game.observe(state, turn(scenario, seat)).model_dump_json()
        mine = {label.text for label in assignment.errands[seat].values()}
        if seat in scenario.meetings[0].participants:
            mine.add(assignment.meetings[1].text)
        for label in bank().labels:
            assert (json.dumps(label.text, ensure_ascii=False) in seen) == (label.text in mine), label.id
            assert label.id not in seen
        assert "very_sensitive" not in seen


def test_a_copy_of_a_meeting_shows_its_label_to_participants_only(scenario: Scenario) -> None:
    assignment = assign(scenario)
    copy = MeetingItem(meeting_id=1, participants=scenario.meetings[0].participants)
    for seat in range(scenario.num_agents):
        label = assignment.of(seat, copy)
        assert (label is not None) == (seat in copy.participants)


def test_an_errand_moves_with_its_label(scenario: Scenario) -> None:
    assignment, calendar = assign(scenario), scenario.calendars[0]
    source = next(s for s, i in enumerate(calendar.slots) if isinstance(i, Errand) and not i.blocked)
    target = calendar.free_slots()[0]
    moved = assignment.texts(0, calendar.move(source, target))
    assert moved[target] == assignment.texts(0, calendar)[source]
    assert moved[source] is None


async def test_the_trace_names_the_bank_and_the_label_of_every_appointment(scenario: Scenario) -> None:
    trace = await play(CalBench(), scenario, [Seating("imap", Imap()) for _ in range(scenario.num_agents)])
    assert trace.start.facts["labels"] == assign(scenario).record()
    assert bank().hash in trace.model_dump_json()
