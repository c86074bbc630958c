"""Who speaks when, what is carried out, and what is written down of it."""

from __future__ import annotations

import asyncio
import gc
import random
import tracemalloc
from collections.abc import Sequence
from typing import Any

import pytest

from framework import (
    Action,
    Ballot,
    Conflict,
    Event,
    Limits,
    MetricValue,
    Observation,
    Phase,
    Seating,
    Send,
    Settlement,
    Trace,
    play,
)
from framework.game import Metric
from framework.messages import Batch
from framework.testing import NoiseStrategy
from framework.trace import (
    BatchApplied,
    BatchRejected,
    DecideEnd,
    DecideStart,
    GameAborted,
    GameEnd,
    InvalidAction,
    PhaseStart,
    RoundStart,
    TurnEnd,
    TurnStart,
)
from tests.core.table import Script, Staged, order, run, scenario, talk
from tests.core.toy import Pick, Proposer, Repaint, Toy, ToyRoundOver, ToyState


def dm(to: int, content: str = "hello") -> Send:
    return Send(channel="dm", content=content, to=to)


def to_all(content: str = "hello") -> Send:
    return Send(channel="all_agent_groupchat", content=content)


def in_sweep(sweep: int, *sends: Send):
    """Say this in one sweep, and nothing in the others."""
    return lambda observation: sends if observation.turn.sweep == sweep else ()


def silent(seats: int) -> list[Script]:
    return [Script() for _ in range(seats)]


# --- sweeps and activation ----------------------------------------------------------------------


async def test_participants_speak_in_speaker_order_and_then_whom_they_reached_by_seat():
    seats = silent(6)
    seats[3].move = in_sweep(0, dm(5), dm(0))
    trace = await run(Staged([talk()]), scenario(6, (1, 3)), seats)
    assert trace.start.rounds == 1
    assert order(trace) == [(0, 3), (0, 1), (0, 0), (0, 5)]


async def test_a_seat_outside_the_round_speaks_once_for_what_reached_it():
    seats = silent(3)
    seats[1].move = in_sweep(0, dm(2))
    trace = await run(Staged([talk(3)]), scenario(3, (0, 1)), seats)
    assert [sweep for sweep, seat in order(trace) if seat == 2] == [0]


async def test_a_seat_that_is_reached_after_its_place_in_the_sweep_speaks_in_the_next():
    seats = silent(4)
    seats[1].move = in_sweep(0, dm(3))
    seats[3].move = lambda observation: [dm(2)]
    trace = await run(Staged([talk(2)]), scenario(4, (0, 1)), seats)
    assert order(trace) == [(0, 1), (0, 0), (0, 3), (1, 1), (1, 0), (1, 2)]


async def test_a_participant_chat_activates_nobody_and_a_chat_of_all_activates_everyone():
    private, public = silent(4), silent(4)
    private[0].move = in_sweep(0, Send(channel="participant_groupchat", content="hello"))
    public[0].move = in_sweep(0, to_all())
    trace = await run(Staged([talk()]), scenario(4, (0, 2)), private)
    assert order(trace) == [(0, 2), (0, 0)]
    trace = await run(Staged([talk()]), scenario(4, (0, 2)), public)
    assert order(trace) == [(0, 2), (0, 0), (0, 1), (0, 3)]


async def test_where_a_phase_has_no_activation_a_reached_seat_waits_with_its_post_until_it_is_asked():
    seats = silent(3)
    seats[0].move = lambda observation: [dm(2)] if observation.round.index == 0 else []
    trace = await run(Staged([talk(activation=False)]), scenario(3, (0, 1), (1, 2)), seats)
    assert (0, 2) not in order(trace)[:2]
    assert seats[2].read == [(0, "hello")]
    assert seats[2].seen[0].round.index == 1


async def test_activation_ends_with_its_round():
    seats = silent(4)
    seats[1].move = lambda observation: [dm(3)] if observation.round.index == 0 else []
    seats[3].move = lambda observation: [dm(2)]  # too late for the only sweep of round 0
    trace = await run(Staged([talk()]), scenario(4, (0, 1), (0, 1)), seats)
    assert order(trace) == [(0, 1), (0, 0), (0, 3), (0, 1), (0, 0)]


async def test_talk_ends_when_a_whole_sweep_sends_nothing():
    seats = silent(3)
    seats[0].move = lambda observation: [dm(1)] if observation.turn.sweep < 2 else []
    trace = await run(Staged([talk(9, until_quiet=True)]), scenario(3, (0, 1)), seats)
    assert max(sweep for sweep, _ in order(trace)) == 2


