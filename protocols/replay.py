"""Plays a game again from its trace: from the recorded replies, or by asking another model the same prompts."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from autogen_core.models import AssistantMessage, LLMMessage, SystemMessage, UserMessage
from pydantic import BaseModel
from pydantic_core import from_json

from framework import (
    Action,
    Conflict,
    Game,
    Limits,
    Observation,
    Referee,
    Seating,
    Strategy,
    Trace,
    Usage,
    read_trace,
    registry,
)
from framework.errors import UserError
from framework.reading import Unreadable, read_reply
from framework.reflection import Reflection
from framework.specs import StrategySpec
from framework.strategy import ModelFailure
from framework.trace import AgentRegistered, DecideEnd, Moved, TraceError
from protocols.brains import Brain, Said
from protocols.events import ModelCall
from protocols.llm import LlmParams, LlmStrategy
from protocols.models import Ask, Completion, Tokens, open_model
from protocols.models.spec import ModelSpec
from protocols.transcript import Exchange, Line, exchanges

__all__ = ["Comparison", "Replayed", "ask_again", "open_trace", "replay"]


class Opened(NamedTuple):
    """A trace with the game that it is of."""

    trace: Trace
    game: Game[Any, Any]


def open_trace(path: Path) -> Opened:
    """Read a trace, and make its game under the rules that it states.

    Raises:
        UserError: If the trace cannot be read, or its game is not known here.
    """
    try:
        data = from_json(path.read_bytes())
        name = str(next(event for event in data["events"] if event["type"] == "game_start")["game"])
    except (OSError, ValueError, KeyError, TypeError, StopIteration) as error:
        raise UserError(f"trace {path}: it cannot be read or has no beginning; name the trace of a game") from error
    kind = registry.game(str((data.get("config") or {}).get("game") or name))
    try:
        trace = read_trace(path)
        rules = trace.config.get("rules")
        return Opened(trace, kind(kind.rules_type.model_validate(rules) if rules else None))
    except (TraceError, ValueError) as error:
        raise UserError(f"trace {path}: {error}") from error


class Replayed(NamedTuple):
    """How a replay came out.

    Attributes:
        trace: The new trace.
        same_end: Whether it ended in the recorded final state.
        same_moves: Whether every seat did the same at every move.
        prompts: How many prompts models were given.
        changed: The prompts that were not as recorded, such as after a change of a template: seat and number.
    """

    trace: Trace
    same_end: bool
    same_moves: bool
    prompts: int
    changed: tuple[tuple[int, int], ...]


@dataclass
class _Tape:
    """What one seat's model answered, in order."""

    seat: int
    calls: list[Exchange]
    reports: list[Reflection]
    heard: int = 0
    changed: list[tuple[int, int]] = field(default_factory=list)


class _Recording(Brain):
    """Answers as recorded."""

    def __init__(self, tape: _Tape, system: str) -> None:
        self._tape, self._system = tape, system
        recorded = next((line.text for call in tape.calls for line in call.sent if line.role == "system"), system)
        if recorded != system:
            tape.changed.append((tape.seat, -1))

    def first(self, prompt: str) -> str:
        """An agent was told the rules with its first prompt."""
        tape, whole = self._tape, f"{self._system}\n\n{prompt}"
        is_first = tape.heard < len(tape.calls) and tape.calls[tape.heard].sent[-1].text == whole
        return whole if is_first else prompt

    async def ask(self, prompt: str) -> Said:
        tape = self._tape
        if tape.heard >= len(tape.calls):
            raise ModelFailure(f"the recording of seat {tape.seat} ends after {tape.heard} replies")
        call, sent = tape.calls[tape.heard]
        if sent[-1].text != self.first(prompt):
            tape.changed.append((tape.seat, tape.heard))
        tape.heard += 1
        usage = Usage(
            prompt_tokens=call.prompt_tokens,
            completion_tokens=call.completion_tokens,
            calls=0 if call.cached else 1,
            cost=call.cost,
        )
        tokens = Tokens(prompt=call.prompt_tokens, completion=call.completion_tokens)
        reply = Completion(
            text=call.reply,
            thought=call.thought,
            finish=call.finish,
            tokens=tokens,
            latency=call.latency,
            tries=call.tries,
            cached=call.cached,
        )
        return Said(call.reply[: call.kept], reply, usage, call.sent)

    async def aside(self, prompt: str, schema: type[BaseModel] | None) -> Said:
        for number, report in enumerate(self._tape.reports):
            if report.prompt == prompt:
                del self._tape.reports[number]
                reply = Completion(text=report.reply, latency=report.latency)
                usage = Usage(
                    prompt_tokens=report.prompt_tokens, completion_tokens=report.completion_tokens, cost=report.cost
                )
                return Said(report.reply, reply, usage)
        raise ModelFailure(f"the recording of seat {self._tape.seat} has no such question")


