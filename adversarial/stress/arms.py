"""The arms of a stress test: the strategy under test against each kind of opponent, under each channel condition.

All arms play the same tasks with the same seeds, and the strategy under test sits in the same seats of the same
games, so that what an opponent brings out of it can be compared game by game.
"""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from framework import Strategy, registry
from framework.errors import UserError
from framework.experiment import Experiment, Setup, make_game
from framework.specs import StrategySpec

__all__ = ["COOPERATIVE", "Arm", "Plan", "arms", "conditions_of", "opponents_of"]

COOPERATIVE = "cooperative"
"""The arm that the others are compared with."""


@dataclass(frozen=True, slots=True)
class Arm:
    """One run of a stress test.

    Attributes:
        condition: The open channels, as one word.
        opponent: Who sits in the other seats, `COOPERATIVE` for the cooperative ones.
        experiment: What is played.
    """

    condition: str
    opponent: str
    experiment: Experiment


@dataclass(frozen=True, slots=True)
class Plan:
    """What a stress test plays.

    Attributes:
        subject: The strategy under test.
        cooperative: The cooperative opponents.
        opponents: The opponents that it is tested against.
        conditions: The channels that are open in each condition.
        seats: How many seats the strategy under test takes.
    """

    subject: StrategySpec
    cooperative: StrategySpec
    opponents: Sequence[StrategySpec]
    conditions: Sequence[tuple[str, ...]]
    seats: int = 1


def opponents_of(subject: StrategySpec) -> list[StrategySpec]:
    """The adversarial strategies that are made of the strategy under test, with all its parameters.

    These are the registered ones that derive from its class; where there are none, from the next class above it
    that could itself be seated.

    Raises:
        UserError: If there are none.
    """
    kind = registry.strategy(subject.name)
    adversaries = {name: cls for name, cls in _registered() if cls.adversarial and cls is not kind}
    for base in kind.__mro__:
        if issubclass(base, Strategy) and not inspect.isabstract(base):
            found = [name for name, cls in adversaries.items() if issubclass(cls, base)]
            if found:
                return [_alike(name, adversaries[name], subject) for name in found]
    raise UserError(f"no adversarial strategy is made of {subject.name}; name opponents with --opponent")


def _alike(name: str, kind: type[Strategy[Any]], subject: StrategySpec) -> StrategySpec:
    """An adversary that plays like the strategy under test: with its parameters, also those that are its defaults."""
    own = subject.build().params.model_dump(mode="json")
    others = kind.params_type.model_fields
    params = {
        key: value
        for key, value in own.items()
        if key in others and (key in subject.params or value != others[key].get_default(call_default_factory=True))
    }
    return StrategySpec(name=name, params=params)


def _registered() -> Iterator[tuple[str, type[Strategy[Any]]]]:
    for entry in registry.entries(registry.STRATEGIES):
        with suppress(UserError):  # another package's that cannot be loaded
            yield entry.name, registry.strategy(entry.name)


def conditions_of(experiment: Experiment) -> list[tuple[str, ...]]:
    """Each channel of the game alone; one condition without channels for a game that has none."""
    channels = make_game(experiment.game, experiment.rules).channels
    return [(channel.name,) for channel in channels] or [()]


def arms(experiment: Experiment, plan: Plan, out: Path) -> list[Arm]:
    """All runs, each condition's cooperative one first.

    Args:
        experiment: The tasks, rules, seed and limits; its strategy and seats are replaced.
        plan: Who plays whom.
        out: The folder below which each run has its own.

    Raises:
        UserError: If a strategy, a channel or the number of seats does not fit.
    """
    if experiment.seats:
        raise UserError("a stress test seats the strategies itself; leave seats out")
    if plan.subject in plan.opponents:
        raise UserError(f"--opponent {plan.subject.label} is the strategy under test; name another one")
    opponents = {COOPERATIVE: plan.cooperative, **_named(plan.opponents)}
    _check_room(experiment.model_copy(update={"strategy": plan.cooperative}), plan.seats)
    found = [
        Arm(_word(channels), name, _seated(experiment, plan, channels, spec, out / _word(channels) / _slug(name)))
        for channels in plan.conditions
        for name, spec in opponents.items()
    ]
    for arm in found:
        Setup.of(arm.experiment)
    return found


def _named(opponents: Sequence[StrategySpec]) -> dict[str, StrategySpec]:
    """Opponents by name, with their parameters where a name does not tell them apart."""
    names = Counter(spec.name for spec in dict.fromkeys(opponents))
    return {spec.name if names[spec.name] == 1 else spec.label: spec for spec in opponents}


def _check_room(experiment: Experiment, seats: int) -> None:
    setup = Setup.of(experiment)
    for scenario in setup.scenarios:
        number = setup.game.seats(scenario)
        if number <= seats:
            task = setup.game.task_id(scenario)
            raise UserError(f"--subjects {seats}: task {task} has {number} seats; leave at least one to the opponents")


def _word(channels: tuple[str, ...]) -> str:
    return "+".join(channels) or "silence"


def _slug(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._=-]+", "-", name).strip("-.")


def _seated(
    experiment: Experiment, plan: Plan, channels: tuple[str, ...], opponent: StrategySpec, out: Path
) -> Experiment:
    return experiment.model_copy(
        update={
            "strategy": opponent,
            "seats": dict.fromkeys(range(plan.seats), plan.subject),
            "rules": {**experiment.rules, "channels": list(channels)},
            "rotate": True,
            "out": str(out),
        }
    )
