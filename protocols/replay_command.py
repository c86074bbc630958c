"""Play a game again from its trace, or put its prompts to another model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["replay"]


def replay(app: typer.Typer) -> None:
    """Add the command `replay`."""

    @app.command("replay")
    def command(
        trace: Annotated[Path, typer.Argument(metavar="TRACE", help="The trace of a game.")],
        model: Annotated[str | None, typer.Option(help="Put the recorded prompts to this model instead.")] = None,
        out: Annotated[Path | None, typer.Option(metavar="FILE", help="Where the new trace or the replies go.")] = None,
    ) -> int:
        """Play a game again from its recorded replies, without a model, and see that it ends the same."""
        from protocols.replay import open_trace

        opened = open_trace(trace)
        return _again(opened, out) if model is None else _ask(opened, model, out)


def _again(opened: object, out: Path | None) -> int:
    import asyncio

    from framework.trace import write_trace
    from protocols.replay import Opened
    from protocols.replay import replay as play_again

    assert isinstance(opened, Opened)
    replayed = asyncio.run(play_again(opened))
    if out is not None:
        write_trace(out, replayed.trace)
    recorded, again = opened.trace.aborted, replayed.trace.aborted
    if again is not None:
        print(f"The replay was aborted: {again.error}" + (" (so was the game)" if recorded else ""))
    print(f"{replayed.prompts} recorded replies, {len(replayed.changed)} prompts that are not as recorded.")
    for seat, number in replayed.changed[:3]:
        what = "the system prompt" if number < 0 else f"prompt {number}"
        print(f"  seat {seat}: {what} differs; its template or its block has changed since")
    print("Every move is identical." if replayed.same_moves else "There are moves that DIFFER from the recorded ones.")
    print("The final state is identical." if replayed.same_end else "The final state DIFFERS from the recorded one.")
    return 0 if replayed.same_end and replayed.same_moves else 1


def _ask(opened: object, model: str, out: Path | None) -> int:
    import asyncio
    import json

    from framework.errors import UserError
    from framework.strategy import ModelFailure
    from protocols.replay import Opened, ask_again

    assert isinstance(opened, Opened)
    try:
        found = asyncio.run(ask_again(opened, model))
    except ModelFailure as error:
        raise UserError(str(error)) from error
    if out is not None:
        lines = [json.dumps({**one._asdict(), "usage": one.usage.model_dump()}) for one in found]
        out.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    if not found:
        raise UserError("the trace holds no prompts of a model; name a game that models played")
    tokens = sum(one.usage.prompt_tokens + one.usage.completion_tokens for one in found)
    print(f"{len(found)} prompts put to {model}: {sum(one.readable for one in found)} replies can be read, ", end="")
    print(f"{sum(one.same for one in found)} say the same as recorded; {tokens} tokens.")
    return 0