async def test_a_refused_message_does_not_keep_talk_alive():
    seats = silent(2)
    seats[0].move = lambda observation: [dm(0)]
    trace = await run(Staged([talk(9, until_quiet=True)]), scenario(2, (0, 1)), seats)
    assert max(sweep for sweep, _ in order(trace)) == 0


async def test_talk_ends_at_the_turn_budget_and_the_seats_know_the_last_sweep():
    seats = silent(2)
    seats[0].move = lambda observation: [dm(1)]
    await run(Staged([talk(3, until_quiet=True)]), scenario(2, (0, 1)), seats)
    assert [seen.turn.last for seen in seats[1].seen] == [False, False, True]


async def test_without_a_quiet_end_every_sweep_of_the_budget_is_played():
    trace = await run(Staged([talk(4)]), scenario(2, (0, 1)), silent(2))
    assert order(trace) == [(sweep, seat) for sweep in range(4) for seat in (1, 0)]


async def test_a_post_is_read_in_its_own_sweep_by_whoever_speaks_after():
    seats = silent(3)
    seats[1].move = in_sweep(0, to_all("second"))
    trace = await run(Staged([talk(2, activation=False)]), scenario(3, (0, 1, 2)), seats)
    inboxes = {(event.turn, event.seat): event.inbox for event in trace.of(TurnStart)}
    assert inboxes == {(0, 2): (), (0, 1): (), (0, 0): (0,), (1, 2): (0,), (1, 1): (), (1, 0): ()}


async def test_posts_are_read_once_and_in_the_order_in_which_they_were_sent():
    seats = silent(3)
    seats[1].move = lambda observation: [dm(0, "a"), to_all("b"), dm(0, "c")] if observation.turn.sweep == 0 else []
    seats[2].move = lambda observation: [Send(channel="participant_groupchat", content=str(observation.turn.sweep))]
    await run(Staged([talk(2)]), scenario(3, (0, 1, 2)), seats)
    assert seats[0].read == [(2, "0"), (1, "a"), (1, "b"), (1, "c"), (2, "1")]


async def test_a_round_begins_and_ends_with_its_own_hooks():
    calls: list[tuple[str, int, int]] = []

    class Noting(Script):
        async def start_round(self, observation: Observation) -> None:
            calls.append(("start", observation.seat, observation.round.index))

        async def end_round(self, observation: Observation) -> None:
            calls.append(("end", observation.seat, observation.round.index))

    await run(Staged([talk(2)]), scenario(2, (0,), (0, 1)), [Noting(), Noting()])
    assert calls == [
        *(("start", 0, 0), ("end", 0, 0), ("end", 1, 0)),
        *(("start", 1, 1), ("start", 0, 1), ("end", 0, 1), ("end", 1, 1)),
    ]


# --- batches ------------------------------------------------------------------------------------


def only_even(state: ToyState, seat: int, batch: Batch) -> Conflict | None:
    odd = [action.digit for action in batch if isinstance(action, Pick) and action.digit % 2]
    return Conflict(rule="even", message=f"Digit {odd[0]} is odd.", data={"digit": odd[0]}) if odd else None


class Book:
    """Keeps every ballot, and applies nothing."""

    def __init__(self) -> None:
        self.ballots: list[Ballot] = []

    def __call__(self, state: ToyState, ballot: Ballot) -> Settlement:
        self.ballots.append(ballot)
        return Settlement(state, ())

    def phase(self, **fields: Any) -> Phase[ToyState]:
        return Phase(name="pick", actions=(Pick, Repaint), validators=(only_even,), settle=self, **fields)


def pick(*digits: int):
    return lambda observation: [Pick(digit=digit) for digit in digits]


async def test_batches_are_collected_from_everyone_before_any_takes_effect():
    book = Book()
    seats = [Script(pick(2)), Script(pick(4, 6)), Script(pick(8))]
    trace = await run(Staged([book.phase()]), scenario(3, (0, 1, 2)), seats)
    (ballot,) = book.ballots
    assert list(ballot.batches.items()) == [
        (2, (Pick(digit=8),)),
        (1, (Pick(digit=4), Pick(digit=6))),
        (0, (Pick(digit=2),)),
    ]
    assert (ballot.failed, ballot.active, ballot.phase) == ((), (), "pick")
    assert [type(event) for event in trace.events[-7:-1]] == [DecideStart, DecideEnd] * 3