class _Moves(Strategy[Observation]):
    """Moves as recorded, for a strategy that is not to be had here."""

    def __init__(self, moves: Iterable[Moved] = ()) -> None:
        super().__init__()
        self._moves = deque(moves)

    async def act(self, observation: Observation) -> Sequence[Action]:
        return self._moves.popleft().actions if self._moves else ()

    async def retry(self, observation: Observation, conflict: Conflict) -> Sequence[Action] | None:
        actions = await self.act(observation)
        following = self._moves[0] if self._moves else None
        tries_again = isinstance(following, DecideEnd) and following.attempt > 0
        return actions if actions or tries_again else None  # with None it gave up, which is recorded as no actions


async def replay(opened: Opened) -> Replayed:
    """Play a game again without a model: models answer as recorded, and other strategies play by the same seed.

    Raises:
        UserError: If the scenario does not fit the game any more, or the game was aborted before all were seated.
    """
    trace = opened.trace
    tapes = [_tape(trace, seat) for seat in range(trace.start.seats)]
    again = await _referee(opened, [_seated(trace, tape) for tape in tapes]).play()
    changed = tuple([place for tape in tapes for place in tape.changed])
    moves = [[(e.seat, e.phase, e.actions) for e in played.of(Moved)] for played in (trace, again)]
    same_end = again.final_state == trace.final_state
    return Replayed(again, same_end, moves[0] == moves[1], sum(tape.heard for tape in tapes), changed)


def _referee(opened: Opened, strategies: Sequence[Strategy[Any]]) -> Referee:
    """A referee of the recorded game.

    Raises:
        UserError: If the scenario does not fit the game any more.
    """
    trace, game = opened
    start = trace.start
    try:
        scenario = game.scenario_type.model_validate(start.scenario)
    except ValueError as error:
        raise UserError(f"game {trace.game_id}: its scenario is not one of {game.name} any more ({error})") from error
    limits = trace.config.get("limits")
    return Referee(
        game,
        scenario,
        [Seating(name, strategy) for name, strategy in zip(start.strategies, strategies, strict=True)],
        seed=start.seed,
        game_id=trace.game_id,
        config=trace.config,
        limits=Limits(**limits) if isinstance(limits, dict) else None,  # type: ignore[arg-type]
    )


def _tape(trace: Trace, seat: int) -> _Tape:
    reports = [event for event in trace.of(Reflection) if event.seat == seat]
    return _Tape(seat, list(exchanges(trace, seat)), reports)


def _seated(trace: Trace, tape: _Tape) -> Strategy[Any]:
    registered = _registered(trace, tape.seat)
    spec = StrategySpec.parse(registered.strategy)
    try:
        kind = registry.strategy(spec.name)
        if tape.calls or issubclass(kind, LlmStrategy):
            return _with_tape(kind, registered, tape)
        return kind(kind.params_type.model_validate(registered.params))
    except (UserError, ValueError):
        if tape.calls:
            return _with_tape(LlmStrategy, registered, tape)
        return _Moves(event for event in trace.of(Moved) if event.seat == tape.seat)


