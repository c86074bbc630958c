from __future__ import annotations

import json
from pathlib import Path

import pytest

from framework.pages.steps import (
    BatchStep,
    EffectStep,
    EndStep,
    EventStep,
    InvalidStep,
    MessageStep,
    RoundStep,
    SilenceStep,
    Step,
)
from framework.pages.timeline import read_steps
from framework.trace import BatchRejected, InvalidAction, MessageSent, Moved, Trace, read_trace
from tests.pages.runs import hostile, toy


def trace_of(run: Path, number: int = 0) -> Trace:
    return read_trace(sorted((run / "traces").glob("*.json"))[number])


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    """A game of the toy in which batches are rejected and actions refused."""
    return trace_of(hostile(tmp_path_factory.mktemp("runs")))


@pytest.fixture(scope="module")
def aborted(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    root = tmp_path_factory.mktemp("aborted")
    return trace_of(toy(root / "raising", strategy="tests.core.players:Raising"))


def of(trace: Trace, kind: type[Step]) -> list[Step]:
    return [step for step in read_steps(trace).playthrough.steps if isinstance(step, kind)]


def test_every_message_is_a_step_with_exactly_those_who_could_read_it(played: Trace) -> None:
    steps = [step for step in of(played, MessageStep) if isinstance(step, MessageStep)]
    sent = list(played.of(MessageSent))
    assert [(s.id, s.sender, s.to, s.readers, s.channel, s.content) for s in steps] == [
        (m.id, m.sender, m.to, m.readers, m.channel, m.content) for m in sent
    ]
    assert all(played.events[step.event] == message for step, message in zip(steps, sent, strict=True))


def test_a_rejected_batch_is_one_step_with_its_reason(played: Trace) -> None:
    steps = [step for step in of(played, BatchStep) if isinstance(step, BatchStep) and step.conflict]
    rejected = list(played.of(BatchRejected))
    assert rejected
    assert [(s.seat, s.attempt, s.conflict) for s in steps] == [(r.seat, r.attempt, r.conflict) for r in rejected]


def test_every_move_is_seen_as_messages_a_batch_a_refusal_or_silence(played: Trace) -> None:
    play = read_steps(played).playthrough
    seen = {step.turn for step in play.steps if step.turn is not None}
    assert seen == set(range(len(play.turns)))
    assert len(play.turns) == len(list(played.of(Moved)))


def test_refused_actions_are_steps_of_the_turn_in_which_they_were_made(played: Trace) -> None:
    play = read_steps(played).playthrough
    steps = [step for step in play.steps if isinstance(step, InvalidStep)]
    assert [step.seat for step in steps] == [event.seat for event in played.of(InvalidAction)]
    assert all(step.turn is not None and play.turns[step.turn].seat == step.seat for step in steps)


def test_steps_are_in_the_order_of_the_trace_and_each_knows_its_round(played: Trace) -> None:
    play = read_steps(played).playthrough
    places = [step.event for step in play.steps]
    assert places == sorted(places)
    assert [step.round for step in play.steps if isinstance(step, RoundStep)] == [r.index for r in play.rounds]
    for step in play.steps:
        assert step.round == getattr(played.events[step.event], "round", step.round) or isinstance(step, RoundStep)


def test_long_texts_are_kept_apart_and_found_again_by_event_and_name(played: Trace) -> None:
    read = read_steps(played)
    turn = next(turn for turn in read.playthrough.turns if "prompt" in turn.texts)
    assert read.texts[f"{turn.event}.prompt"].startswith("prompt ")
    assert read.texts[f"{turn.event}.thinking"].startswith("thinking ")
    record = next(record for record in turn.records if record.title.startswith("bite"))
    assert json.loads(read.texts[f"{record.event}.record"])["reply"].startswith("reply ")
    assert "prompt " not in read.playthrough.model_dump_json()
    assert read.texts[f"{read.playthrough.seats[0].event}.system_prompt"].startswith("system ")


def test_what_a_strategy_that_is_not_at_hand_recorded_stays_with_its_seat_and_turn(played: Trace) -> None:
    data = played.model_dump(mode="json")
    register = next(n for n, event in enumerate(data["events"]) if event["type"] == "agent_registered")
    data["events"].insert(register + 1, {"type": "stranger_seated", "seat": 0, "model": "m"})
    turn = next(n for n, event in enumerate(data["events"]) if event["type"] == "turn_end")
    seat = data["events"][turn]["seat"]
    data["events"].insert(turn + 1, {"type": "stranger_called", "seat": seat, "purpose": "move", "reply": "r"})
    play = read_steps(Trace.model_validate(data)).playthrough
    assert [record.title for record in play.seats[0].records] == ["stranger_seated"]
    assert "stranger_called move" in [record.title for record in play.turns[0].records]
    assert not [step for step in play.steps if isinstance(step, EventStep) and step.type.startswith("stranger")]


def test_batches_take_effect_after_they_were_submitted(played: Trace) -> None:
    play = read_steps(played).playthrough
    effects = [step for step in play.steps if isinstance(step, EffectStep)]
    assert effects
    assert all(step.kind == "applied" and step.turn is None for step in effects)


def test_an_event_that_only_its_game_knows_is_a_step_with_its_fields(played: Trace) -> None:
    over = [step for step in of(played, EventStep) if isinstance(step, EventStep) and step.type == "toy_round_over"]
    assert len(over) == len(played.start.scenario["groups"])
    assert set(over[0].data) == {"digits", "agreed"}


def test_an_aborted_game_ends_with_its_failure_and_the_traceback_apart(aborted: Trace) -> None:
    read = read_steps(aborted)
    last = read.playthrough.steps[-1]
    assert isinstance(last, EndStep)
    assert (last.kind, last.boundary) == ("aborted", "strategy")
    assert "no digit is left" in last.error
    assert "Traceback" in read.texts[f"{last.event}.detail"]


def test_a_trace_without_a_single_event_of_play_has_a_page(played: Trace) -> None:
    empty = Trace(game_id="none", started_at=played.started_at, ended_at=played.ended_at)
    assert read_steps(empty).playthrough.steps == ()


def test_a_seat_that_sends_nothing_is_seen_to_be_silent(tmp_path: Path) -> None:
    trace = trace_of(toy(tmp_path / "run"))
    silent = [step for step in of(trace, SilenceStep) if isinstance(step, SilenceStep)]
    quiet = [move for move in trace.of(Moved) if not move.actions]
    assert [step.seat for step in silent] == [move.seat for move in quiet]
