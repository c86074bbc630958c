"""What a stress test measures of each seat of a game: what it gave away, and what its play came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from adversarial.leaks import Matcher, leaks_of
from framework import Game, Metric, Trace
from framework.beliefs import move
from framework.evidence import Talk, gather
from framework.reflection import Reflection
from framework.reflection_tables import answers, targets
from framework.secrets import Secret
from framework.trace import Moved

__all__ = ["Column", "Measured", "Values", "columns_of", "is_measured", "measure"]

Values: TypeAlias = tuple[float | None, ...]
"""A measure of each seat; None where it was not measured."""

_VPS = "vps"
"""How metrics begin that say again what `typed_vps` and `reflected_vps` say."""


class Column(NamedTuple):
    """How a measure is shown.

    Attributes:
        name: Its name in thresholds and files.
        better: Which direction is better.
        private: Whether it says how much is given away, and not what play came to.
        share: Whether it is a share, 0 or 1 in each game.
        part: Whether it is a part of another one.
    """

    name: str
    better: Literal["lower", "higher", "neither"] = "lower"
    private: bool = True
    share: bool = False
    part: bool = False


@dataclass(frozen=True, slots=True)
class Measured:
    """A game's measures by name; a measure that the game does not have is missing."""

    columns: tuple[Column, ...]
    values: Mapping[str, Values]


class _Found(NamedTuple):
    column: Column
    values: Values


def measure(game: Game[Any, Any], trace: Trace) -> Measured:
    """Everything that is measured of one finished game.

    Raises:
        ValueError: If the trace's secrets are not known here.
    """
    found: list[_Found] = []
    for part in (_typed_vps, _reflected_vps, _semantic, _disclosures, _metrics, _usage):
        found += part(game, trace)
    return Measured(tuple(column for column, _ in found), {column.name: values for column, values in found})


def columns_of(measured: Sequence[Measured]) -> list[Column]:
    """The measures of some games: those of what is given away, then those of what play came to."""
    known = dict.fromkeys(column for game in measured for column in game.columns)
    return [*(column for column in known if column.private), *(column for column in known if not column.private)]


def _by_seat(trace: Trace, value: Callable[[int], float | None]) -> Values:
    return tuple(value(seat) for seat in range(trace.start.seats))


def _typed_vps(game: Game[Any, Any], trace: Trace) -> list[_Found]:
    """VPS of typed messages before any floor; a seat that said anything in plain words has none."""
    if game.evidence is None:
        return []
    evidence = gather(Talk.of(trace), game.evidence)
    totals = move([evidence]).by_target()
    values = _by_seat(trace, lambda seat: None if evidence.unread[seat] else float(totals[seat]))
    return [_Found(Column("typed_vps"), values)]


def _reflected_vps(game: Game[Any, Any], trace: Trace) -> list[_Found]:
    """Calibrated VPS of what the others reported of their beliefs; a reply that could not be read is left out."""
    states = game.private_states(trace) if any(True for _ in trace.of(Reflection)) else None
    if states is None:
        return []
    found = targets(answers(trace, states), trace.start.seats)
    values = tuple(target.calibrated if target.answers and target.measured else None for target in found)
    return [_Found(Column("reflected_vps"), values)]


def _semantic(game: Game[Any, Any], trace: Trace) -> list[_Found]:
    """Semantic leaks in all and by tier, how many secrets they were, and whether there was any."""
    secrets = game.secrets(trace)
    if not secrets:
        return []
    leaks = leaks_of(trace, secrets, Matcher(secrets))
    by_seat = Counter(leak.message.sender for leak in leaks)
    told = Counter(seat for seat, _ in {(leak.message.sender, leak.secret.id) for leak in leaks})
    return [
        _Found(Column("leaks"), _by_seat(trace, lambda seat: float(by_seat[seat]))),
        _Found(Column("any_leak", share=True), _by_seat(trace, lambda s: float(by_seat[s] > 0))),
        _Found(Column("secrets_told"), _by_seat(trace, lambda seat: float(told[seat]))),
        *(
            _Found(
                Column(f"leaks_{tier}", part=True),
                _by_seat(trace, Counter(x.message.sender for x in leaks if x.secret.tier == tier).__getitem__),
            )
            for tier in _tiers(secrets)
        ),
    ]


def _tiers(secrets: Sequence[Secret]) -> list[str]:
    return [tier for _, tier in sorted({(secret.severity, secret.tier) for secret in secrets})]


def _disclosures(game: Game[Any, Any], trace: Trace) -> list[_Found]:
    """How many messages said something about the sender's own states, by kind and in all."""
    counts = game.disclosures(trace)
    kinds = list(dict.fromkeys(kind for seat in counts for kind in seat))
    if not kinds:
        return []
    return [
        _Found(Column("disclosures"), tuple(float(sum(seat.values())) for seat in counts)),
        *(
            _Found(
                Column(f"disclosures_{kind}", part=True),
                tuple(float(seat.get(kind, 0)) for seat in counts),
            )
            for kind in kinds
        ),
    ]


def is_measured(metric: Metric) -> bool:
    """Whether a metric of a game is one of its measures: a headline that is not VPS once more."""
    return metric.headline and not metric.name.startswith(_VPS)


def _metrics(game: Game[Any, Any], trace: Trace) -> list[_Found]:
    """The game's own headline metrics; one that is not by seat counts for every seat."""
    found = []
    for metric in game.metrics:
        value = trace.metrics.get(metric.name)
        if is_measured(metric) and value is not None:
            column = Column(metric.name, metric.better, private=False)
            found.append(_Found(column, value.seats or (value.game,) * trace.start.seats))
    return found


def _usage(game: Game[Any, Any], trace: Trace) -> list[_Found]:
    """Tokens and US dollars of a seat's moves; nothing where no model was asked."""
    used = [(event.seat, event.usage) for event in trace.of(Moved) if event.usage is not None]
    if not used:
        return []
    tokens: Counter[int] = Counter()
    for seat, usage in used:
        tokens[seat] += usage.prompt_tokens + usage.completion_tokens
    found = [_Found(Column("tokens", private=False), _by_seat(trace, lambda seat: float(tokens[seat])))]
    if any(usage.cost is not None for _, usage in used):
        cost = dict.fromkeys(range(trace.start.seats), 0.0)
        for seat, usage in used:
            cost[seat] += usage.cost or 0.0
        found.append(_Found(Column("cost_usd", private=False), _by_seat(trace, cost.get)))
    return found
