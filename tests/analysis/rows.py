"""Games as rows, and what was kept of them, written by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from framework.analysis import Seen
from framework.results import Abort, GameResult, Metrics, Value
from framework.trace import Usage


def row(
    number: int,
    strategies: Sequence[str] = ("a", "b"),
    metrics: Mapping[str, Sequence[float | None]] | None = None,
    **fields: Any,
) -> GameResult:
    """A finished game with some metrics by seat."""
    found = {
        name: Value(sum(v for v in by_seat if v is not None) / max(1, len(by_seat)), tuple(by_seat))
        for name, by_seat in (metrics or {}).items()
    }
    values: dict[str, Any] = {
        "game": "calbench",
        "game_id": f"id-{number}",
        "number": number,
        "task": f"t{number}",
        "group": "g",
        "repeat": 0,
        "seed": number,
        "strategies": tuple(strategies),
        "adversarial": (),
        "metrics": Metrics(found),
        "abort": None,
        "usage": Usage(),
        "seconds": 0.5,
    }
    return GameResult(**{**values, **fields})


def aborted(number: int, strategies: Sequence[str] = ("a", "b"), seat: int | None = 0, **fields: Any) -> GameResult:
    """A game that was not finished."""
    return row(number, strategies, abort=Abort("model", seat, "no answer"), **fields)


def seen(result: GameResult, facts: Any = None, run: str = "r") -> Seen[Any]:
    """A game of a run, with what was kept of it."""
    return Seen(run, result, facts)
