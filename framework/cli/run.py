"""`cheaptalk run`: play a suite and print its table."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from framework.cli._rules import PackOrRule
    from framework.experiment import Experiment
    from framework.runner import Outcome

__all__ = ["rules_of", "run"]

_MOST_ERRORS = 3


def run(
    context: typer.Context,
    target: Annotated[str, typer.Argument(metavar="GAME|FILE.yaml|RUN", help="A game, an experiment file or a run.")],
    suite: Annotated[str | None, typer.Option(help="A suite of the game; see `cheaptalk list suites`.")] = None,
    tasks: Annotated[str | None, typer.Option(help="A file of tasks, one JSON object a line.")] = None,
    strategy: Annotated[
        str | None, typer.Option(help="For all seats: imap, dsm:theta=0.5, my.module:Class or mine.py:Class.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="A language model for the seats that ask one: openai:NAME, local, FILE.yaml.")
    ] = None,
    seat: Annotated[list[str] | None, typer.Option(metavar="N=STRATEGY", help="For one seat; repeatable.")] = None,
    channels: Annotated[str | None, typer.Option(help="The open channels, with commas.")] = None,
    topology: Annotated[str | None, typer.Option(help="Such as ring or clusters:size=3.")] = None,
    rule: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="A rule of the game; repeatable.")] = None,
    rotate: Annotated[bool | None, typer.Option(help="Shift strategies by a seat from game to game.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of the run.")] = None,
    suite_seed: Annotated[int | None, typer.Option(min=0, help="Seed of the suite.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Play only so many tasks.")] = None,
    repeats: Annotated[int | None, typer.Option(min=1, help="Play each task so often.")] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes that play at once.")] = None,
    concurrency: Annotated[int | None, typer.Option(min=1, help="Games that overlap in one process.")] = None,
    seconds: Annotated[float | None, typer.Option(help="Time limit of a move.")] = None,
    base_url: Annotated[str | None, typer.Option(help="Where an OpenAI-compatible server listens.")] = None,
    prompts: Annotated[
        str | None, typer.Option(metavar="DIR", help="Templates in place of the game's own; or its rule `prompts`.")
    ] = None,
    reflect: Annotated[bool, typer.Option("--reflect", help="Ask models for their beliefs after each round.")] = False,
    cache: Annotated[str | None, typer.Option(metavar="DIR", help="Keep models' replies here and reuse them.")] = None,
    budget: Annotated[
        str | None, typer.Option(metavar="KIND=N,...", help="Stop when so many tokens, calls or dollars are spent.")
    ] = None,
    prices: Annotated[str | None, typer.Option(metavar="FILE", help="What models cost, in place of ours.")] = None,
    out: Annotated[str | None, typer.Option(help="Folder of the run; a new one below runs/ by default.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in the folder.")] = False,
) -> int:
    """Play the games of a suite and print a table. Flags override the file.

    Any other --NAME VALUE is a rule of the game, such as --turns 10; see `cheaptalk list rules`.
    """
    from framework.cli._console import progress_bar
    from framework.cli._models import call_models, seat_models
    from framework.runner import RunStopped
    from framework.runner import run as play

    named = _named_rules(context, target, prompts)
    flags = {
        "suite": suite,
        "tasks": tasks,
        "strategy": strategy,
        "seats": _seats(seat or []),
        "rules": {**rules_of(rule or [], channels, topology), **named.rules},
        "rotate": rotate,
        "seed": seed,
        "suite_seed": suite_seed,
        "limit": limit,
        "repeats": repeats,
        "jobs": jobs,
        "concurrency": concurrency,
        "limits": {} if seconds is None else {"seconds": seconds},
        "out": out,
    }
    _refuse_empty({**flags, "model": model, "base-url": base_url, "prompts": prompts})
    seat_models(flags, {"model": model, "base_url": base_url, "prompts": named.folder, "reflect": reflect})
    experiment = _experiment(target, {key: value for key, value in flags.items() if value not in (None, {})}, resume)
    call_models(cache, budget, prices)
    if interactive := _is_interactive(experiment):
        experiment = _at_a_persons_pace(experiment)
    try:
        with nullcontext() if interactive else progress_bar(experiment.game) as progress:
            outcome = play(experiment, resume=resume, progress=progress, opened=_count)
    except RunStopped as stopped:
        return _stopped(stopped)
    _print(outcome)
    return 1 if outcome.aborted else 0


def _count(experiment: Experiment, folder: Path) -> None:
    from framework.cli._models import count_together

    count_together((experiment.strategy, *experiment.seats.values()), folder)


def _refuse_empty(flags: dict[str, Any]) -> None:
    """An empty value is a shell variable that is not set, and not a wish for the default."""
    from framework.errors import UserError

    for name in ("suite", "tasks", "strategy", "model", "base-url", "prompts", "out"):
        if flags.get(name) == "":
            raise UserError(f"--{name} is empty; give a value, or leave it out")


def _named_rules(context: typer.Context, target: str, prompts: str | None) -> PackOrRule:
    """The rules that further options and `--prompts` name, and the folder of templates if that is what it names."""
    from framework.cli._rules import PackOrRule, extras_of, pack_or_rule, rules_from

    extras = extras_of(context)
    if not (extras or prompts):
        return PackOrRule(None, {})
    game = _game(target)
    found = pack_or_rule(prompts, game) if prompts else PackOrRule(None, {})
    own = [name for parameter in context.command.params for name in parameter.opts if name.startswith("--")]
    return PackOrRule(found.folder, {**found.rules, **rules_from(extras, game, own)})


def _game(target: str) -> str:
    """The game that a target is about."""
    from framework.experiment import read_experiment

    path = Path(target)
    if (path / "config.yaml").is_file():
        return read_experiment(path / "config.yaml").game
    return read_experiment(path).game if path.suffix in (".yaml", ".yml") else target


def _is_interactive(experiment: Experiment) -> bool:
    from framework import registry

    specs = (experiment.strategy, *experiment.seats.values())
    return any(registry.strategy(spec.name).interactive for spec in specs if spec is not None)


def _at_a_persons_pace(experiment: Experiment) -> Experiment:
    """One game at a time, and no time limit unless one was asked for."""
    limits = experiment.limits
    if "seconds" not in limits.model_fields_set:
        limits = limits.model_copy(update={"seconds": None})
    return experiment.model_copy(update={"jobs": 1, "concurrency": 1, "limits": limits})


def _seats(given: list[str]) -> dict[int, str]:
    from framework.errors import UserError

    seats: dict[int, str] = {}
    for text in given:
        seat, found, strategy = text.partition("=")
        if not (found and seat.strip().isdecimal() and strategy):
            raise UserError(f"--seat {text!r} is not of the form N=STRATEGY; write for instance --seat 0=imap")
        seats[int(seat)] = strategy
    return seats


def rules_of(given: list[str], channels: str | None = None, topology: str | None = None) -> dict[str, Any]:
    """The rules that flags give.

    Raises:
        UserError: If one is not of the form KEY=VALUE.
    """
    from framework.errors import UserError
    from framework.specs import named_from, parse_value

    rules: dict[str, Any] = {}
    for text in given:
        key, found, value = text.partition("=")
        if not (found and key):
            raise UserError(f"--rule {text!r} is not of the form KEY=VALUE; write for instance --rule retries=3")
        rules[key.strip()] = parse_value(value)
    if channels is not None:
        rules["channels"] = [name.strip() for name in channels.split(",") if name.strip()]
    if topology is not None:
        rules["topology"] = named_from(topology)
    return rules


def _experiment(target: str, flags: dict[str, Any], resume: bool) -> Experiment:
    from framework.errors import UserError
    from framework.experiment import parse_experiment, read_experiment

    path = Path(target)
    if (path / "config.yaml").is_file():
        if not resume:
            raise UserError(f"{target} holds a run; add --resume to go on with it, or run {target}/config.yaml anew")
        return read_experiment(path / "config.yaml", {**flags, "out": target})
    if path.suffix in (".yaml", ".yml"):
        return read_experiment(path, flags)
    if ("/" in target and ":" not in target) or target in (".", ".."):  # a folder may be called as a game is
        raise UserError(f"{target} is no game, no experiment file .yaml and no folder of a run; check the path")
    return parse_experiment({"game": target}, flags, "flags")


def _stopped(stopped: Exception) -> int:
    from framework.cli._console import say
    from framework.runner import RunStopped

    assert isinstance(stopped, RunStopped)
    say(str(stopped))
    return 130 if stopped.interrupted else 1


def _print(outcome: Outcome) -> None:
    from framework.cli._console import print_table, say
    from framework.tables import RunResults, summarise

    for note in outcome.notes:
        say(note)
    print_table(summarise([RunResults(outcome.folder.name, outcome.results)], outcome.experiment.report))
    usage = outcome.usage
    if usage.calls:
        cost = "" if usage.cost is None else f", {usage.cost:.4f} USD"
        print(f"Models: {usage.calls} calls, {usage.prompt_tokens} + {usage.completion_tokens} tokens{cost}.")
    print(f"Run: {outcome.folder}")
    if invalid := sum(result.invalid for result in outcome.results):
        say(f"{invalid} invalid actions or replies; see: cheaptalk report {outcome.folder} --table failures")
    _say_why(outcome)


def _say_why(outcome: Outcome) -> None:
    """The first aborted games, where their tracebacks are, and how to play again those that may go better."""
    from framework.cli._console import say

    for result in outcome.aborted[:_MOST_ERRORS]:
        abort = result.abort
        if abort is not None:
            said = f"game {result.number} ({result.task}) aborted at {abort.boundary}: {' '.join(abort.error.split())}"
            say(f"{said}; see {outcome.folder / outcome.trace(result)}")
    if len(outcome.aborted) > _MOST_ERRORS:
        say(f"{len(outcome.aborted) - _MOST_ERRORS} more aborted; their traces say why")
    if outcome.mendable:
        say(f"{len(outcome.mendable)} can be played again once that is mended: cheaptalk run {outcome.folder} --resume")
