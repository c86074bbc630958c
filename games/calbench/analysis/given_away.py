"""What each seat gave away in each round: typed VPS, or what models say of their beliefs (paper, F.2 and F.3)."""

from __future__ import annotations

from collections import defaultdict
from typing import Literal, NamedTuple

import numpy as np

from framework import Trace
from framework.beliefs import move
from framework.evidence import Talk, gather
from framework.reflection import Reflection, movement
from games.calbench.history import calendars_by_round
from games.calbench.privacy import EVIDENCE

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
    the round ended; a reply that could not be read counts for nothing. Otherwise it is read from typed
    messages, and a seat that sent any other has none.
    """
    rounds, seats = trace.start.rounds, trace.start.seats
    if any(reflection.deltas for reflection in trace.of(Reflection)):
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
    calendars = calendars_by_round(trace)
    found: dict[tuple[int, int], float] = defaultdict(float)
    for reflection in trace.of(Reflection):
        occupied = [item is not None for item in calendars[reflection.round + 1][reflection.target].slots]
        if len(reflection.deltas) == len(occupied):
            found[reflection.round, reflection.target] += movement(reflection.deltas, occupied).calibrated
    return tuple(tuple(found.get((round, seat)) for seat in range(seats)) for round in range(rounds))
