"""`cheaptalk privacy`: what the seats of some runs gave away, from their typed messages."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["privacy"]


def privacy(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of runs, or traces.")],
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Write the four CSV files here.")] = None,
    prior: Annotated[float, typer.Option(help="Belief at the start of each round, between 0 and 1.")] = 0.5,
    weighted: Annotated[bool, typer.Option("--weighted", help="Weigh each slot by its cost to the target.")] = False,
    floor: Annotated[float | None, typer.Option(help="VPS a game to leave out of VPS; the game's own if none.")] = None,
) -> None:
    """Print typed VPS by strategy and by kind of message, and write its CSV files."""
    from framework.cli._console import print_table
    from framework.privacy import measure

    found = measure(list(dict.fromkeys(runs)), out, prior=prior, weighted=weighted, floor=floor)
    print_table(found.table, None)
    for strategy, count in sorted(found.unread.items()):
        print(f"{strategy}: {count} messages are not typed; the seats that sent them are in no mean.")
    for path in found.files:
        print(path)
