"""Play the reference protocols on the canonical suite and print them beside the CalBench paper's table 2."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from games.calbench.published import Comparison

__all__ = ["register", "rendered", "table2", "written"]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("table2")(table2)


def table2(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the runs, continued if it is there.")] = Path(
        "runs/table2"
    ),
    suite: Annotated[str, typer.Option(help="A suite with a uniform and a varied setting.")] = "canonical",
    suite_seed: Annotated[int, typer.Option(min=0, help="Seed of the suite.")] = 0,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the runs.")] = 0,
    jobs: Annotated[int, typer.Option(min=1, help="Processes that play at once.")] = 1,
) -> int:
    """Play the reference protocols and print them beside the paper's table 2."""
    from framework.experiment import Experiment
    from framework.specs import StrategySpec
    from framework.tables import RunResults, summarise
    from games.calbench._playing import Stopped, play_all
    from games.calbench.published import METHODS, compare

    experiments = [
        Experiment(
            game="calbench",
            suite=suite,
            suite_seed=suite_seed,
            seed=seed,
            jobs=jobs,
            strategy=StrategySpec(name=method.strategy),
            rules={} if method.turns is None else {"turns": method.turns},
            out=str(out / method.folder),
        )
        for method in METHODS
    ]
    try:
        outcomes = play_all(experiments)
    except Stopped as stopped:
        return stopped.code
    found: list[Comparison] = []
    for method, outcome in zip(METHODS, outcomes, strict=True):
        found += compare(method, summarise([RunResults(method.label, outcome.results)], outcome.experiment.report))
    aborted = sum(len(outcome.aborted) for outcome in outcomes)
    print(rendered(found))
    print("Means with 95 % intervals over games; below each the paper's number, with * where it lies outside.")
    if aborted:
        print(f"{aborted} games aborted and are in no mean.")
    print(written(out / "table2.csv", found))
    return 1 if aborted else 0


def rendered(found: Sequence[Comparison]) -> str:
    """The comparison as aligned text: a line of ours, and a line of the paper's below it."""
    from games.calbench._playing import aligned
    from games.calbench.published import COLUMNS, by_row

    lines = [["setting", "method", "games", *(column.title for column in COLUMNS)]]
    for (setting, method), cells in by_row(found).items():
        lines.append([setting, method, str(cells[0].games), *map(_ours, cells)])
        lines.append(["", "", "paper", *(_paper(cell) for cell in cells)])
    return aligned(lines)


def _ours(cell: Comparison) -> str:
    if cell.ours is None:
        return "-"
    mean, low, high = (f"{value:.{cell.column.digits}f}" for value in cell.ours)
    return mean if math.isnan(cell.ours.low) else f"{mean} [{low}, {high}]"


def _paper(cell: Comparison) -> str:
    return f"{cell.published:.{cell.column.digits}f}{' *' if cell.outside else ''}"


def written(path: Path, found: Sequence[Comparison]) -> Path:
    """Write the comparison as CSV, one row a number.

    Raises:
        UserError: If the file cannot be written.
    """
    from framework.csvfile import Row, write_rows

    rows: list[Row] = [["setting", "method", "metric", "games", "mean", "low", "high", "paper", "outside"]]
    for cell in found:
        ours = cell.ours or (None, None, None)
        rows.append(
            [cell.setting, cell.method, cell.column.metric, cell.games, *ours, cell.published, int(cell.outside)]
        )
    return write_rows(path, rows)