async def test_a_rejected_batch_is_tried_anew_with_the_exact_conflict_until_the_retries_are_used():
    book = Book()
    stubborn = Script(pick(1), lambda observation, conflict: [Pick(digit=observation.turn.attempt * 2 + 1)])
    trace = await run(Staged([book.phase(retries=2)]), scenario(2, (0, 1)), [stubborn, Script(pick(2))])
    rejected = list(trace.of(BatchRejected))
    assert [(event.seat, event.attempt, event.actions) for event in rejected] == [
        (0, 0, (Pick(digit=1),)),
        (0, 1, (Pick(digit=3),)),
        (0, 2, (Pick(digit=5),)),
    ]
    assert stubborn.conflicts == [event.conflict for event in rejected[:2]]
    assert stubborn.conflicts[1] == Conflict(rule="even", message="Digit 3 is odd.", data={"digit": 3})
    assert [seen.turn.attempt for seen in stubborn.seen] == [0, 1, 2]
    assert book.ballots[0].failed == (0,)
    assert list(book.ballots[0].batches) == [1]


async def test_a_retry_replaces_the_whole_batch():
    book = Book()
    seat = Script(pick(1, 2, 4), lambda observation, conflict: [Pick(digit=6)])
    await run(Staged([book.phase(retries=1)]), scenario(1, (0,)), [seat])
    assert book.ballots[0].batches == {0: (Pick(digit=6),)}


async def test_a_seat_may_decline_to_retry_and_has_then_submitted_nothing():
    book = Book()
    trace = await run(Staged([book.phase(retries=3)]), scenario(1, (0,)), [Script(pick(1))])
    assert len(list(trace.of(BatchRejected))) == 1
    assert (book.ballots[0].batches, book.ballots[0].failed) == ({}, (0,))


async def test_a_batch_with_one_bad_action_takes_no_effect_at_all():
    paint = [Repaint(colour="green"), Pick(digit=1), Pick(digit=2)]
    trace = await run(Toy(), scenario(1, (0,), (0,)), [Script(lambda observation: paint)])
    assert not list(trace.of(BatchApplied))
    assert [event.view for event in trace.of(DecideStart) if event.attempt == 0] == ["red, cannot pick ()"] * 2
    assert [event.digits for event in trace.of(ToyRoundOver)] == [(None,), (None,)]


async def test_the_last_valid_batch_of_several_sweeps_counts():
    book = Book()
    digits = iter([2, 1, 4])
    trace = await run(Staged([book.phase(sweeps=3)]), scenario(1, (0,)), [Script(lambda o: [Pick(digit=next(digits))])])
    assert trace.aborted is None
    assert (book.ballots[0].batches, book.ballots[0].failed) == ({0: (Pick(digit=4),)}, ())


async def test_an_activated_seat_may_submit_a_batch_where_the_phase_hears_it():
    book = Book()
    seats = [Script(lambda observation: [dm(2), Pick(digit=2)]), Script(pick(4)), Script(pick(6))]
    phase = book.phase(activation=True, channels=("dm",))
    await run(Staged([phase]), scenario(3, (0, 1)), seats)
    assert list(book.ballots[0].batches) == [1, 0, 2]
    assert book.ballots[0].active == (2,)


async def test_a_custom_rule_says_who_acts():
    book = Book()
    phases = [talk(), book.phase(actors=lambda stage: (*stage.active, *stage.round.participants))]
    seats = [Script(lambda o: [dm(2)] if o.phase == "talk" else [Pick(digit=0)]), Script(pick(2)), Script(pick(4))]
    await run(Staged(phases), scenario(3, (0, 1)), seats)
    assert list(book.ballots[0].batches) == [2, 0, 1]


# --- what is not allowed ------------------------------------------------------------------------

REFUSED = [
    (dm(0), "self_message", "Seat 0 cannot send a message to itself."),
    (dm(7), "unknown_seat", "There is no seat 7; the seats are 0 to 2."),
    (dm(-1), "unknown_seat", "There is no seat -1; the seats are 0 to 2."),
    (Send(channel="dm", content="x"), "no_recipient", "A message on dm must name a seat in 'to'."),
    (Send(channel="nowhere", content="x"), "closed_channel", "Channel 'nowhere' is not open in the talk phase."),
    (Pick(digit=1), "wrong_phase", "Action 'toy_pick' is not legal in the talk phase."),
    (dm(1, "x" * 11), "too_long", "A message may have 10 characters; this one has 11."),
]


