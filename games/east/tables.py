"""Tables of EAST: rates by strategy, condition and prompt; pairs of choices; cross-play.

Shares come with Wilson's 95 % interval. Aborted games are counted apart and enter no share.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from framework.stats import Interval, wilson
from games.east.outcome import Convergence
from games.east.results import Played, conditions_of, prompts_of, strategies_of
from games.east.scenario import ROLES, Role

__all__ = ["ALL", "Cell", "Pair", "Rate", "cells", "crossplay", "pairs", "share"]

ALL = "all"
"""Stands for all conditions or all prompts together."""


def share(count: int, n: int) -> Interval:
    """A share with Wilson's interval; NaN where there is nothing to share."""
    return wilson(count, n) if n else Interval(math.nan, math.nan, math.nan)


@dataclass(frozen=True, slots=True)
class Cell:
    """The games of one pairing in one condition with one prompt.

    Attributes:
        pairing: The strategy in self-play, `one x two` in cross-play.
        condition: The condition, or `all`.
        prompt: The prompt variant, or `all`.
        games: Finished games.
        aborted: Games that could not be finished.
        convergence: How many ended in each way.
        normative: How many of them ended on the target.
    """

    pairing: str
    condition: str
    prompt: str
    games: int
    aborted: int
    convergence: Counter[Convergence]
    normative: int

    @property
    def matches(self) -> int:
        """Games in which both chose the same word."""
        return sum(self.convergence[role] for role in ROLES)

    @property
    def accidental(self) -> int:
        """Matches on another word than the target."""
        return self.matches - self.normative

    @property
    def invalid(self) -> int:
        """Games in which a seat chose none of the four words."""
        return self.convergence["invalid"]


def _cell(games: Sequence[Played], pairing: str, condition: str, prompt: str) -> Cell:
    mine = [
        game
        for game in games
        if game.pairing == pairing and condition in (ALL, game.condition) and prompt in (ALL, game.prompt)
    ]
    outcomes = [game.outcome for game in mine if game.outcome is not None]
    return Cell(
        pairing=pairing,
        condition=condition,
        prompt=prompt,
        games=len(outcomes),
        aborted=len(mine) - len(outcomes),
        convergence=Counter(outcome.convergence for outcome in outcomes),
        normative=sum(outcome.normative for outcome in outcomes),
    )


def cells(games: Sequence[Played]) -> list[Cell]:
    """By pairing, condition and prompt, with the totals over prompts and over everything."""
    conditions, prompts = conditions_of(games), prompts_of(games)
    found = []
    for pairing in strategies_of(games):
        places = [*product(conditions, [*prompts, ALL] if len(prompts) > 1 else prompts), (ALL, ALL)]
        found += [_cell(games, pairing, condition, prompt) for condition, prompt in places]
    return [cell for cell in found if cell.games or cell.aborted]


@dataclass(frozen=True, slots=True)
class Pair:
    """How often seats 0 and 1 chose these two roles; None stands for none of the four words."""

    pairing: str
    condition: str
    prompt: str
    seat_0: Role | None
    seat_1: Role | None
    count: int


def pairs(games: Sequence[Played]) -> list[Pair]:
    """The ordered pairs of roles that were chosen, as often as they were."""
    counts = Counter(
        (game.pairing, game.condition, game.prompt, *game.outcome.roles) for game in games if game.outcome is not None
    )
    return [Pair(*key, count) for key, count in counts.items()]


@dataclass(frozen=True, slots=True)
class Rate:
    """Games of an ordered pair of strategies in one condition."""

    seat_0: str
    seat_1: str
    condition: str
    games: int
    normative: int
    matches: int


def crossplay(games: Sequence[Played]) -> list[Rate]:
    """By the strategies of seats 0 and 1, in each condition and in all."""
    found = []
    for condition in [*conditions_of(games), ALL]:
        here = [game for game in games if condition in (ALL, game.condition)]
        for one, two in dict.fromkeys(game.strategies for game in here):
            outcomes = [g.outcome for g in here if g.strategies == (one, two) and g.outcome is not None]
            normative, matches = sum(o.normative for o in outcomes), sum(o.match for o in outcomes)
            found.append(Rate(one, two, condition, len(outcomes), normative, matches))
    return found
