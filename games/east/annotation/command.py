"""Annotate the reasoning in runs of EAST: Theory-of-Mind level and fallacies, by a model."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

if TYPE_CHECKING:
    from games.east.annotation.annotate import Done
    from games.east.annotation.sidecar import Kind

__all__ = ["annotate"]

_MOST_ERRORS = 3


def annotate(app: typer.Typer) -> None:
    """Add the command."""
    app.command("annotate")(_annotate)


def _annotate(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of runs.")],
    model: Annotated[str, typer.Option(help="The model that judges, such as openai:gpt-5-mini or local.")],
    base_url: Annotated[str | None, typer.Option(help="Where an OpenAI-compatible server listens.")] = None,
    kinds: Annotated[str, typer.Option(help="What to judge, with commas.")] = "tom,fallacies",
    every_game: Annotated[
        bool, typer.Option("--every-game", help="Look for fallacies in games with a match as well.")
    ] = False,
    prompts: Annotated[Path | None, typer.Option(metavar="DIR", help="A folder of prompts of your own.")] = None,
    annotator: Annotated[
        str, typer.Option(metavar="NAME", help="Whose labels they are, in place of the model's name.")
    ] = "",
    concurrency: Annotated[int, typer.Option(min=1, help="Calls in flight.")] = 4,
) -> int:
    """Judge the reasoning in runs, and write labels beside the traces. What was judged before is kept."""
    import asyncio

    from framework.asking import open_asker
    from framework.errors import UserError
    from framework.strategy import ModelFailure
    from games.east.annotation.annotate import Done, pending
    from games.east.annotation.annotate import annotate as judge
    from games.east.annotation.prompts import SCHEMAS, AnnotationPrompts

    wanted = [name.strip() for name in kinds.split(",") if name.strip()]
    if not wanted:
        raise UserError(f"--kinds is empty; name some of {', '.join(SCHEMAS)}")
    for name in wanted:
        if name not in SCHEMAS:
            raise UserError(f"--kinds: {name!r} is not judged; use some of {', '.join(SCHEMAS)}")
    asker, pack, done = open_asker(model, base_url), AnnotationPrompts(prompts), Done()
    name = annotator or asker.name
    tasks = pending(dict.fromkeys(runs), name, cast("list[Kind]", wanted), done, every_game=every_game)
    print(f"{len(tasks)} judgements to make by {name}.")
    try:
        asyncio.run(judge(tasks, asker, done, annotator=annotator, prompts=pack, concurrency=concurrency))
    except KeyboardInterrupt:
        _print(done)
        print("cheaptalk: interrupted; what was judged is kept, call again to go on", file=sys.stderr)
        return 130
    except ExceptionGroup as failed:
        _print(done)
        failures = failed.subgroup((ModelFailure, UserError))
        if failures is None:
            raise
        raise UserError(f"{failures.exceptions[0]}; what was judged is kept, call again to go on") from None
    _print(done)
    return 1 if done.errors else 0


def _print(done: Done) -> None:
    counts = [f"{count} {what}" for what, count in sorted(done.counts.items()) if count]
    print(", ".join(counts) or "Nothing was judged", end=".\n")
    for error in done.errors[:_MOST_ERRORS]:
        print(f"failed: {error}")
    if len(done.errors) > _MOST_ERRORS:
        print(f"{len(done.errors) - _MOST_ERRORS} more failed; the files beside the traces say why.")
