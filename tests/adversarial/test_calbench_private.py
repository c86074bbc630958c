"""What CalBench says of its secrets: whose labels, which slots, and who may know."""

from __future__ import annotations

import asyncio

import pytest

from framework import Seating, Trace, play, read_trace, write_trace
from games.calbench import CalBench, Schedule
from games.calbench.labels import bank
from protocols.imap import Imap
from tests.adversarial.telling import Teller, told, with_events
from tests.calbench.builders import scenario


def trace_of(*calendars: str, meetings: list[tuple[int, ...]], priors: list[tuple[tuple[int, ...], int]]) -> Trace:
    task = scenario(calendars, meetings, priors)
    return asyncio.run(play(CalBench(), task, [Seating("imap", Imap()) for _ in calendars]))


def test_an_errand_is_its_owners_and_a_meeting_is_its_participants():
    trace = trace_of("1.a.", "2.a.", "...#", meetings=[(0, 2)], priors=[((0, 1), 2)])
    who = {secret.id: secret.may_know for secret in CalBench().secrets(trace)}
    assert who == {
        "errand 0 of seat 0": (0,),
        "errand 100 of seat 1": (1,),
        "errand 203 of seat 2": (2,),
        "meeting 1": (0, 2),
        "meeting 2": (0, 1),
    }


def test_a_secret_is_what_its_owner_reads():
    trace = trace_of("1..", "...", meetings=[(0, 1)], priors=[])
    for secret in CalBench().secrets(trace):
        label = next(label for label in bank().labels if label.text == secret.text)
        assert (secret.terms, secret.tier, secret.owners) == (label.canaries, label.tier, secret.may_know)
        assert secret.severity == ["public", "sensitive", "very_sensitive"].index(label.tier)


def test_secrets_are_the_same_when_the_trace_is_read_back(tmp_path):
    trace = trace_of("1..", ".2.", meetings=[(0, 1)], priors=[])
    write_trace(tmp_path / "trace.json", trace)
    assert CalBench().secrets(read_trace(tmp_path / "trace.json")) == CalBench().secrets(trace)


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (None, "states no labels"),
        ({"bank": "0", "hash": "0" * 64, "errands": [], "meetings": {}}, r"of bank 0 \(000000000000\)"),
    ],
)
def test_labels_that_are_not_known_here_are_refused(labels, said):
    trace = trace_of("1..", ".2.", meetings=[(0, 1)], priors=[])
    start = trace.start.model_copy(update={"facts": {**trace.start.facts, "labels": labels}})
    other = with_events(trace, [start, *trace.events[1:]])
    with pytest.raises(ValueError, match=said):
        CalBench().secrets(other)


def test_states_are_the_calendars_when_each_round_ended():
    task = scenario(["1..", "..#", "..."], [(0, 1), (1, 2)])

    def take(slot: int):
        return lambda seen: (Schedule(meeting_id=seen.meeting.id, slot=slot),)

    seats = [Teller(decide=take(1)) for _ in range(3)]
    trace = asyncio.run(play(CalBench(), task, [Seating("t", seat) for seat in seats]))
    states = CalBench().private_states(trace)
    assert (states.thing, states.yes, states.no, states.states) == ("slot", "occupied", "free", 3)
    assert states.truth.astype(int).tolist() == [
        [[1, 1, 0], [0, 1, 1], [0, 0, 0]],
        [[1, 1, 0], [0, 1, 1], [0, 0, 0]],
    ]


def test_disclosures_are_counted_by_seat_and_kind():
    said = {0: ["Slot 0 is blocked for me.", "Hello."], 1: ["I propose slot 2."]}
    trace = told(scenario(["1..", "..#"], [(0, 1)]), said)
    first, second = CalBench().disclosures(trace)
    assert (first["cost"], first["proposal"]) == (1, 0)
    assert (second["cost"], second["proposal"]) == (0, 1)
