"""The record of one game, and the file that holds it (CalBench paper, A.6). Its events are in `framework.events`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

from pydantic import JsonValue, ValidationError

from framework.events import (
    AgentRegistered,
    AnyEvent,
    Asked,
    BatchApplied,
    BatchRejected,
    BatchRolledBack,
    Boundary,
    DecideEnd,
    DecideStart,
    Event,
    GameAborted,
    GameEnd,
    GameStart,
    IllegalPublish,
    InvalidAction,
    MessageSent,
    Moved,
    Note,
    PhaseStart,
    RoundStart,
    SeatEvent,
    TurnEnd,
    TurnStart,
    UnknownEvent,
    Usage,
)
from framework.messages import Frozen

__all__ = [
    "AgentRegistered",
    "AnyEvent",
    "Asked",
    "BatchApplied",
    "BatchRejected",
    "BatchRolledBack",
    "Boundary",
    "DecideEnd",
    "DecideStart",
    "Event",
    "GameAborted",
    "GameEnd",
    "GameStart",
    "IllegalPublish",
    "InvalidAction",
    "MessageSent",
    "MetricValue",
    "Moved",
    "Note",
    "PhaseStart",
    "RoundStart",
    "SeatEvent",
    "Trace",
    "TraceError",
    "TurnEnd",
    "TurnStart",
    "UnknownEvent",
    "Usage",
    "read_trace",
    "write_trace",
]


class TraceError(ValueError):
    """A trace file that cannot be read; the message names the file and the remedy."""


class MetricValue(Frozen):
    """A metric of one game.

    Attributes:
        game: The value for the game as a whole; None where it has none.
        seats: The value of each seat; empty where the metric is not per seat, None where a seat has none.
    """

    game: float | None = None
    seats: tuple[float | None, ...] = ()


EventT = TypeVar("EventT", bound=Event)

_VOLATILE = {"latency"}


class Trace(Frozen):
    """The record of one game.

    Attributes:
        game_id: Unique id of this playing.
        config: The complete description of the run that it belongs to, with the task's id.
        events: All that happened, in order.
        final_state: The game's own summary of how it ended.
        metrics: The game's metrics by name.
        started_at: ISO 8601, UTC.
        ended_at: ISO 8601, UTC.
    """

    game_id: str
    config: dict[str, JsonValue] = {}
    events: tuple[AnyEvent, ...] = ()
    final_state: dict[str, JsonValue] = {}
    metrics: dict[str, MetricValue] = {}
    started_at: datetime
    ended_at: datetime

    @cached_property
    def by_type(self) -> dict[type[Event], list[int]]:
        """The places of the events in `events`, by class."""
        found: dict[type[Event], list[int]] = {}
        for place, event in enumerate(self.events):
            found.setdefault(type(event), []).append(place)
        return found

    def of(self, *types: type[EventT]) -> Iterator[EventT]:
        """The events of the given types and of their subclasses, in order."""
        places = [place for kind, found in self.by_type.items() if issubclass(kind, types) for place in found]
        return (self.events[place] for place in sorted(places))  # type: ignore[misc]

    @property
    def start(self) -> GameStart:
        """The first event."""
        for event in self.of(GameStart):
            return event
        raise TraceError(f"game {self.game_id} has no game_start event; its trace is not complete, play it again")

    @property
    def aborted(self) -> GameAborted | None:
        """Why the game was not finished; None if it was."""
        return next(self.of(GameAborted), None)

    @property
    def posts(self) -> tuple[MessageSent, ...]:
        """All delivered messages, in order."""
        return tuple(self.of(MessageSent))

    def __repr__(self) -> str:  # event loops and debuggers format results; a trace is far too long for that
        return f"<Trace {self.game_id or '-'} of {len(self.events)} events>"

    def comparable(self) -> dict[str, Any]:
        """The trace without what differs between two identical playings: times and latencies."""
        return {
            "events": [_without(event.model_dump(mode="json"), _VOLATILE) for event in self.events],
            "final_state": self.final_state,
            "metrics": {name: value.model_dump(mode="json") for name, value in self.metrics.items()},
        }


def _without(data: dict[str, Any], names: set[str]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if key not in names}


def write_trace(path: Path, trace: Trace) -> None:
    """Write a trace whole or not at all: to a temporary name, synced, then renamed.

    Raises:
        OSError: If the disk is full or the folder cannot be written; nothing is left behind.
    """
    temporary = path.with_name(f".{path.name}.{uuid4().hex}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(trace.__pydantic_serializer__.to_json(trace))
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def read_trace(path: Path) -> Trace:
    """Read a trace back.

    Import the game first: events and actions of types that nothing has declared are kept as
    `UnknownEvent` and `UnknownAction`.

    Raises:
        TraceError: If the file is missing, torn or not a trace.
    """
    try:
        return Trace.model_validate_json(path.read_bytes())
    except OSError as error:
        raise TraceError(f"trace {path}: cannot be read ({error.strerror}); check the path") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file as a whole"
        raise TraceError(
            f"trace {path}: {first['msg']} at {where}; it is torn or not a trace, play the game again"
        ) from error
