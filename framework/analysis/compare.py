"""Two runs of the same tasks, paired by task."""

from __future__ import annotations

import hashlib
import json
import math
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Literal, NamedTuple

from framework.analysis.findings import Field, Findings, Value
from framework.analysis.gather import Seen, gather_runs
from framework.errors import UserError, nearest
from framework.experiment import Reporting
from framework.results import GameResult
from framework.stats import Interval, Paired, benjamini_hochberg, paired_test
from framework.tables import Column, columns_of
from framework.trace import Trace

__all__ = ["WHOLE", "Sides", "compare"]


class Sides(NamedTuple):
    """Whose seats are compared: those of a strategy in each run, or with an empty name the game as a whole."""

    first: str = ""
    second: str = ""


WHOLE = Sides()
"""The games as a whole."""


class _Task(NamedTuple):
    setting: str
    task: str


class _Line(NamedTuple):
    setting: str
    column: Column
    first: float
    second: float
    paired: Paired


def scenario_hash(trace: Trace) -> str:
    """Tells tasks of one name apart that are not the same task."""
    return hashlib.sha256(json.dumps(trace.start.scenario, sort_keys=True).encode()).hexdigest()


def compare(
    first: Path,
    second: Path,
    *,
    sides: Sides = WHOLE,
    metrics: Sequence[str] | None = None,
    test: Literal["t", "wilcoxon"] = "t",
    reporting: Reporting | None = None,
) -> Findings:
    """Second run minus first, metric by metric, over the tasks that both finished.

    A task that was repeated counts once, with the mean of its repeats.

    Args:
        first: A run.
        second: A run of the same tasks.
        sides: Whose seats are compared.
        metrics: The metrics; None takes the headline ones.
        test: Student's paired t, or Wilcoxon's signed ranks.
        reporting: How intervals are made.

    Raises:
        UserError: If a run cannot be read, the runs have no finished task in common or different ones of one
            name, a strategy plays in none of its games, or a metric is unknown.
    """
    reporting = reporting or Reporting()
    gathered = gather_runs([first, second], [scenario_hash])
    if len(gathered.runs) < 2:
        raise UserError(f"{first} and {second} are one run; name two")
    names = [run.name for run in gathered.runs]
    games = [[game for game in gathered.seen(scenario_hash) if game.run == name] for name in names]
    _check_same_tasks(names, games)
    columns = _columns([game.result for run in games for game in run], metrics)
    lines: list[_Line] = []
    values = [_values(run, side, columns) for run, side in zip(games, sides, strict=True)]
    common = [task for task in values[0] if task in values[1]]
    if not common:
        raise UserError(f"{names[0]} and {names[1]} have no finished task in common; compare runs of one suite")
    for setting in dict.fromkeys(task.setting for task in common):
        for column in columns:
            own = [(values[0][t][column.name], values[1][t][column.name]) for t in common if t.setting == setting]
            pairs = [(one, two) for one, two in own if one is not None and two is not None]
            if pairs:
                one, two = zip(*pairs, strict=True)
                paired = paired_test(two, one, test=test, confidence=reporting.confidence)
                lines.append(_Line(setting, column, fmean(one), fmean(two), paired))
    left = [len(run) - len(common) for run in values]
    return _findings(names, sides, lines, left, test, reporting)


def _check_same_tasks(names: Sequence[str], games: Sequence[Sequence[Seen[str | None]]]) -> None:
    hashes = [{game.result.task: game.facts for game in run if game.facts} for run in games]
    for task, found in hashes[0].items():
        if hashes[1].get(task, found) != found:
            raise UserError(
                f"task {task} of {names[0]} is not task {task} of {names[1]}: their suites were generated from "
                "different seeds or settings; compare runs of the same tasks"
            )


def _columns(results: Sequence[GameResult], names: Sequence[str] | None) -> list[Column]:
    known = columns_of(results)
    for name in names or ():
        if name not in [column.name for column in known]:
            hint = nearest(name, [column.name for column in known])
            raise UserError(f"--metrics: {name!r} is not a metric of these runs; {hint}")
    return [column for column in known if (column.headline if names is None else column.name in names)]


