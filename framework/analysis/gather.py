"""Reads the traces of runs once, and keeps what each analysis asks for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from framework import registry
from framework.errors import UserError
from framework.results import GameResult, read_result, result_of
from framework.tables import RunResults, run_names, trace_paths
from framework.trace import GameStart, Trace, TraceError, read_trace

__all__ = ["Gathered", "Seen", "gather_runs"]

FactsT = TypeVar("FactsT")
SeenT_co = TypeVar("SeenT_co", covariant=True)
Reader = Callable[[Trace], FactsT]


@dataclass(frozen=True, slots=True)
class Seen(Generic[SeenT_co]):
    """What was kept of one game.

    Attributes:
        run: Name of its run.
        result: Its row.
        facts: What an analysis read of its trace.
    """

    run: str
    result: GameResult
    facts: SeenT_co


@dataclass(frozen=True)
class Gathered:
    """The games of some runs of one game.

    Attributes:
        game: The game, as the runs' configs name it.
        runs: The rows of each run.
        facts: What each reader returned, by reader, in the order of the games.
    """

    game: str
    runs: Sequence[RunResults]
    facts: dict[Reader[Any], list[Any]]

    def seen(self, read: Reader[FactsT]) -> list[Seen[FactsT]]:
        """The games, with what one of the readers returned of each."""
        games = [(run.name, result) for run in self.runs for result in run.results]
        return [Seen(run, result, facts) for (run, result), facts in zip(games, self.facts[read], strict=True)]


def gather_runs(folders: Sequence[Path], readers: Sequence[Reader[Any]]) -> Gathered:
    """Read the traces of runs.

    Args:
        folders: The runs.
        readers: What is kept of each trace besides its row. A game that could not be finished is handed to
            them too: its trace may end anywhere after the first event, or hold the abort alone, for which the
            facts are None.

    Raises:
        UserError: If a folder holds no traces, one cannot be read, or the runs are of different games.
    """
    names = run_names(folders)
    by_run = {folder: trace_paths(folder) for folder in names}
    game = _game(by_run)
    wanted = list(dict.fromkeys(readers))
    facts: dict[Reader[Any], list[Any]] = {read: [] for read in wanted}
    runs = []
    for folder, paths in by_run.items():
        rows = [_row(_trace(path, folder), wanted) for path in paths]
        rows.sort(key=lambda row: row.result.number)
        for place, read in enumerate(wanted):
            facts[read] += [row.facts[place] for row in rows]
        runs.append(RunResults(names[folder], [row.result for row in rows]))
    return Gathered(game, runs, facts)


class _Row(NamedTuple):
    result: GameResult
    facts: list[Any]


def _row(trace: Trace, readers: Sequence[Reader[Any]]) -> _Row:
    started = bool(trace.events) and isinstance(trace.events[0], GameStart)
    return _Row(result_of(trace), [read(trace) if started else None for read in readers])


def _game(by_run: dict[Path, list[Path]]) -> str:
    """The game of the runs, imported so that its events are known."""
    games = {}
    for folder, paths in by_run.items():
        try:
            games[read_result(paths[0]).game] = folder
        except TraceError as error:
            raise UserError(f"{error}, with: cheaptalk run {folder} --resume") from error
    if len(games) > 1:
        (one, first), (other, second), *_ = games.items()
        raise UserError(f"{first} is of the game {one} and {second} of {other}; name runs of one game")
    (game,) = games
    with suppress(UserError):  # a game that is not installed has rows, and events of unknown types
        registry.game(game)
    return game


def _trace(path: Path, folder: Path) -> Trace:
    try:
        return read_trace(path)
    except TraceError as error:
        raise UserError(f"{error}, with: cheaptalk run {folder} --resume") from error
