"""How a round of CalBench goes: activation, decisions, resolution, and what stays when it fails."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import pytest

from framework import Action, Observation, Seating, Send, Strategy, Trace, play
from framework.trace import BatchApplied, BatchRejected, BatchRolledBack, InvalidAction, TurnStart
from games.calbench import CalBench, CalBenchRules, CalendarObservation, Reschedule, Scenario, Schedule
from games.calbench.events import ConsistencyViolation, MeetingMoved, MeetingResolved
from tests.calbench.builders import scenario

Move = Callable[[CalendarObservation], Sequence[Action]]


class Scripted(Strategy[CalendarObservation]):
    """Plays one function, and keeps what it saw."""

    def __init__(self, move: Move) -> None:
        super().__init__()
        self.move = move
        self.seen: list[Observation] = []

    async def act(self, observation: CalendarObservation) -> Sequence[Action]:
        self.seen.append(observation)
        return self.move(observation)


def run(task: Scenario, moves: Sequence[Move], rules: CalBenchRules | None = None) -> Trace:
    seating = [Seating(f"scripted-{seat}", Scripted(move)) for seat, move in enumerate(moves)]
    trace = asyncio.run(play(CalBench(rules), task, seating))
    assert trace.aborted is None, trace.aborted
    return trace


def takes(slot: int, *before: Action) -> Move:
    def move(seen: CalendarObservation) -> Sequence[Action]:
        if seen.phase != "decision":
            return ()
        return (*before, Schedule(meeting_id=seen.meeting.id, slot=slot))

    return move


def errand(item: int, source: int, target: int) -> Reschedule:
    return Reschedule(item_id=item, from_slot=source, to_slot=target, justification="it can wait")


def quiet(seen: CalendarObservation) -> Sequence[Action]:
    return ()


def test_a_meeting_is_scheduled_when_all_participants_choose_one_slot() -> None:
    trace = run(scenario(["....", "....", "...."], [(0, 1)]), [takes(2), takes(2), quiet])
    (resolved,) = trace.of(MeetingResolved)
    assert (resolved.scheduled, resolved.slot, resolved.choices) == (True, 2, (2, 2))
    assert trace.metrics["coordination"].seats == (1.0, 1.0, None)


def test_different_slots_leave_the_meeting_unresolved_and_the_moves_standing() -> None:
    moves = [takes(0, errand(0, 0, 3)), takes(1)]
    trace = run(scenario(["1...", "...."], [(0, 1)]), moves)
    (resolved,) = trace.of(MeetingResolved)
    assert (resolved.scheduled, resolved.choices) == (False, (0, 1))
    assert trace.final_state["cost_by_seat"] == [1, 0]
    calendar = trace.final_state["calendars"][0]
    assert [slot and slot.get("errand_id") for slot in calendar] == [None, None, None, 0]
    assert trace.metrics["excess"].seats == (1.0, 0.0)


def test_rollback_undoes_the_others_when_a_decision_fails() -> None:
    task = scenario(["1...", "...."], [(0, 1)])
    trace = run(task, [takes(0, errand(0, 0, 3)), takes(1)], CalBenchRules(on_failed_decision="rollback"))
    assert [event.seat for event in trace.of(BatchRolledBack)] == [0, 1]
    assert trace.final_state["cost_by_seat"] == [0, 0]
    assert trace.final_state["calendars"][0][0]["errand_id"] == 0
    assert not list(trace.of(BatchApplied))


def test_a_seat_that_submits_nothing_fails_the_meeting_but_not_the_others_moves() -> None:
    trace = run(scenario(["1...", "...."], [(0, 1)]), [takes(0, errand(0, 0, 3)), quiet])
    assert [event.conflict.rule for event in trace.of(BatchRejected)] == ["schedule_count"]
    assert [event.seat for event in trace.of(BatchApplied)] == [0]
    assert trace.final_state["unresolved"] == [1]


def test_a_direct_message_activates_a_non_participant_which_may_then_move_its_copy() -> None:
    #        prior meeting 2 of seats 0 and 2 in slot 0; seat 1 has only slot 0 free for meeting 1
    task = scenario(["a..#", ".###", "a.##"], [(0, 1)], [((0, 2), 0)])

    def initiator(seen: CalendarObservation) -> Sequence[Action]:
        if seen.phase == "cheap_talk":
            return (Send(channel="dm", to=2, content="please move"),) if seen.turn.sweep == 0 else ()
        return (errand(2, 0, 1), Schedule(meeting_id=1, slot=0))

    def helper(seen: CalendarObservation) -> Sequence[Action]:
        return (errand(2, 0, 1),) if seen.phase == "voluntary" else ()

    trace = run(task, [initiator, takes(0), helper])
    asked = [(event.turn, event.seat) for event in trace.of(TurnStart)]
    assert asked == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)]
    assert [(event.phase, event.seat) for event in trace.of(BatchApplied)] == [
        ("voluntary", 2),
        ("decision", 0),
        ("decision", 1),
    ]
    (moved,) = trace.of(MeetingMoved)
    assert (moved.meeting_id, moved.from_slot, moved.to_slot) == (2, 0, 1)
    assert trace.final_state["cost_by_seat"] == [1, 0, 1]
    assert trace.metrics["coordination"].game == 1.0
    assert trace.metrics["prior_moved"].seats == (1.0, 0.0, 1.0)


def test_moving_only_ones_own_copy_loses_the_earlier_meeting_for_good() -> None:
    task = scenario(["....", "....", "...."], [(0, 1), (0, 2), (1, 2)])

    def zero(seen: CalendarObservation) -> Sequence[Action]:
        if seen.phase != "decision":
            return ()
        if seen.meeting.id == 1:
            return (Schedule(meeting_id=1, slot=0),)
        return (errand(1, 0, 3), Schedule(meeting_id=2, slot=0))

    def one(seen: CalendarObservation) -> Sequence[Action]:
        return takes(0 if seen.meeting.id == 1 else 2)(seen)

    def two(seen: CalendarObservation) -> Sequence[Action]:
        return takes(0 if seen.meeting.id == 2 else 2)(seen)

    trace = run(task, [zero, one, two])
    (violation,) = trace.of(ConsistencyViolation)
    assert (violation.meeting_id, violation.slots, violation.round) == (1, (3, 0), 1)
    assert trace.final_state["lost"] == [1]
    assert trace.metrics["coordination"].seats == (0.5, 0.5, 1.0)


def test_participant_chat_activates_nobody_and_all_agent_chat_everybody() -> None:
    task = scenario(["....", "....", "...."], [(0, 1)])

    def speaks_on(channel: str) -> Move:
        def move(seen: CalendarObservation) -> Sequence[Action]:
            if seen.phase == "cheap_talk" and seen.turn.sweep == 0 and seen.seat == 0:
                return (Send(channel=channel, content="hello"),)
            return takes(0)(seen)

        return move

    for channel, heard in (("participant_groupchat", set()), ("all_agent_groupchat", {2})):
        trace = run(task, [speaks_on(channel), takes(0), quiet], CalBenchRules(channels=(channel,)))
        assert {event.seat for event in trace.of(TurnStart)} - {0, 1} == heard


def test_cheap_talk_stops_at_the_turn_budget() -> None:
    def chatters(seen: CalendarObservation) -> Sequence[Action]:
        if seen.phase == "cheap_talk":
            return (Send(channel="dm", to=1 - seen.seat, content="and another thing"),)
        return takes(0)(seen)

    trace = run(scenario(["..", ".."], [(0, 1)]), [chatters, chatters], CalBenchRules(turns=3))
    assert len(list(trace.of(TurnStart))) == 2 * 3
    assert len(trace.posts) == 2 * 3


def test_messages_that_cannot_be_sent_are_recorded_and_not_counted() -> None:
    def tries(seen: CalendarObservation) -> Sequence[Action]:
        if seen.phase == "cheap_talk" and seen.turn.sweep == 0:
            return (
                Send(channel="dm", to=seen.seat, content="to myself"),
                Send(channel="dm", to=9, content="to nobody"),
                Send(channel="all_agent_groupchat", content="closed"),
                Schedule(meeting_id=1, slot=0),
            )
        return takes(0)(seen)

    trace = run(scenario(["..", ".."], [(0, 1)]), [tries, takes(0)])
    assert [event.conflict.rule for event in trace.of(InvalidAction)] == [
        "self_message",
        "unknown_seat",
        "closed_channel",
        "wrong_phase",
    ]
    assert trace.posts == ()
    assert trace.metrics["messages"].seats == (0.0, 0.0)


def test_silence_schedules_nothing() -> None:
    trace = run(scenario(["....", "....", "...."], [(0, 1), (0, 2), (1, 2)]), [quiet] * 3)
    assert trace.metrics["coordination"].game == 0.0
    assert trace.metrics["messages"].game == 0.0


def test_an_unknown_channel_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="'telegram' is unknown to calbench"):
        CalBench(CalBenchRules(channels=("telegram",)))
