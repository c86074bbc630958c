"""Stress-test how well a strategy keeps its secrets: nosy opponents against cooperative ones, on the same tasks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

if TYPE_CHECKING:
    from adversarial.stress.arms import Plan
    from adversarial.stress.gate import Threshold
    from adversarial.stress.report import Report
    from framework.experiment import Experiment
    from framework.specs import StrategySpec

__all__ = ["register", "stress"]

_MOST_ERRORS = 3


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("stress")(stress)


def stress(
    target: Annotated[str, typer.Argument(metavar="GAME|FILE.yaml", help="A game, or an experiment file.")],
    strategy: Annotated[str | None, typer.Option(help="The strategy under test, such as llm:model=local.")] = None,
    model: Annotated[str | None, typer.Option(help="The model under test, and of opponents that ask one.")] = None,
    base_url: Annotated[str | None, typer.Option(help="Where an OpenAI-compatible server listens.")] = None,
    opponent: Annotated[
        list[str] | None,
        typer.Option(metavar="STRATEGY", help="An opponent; repeatable. By default those that are made of it."),
    ] = None,
    cooperative: Annotated[
        str | None, typer.Option(metavar="STRATEGY", help="Who it is compared among; by default its own like.")
    ] = None,
    channels: Annotated[
        list[str] | None,
        typer.Option(metavar="LIST", help="Channels of a condition, with commas; repeatable."),
    ] = None,
    subjects: Annotated[int, typer.Option(min=1, help="How many seats the strategy under test takes.")] = 1,
    suite: Annotated[str | None, typer.Option(help="A suite of the game.")] = None,
    tasks: Annotated[str | None, typer.Option(help="A file of tasks, one JSON object a line.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Play only so many tasks.")] = None,
    repeats: Annotated[int | None, typer.Option(min=1, help="Play each task so often.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of the runs.")] = None,
    rule: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="A rule of the game; repeatable.")] = None,
    reflect: Annotated[bool, typer.Option("--reflect", help="Ask models for their beliefs after each round.")] = False,
    cache: Annotated[str | None, typer.Option(metavar="DIR", help="Keep models' replies here and reuse them.")] = None,
    budget: Annotated[str | None, typer.Option(help="Stop at so much: tokens=200000,calls=500,dollars=2.")] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes that play at once.")] = None,
    concurrency: Annotated[int | None, typer.Option(min=1, help="Games that overlap in one process.")] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the runs, continued if it is there.")] = Path(
        "runs/stress"
    ),
    most: Annotated[
        list[str] | None,
        typer.Option("--max", metavar="NAME=VALUE", help="The most that a measure may be."),
    ] = None,
    least: Annotated[
        list[str] | None, typer.Option("--min", metavar="NAME=VALUE", help="The least that a measure has to be.")
    ] = None,
    increase: Annotated[
        list[str] | None,
        typer.Option("--max-increase", metavar="NAME=VALUE", help="The most by which adversaries may raise it."),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="The end of the interval has to keep to it, and not only the mean.")
    ] = False,
    junit: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the verdicts as JUnit XML.")] = None,
    csv: Annotated[Path | None, typer.Option(metavar="DIR", help="Write each table as CSV.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the tables as JSON.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the tables as Markdown.")] = False,
) -> int:
    """Play a strategy against adversaries and among its own like, and say how much more it gives away.

    The exit code is 1 if a threshold was not kept or a game aborted.
    """
    from adversarial.stress.report import stress as play
    from framework.cli._console import progress_bar, said_in, say
    from framework.cli._models import call_models, count_together, seat_models
    from framework.cli.run import rules_of
    from framework.runner import RunStopped

    form = said_in({"json": json, "markdown": markdown})
    flags: dict[str, Any] = {
        "suite": suite,
        "tasks": tasks,
        "strategy": strategy,
        "limit": limit,
        "repeats": repeats,
        "seed": seed,
        "rules": rules_of(rule or []),
        "jobs": jobs,
        "concurrency": concurrency,
    }
    asked = {"model": model, "base_url": base_url, "reflect": reflect}
    seat_models(flags, asked)
    experiment = _experiment(target, {key: value for key, value in flags.items() if value not in (None, {})})
    call_models(cache, budget, None)
    plan = _plan(experiment, _opponents(opponent or [], cooperative, asked), channels or [], subjects)
    count_together((plan.subject, plan.cooperative, *plan.opponents), out)
    limits = _thresholds(experiment, {"max": most or [], "min": least or [], "max-increase": increase or []})
    try:
        report = play(experiment, plan, out, thresholds=limits, strict=strict, bar=progress_bar)
    except RunStopped as stopped:
        say(f"{stopped.args[0].partition(';')[0]}; call again with the same --out to go on")
        return 130 if stopped.interrupted else 1
    _print(report, form, junit, csv)
    return 0 if report.passed else 1


def _experiment(target: str, flags: dict[str, Any]) -> Experiment:
    from framework.experiment import parse_experiment, read_experiment

    if target.endswith((".yaml", ".yml")):
        return read_experiment(Path(target), flags)
    return parse_experiment({"game": target}, flags, "flags")


class _Opponents(NamedTuple):
    adversarial: list[StrategySpec]
    cooperative: StrategySpec | None


def _opponents(adversarial: list[str], cooperative: str | None, asked: dict[str, Any]) -> _Opponents:
    """The opponents that were named; the model is theirs too where they ask one and name none."""
    from framework import registry
    from framework.cli._models import seat_models
    from framework.specs import StrategySpec

    def filled(text: str) -> StrategySpec:
        flags: dict[str, Any] = {"strategy": text}
        if "model" in registry.strategy(StrategySpec.parse(text).name).params_type.model_fields:
            seat_models(flags, asked)
        found = flags["strategy"]
        return StrategySpec.parse(found) if isinstance(found, str) else found

    return _Opponents([filled(text) for text in adversarial], filled(cooperative) if cooperative else None)


def _plan(experiment: Experiment, opponents: _Opponents, channels: list[str], subjects: int) -> Plan:
    from adversarial.stress.arms import Plan, conditions_of, opponents_of
    from framework.errors import UserError

    subject = experiment.strategy
    if subject is None:
        raise UserError("no strategy is under test; name one with --strategy or --model, such as --strategy imap")
    listed = [tuple(name.strip() for name in text.split(",") if name.strip()) for text in channels]
    return Plan(
        subject=subject,
        cooperative=opponents.cooperative or subject,
        opponents=opponents.adversarial or opponents_of(subject),
        conditions=list(dict.fromkeys(listed)) or conditions_of(experiment),
        seats=subjects,
    )


def _thresholds(experiment: Experiment, given: dict[Any, list[str]]) -> list[Threshold]:
    from adversarial.stress.gate import parse_threshold
    from adversarial.stress.report import measures_of
    from framework.experiment import make_game

    known = measures_of(make_game(experiment.game, experiment.rules))
    return [parse_threshold(rule, text, known) for rule, texts in given.items() for text in texts]


def _print(report: Report, form: str, junit: Path | None, csv: Path | None) -> None:
    import sys

    from adversarial.stress.junit import write_junit
    from framework.analysis.formats import write_csv
    from framework.cli._console import print_findings, say

    tables = report.tables()
    print_findings(tables if form else report.tables(whole=False), form)
    for verdict in report.verdicts:
        if not verdict.passed:
            say(f"{verdict.opponent} on {verdict.condition}: {verdict.why}")
    errors = [error for arm in report.arms for error in arm.aborted]
    for error in errors[:_MOST_ERRORS]:
        say(" ".join(error.split()))
    if len(errors) > _MOST_ERRORS:
        say(f"{len(errors) - _MOST_ERRORS} more aborted; their traces say why")
    written = [str(write_csv(csv, table)) for table in tables] if csv is not None else []
    if junit is not None:
        write_junit(junit, report.subject, report.arms)
        written.append(str(junit))
    if written:
        print("\n".join(written), file=sys.stderr if form else sys.stdout)
