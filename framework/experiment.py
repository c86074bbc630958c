"""The complete description of a run, from a YAML file or from flags."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from pydantic import BaseModel, Field, JsonValue, NonNegativeInt, PositiveInt, ValidationError, field_validator

from framework import registry
from framework.errors import UserError, explain, nearest
from framework.game import Game
from framework.messages import Config
from framework.specs import StrategySpec, named_from, refuse_secrets
from framework.yamlfile import read_mapping

__all__ = [
    "Experiment",
    "LimitsConfig",
    "Reporting",
    "Setup",
    "make_game",
    "parse_experiment",
    "read_experiment",
    "write_experiment",
]


class LimitsConfig(Config):
    """What one seat may do in one move, as `framework.Limits`.

    Attributes:
        seconds: Time for a move, up to a million; null for no limit.
        messages: Messages in a move.
        chars: Characters in a message.
    """

    seconds: float | None = Field(default=600.0, gt=0, le=1e6)
    messages: PositiveInt = 256
    chars: PositiveInt = 8000


class Reporting(Config):
    """How results are summed up.

    Attributes:
        confidence: Coverage of the intervals.
        resamples: Bootstrap resamples.
        seed: Seed of the bootstrap.
    """

    confidence: float = Field(default=0.95, gt=0, lt=1)
    resamples: PositiveInt = 2000
    seed: NonNegativeInt = 0


class Experiment(Config):
    """Everything that decides what a run does. Paths are relative to the working directory.

    Attributes:
        game: A registered game, `module.path:Class` or `path/to/file.py:Class`.
        suite: A shipped suite; empty takes the game's default unless tasks or scenarios are given.
        tasks: A file of scenarios, one JSON object a line.
        scenarios: Scenarios written out.
        suite_seed: Seed of the suite.
        limit: Play only so many tasks, from the first.
        rules: The game's knobs, such as channels, topology, turn budget and retries.
        strategy: The strategy of every seat that `seats` does not name; empty takes the game's default.
        seats: Strategies of single seats.
        rotate: Shift the strategies by one seat from task to task and from repeat to repeat, so that over as
            many games as there are seats every strategy plays every seat equally often.
        limits: What one seat may do in one move.
        repeats: How often each task is played.
        seed: Seed of the run, from which each game's own is derived.
        jobs: Processes that play at once; results do not depend on it.
        concurrency: Games that overlap in one process, for games that wait for a model.
        out: The run's folder; empty takes a new one below `runs/`.
        report: How results are summed up.
        digest: SHA-256 of the scenarios in order; a run that would play others is refused.
    """

    game: str
    suite: str = ""
    tasks: str = ""
    scenarios: tuple[dict[str, JsonValue], ...] = ()
    suite_seed: NonNegativeInt = 0
    limit: PositiveInt | None = None
    rules: dict[str, JsonValue] = {}
    strategy: StrategySpec | None = None
    seats: dict[NonNegativeInt, StrategySpec] = {}
    rotate: bool = False
    limits: LimitsConfig = LimitsConfig()
    repeats: PositiveInt = 1
    seed: NonNegativeInt = 0
    jobs: PositiveInt = 1
    concurrency: PositiveInt = 1
    out: str = ""
    report: Reporting = Reporting()
    digest: str = ""

    @field_validator("out", "tasks")
    @classmethod
    def _is_a_path(cls, path: str) -> str:
        if "\0" in path:
            raise ValueError("a path may not hold a null character; remove it")
        return path

    @field_validator("rules")
    @classmethod
    def _expand_topology(cls, rules: dict[str, JsonValue]) -> dict[str, JsonValue]:
        topology = rules.get("topology")
        return {**rules, "topology": named_from(topology)} if isinstance(topology, str) else rules

    def identity(self) -> dict[str, JsonValue]:
        """What decides the results: everything but where, how fast and how they are shown."""
        return self.model_dump(mode="json", exclude={"jobs", "concurrency", "out", "report"})

    @property
    def config_hash(self) -> str:
        """Hash of what decides one game's result. How many games there are is not part of it."""
        data = {key: value for key, value in self.identity().items() if key not in ("limit", "repeats", "digest")}
        return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


class Setup(NamedTuple):
    """An experiment with its names resolved.

    Attributes:
        experiment: The experiment with every default written out.
        game: The game under the experiment's rules.
        scenarios: The scenarios to play, in order.
    """

    experiment: Experiment
    game: Game[Any, Any]
    scenarios: Sequence[BaseModel]

    @classmethod
    def of(cls, experiment: Experiment) -> Setup:
        """Resolve the names, fill in the game's defaults and check everything that can be checked before play.

        Raises:
            UserError: If a name is unknown or a value does not fit.
        """
        game = make_game(experiment.game, experiment.rules)
        experiment = _with_defaults(experiment, game)
        scenarios = _scenarios(experiment, game)
        experiment = experiment.model_copy(update={"digest": _checked_digest(experiment, scenarios)})
        _check_seats(experiment, game, scenarios)
        return cls(experiment, game, scenarios)


def make_game(name: str, rules: Mapping[str, JsonValue]) -> Game[Any, Any]:
    """A game under given rules.

    Raises:
        UserError: If the game is unknown or a rule does not fit.
    """
    kind = registry.game(name)
    try:
        return kind(kind.rules_type.model_validate(rules))
    except ValidationError as error:
        raise explain(error, kind.rules_type, f"rules of {name}") from error
    except ValueError as error:
        raise UserError(f"rules of {name}: {error}") from error


