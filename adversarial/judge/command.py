"""Have a model judge what delivered messages gave away, and compare it with what seats reported of themselves."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from adversarial.judge.judging import Sitting
    from adversarial.judge.results import Judged
    from framework.analysis import Findings
    from framework.experiment import Reporting

__all__ = ["judge", "register"]

_MOST_ERRORS = 3


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("judge")(judge)


def judge(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of runs of one game.")],
    model: Annotated[str, typer.Option(help="The model that judges, such as openai:gpt-5-mini or local.")],
    base_url: Annotated[str | None, typer.Option(help="Where an OpenAI-compatible server listens.")] = None,
    games: Annotated[int | None, typer.Option(min=1, help="Judge only so many games of each run.")] = None,
    prompts: Annotated[Path | None, typer.Option(metavar="DIR", help="A folder with a judge.j2 of your own.")] = None,
    concurrency: Annotated[int, typer.Option(min=1, help="Calls in flight.")] = 4,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of the CSVs; RUN/judge/MODEL of the first run if none.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the tables as JSON.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the tables as Markdown.")] = False,
) -> int:
    """Show a model what each seat was delivered in each round, and ask what a reader would have learnt.

    What was judged before by the same model with the same prompt is kept. The exit code is 1 if an answer could
    not be read.
    """
    import asyncio
    import sys

    from adversarial.judge.cases import JudgePrompts
    from adversarial.judge.judging import Sitting
    from adversarial.judge.judging import judge as sit
    from adversarial.judge.runs import Bench
    from framework.asking import open_asker
    from framework.cli._console import print_findings, said_in, say
    from framework.errors import UserError
    from framework.experiment import Reporting
    from framework.strategy import ModelFailure

    form = said_in({"json": json, "markdown": markdown})
    pack, asker, sitting = JudgePrompts(prompts), open_asker(model, base_url), Sitting()
    bench = Bench.of(runs, asker.name, pack.hash, games)
    tasks = bench.tasks()
    say(f"{len(tasks)} of {bench.cases} cases to judge by {asker.name}")
    try:
        asyncio.run(sit(tasks, asker, pack, sitting, concurrency=concurrency))
    except* (ModelFailure, UserError) as failures:
        raise UserError(f"{failures.exceptions[0]}; what was judged is kept, call again to go on") from None
    reporting = Reporting()
    judged = bench.judged()
    shown = _shown(judged, reporting)
    print_findings(shown, form)
    written = _write(out or bench.folder, judged, reporting)
    print("\n".join(map(str, written)), file=sys.stderr if form else sys.stdout)
    _say(sitting)
    return 1 if sitting.errors else 0


def _shown(judged: list[Judged], reporting: Reporting) -> list[Findings]:
    """What is printed: without reports there is nothing to agree with."""
    from adversarial.judge.tables import agreement_table, comparison, summary

    reported = any(game.facts.reported for game in judged)
    further = [summary(judged, reporting), agreement_table(judged, reporting)] if reported else []
    return [comparison(judged), *further]


def _write(folder: Path, judged: list[Judged], reporting: Reporting) -> list[Path]:
    from adversarial.judge.results import precisions
    from adversarial.judge.tables import (
        agreement_table,
        beliefs,
        cell_table,
        comparison,
        precision_table,
        write_cases,
    )
    from framework.analysis.formats import write_csv

    found = precisions(game for game in judged if game.complete)
    better = [each for each in found if each.gap > 0]
    tables = [
        beliefs(judged, calibrated=False),
        beliefs(judged, calibrated=True),
        comparison(judged),
        precision_table(found, name="judge_vs_reflection_precision"),
        precision_table(better, name="judge_more_precise_than_reflection"),
        cell_table(judged),
        agreement_table(judged, reporting),
    ]
    return [write_cases(folder / "judge_cases.json", judged), *(write_csv(folder, table) for table in tables)]


def _say(sitting: Sitting) -> None:
    from framework.cli._console import say

    usage = sitting.usage
    if usage.calls:
        cost = "" if usage.cost is None else f", {usage.cost:.4f} USD"
        say(f"{usage.calls} calls, {usage.prompt_tokens} + {usage.completion_tokens} tokens{cost}")
    for error in sitting.errors[:_MOST_ERRORS]:
        say(f"not read: {error}")
    if len(sitting.errors) > _MOST_ERRORS:
        say(f"{len(sitting.errors) - _MOST_ERRORS} more were not read; call again to ask anew")
