"""The command `cheaptalk`.

Modules here import nothing heavy at their top: `cheaptalk --help` reads all of them.

Exit codes: 0 everything went well; 1 not every game of a run was finished, or a check failed; 2 a mistake in
what was typed, said in one sentence; 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from framework.cli import (
    arena,
    check,
    compare,
    generate,
    listing,
    pages,
    plot,
    privacy,
    rate,
    reflections,
    report,
    run,
    show,
)
from framework.cli._group import CommandGroup
from framework.cli._rules import RuleOptions

__all__ = ["ABORTED", "INTERRUPTED", "USER_ERROR", "app", "main"]

ABORTED = 1
USER_ERROR = 2
INTERRUPTED = 130


def _say_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        print(f"cheaptalk {version('cheaptalk')}")
        raise typer.Exit


app = typer.Typer(
    name="cheaptalk",
    cls=CommandGroup,
    help="Coordination games between agents that keep secrets.",
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Say the version and exit.", is_eager=True, callback=_say_version)
    ] = False,
) -> None:
    """Coordination games between agents that keep secrets."""


app.command("run", cls=RuleOptions)(run.run)
for _command in (
    listing.list_,
    show.show,
    report.report,
    compare.compare,
    plot.plot,
    rate.rate,
    arena.arena,
    privacy.privacy,
    reflections.reflections,
    pages.view,
    pages.site,
    check.check,
    generate.generate,
):
    app.command(_command.__name__.rstrip("_"))(_command)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and exit; a mistake in what was typed is one sentence on stderr."""
    given = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    sys.exit(_exit_code(given))


def _exit_code(arguments: list[str]) -> int:
    from framework.errors import UserError

    try:
        code = app(arguments, prog_name="cheaptalk", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except UserError as error:
        said, exit_code = str(error), USER_ERROR
    except typer.TyperException as error:
        said, exit_code = error.format_message().rstrip("."), USER_ERROR
    except typer.Abort:
        said, exit_code = "interrupted", INTERRUPTED
    except BrokenPipeError:  # the reader of our output has gone, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ABORTED
    print(f"cheaptalk: {' '.join(said.split())}", file=sys.stderr)
    return exit_code
