"""Turns a finished game into the one number, and the few sentences, that an optimizer needs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from framework import Metric, Trace
from framework.errors import UserError, nearest
from framework.trace import BatchRejected, InvalidAction
from protocols.events import InvalidResponse

__all__ = ["Weights", "check_weights", "feedback", "score"]

Weights = Mapping[str, float]
"""How much each metric counts, by its name."""

_MOST = 3


class _Part(NamedTuple):
    weight: float
    value: float


def check_weights(weights: Weights, metrics: Sequence[Metric]) -> None:
    """See that weights can be used with a game.

    Raises:
        UserError: If a metric is unknown or has no direction, or the weights do not add up to something.
    """
    known = {metric.name: metric for metric in metrics}
    for name, weight in weights.items():
        if name not in known or known[name].better == "neither":
            directed = [metric.name for metric in metrics if metric.better != "neither"]
            raise UserError(f"weight {name!r} is not a metric with a direction; {nearest(name, directed)}")
        if not 0 <= weight < math.inf:
            raise UserError(f"weight {name} is {weight}; give a number that is not negative")
    if not sum(weights.values()) > 0:
        raise UserError("all weights are 0; give at least one metric a positive weight")


def score(trace: Trace, metrics: Sequence[Metric], weights: Weights) -> float:
    """The weighted mean of a game's metrics, from 0 to 1.

    A metric that is better when higher counts as it is, held to 0 to 1; one that is better when lower counts as
    `1 / (1 + value)`. Where both kinds are weighed, the latter are multiplied by the weighted mean of the former:
    who schedules nothing pays nothing and gives nothing away, and that is no success. A metric that the game
    does not have, such as a privacy measure in which nobody was asked, is left out and the others count for it.
    """
    better = {metric.name: metric.better for metric in metrics}
    gains, losses = [], []
    for name, weight in weights.items():
        measured = trace.metrics.get(name)
        if measured is None or measured.game is None:
            continue
        value = max(0.0, measured.game)
        if better[name] == "higher":
            gains.append(_Part(weight, min(1.0, value)))
        else:
            losses.append(_Part(weight, 1.0 / (1.0 + value)))
    earned = _mean(gains) if gains else 1.0
    return _mean([*gains, *(_Part(part.weight, part.value * earned) for part in losses)])


def _mean(parts: Sequence[_Part]) -> float:
    total = sum(part.weight for part in parts)
    return sum(part.weight * part.value for part in parts) / total if total else 0.0


def feedback(trace: Trace, weights: Weights) -> str:
    """What went well and what went wrong in a game, for a model that rewrites the block."""
    lines = [
        f"{name}: {value.game:.3f}"
        for name in weights
        if (value := trace.metrics.get(name)) is not None and value.game is not None
    ]
    lines.append(f"messages sent: {len(trace.posts)}")
    rejected = Counter(event.conflict.message for event in trace.of(BatchRejected))
    lines += [f"a batch was rejected {count} times: {why}" for why, count in rejected.most_common(_MOST)]
    invalid = Counter(event.conflict.message for event in trace.of(InvalidAction))
    lines += [f"an action was not allowed {count} times: {why}" for why, count in invalid.most_common(_MOST)]
    unreadable = list(trace.of(InvalidResponse))
    if unreadable:
        lines.append(f"{len(unreadable)} replies could not be read: {unreadable[0].error}")
    return "\n".join(lines)
