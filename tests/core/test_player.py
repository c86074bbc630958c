"""Whatever a strategy does, the game ends, and the failure is attributed to whom it belongs."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, Literal

import pytest

from framework import Action, Event, Limits, ModelFailure, Observation, SeatEvent, SeatStart, Send, Strategy, Trace
from framework.trace import (
    AgentRegistered,
    BatchApplied,
    GameAborted,
    GameEnd,
    MessageSent,
    Note,
    TurnEnd,
    Usage,
    read_trace,
    write_trace,
)
from tests.core.table import Script, Staged, run, scenario, talk
from tests.core.toy import Pick, Proposer, Toy


class Odd(BaseException):
    """An exception that is not an Exception."""


class Unprintable(Exception):
    """An exception without a readable message."""

    def __str__(self) -> str:
        raise RuntimeError("no")


def failing(failure: Callable[[], Awaitable[Any] | Any]) -> type[Script]:
    """A strategy that does this when it is asked to move."""

    class Failing(Script):
        async def act(self, observation: Observation) -> Sequence[Action]:
            result = failure()
            return await result if inspect.iscoroutine(result) else result

    return Failing


def raising(error: BaseException) -> Callable[[], Any]:
    def fail() -> None:
        raise error

    return fail


async def cancel_oneself() -> Sequence[Action]:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(0)
    return ()


async def cancel_oneself_and_return() -> Sequence[Action]:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    return ()


def generated() -> Iterator[Action]:
    yield Pick(digit=1)


async def aborted(strategy: Strategy[Any], **options: Any) -> GameAborted:
    trace = await run(Toy(), scenario(2, (0, 1)), [Script(), strategy], **options)
    assert isinstance(trace.events[-1], GameAborted)
    return trace.events[-1]


FAILURES = [
    (raising(ValueError("oops")), "strategy", "raised ValueError: oops"),
    (raising(Unprintable()), "strategy", "raised Unprintable: its message cannot be read"),
    (raising(ValueError("torn \ud83d")), "strategy", "raised ValueError: torn ?"),
    (raising(TimeoutError("the server is slow")), "strategy", "raised TimeoutError: the server is slow"),
    (raising(asyncio.CancelledError()), "strategy", "raised CancelledError: "),
    (cancel_oneself, "strategy", "raised CancelledError: "),
    (raising(SystemExit(3)), "strategy", "raised SystemExit: 3"),
    (lambda: sys.exit("bye"), "strategy", "raised SystemExit: bye"),
    (raising(GeneratorExit()), "strategy", "raised GeneratorExit: "),
    (raising(Odd("odd")), "strategy", "raised Odd: odd"),
    (raising(StopAsyncIteration()), "strategy", "raised StopAsyncIteration: "),
    (raising(RecursionError("deep")), "strategy", "raised RecursionError: deep"),
    (raising(ModelFailure("quota is used up")), "model", "quota is used up"),
    (lambda: None, "strategy", "raised TypeError: act returned None; return a sequence of actions, and [] to pass"),
    (lambda: "send", "strategy", "raised TypeError: a move must be a sequence of actions, got str"),
    (lambda: 5, "strategy", "raised TypeError: a move must be a sequence of actions, got int"),
    (lambda: {Pick(digit=1)}, "strategy", "raised TypeError: a move must be a sequence of actions, got set"),
    (generated, "strategy", "raised TypeError: a move must be a sequence of actions, got generator"),
    (lambda: [None], "strategy", "raised TypeError: a move must hold actions only, got NoneType: None"),
    (lambda: [{"type": "send"}], "strategy", "raised TypeError: a move must hold actions only, got dict"),
    (lambda: [Pick], "strategy", "raised TypeError: a move must hold actions only, got ModelMetaclass"),
    (lambda: [Pick.model_construct(digit="x")], "strategy", "raised ValidationError: 1 validation error for Pick"),
    (lambda: [Send.model_construct(channel="dm", content=5, to=0)], "strategy", "raised TypeError: text must be a str"),
]


@pytest.mark.parametrize(("failure", "boundary", "error"), FAILURES)
async def test_a_failing_move_aborts_the_game_at_its_boundary(failure: Any, boundary: str, error: str):
    event = await aborted(failing(failure)())
    assert (event.boundary, event.seat) == (boundary, 1)
    assert event.error.startswith(f"seat 1 (Failing): {error}")
    assert "Traceback" in event.detail


@pytest.mark.parametrize("hook", ["start_game", "start_round", "end_round", "act"])
@pytest.mark.parametrize("plain", [False, True])
async def test_a_hook_that_fails_is_the_strategy_s_also_where_it_is_no_coroutine(hook: str, plain: bool):
    def fail(self: Any, *_: Any) -> Any:
        raise ValueError(hook)

    async def fail_later(self: Any, *_: Any) -> Any:
        raise ValueError(hook)

    strategy = type("Failing", (Script,), {hook: fail if plain else fail_later})()
    event = await aborted(strategy)
    assert (event.boundary, event.seat) == ("strategy", 1)
    assert event.error.startswith(f"seat 1 (Failing): raised ValueError: {hook} (test_player.py line ")


@pytest.mark.parametrize("hook", ["start_game", "start_round", "end_round", "act"])
async def test_a_hook_without_async_is_answered_with_the_word_that_is_missing(hook: str):
    event = await aborted(type("Failing", (Script,), {hook: lambda self, *_: []})())
    assert event.error.startswith(f"seat 1 (Failing): raised TypeError: {hook} is not asynchronous; write: async def")


async def test_a_hook_that_cancels_its_own_task_does_not_cancel_the_game():
    class Failing(Script):
        async def start_game(self, start: SeatStart) -> None:
            await cancel_oneself()

    event = await aborted(Failing())
    assert event.boundary == "strategy"
    assert event.error.startswith("seat 1 (Failing): raised CancelledError: ")


async def test_a_cancellation_that_never_lands_harms_nobody():
    seats = [Script(), failing(cancel_oneself_and_return)()]
    trace = await run(Staged([talk(2)]), scenario(2, (0, 1)), seats)
    assert trace.aborted is None


async def test_a_strategy_without_params_is_told_what_it_forgot():
    class Forgetful(Script):
        def __init__(self) -> None:
            self.seen = []

    event = await aborted(Forgetful())
    assert event.boundary == "strategy"
    assert "it has no params; call super().__init__() in __init__" in event.error


async def test_a_system_prompt_that_cannot_be_read_is_the_strategy_s():
    class Mute(Script):
        @property
        def system_prompt(self) -> str:
            raise OSError("no such prompt")

    assert "no such prompt" in (await aborted(Mute())).error


async def test_a_move_that_takes_too_long_is_stopped():
    stopped = []

    async def hang() -> Sequence[Action]:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.append(True)
        return ()

    event = await aborted(failing(hang)(), limits=Limits(seconds=0.05))
    assert (event.boundary, event.error) == ("strategy", "seat 1 (Failing): did not move within 0.05 s")
    assert stopped == [True]


async def test_a_move_that_ignores_being_stopped_is_given_up():
    release = asyncio.Event()

    async def hang() -> Sequence[Action]:
        while not release.is_set():
            try:
                await asyncio.sleep(5)
            except asyncio.CancelledError:
                release_later.append(True)
                if len(release_later) > 2:
                    raise
        return ()

    release_later: list[bool] = []
    event = await aborted(failing(hang)(), limits=Limits(seconds=0.05))
    assert (event.boundary, event.error) == ("strategy", "seat 1 (Failing): did not stop when its 0.05 s were over")
    release.set()


async def test_a_move_that_is_late_does_not_count_even_where_it_swallows_its_cancellation():
    async def late() -> Sequence[Action]:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(5)
        return [Pick(digit=1)]

    assert "did not move within" in (await aborted(failing(late)(), limits=Limits(seconds=0.05))).error


async def test_a_hook_before_the_first_move_has_a_time_limit_too():
    class Slow(Script):
        async def start_game(self, start: SeatStart) -> None:
            await asyncio.Event().wait()

    event = await aborted(Slow(), limits=Limits(seconds=0.05))
    assert event.error == "seat 1 (Slow): did not move within 0.05 s"


# --- what is written down -----------------------------------------------------------------------


class Colour(SeatEvent):
    """An event of a seat's own."""

    type: Literal["test_colour"] = "test_colour"
    colour: str