@pytest.mark.parametrize(("action", "rule", "sentence"), REFUSED)
async def test_an_illegal_action_is_recorded_without_any_effect(action: Action, rule: str, sentence: str):
    seats = silent(3)
    seats[0].move = in_sweep(0, action, dm(1, "legal"))
    trace = await run(Staged([talk()]), scenario(3, (0, 1, 2)), seats, limits=Limits(chars=10))
    (event,) = trace.of(InvalidAction)
    assert (event.seat, event.phase, event.turn) == (0, "talk", 0)
    assert (event.conflict.rule, event.conflict.message) == (rule, sentence)
    assert [(post.id, post.content) for post in trace.posts] == [(0, "legal")]
    assert trace.metrics["messages"] == MetricValue(game=1.0, seats=(1.0, 0.0, 0.0))


async def test_a_channel_that_the_phase_does_not_open_is_closed():
    seats = silent(2)
    seats[0].move = in_sweep(0, to_all())
    trace = await run(Staged([talk(channels=["dm"])]), scenario(2, (0, 1)), seats)
    assert next(trace.of(InvalidAction)).conflict.rule == "closed_channel"
    assert seats[1].read == []


async def test_who_is_not_in_the_round_cannot_use_its_chat():
    seats = silent(3)
    seats[0].move = in_sweep(0, dm(2))
    seats[2].move = lambda observation: [Send(channel="participant_groupchat", content="let me in")]
    trace = await run(Staged([talk()]), scenario(3, (0, 1)), seats)
    assert [event.conflict.rule for event in trace.of(InvalidAction)] == ["not_a_participant"]


async def test_what_a_move_says_beyond_the_limit_is_not_delivered_and_said_once():
    seats = silent(2)
    seats[1].move = in_sweep(0, *(dm(0, str(number)) for number in range(9)))
    trace = await run(Staged([talk()]), scenario(2, (0, 1)), seats, limits=Limits(messages=4))
    assert seats[0].read == [(1, "0"), (1, "1"), (1, "2"), (1, "3")]
    (event,) = trace.of(InvalidAction)
    assert (event.conflict.rule, event.action) == ("too_many_messages", dm(0, "4"))


async def test_a_flood_of_messages_costs_the_trace_no_more_than_the_limit():
    seats = silent(2)
    seats[1].move = in_sweep(0, *(dm(0, "x" * 50) for _ in range(5_000)))
    trace = await run(Staged([talk()]), scenario(2, (0, 1)), seats, limits=Limits(messages=4))
    assert max(len(event.actions) for event in trace.of(TurnEnd)) == 5
    assert len(trace.model_dump_json()) < 10_000


async def test_a_message_of_any_length_costs_the_trace_no_more_than_the_limit():
    seats = silent(2)
    seats[1].move = in_sweep(0, dm(0, "x" * 10**6))
    trace = await run(Staged([talk()]), scenario(2, (0, 1)), seats, limits=Limits(chars=100))
    assert len(trace.model_dump_json()) < 10_000
    assert next(trace.of(InvalidAction)).conflict.data == {"limit": 100, "chars": 10**6}


# --- ends ---------------------------------------------------------------------------------------


async def test_a_trace_is_in_the_order_of_play():
    trace = await run(Toy(), scenario(2, (0, 1)), [Proposer(), Proposer()], game_id="g1", config={"a": 1})
    kinds = [type(event).__name__ for event in trace.events]
    assert kinds[:5] == ["GameStart", "AgentRegistered", "AgentRegistered", "RoundStart", "PhaseStart"]
    assert kinds[-2:] == ["ToyRoundOver", "GameEnd"]
    assert [event.phase for event in trace.of(PhaseStart)] == ["talk", "pick"]
    assert [event.round.index for event in trace.of(RoundStart)] == [0]
    assert (trace.game_id, trace.config) == ("g1", {"a": 1})
    assert trace.started_at <= trace.ended_at


async def test_whoever_watches_sees_every_event_as_it_happens():
    watched: list[Event] = []
    trace = await run(Toy(), scenario(2, (0, 1)), [Proposer(), Proposer()], observer=watched.append)
    assert tuple(watched) == trace.events


async def test_a_game_refuses_another_number_of_strategies_than_it_has_seats():
    with pytest.raises(ValueError, match="toy needs 3 strategies for this scenario, got 2"):
        await run(Toy(), scenario(3, (0, 1)), silent(2))


class Broken(Toy):
    """A game with one part that fails."""

    def __init__(self, part: str) -> None:
        super().__init__()
        vars(self)[part] = self._fail

    @staticmethod
    def _fail(*_: Any) -> Any:
        raise ZeroDivisionError("oh dear")


