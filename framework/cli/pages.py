"""`cheaptalk view` and `cheaptalk site`: pages that people look at, from a local server or as static files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["site", "view"]

Runs = Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of runs.")]
Title = Annotated[str, typer.Option(help="Title of the pages.")]


def view(
    runs: Runs,
    port: Annotated[int, typer.Option(help="Port to serve on; 0 takes a free one.", min=0, max=65535)] = 8077,
    host: Annotated[str, typer.Option(help="Address to serve on; anything but this machine's own is public.")] = (
        "127.0.0.1"
    ),
    title: Title = "",
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open a browser.")] = True,
) -> None:
    """Look at runs in a browser: tables, figures, and every game step by step."""
    from framework.cli._console import say
    from framework.pages.runs import open_runs
    from framework.pages.server import listen, require_server, serve

    require_server()
    with listen(host, port) as socket:
        shown = open_runs(runs)
        address = f"http://{host}:{socket.getsockname()[1]}/"
        say(f"{sum(len(run.numbers) for run in shown)} games at {address} (Ctrl-C ends)")
        serve(shown, socket, title=title, host=host, opened=address if browser else "")


def site(
    runs: Runs,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder to write; a site that is there is replaced.")],
    title: Title = "",
    prompts: Annotated[bool, typer.Option("--prompts/--no-prompts", help="Write prompts and reasoning too.")] = True,
    traces: Annotated[bool, typer.Option("--traces", help="Copy the traces, to be downloaded.")] = False,
) -> None:
    """Write the same pages as static files, which open from disk and can be hosted anywhere."""
    from framework.cli._console import progress_bar
    from framework.errors import UserError
    from framework.pages.runs import open_runs
    from framework.pages.site import write_site
    from framework.trace import TraceError

    try:
        with progress_bar("site") as progress:
            index = write_site(open_runs(runs), out, title=title, prompts=prompts, traces=traces, progress=progress)
        print(index)
    except TraceError as error:
        raise UserError(str(error)) from error
