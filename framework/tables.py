"""From the games of one or more runs to rows by strategy and setting, with n, mean and interval."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic_core import from_json

from framework import registry
from framework.errors import UserError
from framework.experiment import Reporting
from framework.results import GameResult, read_result
from framework.stats import Interval, bootstrap_mean, wilson
from framework.trace import TraceError

__all__ = [
    "Column",
    "Row",
    "RunResults",
    "Table",
    "columns_of",
    "missing_traces",
    "read_run",
    "read_runs",
    "run_names",
    "summarise",
    "trace_paths",
]


@dataclass(frozen=True, slots=True)
class Column:
    """How a metric is shown; see `framework.Metric`."""

    name: str
    title: str
    better: Literal["lower", "higher", "neither"] = "neither"
    percent: bool = False
    headline: bool = True
    share: bool = False
    complete: bool = False


class RunResults(NamedTuple):
    """The games of one run.

    Attributes:
        name: The run's name, that of its folder.
        results: Its games, aborted ones among them, by number.
    """

    name: str
    results: Sequence[GameResult]


@dataclass(frozen=True, slots=True)
class Row:
    """One strategy in one setting of one run.

    Attributes:
        run: The run.
        group: The setting.
        strategy: The strategy.
        adversarial: Whether it works against the other seats.
        games: Finished games in which it plays.
        seats: Its seats in them.
        aborted: Games in which it plays that could not be finished; they enter no mean.
        cells: The mean of each column, over the seats of the strategy where the metric has values by seat and
            otherwise over games; None where there is no value, or not one of each seat for a metric that has to be
            complete. Intervals are over games: Wilson's for a share
            with one value a game, and a bootstrap otherwise.
    """

    run: str
    group: str
    strategy: str
    adversarial: bool
    games: int
    seats: int
    aborted: int
    cells: tuple[Interval | None, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """The rows, and what was left out of them.

    Attributes:
        columns: The metrics.
        rows: The rows: runs and settings in order of appearance, then strategies by name.
        aborted: Aborted games by boundary.
        games: All games, aborted ones among them.
        confidence: Coverage of the intervals.
    """

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    aborted: Counter[str]
    games: int
    confidence: float


def trace_paths(folder: Path) -> list[Path]:
    """The traces of a run's folder.

    Raises:
        UserError: If it holds none.
    """
    paths = sorted((folder / "traces").glob("[!.]*.json")) if folder.is_dir() else []
    if not paths:
        raise UserError(f"{folder} holds no traces; name the folder of a run, such as {_run_near(folder)}")
    return paths


def _run_near(folder: Path) -> str:
    """A run in a folder that is none; where the folder does not exist, the run beside it with the nearest name."""
    if folder.is_dir():
        runs = sorted(path.parent for path in folder.glob("*/traces"))
    else:
        beside = {path.parent.name: path.parent for path in folder.parent.glob("*/traces")}
        runs = [beside[name] for name in get_close_matches(folder.name, beside, n=1)]
    return str(runs[0]) if runs else "runs/<name>"


def missing_traces(folder: Path) -> str:
    """One sentence, without its full stop, about games that a run's manifest lists and that left no trace.

    It is empty if there are none. What cannot be read of the manifest is passed over.
    """
    try:
        lines = (folder / "manifest.jsonl").read_bytes().splitlines()
    except OSError:
        return ""
    listed = {name for line in lines if isinstance(name := _trace_of(line), str)}
    gone = sorted(name for name in listed if not (folder / name).is_file())
    if not gone:
        return ""
    games = f"{len(gone)} games" if len(gone) > 1 else "a game"
    return (
        f"{folder} lacks the trace of {games} that its manifest lists, such as {gone[0]}; play what is missing, with: "
        f"cheaptalk run {folder} --resume"
    )


def _trace_of(line: bytes) -> object:
    try:
        entry = from_json(line)
    except ValueError:
        return None
    return entry.get("trace") if isinstance(entry, dict) else None


def read_run(folder: Path) -> RunResults:
    """The games of a run's folder, from its traces.

    Raises:
        UserError: If it holds no traces, or one cannot be read.
    """
    try:
        results = sorted((read_result(path) for path in trace_paths(folder)), key=lambda result: result.number)
    except TraceError as error:
        raise UserError(f"{error}, with: cheaptalk run {folder} --resume") from error
    return RunResults(folder.resolve().name, results)


def read_runs(folders: Iterable[Path]) -> list[RunResults]:
    """The games of several runs, each folder once, under names that tell them apart.

    Raises:
        UserError: As `read_run`.
    """
    return [read_run(folder)._replace(name=name) for folder, name in run_names(folders).items()]


def run_names(folders: Iterable[Path]) -> dict[Path, str]:
    """A name for each folder: its own, with as many of its parents' as it takes to tell it from the others."""
    whole: dict[Path, Path] = {}
    for folder in folders:
        whole.setdefault(folder.resolve(), folder)
    found: dict[Path, str] = {}
    for path, folder in whole.items():
        others = [other.parts for other in whole if other != path]
        depth = 1
        while any(other[-depth:] == path.parts[-depth:] for other in others):
            depth += 1
        found[folder] = "/".join(path.parts[-depth:])
    return found


