"""The complete description of an arena, from a YAML file or from flags."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field, JsonValue, NonNegativeInt, PositiveInt, ValidationError, field_validator

from framework.errors import UserError, explain
from framework.experiment import Experiment, LimitsConfig
from framework.messages import Frozen
from framework.specs import StrategySpec

__all__ = ["ArenaConfig", "parse_arena", "read_arena", "write_arena"]


class ArenaConfig(Frozen):
    """Who meets whom over what. Paths are relative to the working directory.

    Attributes:
        game: The game, as in an experiment.
        pool: The players; each is a strategy with its parameters.
        games: How many games are played in all: the budget.
        suite: As in an experiment, as are `tasks`, `suite_seed`, `limit`, `rules` and `limits`.
        explore: How often an opponent is drawn without regard to ratings.
        distance: MMR over which the odds of meeting an opponent fall to 37 %.
        at_once: Matches that are made from the same ratings and played at once. It decides the results.
        seed: Seed of matchmaking and of the games.
        out: The arena's folder.
    """

    game: str
    pool: tuple[StrategySpec, ...]
    games: PositiveInt = 20
    suite: str = ""
    tasks: str = ""
    suite_seed: NonNegativeInt = 0
    limit: PositiveInt | None = None
    rules: dict[str, JsonValue] = {}
    limits: LimitsConfig = LimitsConfig()
    explore: float = Field(default=0.2, ge=0, le=1)
    distance: float = Field(default=100.0, gt=0)
    at_once: PositiveInt = 1
    seed: NonNegativeInt = 0
    out: str = ""

    @field_validator("pool")
    @classmethod
    def _distinct(cls, pool: tuple[StrategySpec, ...]) -> tuple[StrategySpec, ...]:
        for label, count in Counter(spec.label for spec in pool).items():
            if count > 1:
                raise ValueError(f"{label!r} is named {count} times; name each player once")
        if len(pool) < 2:
            raise ValueError("players meet in pairs at the least; name two or more")
        return pool

    def identity(self) -> dict[str, JsonValue]:
        """What decides who meets whom: all but the pool and the budget, which may grow, and the folder."""
        return self.model_dump(mode="json", exclude={"pool", "games", "out"})

    @property
    def key(self) -> str:
        """Hash of the identity."""
        return hashlib.sha256(json.dumps(self.identity(), sort_keys=True).encode()).hexdigest()

    def experiment(self) -> Experiment:
        """The games of the arena as an experiment, with the first player in every seat."""
        return Experiment(
            game=self.game,
            suite=self.suite,
            tasks=self.tasks,
            suite_seed=self.suite_seed,
            limit=self.limit,
            rules=self.rules,
            limits=self.limits,
            strategy=self.pool[0],
            seed=self.seed,
            concurrency=self.at_once,
        )


def parse_arena(data: Mapping[str, Any], overrides: Mapping[str, Any], place: str) -> ArenaConfig:
    """An arena from plain data; overrides take the place of values, and rules are merged key by key.

    Raises:
        UserError: If a key is unknown or a value does not fit.
    """
    merged = dict(data)
    for key, value in overrides.items():
        below = merged.get(key)
        merged[key] = {**below, **value} if isinstance(below, dict) and isinstance(value, dict) else value
    try:
        return ArenaConfig.model_validate(merged)
    except ValidationError as error:
        raise explain(error, ArenaConfig, place) from error


def read_arena(path: Path, overrides: Mapping[str, Any] | None = None) -> ArenaConfig:
    """Read an arena's file.

    Raises:
        UserError: If it cannot be read or is none.
    """
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}; check the path") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: not valid YAML: {' '.join(str(error).split())}") from error
    if not isinstance(data, dict):
        raise UserError(f"{path}: an arena is a mapping with game and pool; write keys and values")
    return parse_arena(data, overrides or {}, str(path))


def write_arena(path: Path, config: ArenaConfig) -> None:
    """Write an arena so that its file describes it; its folder is left out."""
    data = config.model_dump(mode="json", exclude={"out"})
    kept = {key: value for key, value in data.items() if value not in ("", None, [], {})}
    path.write_text(yaml.safe_dump(kept, sort_keys=False, allow_unicode=True), encoding="utf-8")
