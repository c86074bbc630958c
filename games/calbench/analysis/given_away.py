"""What each seat gave away in each round: typed VPS, or what models say of their beliefs (paper, F.2 and F.3)."""

from __future__ import annotations

from collections import defaultdict
from typing import Literal, NamedTuple

import numpy as np

from framework import Trace
from framework.beliefs import move
from framework.evidence import Talk, gather
from framework.reflection import Reflection
from framework.reflection_tables import answers
from games.calbench.privacy import EVIDENCE
from games.calbench.private import private_states

__all__ = ["GivenAway", "given_away"]


class GivenAway(NamedTuple):
    """VPS by round and seat as a target, before any floor.

    Attributes:
        source: Where it comes from.
        vps: Shape (rounds, seats); None where it was not measured.
    """

    source: Literal["typed", "reflected", "none"]
    vps: tuple[tuple[float | None, ...], ...]


def given_away(trace: Trace) -> GivenAway:
    """What each seat gave away in each round, summed over its observers.

    Where seats were asked about their beliefs, it is calibrated by what was on the target's calendar when
    the round ended, and a reply that could not be read counts as no movement. Otherwise it is read from
    typed messages, and a seat that sent any other has none.
    """
    rounds, seats = trace.start.rounds, trace.start.seats
    if next(trace.of(Reflection), None) is not None:
        return GivenAway("reflected", _reflected(trace, rounds, seats))
    evidence = gather(Talk.of(trace), EVIDENCE)
    moved = move([evidence])
    table = np.zeros((rounds, seats))
    np.add.at(table, (moved.round, moved.target), moved.gain)
    typed = [not unread for unread in evidence.unread]
    vps = tuple(
        tuple(float(value) if known else None for value, known in zip(row, typed, strict=True)) for row in table
    )
    return GivenAway("typed" if any(typed) else "none", vps)


def _reflected(trace: Trace, rounds: int, seats: int) -> tuple[tuple[float | None, ...], ...]:
    found: dict[tuple[int, int], float] = defaultdict(float)
    for answer in answers(trace, private_states(trace)):
        if answer.reported is not None:
            found[answer.said.round, answer.said.target] += answer.reported.calibrated
    return tuple(tuple(found.get((round, seat)) for seat in range(seats)) for round in range(rounds))
