"""`cheaptalk report`: the tables of runs, from their traces."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["report"]


def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of runs.")],
    csv: Annotated[Path | None, typer.Option(metavar="DIR", help="Write games, seats and strategies as CSV.")] = None,
    metrics: Annotated[str | None, typer.Option(help="The metrics to show, with commas; `all` for all.")] = None,
) -> None:
    """Print the table of one or more runs; runs are listed side by side and not pooled."""
    from framework.cli._console import print_table
    from framework.csvs import write_csvs
    from framework.errors import UserError, nearest
    from framework.tables import read_run, summarise

    found = [read_run(folder) for folder in dict.fromkeys(runs)]
    table = summarise(found)
    known = [column.name for column in table.columns]
    names = None if metrics is None else known if metrics == "all" else [n.strip() for n in metrics.split(",")]
    for name in names or ():
        if name not in known:
            raise UserError(f"--metrics: {name!r} is not a metric of these runs; {nearest(name, known)}")
    print_table(table, names)
    if csv is not None:
        for path in write_csvs(csv, found, table):
            print(path)
