"""`cheaptalk rate`: ratings of the players of runs, from their traces."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["rate"]


def rate(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of runs, rated in this order.")],
    references: Annotated[bool, typer.Option("--references", help="Rate points of reference as well.")] = False,
    csv: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write ratings.csv, references.csv and history.csv.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    latex: Annotated[bool, typer.Option("--latex", help="Print LaTeX, for booktabs and graphicx.")] = False,
) -> None:
    """Rate the players of one or more runs of a game by their scores, game by game."""
    from framework.analysis.formats import write_csv
    from framework.analysis.rating import history_table, is_reference, reference_table, standings_table
    from framework.analysis.rating import rate as rated
    from framework.cli._console import print_findings, said_in, say
    from framework.tables import read_runs

    form = said_in({"json": json, "markdown": markdown, "latex": latex})
    found = rated(read_runs(runs), competes=lambda player: references or not is_reference(player))
    tables = [standings_table(found), reference_table(found)]
    shown = [table for table in tables if table.rows]
    print_findings(shown, form)
    if not shown:
        say("no game was finished, so nobody is rated")
    for table in [*tables, history_table(found)] if csv is not None else ():
        assert csv is not None
        typer.echo(write_csv(csv, table), err=bool(form))