def _registered(trace: Trace, seat: int) -> AgentRegistered:
    """What a trace states of who takes a seat.

    Raises:
        UserError: If the game was aborted before it was taken.
    """
    for event in trace.of(AgentRegistered):
        if event.seat == seat:
            return event
    raise UserError(f"game {trace.game_id} was aborted before seat {seat} was taken; name a game that was played")


def _with_tape(kind: type[Any], registered: AgentRegistered, tape: _Tape) -> Strategy[Any]:
    if not issubclass(kind, LlmStrategy):
        kind = LlmStrategy
    return kind(_params(kind, registered), brain=lambda system: _Recording(tape, system))


def _params(kind: type[LlmStrategy], registered: AgentRegistered) -> LlmParams:
    """The recorded parameters, as far as they are still known."""
    fields = kind.params_type.model_fields
    params = kind.params_type.model_validate({key: value for key, value in registered.params.items() if key in fields})
    assert isinstance(params, LlmParams)
    return params


# --- another model --------------------------------------------------------------------------------


class Comparison(NamedTuple):
    """One recorded prompt, put to another model.

    Attributes:
        seat: The seat.
        number: Number of the call in the seat's recording.
        prompt: The last message that was sent.
        recorded: The recorded reply.
        reply: The other model's.
        readable: Whether the other model's reply could be read.
        same: Whether both say the same actions.
        usage: What it consumed.
    """

    seat: int
    number: int
    prompt: str
    recorded: str
    reply: str
    readable: bool
    same: bool
    usage: Usage


async def ask_again(
    opened: Opened, model: str, *, base_url: str = "", told: Callable[[Comparison], None] | None = None
) -> list[Comparison]:
    """Put every recorded prompt, with the recorded conversation before it, to another model.

    It is held to the same shape of reply, and sampled at the same temperature, as the recorded one.

    Args:
        opened: The trace with its game.
        model: The other model, as for `cheaptalk run`.
        base_url: Where an OpenAI-compatible server listens.
        told: Told of every reply as it comes, so that those before a failure are not lost.

    Raises:
        UserError: If the game has no prompts or was aborted before all were seated, or the model cannot be used.
        ModelFailure: If it cannot be asked.
    """
    trace, game = opened
    prompts = game.prompts()
    if prompts is None:
        raise UserError(f"game {game.name} has no prompts, so there is nothing to ask a model")
    asked = open_model(ModelSpec.parse(model, base_url=base_url))
    seats = range(trace.start.seats)
    referee = _referee(opened, [_Moves() for _ in seats])
    found: list[Comparison] = []
    for seat in seats:
        schema = prompts.answer_type(referee.seat_start(seat))
        params = _params(LlmStrategy, _registered(trace, seat))
        thread = f"replay-{trace.game_id}-{seat}"
        try:
            for number, one in enumerate(exchanges(trace, seat)):
                sent = tuple(map(_message, one.sent))
                reply = await asked.complete(Ask(sent, schema, params.temperature, params.max_tokens, thread=thread))
                found.append(_compared(seat, number, one, reply.text, asked.usage(reply), prompts.read))
                if told is not None:
                    told(found[-1])
        finally:
            asked.release(thread)
    return found


def _compared(seat: int, number: int, one: Exchange, reply: str, usage: Usage, read: Any) -> Comparison:
    mine, theirs = _actions(read, reply), _actions(read, one.call.reply)
    return Comparison(
        seat=seat,
        number=number,
        prompt=one.sent[-1].text,
        recorded=one.call.reply,
        reply=reply,
        readable=mine is not None,
        same=mine is not None and mine == theirs,
        usage=usage,
    )


def _message(line: Line) -> LLMMessage:
    if line.role == "system":
        return SystemMessage(content=line.text)
    if line.role == "user":
        return UserMessage(content=line.text, source="referee")
    return AssistantMessage(content=line.text, source="seat")


def _actions(read: Any, text: str) -> list[Action] | None:
    try:
        return list(read_reply(text, read).actions)
    except Unreadable:
        return None


def models_in(trace: Trace) -> int:
    """How many calls of models a trace holds."""
    return sum(1 for _ in trace.of(ModelCall))
