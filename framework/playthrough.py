"""A game as people read it, with nothing in it that differs between two identical playings."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from difflib import ndiff
from typing import Any

from pydantic import JsonValue

from framework.messages import Action
from framework.trace import (
    AgentRegistered,
    BatchApplied,
    BatchRejected,
    BatchRolledBack,
    DecideEnd,
    DecideStart,
    Event,
    GameAborted,
    GameEnd,
    GameStart,
    InvalidAction,
    MessageSent,
    MetricValue,
    Moved,
    PhaseStart,
    RoundStart,
    SeatEvent,
    Trace,
    TurnEnd,
    TurnStart,
)

__all__ = ["playthrough"]

_MOST_CHARS = 160


def playthrough(trace: Trace, *, full: bool = False) -> str:
    """The whole game as text: rounds, who said what to whom, batches, rejections, states before and after.

    It ends with a newline and holds no ids, times or latencies, so that two identical playings give the same
    text.

    Args:
        trace: The game.
        full: Whether to show prompts and reasoning as well, and long values whole.
    """
    script = _Script(trace, full)
    for event in trace.events:
        script.play(event)
    return script.text()


class _Script:
    """Writes the lines of one game."""

    def __init__(self, trace: Trace, full: bool) -> None:
        self._trace = trace
        self._full = full
        self._lines: list[str] = []
        self._silent: list[int] = []
        self._sweep = -1
        self._views: dict[int, str] = {}
        self._writers: dict[type[Event], Callable[[Any], None]] = {
            GameStart: self._game,
            AgentRegistered: self._seat,
            RoundStart: self._round,
            PhaseStart: self._phase,
            TurnStart: self._asked,
            TurnEnd: self._spoke,
            MessageSent: self._message,
            DecideStart: self._asked,
            DecideEnd: self._decided,
            InvalidAction: self._invalid,
            BatchRejected: self._rejected,
            BatchApplied: self._applied,
            BatchRolledBack: self._rolled_back,
            GameAborted: self._aborted,
            GameEnd: self._over,
        }

    def play(self, event: Event) -> None:
        """Write one event."""
        kind = next((base for base in type(event).__mro__ if base in self._writers), None)
        write = self._other if kind is None else self._writers[kind]
        if not isinstance(event, (TurnStart, TurnEnd)):
            self._flush_silent()
        write(event)

    def text(self) -> str:
        """All lines, and the metrics below them."""
        self._flush_silent()
        for seat, view in self._views.items() if self._trace.aborted is None else ():
            if view:
                self._lines += ["", f"seat {seat} at the end"]
                self._add(view)
        if self._trace.final_state:
            self._lines += ["", "final state"]
            for key, value in self._trace.final_state.items():
                self._add(f"{key}: {self._short(value)}")
        if self._trace.metrics:
            width = max(map(len, self._trace.metrics))
            self._lines += ["", "metrics"]
            self._lines += [f"  {k.ljust(width)}  {_metric(v)}".rstrip() for k, v in self._trace.metrics.items()]
        return "\n".join([*self._lines, ""])

    def _add(self, text: str, depth: int = 1) -> None:
        self._lines += [f"{'  ' * depth}{line}".rstrip() for line in text.splitlines()]

    def _short(self, value: JsonValue) -> str:
        said = _value(value)
        if self._full or len(said) <= _MOST_CHARS:
            return said
        return f"{said[:_MOST_CHARS]}..." if isinstance(value, str) else "long; --full shows it"

    # --- the frame ------------------------------------------------------------------------------

    def _game(self, event: GameStart) -> None:
        config = self._trace.config
        task = " ".join(str(config[key]) for key in ("task", "group") if config.get(key))
        self._add(f"{event.game}{f': {task}' if task else ''}", 0)
        self._add(f"seats: {event.seats}")
        self._add(f"rounds: {event.rounds}")
        self._add(f"channels: {', '.join(event.channels) or 'none'}")
        edges = event.topology
        self._add(f"topology: {'complete' if edges is None else ' '.join(f'{a}-{b}' for a, b in edges)}")
        for key, value in event.facts.items():
            self._add(f"{key}: {self._short(value)}")

    def _seat(self, event: AgentRegistered) -> None:
        self._lines.append("")
        self._add(f"seat {event.seat}: {event.strategy}{' (adversarial)' if event.adversarial else ''}", 0)
        if event.params:
            self._add(f"params: {_fields(event.params)}")
        if self._full and event.system_prompt:
            self._add("system prompt")
            self._add(event.system_prompt, 2)
        self._add(event.view)
        self._views[event.seat] = event.view

    def _round(self, event: RoundStart) -> None:
        round = event.round
        label = f": {round.label}" if round.label else ""
        self._lines += ["", f"round {round.index}{label}, speakers {_seats(round.speakers)}"]

    def _phase(self, event: PhaseStart) -> None:
        self._sweep = -1
        self._add(event.phase, 1)

    def _aborted(self, event: GameAborted) -> None:
        self._lines += ["", f"aborted at {event.boundary}: {event.error}"]

    def _over(self, event: GameEnd) -> None:
        self._lines += ["", f"over after {event.rounds} rounds"]

    # --- talk -----------------------------------------------------------------------------------

    def _asked(self, event: TurnStart | DecideStart) -> None:
        if isinstance(event, DecideStart):
            self._views[event.seat] = event.view or self._views.get(event.seat, "")
        elif event.turn != self._sweep:
            self._flush_silent()
            self._sweep = event.turn
            self._add(f"sweep {event.turn}", 2)
        if self._full and event.prompt:
            self._flush_silent()
            self._add(f"seat {event.seat} is told", 3)
            self._add(event.prompt, 4)

    def _spoke(self, event: TurnEnd) -> None:
        if not event.actions:
            self._silent.append(event.seat)
        self._reasoning(event)

    def _reasoning(self, event: Moved) -> None:
        if self._full and event.thinking:
            self._flush_silent()
            self._add(f"seat {event.seat} thinks", 3)
            self._add(event.thinking, 4)

    def _flush_silent(self) -> None:
        if self._silent:
            self._add(f"silent: {_seats(self._silent)}", 3)
            self._silent.clear()

    def _message(self, event: MessageSent) -> None:
        to = f"seat {event.to}" if event.to is not None else "all"
        readers = "" if event.readers == (event.to,) else f", read by {_seats(event.readers) or 'nobody'}"
        head = f"seat {event.sender} -> {to} ({event.channel}{readers}):"
        first, *more = event.content.splitlines() or [""]
        self._add(f"{head} {first}", 3)
        for line in more:
            self._add(line, 5)

    def _invalid(self, event: InvalidAction) -> None:
        self._add(f"seat {event.seat} may not {_action(event.action)}: {event.conflict.message}", 3)

    # --- batches --------------------------------------------------------------------------------

    def _decided(self, event: DecideEnd) -> None:
        attempt = f", attempt {event.attempt + 1}" if event.attempt else ""
        said = "; ".join(map(_action, event.actions)) or "nothing"
        self._add(f"seat {event.seat} submits{attempt}: {said}", 2)
        self._reasoning(event)

    def _rejected(self, event: BatchRejected) -> None:
        self._add(f"seat {event.seat} is refused ({event.conflict.rule}): {event.conflict.message}", 2)

    def _applied(self, event: BatchApplied) -> None:
        cost = f", cost {_value(event.cost)}" if event.cost else ""
        self._add(f"seat {event.seat}: applied{cost}", 2)
        before = self._views.get(event.seat, "").splitlines()
        for line in ndiff(before, event.view.splitlines()) if event.view else ():
            if line[0] in "+-":
                self._add(line, 4)
        self._views[event.seat] = event.view or self._views.get(event.seat, "")

    def _rolled_back(self, event: BatchRolledBack) -> None:
        self._add(f"seat {event.seat}: undone", 2)

    def _other(self, event: Event) -> None:
        """An event of a game or a strategy, by its own fields."""
        data = event.model_dump(mode="json", exclude={"type", "round", "phase", "seat"})
        seat = f"seat {event.seat} " if isinstance(event, SeatEvent) else ""
        self._add(f"{seat}{event.type}: {_fields(data)}", 2 if self._sweep < 0 else 3)


def _seats(seats: Sequence[int]) -> str:
    return " ".join(map(str, seats))


def _action(action: Action) -> str:
    data = action.model_dump(mode="json", exclude={"type"})
    return f"{action.type} {_fields(data)}".rstrip()


def _fields(data: Mapping[str, JsonValue]) -> str:
    return ", ".join(f"{key}={_value(value)}" for key, value in data.items())


def _value(value: JsonValue) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, (list, dict)):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return "none" if value is None else str(value)


def _metric(value: MetricValue) -> str:
    game = "-" if value.game is None else f"{value.game:g}"
    seats = " ".join("-" if seat is None else f"{seat:g}" for seat in value.seats)
    return f"{game}  by seat: {seats}" if seats else game