def _with_defaults(experiment: Experiment, game: Game[Any, Any]) -> Experiment:
    sources = [key for key in ("suite", "tasks", "scenarios") if getattr(experiment, key)]
    if len(sources) > 1:
        raise UserError(f"{' and '.join(sources)} are given together; keep one of them")
    suite = experiment.suite if sources else game.default_suite
    if not (sources or suite):
        raise UserError(f"{experiment.game} has no default suite; name a suite, a tasks file or scenarios")
    if suite and suite not in game.suites:
        raise UserError(f"suite {suite!r} is unknown to {experiment.game}; {nearest(suite, game.suites)}")
    strategy = experiment.strategy or (StrategySpec.parse(game.default_strategy) if game.default_strategy else None)
    if strategy is None:
        raise UserError(f"{experiment.game} has no default strategy; name one for all seats with strategy")
    rules = game.rules.model_dump(mode="json")
    return experiment.model_copy(update={"suite": suite, "strategy": strategy, "rules": rules})


def _scenarios(experiment: Experiment, game: Game[Any, Any]) -> Sequence[BaseModel]:
    try:
        if experiment.scenarios:
            found: Sequence[BaseModel] = [game.scenario_type.model_validate(s) for s in experiment.scenarios]
        elif experiment.tasks:
            found = game.read_tasks(Path(experiment.tasks))
        else:
            found = game.suite(experiment.suite, experiment.suite_seed)
    except ValidationError as error:
        raise explain(error, game.scenario_type, f"scenarios of {experiment.game}") from error
    except OSError as error:
        raise UserError(f"tasks {experiment.tasks}: {error.strerror}; check the path") from error
    except ValueError as error:
        raise UserError(str(error)) from error
    if not found:
        raise UserError(f"{experiment.tasks or experiment.suite}: there are no tasks; give at least one")
    return found[: experiment.limit]


def _checked_digest(experiment: Experiment, scenarios: Sequence[BaseModel]) -> str:
    digest = hashlib.sha256()
    for scenario in scenarios:
        digest.update(scenario.model_dump_json().encode())
    found = digest.hexdigest()
    if experiment.digest and experiment.digest != found:
        source = experiment.tasks or f"suite {experiment.suite}" if not experiment.scenarios else "scenarios"
        raise UserError(
            f"{source}: the tasks are not the ones that the config was written for (digest {found[:12]}, "
            f"not {experiment.digest[:12]}); restore them, or remove digest from the config"
        )
    return found


def _check_seats(experiment: Experiment, game: Game[Any, Any], scenarios: Sequence[BaseModel]) -> None:
    seats = {game.seats(scenario): scenario for scenario in reversed(scenarios)}
    for spec in {experiment.strategy, *experiment.seats.values()}:
        if spec is not None:
            spec.build()
    for number, scenario in seats.items():
        if experiment.seats and max(experiment.seats) >= number:
            task = game.task_id(scenario)
            raise UserError(f"seat {max(experiment.seats)}: task {task} has seats 0 to {number - 1}; name one of those")
        try:
            game.topology(scenario)
        except ValueError as error:
            raise UserError(f"rules of {experiment.game}: {error}") from error
    refuse_secrets(experiment.model_dump(mode="json", exclude={"scenarios"}), "config")


def read_experiment(path: Path, overrides: Mapping[str, Any] | None = None) -> Experiment:
    """Read an experiment file.

    Args:
        path: A YAML file.
        overrides: Values that take the place of the file's, by field; rules and seats are merged key by key.

    Raises:
        UserError: If the file cannot be read or is not an experiment; unknown keys are refused.
    """
    data = read_mapping(path, "an experiment is a mapping such as 'game: calbench'")
    return parse_experiment(data, overrides or {}, str(path))


def parse_experiment(data: Mapping[str, Any], overrides: Mapping[str, Any], place: str) -> Experiment:
    """An experiment from plain data, under overrides as in `read_experiment`.

    Raises:
        UserError: If a key is unknown or a value does not fit.
    """
    merged = _with_seat_numbers(data)
    for key, value in overrides.items():
        below = merged.get(key)
        merged[key] = {**below, **value} if isinstance(below, dict) and isinstance(value, dict) else value
    if {"suite", "tasks", "scenarios"} & overrides.keys():
        for key in {"suite", "tasks", "scenarios"} - overrides.keys():
            merged.pop(key, None)
    if {"suite", "tasks", "scenarios", "suite_seed", "limit", "rules"} & overrides.keys():
        merged.pop("digest", None)
    for key in ("suite", "tasks", "scenarios"):
        if key in merged and merged[key] in ("", [], ()):
            raise UserError(f"{place}: {key!r} is empty; name some, or leave it out")
    try:
        return Experiment.model_validate(merged)
    except ValidationError as error:
        raise explain(error, Experiment, place) from error


def _with_seat_numbers(data: Mapping[str, Any]) -> dict[str, Any]:
    """The data with seats by number, as YAML and JSON differ in what a key may be."""
    seats = data.get("seats")
    if not isinstance(seats, dict):
        return dict(data)
    numbered: dict[Any, Any] = {}
    for key, value in seats.items():
        number = int(key) if str(key).isdecimal() else str(key)
        if number in numbered:
            raise UserError(f"seats: seat {number} is there twice; keep one of them")
        numbered[number] = value
    return {**data, "seats": numbered}


def write_experiment(path: Path, experiment: Experiment) -> None:
    """Write an experiment so that a run of the file reproduces it; the output folder is left out."""
    data = experiment.model_dump(mode="json", exclude={"out"})
    kept = {key: value for key, value in data.items() if value not in ("", None, [], {})}
    path.write_text(yaml.safe_dump(_with_seat_numbers(kept), sort_keys=False, allow_unicode=True), encoding="utf-8")
