"""Check the patterns of the disclosure audit by hand: a sheet of messages to fill in, and its precision and recall."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["app"]

app = typer.Typer(help=__doc__, no_args_is_help=True, add_completion=False)


@app.command()
def sheet(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of runs with messages in prose.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The sheet, as CSV.")],
    each: Annotated[int, typer.Option(min=1, help="Messages with, and without, each label.")] = 15,
    setting: Annotated[str, typer.Option(help="Only games of this setting, such as varied.")] = "",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draw.")] = 0,
) -> None:
    """Draw messages for each label, half of which the patterns found, in an order that does not tell which."""
    from framework.analysis import gather_runs
    from games.calbench.analysis.sheets import draw, prose_messages, write_sheet

    games = gather_runs(runs, [prose_messages]).seen(prose_messages)
    drawn = draw([game for game in games if setting in ("", game.result.group)], each, seed)
    write_sheet(out, drawn)
    print(f"{out}: {len(drawn)} messages to judge. Write yes or no into the column shows, then:")
    print(f"cheaptalk disclosures score {out}")


@app.command()
def score(
    sheet: Annotated[Path, typer.Argument(metavar="FILE", help="A sheet that has been filled in.")],
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    latex: Annotated[bool, typer.Option("--latex", help="Print LaTeX.")] = False,
) -> None:
    """Print the precision and recall of the patterns on a sheet, as table 13 of the paper."""
    from framework.cli._console import print_findings, said_in
    from games.calbench.analysis.sheets import read_sheet, validation

    form = said_in({"json": json, "markdown": markdown, "latex": latex})
    print_findings([validation(read_sheet(sheet))], form)
