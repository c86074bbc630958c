"""What commands print: results on stdout, everything else on stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framework.runner import Progress, Tally
    from framework.tables import Table

__all__ = ["print_table", "progress_bar", "say"]


def say(text: str) -> None:
    """Tell the person at the keyboard something that is not a result."""
    print(f"cheaptalk: {text}", file=sys.stderr)


def print_table(table: Table, metrics: Sequence[str] | None = None) -> None:
    """Print a table: rich on a terminal, plain aligned text elsewhere."""
    from framework._layout import footer, plain, pretty

    if not sys.stdout.isatty():
        print(plain(table, metrics))
        print(footer(table, metrics))
        return
    from rich.console import Console

    console = Console(highlight=False)
    for part in pretty(table, metrics, console.width):
        console.print(part)
    console.print(footer(table, metrics), style="dim", markup=False)


@contextmanager
def progress_bar(title: str) -> Iterator[Progress | None]:
    """A bar on stderr while games are played; nothing where stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[aborted]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None, aborted="")

        def show(tally: Tally) -> None:
            aborted = f"[red]{tally.aborted} aborted" if tally.aborted else ""
            bar.update(task, completed=tally.done, total=tally.planned, aborted=aborted)

        yield show
