"""The tables of a run as CSV files: one row a game, one row a seat, one row a strategy and metric."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from framework.csvfile import Cell, Row, write_rows
from framework.results import GameResult
from framework.tables import Column, RunResults, Table

__all__ = ["write_csvs"]


def write_csvs(folder: Path, runs: Sequence[RunResults], table: Table) -> list[Path]:
    """Write `games.csv`, `seats.csv` and `strategies.csv` into a folder, which is made if there is none.

    Aborted games have rows with their boundary and without metrics. A value that does not exist is empty.

    Raises:
        UserError: If the folder cannot be written.
    """
    return [
        write_rows(folder / "games.csv", _games(runs, table.columns)),
        write_rows(folder / "seats.csv", _seats(runs, table.columns)),
        write_rows(folder / "strategies.csv", _strategies(table)),
    ]


def _place(run: str, result: GameResult) -> list[Cell]:
    return [run, result.game_id, result.number, result.task, result.group, result.repeat, result.seed]


_PLACE: list[Cell] = ["run", "game_id", "number", "task", "group", "repeat", "seed"]


def _games(runs: Sequence[RunResults], columns: Sequence[Column]) -> Iterator[Row]:
    usage: list[Cell] = ["prompt_tokens", "completion_tokens", "model_calls", "cost_usd", "seconds"]
    yield [*_PLACE, "status", "boundary", "error", "strategies", *(c.name for c in columns), *usage]
    for run, results in runs:
        for result in results:
            abort, used = result.abort, result.usage
            values = [result.metrics[c.name].game if c.name in result.metrics else None for c in columns]
            yield [
                *_place(run, result),
                "aborted" if abort else "finished",
                abort.boundary if abort else None,
                abort.error if abort else None,
                ";".join(result.strategies),
                *values,
                *(used.prompt_tokens, used.completion_tokens, used.calls, used.cost, round(result.seconds, 6)),
            ]


def _seats(runs: Sequence[RunResults], columns: Sequence[Column]) -> Iterator[Row]:
    by_seat = [
        column
        for column in columns
        if any(r.metrics[column.name].seats for run in runs for r in run.results if column.name in r.metrics)
    ]
    yield [*_PLACE, "status", "seat", "strategy", "adversarial", *(column.name for column in by_seat)]
    for run, results in runs:
        for result in results:
            for seat, strategy in enumerate(result.strategies):
                values = [result.metrics[c.name].seats if c.name in result.metrics else () for c in by_seat]
                yield [
                    *_place(run, result),
                    "aborted" if result.abort else "finished",
                    seat,
                    strategy,
                    int(seat in result.adversarial),
                    *(found[seat] if found else None for found in values),
                ]


def _strategies(table: Table) -> Iterator[Row]:
    names = ["run", "group", "strategy", "adversarial", "games", "seats", "aborted"]
    yield [*names, "metric", "better", "mean", "low", "high"]
    for row in table.rows:
        place: list[Cell] = [row.run, row.group, row.strategy, int(row.adversarial), row.games, row.seats, row.aborted]
        for column, cell in zip(table.columns, row.cells, strict=True):
            yield [*place, column.name, column.better, *(cell or (None, None, None))]
