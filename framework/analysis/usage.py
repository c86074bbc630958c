"""What models consumed in play and in measurement, and how long a move took."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from framework.analysis.declared import Analysis
from framework.analysis.findings import Field, Findings, Value
from framework.analysis.gather import Seen
from framework.analysis.groups import GROUP_FIELDS, Part, by_strategy
from framework.analysis.samples import Sample
from framework.experiment import Reporting
from framework.reflection import Reflection
from framework.trace import Moved, Trace

__all__ = ["USAGE"]


@dataclass(slots=True)
class Consumed:
    """What one seat consumed in one game.

    Attributes:
        moves: Moves that it made.
        seconds: Time that they took together.
        calls: Calls of a model.
        prompt: Tokens read.
        completion: Tokens written.
        cost: US dollars; None where no price is known.
        aside: Tokens read and written by questions that only measure.
        aside_cost: US dollars for them; None where no price is known.
    """

    moves: int = 0
    seconds: float = 0.0
    calls: int = 0
    prompt: int = 0
    completion: int = 0
    cost: float | None = None
    aside: int = 0
    aside_cost: float | None = None


def consumed(trace: Trace) -> tuple[Consumed, ...]:
    """What each seat consumed."""
    seats = defaultdict[int, Consumed](Consumed)
    for event in trace.of(Moved):
        seat, used = seats[event.seat], event.usage
        seat.moves += 1
        seat.seconds += event.latency
        if used is not None:
            seat.calls += used.calls
            seat.prompt += used.prompt_tokens
            seat.completion += used.completion_tokens
            seat.cost = _sum(seat.cost, used.cost)
    for asked in trace.of(Reflection):
        seat = seats[asked.seat]
        seat.aside += asked.prompt_tokens + asked.completion_tokens
        seat.aside_cost = _sum(seat.aside_cost, asked.cost)
    return tuple(seats[seat] for seat in range(trace.start.seats))


def _sum(one: float | None, two: float | None) -> float | None:
    return one if two is None else (one or 0.0) + two


FIELDS = (
    *GROUP_FIELDS,
    Field("games", "games", "count"),
    Field("seats", "seats", "count"),
    Field("calls", "calls", digits=1),
    Field("prompt_tokens", "read", digits=0),
    Field("completion_tokens", "written", digits=0),
    Field("cost", "USD", digits=4),
    Field("seconds", "s a move"),
    Field("aside_tokens", "measuring", digits=0),
    Field("aside_cost", "USD measuring", digits=4),
    Field("total_cost", "USD in all", digits=4),
)


def _tabulate(games: Sequence[Seen[tuple[Consumed, ...] | None]], reporting: Reporting) -> Findings:
    rows = []
    for group, parts in by_strategy(games).items():
        cells = _cells(parts, reporting)
        if cells is not None:
            rows.append((*group.cells(), *cells))
    note = (
        "A seat and game: calls of models, tokens read and written in play, cost; tokens of measurement are apart. "
        f"Aborted games count. Means with {100 * reporting.confidence:g} % intervals over games."
    )
    return Findings(FIELDS, tuple(rows), note)


_PICKS: tuple[Callable[[Consumed], float | None], ...] = (
    lambda seat: seat.calls,
    lambda seat: seat.prompt,
    lambda seat: seat.completion,
    lambda seat: seat.cost,
    lambda seat: seat.seconds / seat.moves if seat.moves else None,
    lambda seat: seat.aside,
    lambda seat: seat.aside_cost,
)
"""The columns of means, in the order of the fields."""


def _cells(parts: Sequence[Part[tuple[Consumed, ...] | None]], reporting: Reporting) -> tuple[Value, ...] | None:
    seats = [(game.result.game_id, game.facts[seat]) for game, own in parts if game.facts for seat in own]
    if not any(seat.calls or seat.aside for _, seat in seats):
        return None
    columns: list[Value] = []
    for pick in _PICKS:
        sample = Sample()
        for game, seat in seats:
            value = pick(seat)
            sample.add(game, [] if value is None else [float(value)])
        columns.append(sample.mean(reporting))
    costs = [cost for _, seat in seats for cost in (seat.cost, seat.aside_cost) if cost is not None]
    return (len(parts), len(seats), *columns, sum(costs) if costs else None)


USAGE: Analysis[tuple[Consumed, ...] | None] = Analysis(
    name="usage", title="What models consumed", read=consumed, tabulate=_tabulate, aborted=True
)
