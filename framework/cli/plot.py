"""`cheaptalk plot`: the figures of runs, from their traces."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["plot"]


def plot(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of runs.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the figures go.")] = Path("figures"),
    figure: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A figure to draw, such as `overview`; repeatable.")
    ] = None,
    form: Annotated[str, typer.Option("--format", help="svg, png or pdf, with commas.")] = "svg,png",
) -> None:
    """Draw what one or more runs of a game show, each figure with its n and its intervals."""
    from framework.analysis.gather import gather_runs
    from framework.analysis.plotting import save
    from framework.analysis.report import drawings_of, game_of
    from framework.cli._console import say
    from framework.errors import UserError, nearest
    from framework.experiment import Reporting

    forms = [name.strip().lower() for name in form.split(",")]
    for name in forms:
        if name not in ("svg", "png", "pdf"):
            raise UserError(f"--format: {name!r} is none of svg, png and pdf; name those, with commas")
    known = {drawing.name: drawing for drawing in drawings_of(game_of(runs[0]))}
    for name in figure or ():
        if name not in known:
            raise UserError(f"--figure: {name!r} is not a figure of these runs; {nearest(name, known, 12)}")
    chosen = [drawing for drawing in known.values() if not figure or drawing.name in figure]
    gathered = gather_runs(runs, [drawing.read for drawing in chosen])
    for drawing in chosen:
        made = drawing.figure(gathered.seen(drawing.read), Reporting())
        if made is None:
            say(f"{drawing.name}: these runs have nothing to draw")
            continue
        for path in save(made, out, drawing.name, forms):
            print(path)
