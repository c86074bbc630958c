"""`cheaptalk show`: a game as people read it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["show"]


def show(
    trace: Annotated[
        Path, typer.Argument(metavar="TRACE", help="A trace, such as runs/<name>/traces/0000-<task>.json.")
    ],
    full: Annotated[bool, typer.Option("--full", help="Show prompts and reasoning as well.")] = False,
) -> None:
    """Show who said what to whom, which batches were submitted, and what became of them."""
    from framework.errors import UserError
    from framework.playthrough import playthrough
    from framework.printing import printable
    from framework.registry import game
    from framework.results import read_result
    from framework.trace import TraceError, read_trace

    if trace.is_dir():
        found = next(iter(sorted(trace.glob("[!.]*.json")) or sorted(trace.glob("traces/[!.]*.json"))), None)
        remedy = "name a trace" if found is None else f"name a trace in it, such as {found}"
        raise UserError(f"{trace} is a folder; {remedy}")
    try:
        with suppress(UserError):
            game(read_result(trace).game)  # its events and actions become known
        print(printable(playthrough(read_trace(trace), full=full)), end="")
    except TraceError as error:
        raise UserError(str(error)) from error
