"""One small row a game: what tables and manifests need of a trace, so that no trace has to stay in memory."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

from pydantic_core import from_json

from framework.trace import Boundary, GameStart, Moved, Trace, TraceError, Usage

__all__ = ["Abort", "GameResult", "Metrics", "Value", "read_result", "result_of", "total_usage"]


class Value(NamedTuple):
    """A metric of one game: its value for the game, and by seat; as `framework.MetricValue`."""

    game: float | None
    seats: tuple[float | None, ...]


class Metrics(Mapping[str, Value]):
    """A game's metrics by name, in a few bytes: a run keeps those of all its games.

    A value that is not a number reads back as None.
    """

    __slots__ = ("_numbers", "_shape")

    def __init__(self, values: Mapping[str, Value]) -> None:
        self._shape = _shared(tuple((name, len(value.seats)) for name, value in values.items()))
        flat = (number for value in values.values() for number in (value.game, *value.seats))
        self._numbers = array("d", (math.nan if number is None else number for number in flat))

    def __getitem__(self, name: str) -> Value:
        begin = 0
        for known, seats in self._shape:
            if known == name:
                game, *by_seat = (None if math.isnan(n) else n for n in self._numbers[begin : begin + seats + 1])
                return Value(game, tuple(by_seat))
            begin += seats + 1
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self._shape)

    def __len__(self) -> int:
        return len(self._shape)

    def __repr__(self) -> str:
        return f"Metrics({dict(self)!r})"


ValueT = TypeVar("ValueT")


@lru_cache(maxsize=256)
def _shared(value: ValueT) -> ValueT:
    """One object for all games that have equal ones."""
    return value


class Abort(NamedTuple):
    """Why a game was not finished, and whether the run stops with it."""

    boundary: Boundary
    seat: int | None
    error: str
    stop: bool = False


@dataclass(frozen=True, slots=True)
class GameResult:
    """What is kept of a game once its trace is safe.

    Attributes:
        game: The game as the run's config names it, or the game's own name.
        game_id: Unique id of this playing.
        number: Number of the game in its run, from 0.
        task: Id of the scenario.
        group: The setting under which tables list it.
        repeat: 0-based repeat of the task.
        seed: Seed of this playing.
        strategies: The strategy of each seat.
        adversarial: The seats whose strategy works against the others.
        metrics: The game's metrics by name; empty if it was aborted.
        abort: Why it was not finished; None if it was.
        usage: What its models consumed.
        seconds: How long it took.
        invalid: Actions that were not legal, and replies of models that could not be read.
    """

    game: str
    game_id: str
    number: int
    task: str
    group: str
    repeat: int
    seed: int
    strategies: tuple[str, ...]
    adversarial: tuple[int, ...]
    metrics: Metrics
    abort: Abort | None
    usage: Usage
    seconds: float
    invalid: int = 0

    @property
    def seats(self) -> int:
        """Number of seats."""
        return len(self.strategies)


def total_usage(usages: Iterable[Usage | None]) -> Usage:
    """The sum. Its cost is None where no part had a known cost."""
    prompt = completion = calls = 0
    cost: float | None = None
    for usage in usages:
        if usage is None:
            continue
        prompt += usage.prompt_tokens
        completion += usage.completion_tokens
        calls += usage.calls
        if usage.cost is not None:
            cost = usage.cost + (cost or 0.0)
    return Usage(prompt_tokens=prompt, completion_tokens=completion, calls=calls, cost=cost)


def result_of(trace: Trace) -> GameResult:
    """The row of a trace in memory."""
    start = next(trace.of(GameStart), None)
    aborted = trace.aborted
    return _result(
        trace.config,
        game_id=trace.game_id,
        game=start.game if start else "",
        seed=start.seed if start else 0,
        strategies=start.strategies if start else (),
        adversarial=start.adversarial if start else (),
        metrics=Metrics({name: Value(value.game, value.seats) for name, value in trace.metrics.items()}),
        abort=Abort(aborted.boundary, aborted.seat, aborted.error, aborted.stop) if aborted else None,
        usage=total_usage(event.usage for event in trace.of(Moved)),
        seconds=(trace.ended_at - trace.started_at).total_seconds(),
        invalid=sum(_is_invalid(event.type) for event in trace.events),
    )


def read_result(path: Path) -> GameResult:
    """The row of a trace on disk, without building its events.

    Raises:
        TraceError: If the file is missing, torn or not a trace.
    """
    try:
        data = from_json(path.read_bytes())
        return _result_of_json(data)
    except OSError as error:
        raise TraceError(f"trace {path}: cannot be read ({error.strerror}); check the path") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise TraceError(f"trace {path}: it is torn or not a trace ({error}); play the game again") from error


def _result_of_json(data: Any) -> GameResult:
    events = data["events"]
    start: dict[str, Any] = next((event for event in events if event["type"] == "game_start"), {})
    abort = next((event for event in events if event["type"] == "game_aborted"), None)
    began, ended = (datetime.fromisoformat(data[key]) for key in ("started_at", "ended_at"))
    return _result(
        data["config"],
        game_id=data["game_id"],
        game=start.get("game", ""),
        seed=start.get("seed", 0),
        strategies=tuple(start.get("strategies", ())),
        adversarial=tuple(start.get("adversarial", ())),
        metrics=Metrics({name: Value(value["game"], value["seats"]) for name, value in data["metrics"].items()}),
        abort=Abort(abort["boundary"], abort.get("seat"), abort["error"], abort.get("stop", False)) if abort else None,
        usage=total_usage(Usage(**usage) for event in events if (usage := event.get("usage"))),
        seconds=(ended - began).total_seconds(),
        invalid=sum(_is_invalid(event["type"]) for event in events),
    )


def _is_invalid(type: str) -> bool:
    return type.startswith("invalid_")


def _result(
    config: Mapping[str, Any], *, game: str, strategies: tuple[str, ...], usage: Usage, **rest: Any
) -> GameResult:
    seated = config.get("seating")
    return GameResult(
        game=_shared(str(config.get("game", game))),
        number=cast(int, config.get("number", 0)),
        task=str(config.get("task", "")),
        group=_shared(str(config.get("group", ""))),
        repeat=cast(int, config.get("repeat", 0)),
        strategies=_shared(strategies or tuple(seated if isinstance(seated, list) else ())),
        usage=_shared(usage),
        **rest,
    )