def columns_of(results: Sequence[GameResult]) -> tuple[Column, ...]:
    """The columns of the games that were played; a metric that its game does not declare keeps its name.

    A metric that has no value in any game is in no headline.
    """
    found: dict[str, Column] = {}
    names: dict[str, None] = {}
    games: dict[str, None] = {}
    for result in results:
        games[result.game] = None
        names.update(dict.fromkeys(result.metrics))
    for game in games:
        for column in _declared(game):
            found.setdefault(column.name, column)
    for name in names:
        found.setdefault(name, Column(name, name))
    return tuple(
        replace(column, headline=column.headline and _has_value(column.name, results))
        for column in found.values()
        if column.name in names
    )


def _has_value(metric: str, results: Iterable[GameResult]) -> bool:
    values = (result.metrics[metric] for result in results if metric in result.metrics)
    return any(value.game is not None or any(seat is not None for seat in value.seats) for value in values)


def _declared(game: str) -> tuple[Column, ...]:
    try:
        metrics = registry.game(game).metrics
    except UserError:
        return ()
    return tuple(Column(m.name, m.title, m.better, m.percent, m.headline, m.share, m.complete) for m in metrics)


class _Key(NamedTuple):
    run: str
    group: str
    strategy: str
    adversarial: bool


class _Sample(NamedTuple):
    """The games of a row, with the row's seats in each."""

    result: GameResult
    seats: tuple[int, ...]


def summarise(runs: Sequence[RunResults], reporting: Reporting | None = None) -> Table:
    """The table of one or more runs of one game. Runs are not pooled."""
    reporting = reporting or Reporting()
    results = [result for run in runs for result in run.results]
    columns = columns_of(results)
    samples: dict[_Key, list[_Sample]] = {}
    for run in runs:
        for result in run.results:
            for key, seats in _seats_by_strategy(run.name, result).items():
                samples.setdefault(key, []).append(_Sample(result, seats))
    place = {name: number for number, name in enumerate(dict.fromkeys((k.run, k.group) for k in samples))}
    rows = [
        _row(key, sample, columns, reporting)
        for key, sample in sorted(samples.items(), key=lambda item: (place[item[0][:2]], item[0]))
    ]
    columns = tuple(
        replace(column, headline=column.headline and any(row.cells[place] is not None for row in rows))
        for place, column in enumerate(columns)
    )
    aborted: Counter[str] = Counter(result.abort.boundary for result in results if result.abort)
    return Table(columns, tuple(rows), aborted, len(results), reporting.confidence)


def _seats_by_strategy(run: str, result: GameResult) -> dict[_Key, tuple[int, ...]]:
    found: dict[_Key, tuple[int, ...]] = {}
    for seat, strategy in enumerate(result.strategies):
        key = _Key(run, result.group, strategy, seat in result.adversarial)
        found[key] = (*found.get(key, ()), seat)
    return found


def _row(key: _Key, samples: Sequence[_Sample], columns: Sequence[Column], reporting: Reporting) -> Row:
    finished = [sample for sample in samples if sample.result.abort is None]
    return Row(
        run=key.run,
        group=key.group,
        strategy=key.strategy,
        adversarial=key.adversarial,
        games=len(finished),
        seats=sum(len(sample.seats) for sample in finished),
        aborted=len(samples) - len(finished),
        cells=tuple(_cell(column, finished, reporting) for column in columns),
    )


def _cell(column: Column, samples: Sequence[_Sample], reporting: Reporting) -> Interval | None:
    values: list[float] = []
    games: list[int] = []
    for number, (result, seats) in enumerate(samples):
        value = result.metrics.get(column.name)
        if value is None:
            continue
        found = [value.seats[seat] for seat in seats] if value.seats else [value.game]
        kept = [part for part in found if part is not None and math.isfinite(part)]
        if column.complete and len(kept) < len(found):
            return None
        values += kept
        games += [number] * len(kept)
    if not values:
        return None
    if column.share and len(set(games)) == len(games) and set(values) <= {0.0, 1.0}:
        return wilson(sum(values), len(values), reporting.confidence)
    interval = bootstrap_mean(
        values, games, confidence=reporting.confidence, resamples=reporting.resamples, seed=reporting.seed
    )
    if column.percent and len(set(values)) == 1 and 0 <= values[0] <= 1:
        # Resampling a share that never varied says that it never can; the score interval does not.
        share = wilson(values[0] * len(set(games)), len(set(games)), reporting.confidence)
        return share._replace(mean=interval.mean)
    return interval