async def spoken(move: Callable[[Script, Observation], Sequence[Action]]) -> Trace:
    """A game of talk in which seat 1 makes this move, in each of two sweeps."""

    class Speaking(Script):
        async def act(self, observation: Observation) -> Sequence[Action]:
            return move(self, observation)

    return await run(Staged([talk(2)]), scenario(2, (0, 1)), [Script(), Speaking()])


async def test_what_a_strategy_writes_down_is_in_the_trace_under_its_own_seat():
    def move(self: Script, observation: Observation) -> Sequence[Action]:
        self.record.prompt, self.record.thinking = "what now", "nothing"
        self.record.usage = Usage(prompt_tokens=3, completion_tokens=1, calls=1, cost=0.5)
        self.record.events.append(Colour(colour="red", seat=0))
        self.note(observation, "mood", level=3)
        return ()

    trace = await spoken(move)
    moves = [event for event in trace.of(TurnEnd) if event.seat == 1]
    assert [(event.thinking, event.usage) for event in moves] == [
        ("nothing", Usage(prompt_tokens=3, completion_tokens=1, calls=1, cost=0.5))
    ] * 2
    assert list(trace.of(Colour)) == [Colour(colour="red", seat=1)] * 2
    assert list(trace.of(Note)) == [Note(seat=1, round=0, kind="mood", data={"level": 3})] * 2
    assert not hasattr(next(trace.of(AgentRegistered)), "record")


class Applied(SeatEvent):
    """A seat's own event under the name of one of the game's."""

    type: Literal["batch_applied"] = "batch_applied"
    round: int = 0
    phase: str = "pick"
    actions: tuple[Action, ...] = ()
    cost: float = -100.0
    view: str = ""


