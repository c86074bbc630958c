"""`cheaptalk report`: the tables of runs, from their traces."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from framework.tables import Table

__all__ = ["report"]


def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of runs.")],
    table: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A table to show, such as `headline`; repeatable.")
    ] = None,
    metrics: Annotated[
        str | None, typer.Option(help="Only the headline, with these metrics, with commas; `all` for all.")
    ] = None,
    csv: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write each table, games, seats and strategies as CSV.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the tables as JSON.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the tables as Markdown.")] = False,
    latex: Annotated[
        bool, typer.Option("--latex", help="Print the tables as LaTeX, for booktabs and graphicx.")
    ] = False,
) -> None:
    """Print one table a question about one or more runs of a game; runs are listed side by side and not pooled."""
    from framework.analysis.formats import write_csv
    from framework.analysis.headline import HEADLINE, headline
    from framework.analysis.report import analyses_of, game_of, select, tabulate
    from framework.cli._console import print_findings, print_table, said_in, say
    from framework.csvs import write_csvs
    from framework.experiment import Reporting
    from framework.tables import missing_traces, read_runs, summarise

    form = said_in({"json": json, "markdown": markdown, "latex": latex})
    known = analyses_of(game_of(runs[0]))
    asked = [HEADLINE] if metrics is not None and not table else table or [HEADLINE, *(a.name for a in known)]
    chosen = select(asked, known, also=[HEADLINE])
    reporting = Reporting()
    if chosen:
        gathered, found = tabulate(runs, chosen, reporting)
        rows = gathered.runs
    else:
        rows, found = read_runs(runs), []
    for gone in filter(None, map(missing_traces, dict.fromkeys(runs))):
        say(gone)
    results = summarise(rows, reporting)
    names = _metrics(metrics, results)
    shown = [each for each in found if each.rows or each.name in (table or ())]
    if form:
        first = [headline(results, names)] if HEADLINE in asked else []
        print_findings([*first, *shown], form)
    else:
        if HEADLINE in asked:
            print_table(results, names)
        print_findings(shown, form)
    if csv is not None:
        written = [*write_csvs(csv, rows, results), *(write_csv(csv, each) for each in shown)]
        print("\n".join(map(str, written)), file=sys.stderr if form else sys.stdout)


def _metrics(given: str | None, table: Table) -> Sequence[str] | None:
    from framework.errors import UserError, nearest

    known = [column.name for column in table.columns]
    names = None if given is None else known if given == "all" else [name.strip() for name in given.split(",")]
    for name in names or ():
        if name not in known:
            raise UserError(f"--metrics: {name!r} is not a metric of these runs; {nearest(name, known)}")
    return names
