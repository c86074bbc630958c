"""`cheaptalk compare`: two runs of the same tasks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

__all__ = ["compare"]


def compare(
    first: Annotated[Path, typer.Argument(metavar="RUN_A", help="Folder of a run.")],
    second: Annotated[Path, typer.Argument(metavar="RUN_B", help="Folder of a run of the same tasks.")],
    strategy: Annotated[str, typer.Option(metavar="NAME", help="Compare the seats of this strategy only.")] = "",
    against: Annotated[
        str, typer.Option(metavar="NAME", help="In RUN_B take the seats of this strategy instead.")
    ] = "",
    metrics: Annotated[str | None, typer.Option(help="The metrics, with commas; `all` for all.")] = None,
    test: Annotated[Literal["t", "wilcoxon"], typer.Option(help="The paired test.")] = "t",
    csv: Annotated[Path | None, typer.Option(metavar="DIR", help="Write compare.csv.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    latex: Annotated[bool, typer.Option("--latex", help="Print LaTeX, for booktabs and graphicx.")] = False,
) -> None:
    """Print how RUN_B differs from RUN_A, task by task: difference, interval and q value of each metric."""
    from framework.analysis.compare import Sides
    from framework.analysis.compare import compare as compared
    from framework.analysis.formats import write_csv
    from framework.cli._console import print_findings, said_in
    from framework.tables import columns_of, read_run

    form = said_in({"json": json, "markdown": markdown, "latex": latex})
    names = None if metrics is None else [name.strip() for name in metrics.split(",")]
    if metrics == "all":
        names = [column.name for column in columns_of(read_run(first).results)]
    found = compared(first, second, sides=Sides(strategy, against or strategy), metrics=names, test=test)
    print_findings([found], form)
    if csv is not None:
        typer.echo(write_csv(csv, found), err=bool(form))
