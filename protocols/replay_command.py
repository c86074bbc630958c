"""Play a game again from its trace, or put its prompts to another model."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from protocols.replay import Comparison, Opened

__all__ = ["replay"]


def replay(app: typer.Typer) -> None:
    """Add the command `replay`."""

    @app.command("replay")
    def command(
        traces: Annotated[list[Path], typer.Argument(metavar="TRACE...", help="Traces of games, or a run's folder.")],
        model: Annotated[str | None, typer.Option(help="Put the recorded prompts to this model instead.")] = None,
        base_url: Annotated[str, typer.Option(help="Where an OpenAI-compatible server listens.")] = "",
        cache: Annotated[str | None, typer.Option(metavar="DIR", help="Keep the model's replies, as for run.")] = None,
        budget: Annotated[str | None, typer.Option(metavar="KIND=N,...", help="What it may use, as for run.")] = None,
        prices: Annotated[str | None, typer.Option(metavar="FILE", help="What models cost, as for run.")] = None,
        out: Annotated[
            Path | None, typer.Option(metavar="FILE", help="Where the new trace or the replies go, of one game.")
        ] = None,
    ) -> int:
        """Play a game again from its recorded replies, without a model, and see that it ends the same."""
        from framework.cli._models import call_models
        from framework.errors import UserError
        from framework.tables import trace_paths
        from protocols.replay import open_trace

        if model is None and (base_url or cache is not None or budget is not None or prices is not None):
            raise UserError("--base-url, --cache, --budget and --prices are for another model; name it with --model")
        call_models(cache, budget, prices)
        paths = [path for given in traces for path in (trace_paths(given) if given.is_dir() else [given])]
        if out is not None and len(paths) > 1:
            raise UserError(f"--out {out} is for one game, and {len(paths)} are named; name one trace, or leave it out")
        codes = []
        for path in paths:
            if len(paths) > 1:
                print(f"{path}:")
            opened = open_trace(path)
            codes.append(_again(opened, out) if model is None else _ask(opened, model, base_url, out))
        return max(codes)


def _again(opened: Opened, out: Path | None) -> int:
    import asyncio

    from framework.errors import UserError
    from framework.trace import write_trace
    from protocols.replay import replay as play_again

    replayed = asyncio.run(play_again(opened))
    if out is not None:
        try:
            out.parent.mkdir(parents=True, exist_ok=True)
            write_trace(out, replayed.trace)
        except OSError as error:
            raise UserError(f"--out {out} cannot be written ({error.strerror}); name another file") from error
    recorded, again = opened.trace.aborted, replayed.trace.aborted
    if again is not None:
        print(f"The replay was aborted: {again.error}" + (" (so was the game)" if recorded else ""))
    if replayed.prompts:
        print(f"{replayed.prompts} recorded replies, {len(replayed.changed)} prompts that are not as recorded.")
    for seat, number in replayed.changed[:3]:
        what = "the system prompt" if number < 0 else f"prompt {number}"
        print(f"  seat {seat}: {what} differs; its template or its block has changed since")
    print("Every move is identical." if replayed.same_moves else "There are moves that DIFFER from the recorded ones.")
    print("The final state is identical." if replayed.same_end else "The final state DIFFERS from the recorded one.")
    return 0 if replayed.same_end and replayed.same_moves else 1


def _ask(opened: Opened, model: str, base_url: str, out: Path | None) -> int:
    import asyncio

    from framework.cli._console import say
    from framework.errors import UserError
    from framework.strategy import ModelFailure
    from protocols.models import ModelSpec, Settings
    from protocols.replay import ask_again, models_in

    Settings.from_environment().check()
    ModelSpec.parse(model, base_url=base_url).check()  # before the replies of an earlier call are written over
    prompts = models_in(opened.trace)
    if not prompts:
        raise UserError("the trace holds no prompts of a model; name a game that models played")
    found: list[Comparison] = []
    failure = ""
    try:
        if out is not None:
            out.parent.mkdir(parents=True, exist_ok=True)
        with nullcontext() if out is None else out.open("w", encoding="utf-8") as file:

            def keep(one: Comparison) -> None:
                found.append(one)
                if file is not None:
                    file.write(f"{_line(one)}\n")
                    file.flush()

            asyncio.run(ask_again(opened, model, base_url=base_url, told=keep))
    except ModelFailure as error:
        failure = str(error)
    except OSError as error:
        raise UserError(f"--out {out} cannot be written ({error.strerror}); name another file") from error
    tokens = sum(one.usage.prompt_tokens + one.usage.completion_tokens for one in found)
    print(f"{len(found)} prompts put to {model}: {sum(one.readable for one in found)} replies can be read, ", end="")
    print(f"{sum(one.same for one in found)} say the same as recorded; {tokens} tokens.")
    if failure:
        say(f"{prompts - len(found)} of {prompts} prompts have no reply, because the model failed: {failure}")
    return 1 if failure else 0


def _line(one: Comparison) -> str:
    import json

    return json.dumps({**one._asdict(), "usage": one.usage.model_dump()})
