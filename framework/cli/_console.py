"""What commands print: results on stdout, everything else on stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from textwrap import fill
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framework.analysis import Findings
    from framework.runner import Progress, Tally
    from framework.tables import Table

__all__ = ["print_findings", "print_table", "progress_bar", "said_in", "say"]

_NOTE_WIDTH = 120


def say(text: str) -> None:
    """Tell the person at the keyboard something that is not a result."""
    from framework.printing import printable

    print(f"cheaptalk: {printable(text)}", file=sys.stderr)


def print_table(table: Table, metrics: Sequence[str] | None = None) -> None:
    """Print a table: rich on a terminal, plain aligned text elsewhere."""
    from framework.analysis.headline import footer, headline
    from framework.analysis.text import plain, pretty

    findings, small = headline(table, metrics), footer(table, metrics)
    if not sys.stdout.isatty():
        print(plain(findings, flush=False))
        print(small)
        return
    from rich.console import Console

    console = Console(highlight=False)
    for part in pretty(findings, console.width):
        console.print(part)
    console.print(small, style="dim", markup=False)


def said_in(forms: Mapping[str, bool]) -> str:
    """The one form that was asked for, or an empty string for text.

    Raises:
        UserError: If several were.
    """
    from framework.errors import UserError

    asked = [form for form, wanted in forms.items() if wanted]
    if len(asked) > 1:
        raise UserError(f"--{asked[0]} and --{asked[1]} are given together; keep one of them")
    return asked[0] if asked else ""


def print_findings(tables: Sequence[Findings], form: str = "") -> None:
    """Print tables.

    Args:
        tables: The tables.
        form: `json`, `markdown` or `latex`; empty for text, which is rich on a terminal.
    """
    if form == "json":
        from framework.analysis.formats import as_json

        print(as_json(tables))
    elif form:
        from framework.analysis.formats import as_latex, as_markdown

        print("\n\n".join(map(as_markdown if form == "markdown" else as_latex, tables)))
    else:
        for table in tables:
            _print_text(table)


def _print_text(table: Findings) -> None:
    from framework.analysis.text import plain, pretty

    if not sys.stdout.isatty():
        print(f"\n{table.title}\n{plain(table) if table.rows else 'Nothing to show.'}")
        if table.note:
            print(fill(table.note, _NOTE_WIDTH))
        return
    from rich.console import Console

    console = Console(highlight=False)
    console.print(f"\n{table.title}", style="bold", markup=False)
    for part in pretty(table, console.width) if table.rows else ("Nothing to show.",):
        console.print(part)
    if table.note:
        console.print(table.note, style="dim", markup=False)


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
