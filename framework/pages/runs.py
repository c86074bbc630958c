"""The runs that the pages show, read from their folders when they are first needed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue
from pydantic_core import from_json

from framework.errors import UserError
from framework.evidence import Talk
from framework.experiment import Experiment, Reporting, read_experiment
from framework.pages.game_page import Pages, read_game
from framework.pages.ratings import ratings_page
from framework.pages.run_page import (
    Board,
    MessageRows,
    RunPage,
    RunSummary,
    board_of,
    columns_page,
    messages_of,
    rows_of,
)
from framework.results import GameResult, read_result, total_usage
from framework.tables import RunResults, columns_of, missing_traces, summarise
from framework.trace import TraceError

__all__ = ["Run", "boards", "open_runs"]


class _Game(NamedTuple):
    """A trace, when it was written, and its row."""

    path: Path
    written: int
    result: GameResult


def _experiment(config: Path) -> tuple[Experiment | None, str]:
    """A run's experiment, and what is wrong with it: its games can be shown all the same."""
    try:
        return read_experiment(config), ""
    except UserError as error:
        return None, f"{error}."


class Run:
    """A run's folder. What has been read is kept; `refresh` reads what has been written since.

    Args:
        id: Its name in addresses.
        path: The folder.
    """

    def __init__(self, id: str, path: Path) -> None:
        self.id = id
        self.path = path
        self.name = path.resolve().name
        self.notes: tuple[str, ...] = ()
        self._games: dict[Path, _Game] = {}
        self._numbered: dict[int, _Game] = {}
        self._board: Board | None = None
        config = path / "config.yaml"
        self.config = config.read_text(encoding="utf-8") if config.is_file() else ""
        self.experiment, self._misread = _experiment(config) if self.config else (None, "")
        self.refresh()

    def refresh(self) -> None:
        """Read the traces that are new or have changed. A torn one is left out, with a note."""
        paths = sorted((self.path / "traces").glob("[!.]*.json"))
        if not paths:
            raise UserError(f"{self.path} holds no traces; name the folder of a run, such as runs/<name>")
        games: dict[Path, _Game] = {}
        notes: list[str] = []
        for path in paths:
            written = path.stat().st_mtime_ns
            known = self._games.get(path)
            try:
                fresh = known is None or known.written != written
                games[path] = _Game(path, written, read_result(path)) if known is None or fresh else known
            except TraceError as error:
                notes.append(f"{error}.")
        if games != self._games:
            self._games, self._numbered, self._board = games, _numbered(games.values()), None
        if gone := missing_traces(self.path):
            notes.append(f"{gone}.")
        self.notes = (*([self._misread] if self._misread else []), *notes)

    @property
    def numbers(self) -> Sequence[int]:
        """The number of each game in addresses, in order."""
        return tuple(self._numbered)

    @property
    def results(self) -> RunResults:
        """Its games, under its id, which no other run has."""
        return RunResults(self.id, [game.result for game in self._numbered.values()])

    @property
    def game(self) -> str:
        """The game that it plays."""
        if self.experiment is not None:
            return self.experiment.game
        return next((game.result.game for game in self._numbered.values()), "")

    @property
    def reporting(self) -> Reporting:
        """How it sums results up."""
        return self.experiment.report if self.experiment else Reporting()

    def summary(self) -> RunSummary:
        """Its line in the list of runs."""
        results = self.results.results
        used = total_usage(result.usage for result in results)
        experiment = self.experiment
        played = (experiment.suite or Path(experiment.tasks).name or "scenarios") if experiment else ""
        return RunSummary(
            id=self.id,
            name=self.name,
            game=self.game,
            suite=played,
            strategies=tuple(dict.fromkeys(name for result in results for name in result.strategies)),
            games=len(results),
            aborted=sum(result.abort is not None for result in results),
            tokens=used.prompt_tokens + used.completion_tokens,
            cost=used.cost,
            started=self._started(),
        )

    def _started(self) -> str:
        first = next(iter(self._numbered.values()), None)
        return str(from_json(first.path.read_bytes())["started_at"]) if first else ""

    def page(self) -> RunPage:
        """Its page, without the table."""
        results = self.results.results
        return RunPage(
            id=self.id,
            config=self.config,
            columns=columns_page(columns_of(results)),
            games=rows_of(results, self.numbers),
            notes=self.notes,
        )

    def messages(self) -> MessageRows:
        """The messages of all its games.

        Raises:
            TraceError: If a trace cannot be read any more.
        """
        return messages_of((number, Talk.read(game.path)) for number, game in self._numbered.items())

    def board(self) -> Board:
        """Its table with intervals."""
        if self._board is None:
            self._board = board_of(self.game, summarise([self.results], self.reporting))
        return self._board

    def trace(self, number: int) -> Path | None:
        """The trace of a game; None if there is no such game."""
        game = self._numbered.get(number)
        return game.path if game else None

    def game_pages(self, number: int) -> Pages | None:
        """The page of a game and its long texts; None if there is no such game.

        Raises:
            TraceError: If its trace cannot be read.
        """
        path = self.trace(number)
        return read_game(path, self.game, self._rules(), number) if path else None

    def _rules(self) -> Mapping[str, JsonValue]:
        return self.experiment.rules if self.experiment else {}


def _numbered(games: Iterable[_Game]) -> dict[int, _Game]:
    """Games by their number in the run; by their place where the traces do not number them."""
    ordered = sorted(games, key=lambda game: (game.result.number, game.path.name))
    numbers = [game.result.number for game in ordered]
    if len(set(numbers)) < len(numbers):
        numbers = list(range(len(ordered)))
    return dict(zip(numbers, ordered, strict=True))


def open_runs(folders: Sequence[Path]) -> tuple[Run, ...]:
    """The runs of some folders, each with an id of its own.

    Raises:
        UserError: If a folder is not a run's.
    """
    runs: dict[str, Run] = {}
    for folder in dict.fromkeys(path.resolve() for path in folders):
        stem = re.sub(r"[^A-Za-z0-9._-]+", "-", folder.name).strip(".-") or "run"
        id, number = stem, 1
        while id in runs:
            number += 1
            id = f"{stem}-{number}"
        runs[id] = Run(id, folder)
    return tuple(runs.values())


def boards(runs: Sequence[Run]) -> tuple[Board, ...]:
    """One table for each game, over all runs of it. Runs are not pooled."""
    by_game: dict[str, list[Run]] = {}
    for run in runs:
        by_game.setdefault(run.game, []).append(run)
    return tuple(_board(game, members) for game, members in by_game.items())


def _board(game: str, members: Sequence[Run]) -> Board:
    results, reporting = [run.results for run in members], members[0].reporting
    board = members[0].board() if len(members) == 1 else board_of(game, summarise(results, reporting))
    return board.model_copy(update={"ratings": ratings_page(results, reporting)})
