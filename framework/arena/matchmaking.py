"""Who meets whom: the player that has played least, and opponents that are near it in MMR."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import NamedTuple

__all__ = ["Pairing", "choose_players", "seat_players"]


class Pairing(NamedTuple):
    """How players are chosen.

    Attributes:
        explore: How often an opponent is drawn without regard to ratings, 0 to 1.
        distance: MMR over which the odds of being drawn fall to 1/e.
    """

    explore: float
    distance: float


def choose_players(
    played: Mapping[str, int], mmr: Mapping[str, float], count: int, pairing: Pairing, rng: random.Random
) -> tuple[str, ...]:
    """The players of a game.

    The first is one of those that have played least. Each opponent is drawn from those that are left: with
    probability `explore` all alike, otherwise with weight `exp(-|difference in MMR| / distance)`.

    Args:
        played: Games of each player; its keys are the pool.
        mmr: The MMR of each.
        count: How many are wanted, at most as many as there are.
        pairing: How they are chosen.
        rng: Where chance comes from.
    """
    names = sorted(played)
    fewest = min(played.values())
    anchor = rng.choice([name for name in names if played[name] == fewest])
    chosen, left = [anchor], [name for name in names if name != anchor]
    while left and len(chosen) < count:
        if rng.random() < pairing.explore:
            weights = [1.0] * len(left)
        else:
            gaps = [abs(mmr[name] - mmr[anchor]) for name in left]
            # Against the nearest, so that the weights of players who are all far away are not all zero.
            weights = [math.exp(-(gap - min(gaps)) / pairing.distance) for gap in gaps]
        (name,) = rng.choices(left, weights)
        chosen.append(name)
        left.remove(name)
    return tuple(chosen)


def seat_players(players: Sequence[str], seats: int, rng: random.Random) -> tuple[str, ...]:
    """The player in each seat: all take as many as can be, none more than one seat more than another."""
    order = rng.sample(list(players), len(players))
    seating = [order[seat % len(order)] for seat in range(seats)]
    rng.shuffle(seating)
    return tuple(seating)
