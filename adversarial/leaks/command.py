"""Find the secrets that delivered messages gave away, by tier, audience and channel."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adversarial.leaks.tables import Audited
    from framework.analysis import Seen

__all__ = ["leaks", "register"]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("leaks")(leaks)


def leaks(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of runs of one game.")],
    threshold: Annotated[
        float, typer.Option(min=0.01, help="Similarity that counts as a leak; above 1 only canary terms count.")
    ] = 0.6,
    messages: Annotated[int, typer.Option(min=0, help="How many of the messages to print.")] = 20,
    csv: Annotated[Path | None, typer.Option(metavar="DIR", help="Write each table as CSV.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the tables as JSON, with all messages.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the tables as Markdown.")] = False,
    latex: Annotated[
        bool, typer.Option("--latex", help="Print the tables as LaTeX, for booktabs and graphicx.")
    ] = False,
) -> None:
    """Print the semantic leaks of runs: secrets that a message gave away to somebody who may not know them."""
    import sys

    from adversarial.leaks.tables import auditor, by_audience, by_message, by_strategies, game_with_secrets
    from framework.analysis import gather_runs
    from framework.analysis.formats import write_csv
    from framework.analysis.report import game_of
    from framework.cli._console import print_findings, said_in
    from framework.experiment import Reporting

    form = said_in({"json": json, "markdown": markdown, "latex": latex})
    audit = auditor(game_with_secrets(game_of(runs[0])), threshold)
    games = gather_runs(runs, [audit]).seen(audit)
    reporting = Reporting()
    tables = [by_strategies(games, reporting), by_audience(games, reporting), by_message(games)]
    if form:
        print_findings(tables if form == "json" else tables[:2], form)
    else:
        print_findings([table for table in tables[:2] if table.rows])
        print("\n".join(_quoted(games, messages)))
    if csv is not None:
        written = [str(write_csv(csv, table)) for table in tables]
        print("\n".join(written), file=sys.stderr if form else sys.stdout)


def _quoted(games: Sequence[Seen[Audited]], most: int) -> list[str]:
    """The first leaks with their messages, two lines each."""
    found = [(game, leak) for game in games for leak in game.facts.leaks]
    lines = [""] if found and most else []
    for game, leak in found[:most]:
        said, secret = leak.message, leak.secret
        readers = ", ".join(map(str, sorted((*leak.participants, *leak.others))))
        where = f"{game.run}: {game.result.task}, round {said.round}, post {said.id}"
        who = f"seat {said.sender} ({game.result.strategies[said.sender]}) {leak.how} {readers} on {said.channel}"
        lines += [f"{where}: {who}, {secret.tier}: {secret.text} ({leak.match.by}: {leak.match.evidence})"]
        lines += [f"    {_one_line(said.content)}"]
    if len(found) > most:
        lines += [f"{len(found) - most} more; --messages shows more of them, --csv and --json all."]
    return lines if found else ["No message gave a secret away."]


def _one_line(text: str) -> str:
    """Text in one line, without what a terminal would take for a command."""
    return "".join(c if c.isprintable() else " " for c in text)