@pytest.mark.parametrize("part", ["facts", "public_facts", "begin", "observe", "view", "final", "score"])
async def test_a_fault_of_the_game_itself_is_the_harness_and_leaves_a_trace(part: str):
    seats = silent(2)
    trace = await run(Broken(part), scenario(2, (0, 1)), seats)
    assert trace.aborted is not None
    assert (trace.aborted.boundary, trace.aborted.seat) == ("harness", None)
    assert trace.aborted.error == "ZeroDivisionError in the harness or in the rules of toy: oh dear"
    assert "Traceback" in trace.aborted.detail
    assert trace.metrics == {}


async def test_a_metric_that_fails_loses_nothing_that_was_played():
    class Unscored(Toy):
        metrics = (Metric(name="m", title="m", better="lower", compute=lambda trace: 1 / 0),)  # type: ignore[arg-type,return-value]

    trace = await run(Unscored(), scenario(2, (0, 1)), [Proposer(), Proposer()])
    assert len(list(trace.of(ToyRoundOver))) == 1
    assert trace.aborted is not None
    assert "division by zero" in trace.aborted.error


async def test_an_aborted_game_ends_with_the_reason_and_says_goodbye_to_every_seat():
    def fall(observation: Observation) -> Sequence[Action]:
        raise ValueError("I fell")

    seats = [Script(), Script(fall), Script()]
    trace = await run(Toy(), scenario(3, (0, 1, 2), (0, 1)), seats)
    assert isinstance(trace.events[-1], GameAborted)
    assert not list(trace.of(GameEnd))
    assert trace.metrics == {}
    assert all(seat.ended for seat in seats)
    assert [event.seat for event in trace.of(TurnEnd)] == [2, 1]


async def test_what_fails_at_the_goodbye_is_written_down_and_changes_nothing():
    class Rude(Script):
        async def end_game(self) -> None:
            raise ValueError("I stay")

    trace = await run(Toy(), scenario(2, (0, 1)), [Rude(), Script()])
    assert trace.aborted is None
    assert isinstance(trace.events[-1], GameEnd)
    (note,) = [event for event in trace.events if event.type == "note"]
    assert "raised ValueError: I stay" in note.model_dump_json()


async def test_a_cancelled_game_stops_its_seats_and_leaves_nothing_running():
    stopped: list[str] = []

    class Waiting(Script):
        async def act(self, observation: Observation) -> Sequence[Action]:
            try:
                await asyncio.Event().wait()
            finally:
                stopped.append("act")
            return ()

        async def end_game(self) -> None:
            stopped.append("end")

    before = asyncio.all_tasks()
    game = asyncio.create_task(run(Toy(), scenario(2, (0, 1)), [Waiting(), Waiting()]))
    await asyncio.sleep(0.05)
    game.cancel()
    with pytest.raises(asyncio.CancelledError):
        await game
    await asyncio.sleep(0)
    assert sorted(stopped) == ["act", "end", "end"]
    assert asyncio.all_tasks() == before


async def test_randomness_comes_from_the_seed_and_the_seat_only():
    class Drawing(Script):
        async def start_game(self, start: Any) -> None:
            self.drawn = self.rng.random()

    async def draws(seed: int) -> list[float]:
        seats = [Drawing(), Drawing()]
        await run(Toy(), scenario(2, (0, 1)), seats, seed=seed)
        return [seat.drawn for seat in seats]

    assert await draws(1) == await draws(1)
    assert len({*await draws(1), *await draws(2)}) == 4


async def test_games_that_overlap_in_one_event_loop_do_not_mix():
    game = Toy()
    scenarios = [game.make(random.Random(number), f"toy-{number}") for number in range(12)]

    async def one(number: int) -> Trace:
        def chat(observation: Observation) -> Sequence[Action]:
            return [to_all(f"{number}/{observation.seat}")] if observation.phase == "talk" else ()

        return await play(game, scenarios[number], [Seating("s", Script(chat)) for _ in range(4)], seed=number)

    apart = [(await one(number)).comparable() for number in range(12)]
    together = await asyncio.gather(*(one(number) for number in range(12)))
    assert [trace.comparable() for trace in together] == apart
    assert all(post.content.startswith(f"{n}/") for n, trace in enumerate(together) for post in trace.posts)


async def test_memory_stays_flat_over_many_games():
    game = Toy()

    async def play_some(games: int) -> int:
        for number in range(games):
            noise = NoiseStrategy.of(game)
            seats = [Proposer(), Proposer(), noise(), noise()]
            trace = await run(game, game.make(random.Random(number)), seats, seed=number)
            assert trace.aborted is None
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        before = await play_some(30)
        grown = await play_some(200) - before
    finally:
        tracemalloc.stop()
    assert grown < 200_000  # one kept trace in ten would be more