def _values(
    games: Sequence[Seen[str | None]], strategy: str, columns: Sequence[Column]
) -> dict[_Task, dict[str, float | None]]:
    """The value of each metric for each task, the mean over its repeats."""
    found: dict[_Task, dict[str, list[float]]] = {}
    played: dict[str, None] = {}
    for game in games:
        result = game.result
        played.update(dict.fromkeys(result.strategies))
        if result.abort or (strategy and strategy not in result.strategies):
            continue
        by_metric = found.setdefault(_Task(result.group, result.task), defaultdict(list))
        for column in columns:
            by_metric[column.name] += _of(result, column, strategy)
    if strategy and strategy not in played:
        raise UserError(f"{games[0].run}: {strategy!r} plays in no game; {nearest(strategy, played)}")
    return {
        task: {column.name: fmean(values) if (values := by_metric[column.name]) else None for column in columns}
        for task, by_metric in found.items()
    }


def _of(result: GameResult, column: Column, strategy: str) -> list[float]:
    """What one game says of a metric: at most one value."""
    value = result.metrics.get(column.name)
    if value is None:
        return []
    seats = [v for seat, v in enumerate(value.seats) if strategy in ("", result.strategies[seat])]
    if column.complete and None in seats:
        return []
    if not (strategy and value.seats):
        return [] if value.game is None or not math.isfinite(value.game) else [value.game]
    own = [v for v in seats if v is not None]
    return [fmean(own)] if own else []


def _findings(
    names: Sequence[str], sides: Sides, lines: Sequence[_Line], left: Sequence[int], test: str, reporting: Reporting
) -> Findings:
    q_values = benjamini_hochberg([line.paired.p for line in lines])
    labels = [f"{side} of {name}" if side not in ("", name) else name for name, side in zip(names, sides, strict=True)]
    fields = (
        Field("setting", "setting", "text", key=True),
        Field("name", "name", "text", aside=True),
        Field("metric", "metric", "text"),
        Field("tasks", "tasks", "count"),
        Field("first", labels[0]),
        Field("second", labels[1]),
        Field("difference", "Difference"),
        Field("p", "p", "p"),
        Field("q", "q", "p"),
        Field("better", "better", "text"),
    )
    rows = tuple(
        (*_cells(line), q, _better(line, q, labels, reporting)) for line, q in zip(lines, q_values, strict=True)
    )
    kind = "Student's paired t" if test == "t" else "Wilcoxon's signed ranks"
    percent = f"{100 * reporting.confidence:g} %"
    note = (
        f"Paired by task: {labels[1]} minus {labels[0]}, with Student's {percent} interval. p by {kind}; q after "
        f"Benjamini and Hochberg over the rows. Named is what is better at q below {1 - reporting.confidence:.2g}."
    )
    if any(left):
        note += f" Finished tasks without a pair: {left[0]} of {names[0]}, {left[1]} of {names[1]}."
    return Findings(fields, rows, note, "compare", f"{labels[1]} against {labels[0]}")


def _cells(line: _Line) -> tuple[Value, ...]:
    column, paired = line.column, line.paired
    scale = 100.0 if column.percent else 1.0
    arrow = {"lower": " ↓", "higher": " ↑", "neither": ""}[column.better]
    return (
        line.setting,
        column.name,
        f"{column.title or column.name}{' %' if column.percent else ''}{arrow}",
        paired.n,
        scale * line.first,
        scale * line.second,
        Interval(scale * paired.difference, *(scale * end for end in _ends(line))),
        paired.p,
    )


def _ends(line: _Line) -> tuple[float, float]:
    """The interval of the difference; that of two shares is within -1..1, whatever Student says."""
    low, high = line.paired.low, line.paired.high
    if not line.column.percent or math.isnan(low):
        return low, high
    return max(-1.0, low), min(1.0, high)


def _better(line: _Line, q: float, labels: Sequence[str], reporting: Reporting) -> str:
    if line.column.better == "neither" or not q < 1 - reporting.confidence or not line.paired.difference:
        return ""
    return labels[(line.paired.difference > 0) == (line.column.better == "higher")]