class Both(SeatEvent, GameEnd):
    """A seat's own event that is one of the game's as well."""

    type: Literal["test_both"] = "test_both"  # type: ignore[assignment]
    rounds: int = 0


class Changeling(SeatEvent):
    """An event that turns into another one when it is copied."""

    type: Literal["test_changeling"] = "test_changeling"

    def model_copy(self, **_: Any) -> Any:
        return GameEnd(rounds=77)


FORGED = [
    (Applied(), "event 'batch_applied' is BatchApplied, which a seat may not record"),
    (Both(), "event 'test_both' is GameEnd, which a seat may not record"),
    (GameEnd(rounds=1), "record.events must hold events of a seat (SeatEvent) only, got GameEnd"),
    ("batch_applied", "record.events must hold events of a seat (SeatEvent) only, got str"),
]


@pytest.mark.parametrize(("event", "error"), FORGED)
async def test_no_seat_can_write_what_only_the_game_may_write(event: Any, error: str):
    def move(self: Script, observation: Observation) -> Sequence[Action]:
        self.record.events.append(event)
        return ()

    trace = await spoken(move)
    assert trace.aborted is not None
    assert error in trace.aborted.error
    assert not [item for item in trace.events if isinstance(item, (GameEnd, BatchApplied))]


async def test_an_event_is_kept_as_what_it_is_whatever_its_methods_say():
    def move(self: Script, observation: Observation) -> Sequence[Action]:
        self.record.events.append(Changeling(seat=0))
        return ()

    trace = await spoken(move)
    assert [event.seat for event in trace.of(Changeling)] == [1, 1]
    assert len(list(trace.of(GameEnd))) == 1


@pytest.mark.parametrize("field", ["prompt", "thinking", "usage", "events"])
async def test_a_record_of_the_wrong_shape_is_the_strategy_s_failure(field: str):
    def move(self: Script, observation: Observation) -> Sequence[Action]:
        setattr(self.record, field, 5)
        return ()

    trace = await spoken(move)
    assert trace.aborted is not None
    assert (trace.aborted.boundary, trace.aborted.seat) == ("strategy", 1)


async def test_what_was_written_down_before_a_failure_is_kept():
    def move(self: Script, observation: Observation) -> Sequence[Action]:
        self.record.prompt = "the prompt that led to it"
        self.note(observation, "last words")
        raise ValueError("oops")

    trace = await spoken(move)
    assert trace.aborted is not None
    assert [event.kind for event in trace.of(Note)] == ["last words"]
    assert [event.prompt for event in trace.events if event.type == "turn_start"] == ["the prompt that led to it"]


async def test_text_that_utf8_cannot_hold_does_not_cost_the_trace(tmp_path: Any):
    def move(self: Script, observation: Observation) -> Sequence[Action]:
        self.record.prompt = "torn \ud83d"
        self.note(observation, "torn", **{"key": "\udc00", "ke\ud800y": [{"a": "\ud800"}]})
        return [Send(channel="dm", content="torn \ud83d", to=0), Send(channel="\ud800", content="x")]

    trace = await spoken(move)
    write_trace(tmp_path / "t.json", trace)
    back = read_trace(tmp_path / "t.json")
    assert back.comparable() == trace.comparable()
    assert [post.content for post in back.of(MessageSent)] == ["torn ?", "torn ?"]


async def test_numbers_that_json_cannot_hold_are_nothing_in_memory_as_on_disk(tmp_path: Any):
    def move(self: Script, observation: Observation) -> Sequence[Action]:
        self.note(observation, "numbers", a=float("nan"), b=float("inf"), c=1.5)
        return ()

    trace = await spoken(move)
    assert next(trace.of(Note)).data == {"a": None, "b": None, "c": 1.5}
    write_trace(tmp_path / "t.json", trace)
    assert read_trace(tmp_path / "t.json").comparable() == trace.comparable()


async def test_what_cannot_be_written_as_json_is_the_strategy_s_failure():
    deep: Any = []
    for _ in range(3000):
        deep = [deep]

    def move(self: Script, observation: Observation) -> Sequence[Action]:
        self.record.events.append(Note.model_construct(type="note", seat=1, round=0, kind="x", data={"a": deep}))
        return ()

    trace = await spoken(move)
    assert trace.aborted is not None
    assert trace.aborted.boundary == "strategy"


async def test_the_inbox_that_a_move_read_is_in_the_trace():
    def chat(observation: Observation) -> Sequence[Action]:
        return [Send(channel="dm", content="hello", to=1 - observation.seat)]

    trace = await run(Staged([talk(2)]), scenario(2, (0, 1)), [Script(chat), Script(chat)])
    read: list[Event] = [event for event in trace.events if event.type == "turn_start"]
    assert [event.inbox for event in read] == [(), (0,), (1,), (2,)]  # type: ignore[attr-defined]


async def test_a_proposer_agrees():
    trace = await run(Toy(), scenario(3, (0, 1, 2)), [Proposer() for _ in range(3)])
    assert trace.metrics["agreed"].game == 1.0
