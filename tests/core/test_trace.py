"""A trace comes back from disk as it was, whole or not at all."""

from __future__ import annotations

import errno
import json
import os
import types
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, JsonValue, SerializeAsAny

import framework.trace
from framework import Action, Event, MetricValue, Round, SeatEvent, Send, Trace, Usage, read_trace, write_trace
from framework.messages import AnyAction
from framework.trace import (
    AgentRegistered,
    Asked,
    GameAborted,
    GameEnd,
    GameStart,
    MessageSent,
    Moved,
    Note,
    TraceError,
    TurnEnd,
    TurnStart,
    UnknownEvent,
)
from tests.core.toy import Pick, Repaint

NOW = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)

# --- any event, from the fields that its class declares -----------------------------------------

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
numbers = st.floats(allow_nan=False, allow_infinity=False)
scalars = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | numbers | text
values: st.SearchStrategy[Any] = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3), max_leaves=6
)
actions = st.one_of(
    st.builds(Send, channel=text, content=text, to=st.none() | st.integers()),
    st.builds(Pick, digit=st.integers()),
    st.builds(Repaint, colour=st.sampled_from(["red", "green"])),
)


def of_annotation(annotation: Any) -> st.SearchStrategy[Any]:
    """Values of a field, by its annotation."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if annotation is JsonValue or annotation is Any:
        return values
    if annotation in (AnyAction, Action, SerializeAsAny[Action]):
        return actions
    if origin is Annotated:
        return of_annotation(arguments[0])
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin in (Union, types.UnionType):
        return st.one_of([of_annotation(argument) for argument in arguments])
    if origin is tuple and arguments[-1] is Ellipsis:
        return st.lists(of_annotation(arguments[0]), max_size=3).map(tuple)
    if origin is tuple:
        return st.tuples(*(of_annotation(argument) for argument in arguments))
    if origin is dict:
        return st.dictionaries(text, of_annotation(arguments[1]), max_size=3)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return of_model(annotation)
    plain = {str: text, int: st.integers(-(2**53), 2**53), float: numbers, bool: st.booleans(), type(None): st.none()}
    return plain[annotation]


def of_model(model: type[BaseModel]) -> st.SearchStrategy[Any]:
    """Instances of a model, by the annotations of its fields."""
    fields = {name: of_annotation(field.annotation) for name, field in model.model_fields.items()}
    return st.fixed_dictionaries(fields).map(lambda drawn: model(**drawn))


EVENTS = [
    cls
    for cls in (getattr(framework.trace, name) for name in framework.trace.__all__)
    if isinstance(cls, type) and issubclass(cls, Event) and get_args(cls.model_fields["type"].annotation)
]


def trace_of(*events: Event, **fields: Any) -> Trace:
    return Trace(**{"game_id": "g", "events": events, "started_at": NOW, "ended_at": NOW, **fields})


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("traces") / "game.json"


def there_and_back(path: Path, trace: Trace) -> Trace:
    write_trace(path, trace)
    return read_trace(path)


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_any_event_comes_back_as_its_own_class_with_all_its_values(path: Path, data: st.DataObject):
    event = data.draw(st.sampled_from(EVENTS).flatmap(of_model))
    (back,) = there_and_back(path, trace_of(event)).events
    assert type(back) is type(event)
    assert back == event


@given(st.text(min_size=1), st.dictionaries(st.sampled_from("abc"), values))
@settings(max_examples=50, deadline=None)
def test_an_event_of_an_unknown_type_is_kept_with_all_its_fields(path: Path, name: str, fields: dict[str, Any]):
    name = f"unheard-of {name.encode('utf-8', 'replace').decode()}"
    document = json.loads(trace_of(GameEnd(rounds=1)).model_dump_json())
    document["events"].insert(0, {**fields, "type": name})
    path.write_text(json.dumps(document))
    trace = read_trace(path)
    unknown = trace.events[0]
    assert isinstance(unknown, UnknownEvent)
    assert unknown.model_dump(mode="json") == {**fields, "type": name}
    assert there_and_back(path, trace) == trace
    assert trace.events[1] == GameEnd(rounds=1)


@given(of_model(MetricValue), st.dictionaries(text, values, max_size=3))
@settings(max_examples=40, deadline=None)
def test_metrics_config_and_final_state_come_back(path: Path, value: MetricValue, facts: dict[str, Any]):
    trace = trace_of(config=facts, final_state=facts, metrics={"m": value})
    assert there_and_back(path, trace) == trace


def test_every_event_has_a_name_of_its_own():
    names = [name for cls in EVENTS for name in get_args(cls.model_fields["type"].annotation)]
    assert len(names) == len(set(names))
    assert {"game_start", "turn_start", "dm_sent", "groupchat_sent", "decide_end", "batch_applied"} <= set(names)


# --- looking into a trace -----------------------------------------------------------------------

START = GameStart(game="toy", seed=1, seats=2, rounds=1, channels=("dm",), strategies=("a", "b"))
SENT = MessageSent(
    id=0, round=0, phase="talk", turn=0, channel="dm", sender=0, to=1, readers=(1,), content="x", chars=1
)


def test_events_are_found_by_class_and_by_what_they_have_in_common_in_order_of_play():
    asked, moved = TurnStart(round=0, phase="talk", turn=0, seat=0), TurnEnd(round=0, phase="talk", turn=0, seat=0)
    trace = trace_of(START, asked, SENT, moved, asked)
    assert list(trace.of(TurnStart)) == [asked, asked]
    assert list(trace.of(Asked, Moved)) == [asked, moved, asked]
    assert list(trace.of(SeatEvent)) == []
    assert (trace.start, trace.posts, trace.aborted) == (START, (SENT,), None)


def test_a_trace_knows_why_its_game_was_aborted():
    abort = GameAborted(boundary="model", seat=1, error="quota")
    assert trace_of(START, abort).aborted == abort


def test_a_trace_without_a_start_says_so():
    with pytest.raises(TraceError, match="game g has no game_start event"):
        _ = trace_of(SENT).start


def test_two_playings_compare_equal_but_for_their_times():
    def playing(latency: float, thinking: str = "") -> Trace:
        end = TurnEnd(round=0, phase="talk", turn=0, seat=0, latency=latency, thinking=thinking, usage=Usage(calls=1))
        return trace_of(START, end, started_at=NOW if latency > 1 else datetime(2025, 1, 1, tzinfo=UTC))

    assert playing(1.0).comparable() == playing(2.0).comparable()
    assert playing(1.0).comparable() != playing(1.0, "else").comparable()


def test_a_scenario_is_a_model_in_memory_and_its_json_on_disk(path: Path):
    round = Round(index=0, participants=(0, 1), speakers=(1, 0), label="r")
    back = there_and_back(path, trace_of(START.model_copy(update={"scenario": round})))
    assert back.start.scenario == round.model_dump(mode="json")


# --- the file -----------------------------------------------------------------------------------


def test_a_write_that_fails_leaves_the_old_trace_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    target = tmp_path / "game.json"
    write_trace(target, trace_of(START))
    before = target.read_bytes()

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_trace(target, trace_of(GameEnd(rounds=1)))
    assert target.read_bytes() == before
    assert list(tmp_path.iterdir()) == [target]


def test_a_trace_that_cannot_be_written_leaves_nothing(tmp_path: Path):
    broken = Note.model_construct(type="note", seat=0, round=0, kind="\ud800", data={})
    with pytest.raises(ValueError, match="utf-8"):
        write_trace(tmp_path / "game.json", trace_of(broken))
    assert list(tmp_path.iterdir()) == []


def test_a_missing_trace_is_said_in_one_sentence(tmp_path: Path):
    with pytest.raises(TraceError, match=r"none\.json: cannot be read \(No such file or directory\); check the path"):
        read_trace(tmp_path / "none.json")


WHOLE = trace_of(START, SENT, Note(seat=0, round=0, kind="k", data={"a": 1}), GameEnd(rounds=1)).model_dump_json()


@given(st.integers(0, len(WHOLE) - 1))
@settings(max_examples=40, deadline=None)
def test_a_torn_trace_is_never_taken_for_a_whole_one(path: Path, length: int):
    path.write_text(WHOLE[:length])
    with pytest.raises(TraceError, match="torn or not a trace, play the game again"):
        read_trace(path)


@pytest.mark.parametrize("content", ["[]", "{}", '{"game_id": 5}', "null"])
def test_a_file_that_is_no_trace_is_refused(tmp_path: Path, content: str):
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(TraceError, match=r"x\.json: .* at .*; it is torn or not a trace"):
        read_trace(tmp_path / "x.json")


def test_an_action_is_kept_in_an_event_with_its_own_fields(path: Path):
    event = TurnEnd(round=0, phase="talk", turn=0, seat=0, actions=(Pick(digit=4), Repaint(colour="green")))
    (back,) = there_and_back(path, trace_of(event)).of(TurnEnd)
    assert back.actions == (Pick(digit=4), Repaint(colour="green"))


def test_params_keep_their_json(path: Path):
    seat = AgentRegistered(seat=0, strategy="s", params={"a": [1, {"b": None}]}, view="v")
    assert there_and_back(path, trace_of(seat)).events == (seat,)
