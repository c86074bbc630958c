"""The numbers of DSM: satisfaction, points, and how many offers to make at once (paper, D.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from framework import AgreementView

__all__ = [
    "Knobs",
    "Offer",
    "OfferSet",
    "choose_offers",
    "offers_of",
    "reward",
    "satisfaction",
    "scoring_cost",
    "success",
    "utility",
]


class Knobs(Protocol):
    """The parameters that the size of an offer set depends on."""

    @property
    def L_min(self) -> int: ...
    @property
    def L_max(self) -> int: ...
    @property
    def beta(self) -> float: ...
    @property
    def theta(self) -> float: ...
    @property
    def w_soc(self) -> float: ...
    @property
    def c_priv(self) -> float: ...
    @property
    def D(self) -> int: ...


class Offer(NamedTuple):
    """A way to settle: an option, and the earlier agreements that would have to move for it.

    Attributes:
        option: The option.
        moves: Earlier agreement -> its new option.
        satisfaction: How content the initiator is with it, `1..D-1`.
    """

    option: int
    moves: Mapping[int, int]
    satisfaction: int

    def seen_by(self, seat: int, view: AgreementView) -> dict[int, int]:
        """The moves of agreements that a seat is a party of."""
        return {id: target for id, target in self.moves.items() if seat in view.settled[id].parties}

    def others(self, view: AgreementView) -> set[int]:
        """The parties of what would move that are no parties of the agreement of the round."""
        moved = {seat for id in self.moves for seat in view.settled[id].parties}
        return moved.difference(view.parties)


class OfferSet(NamedTuple):
    """How many of the best offers to make, and what that is worth.

    Attributes:
        size: `L`.
        utility: `U(L)`.
    """

    size: int
    utility: float


def satisfaction(cost: int | None, D: int) -> int:
    """The satisfaction level of a cost on the internal scale: 0 for None, else `max(1, D-1-cost)`."""
    return 0 if cost is None else max(1, D - 1 - cost)


def scoring_cost(score: int, D: int) -> int:
    """Points that a reported score costs: `C(s) = D - s - 1`, nothing for 0."""
    return 0 if score == 0 else D - score - 1


def reward(score: int, scored: int, offered: int, D: int) -> int:
    """Points for the responder whose score was selected.

    `R = (D-1-s*) + max(0, min(A, L) - 1)`, and 0 where `s*` is 0 or `D-1`.

    Args:
        score: `s*`, its score of the chosen offer.
        scored: `A`, how many of the offers it gave a score above 0.
        offered: `L`, how many offers it was made.
        D: Number of satisfaction levels.
    """
    if score in (0, D - 1):
        return 0
    return (D - 1 - score) + max(0, min(scored, offered) - 1)


def success(size: int, free: float, responders: int) -> float:
    """`p_succ(L) = 1 - (1-p)^L`: the chance that one of `L` offers suits everyone.

    `p = clamp(q^r, .01, .95)` with `q = clamp(free, .05, .95)`, the share of the initiator's own options that
    are free standing in for everyone's, and `r` responders.
    """
    q = min(max(free, 0.05), 0.95)
    p = min(max(q**responders, 0.01), 0.95)
    return float(1.0 - (1.0 - p) ** size)


def utility(size: int, value: float, chance: float, knobs: Knobs) -> float:
    """`U(L) = p_succ v + w_soc p_succ - theta c_priv L - beta (1 - p_succ)`.

    Args:
        size: `L`.
        value: Mean of the initiator's own satisfaction over the offers, over `D-1`.
        chance: `p_succ(L)`.
        knobs: The weights.
    """
    gain = chance * value + knobs.w_soc * chance
    return gain - knobs.theta * knobs.c_priv * size - knobs.beta * (1.0 - chance)


def choose_offers(satisfactions: Sequence[int], free: float, responders: int, knobs: Knobs) -> OfferSet:
    """The size of the offer set that maximises `U`, the smaller on a tie.

    Args:
        satisfactions: The initiator's own, best first; at least one.
        free: Share of its options that are free.
        responders: How many parties answer.
        knobs: Weights, and the bounds `L_min` and `L_max`.
    """
    most = min(knobs.L_max, len(satisfactions))
    sets: list[OfferSet] = []
    for size in range(min(knobs.L_min, most), most + 1):
        value = sum(satisfactions[:size]) / size / (knobs.D - 1)
        worth = utility(size, value, success(size, free, responders), knobs)
        sets.append(OfferSet(size, round(worth, 12)))  # so that rounding makes no difference where there is none
    return max(sets, key=lambda offers: offers.utility)


def offers_of(view: AgreementView, D: int, depth: int, targets: int) -> list[Offer]:
    """All offers that an initiator can make, best first, the lower option on a tie.

    An option that an earlier agreement holds is offered with ways to move that agreement, see `ways_out`.

    Args:
        view: The initiator's view.
        D: Number of satisfaction levels.
        depth: How many agreements may move for one offer.
        targets: How many ways out are considered for one agreement.
    """
    offers: list[Offer] = []
    for option in view.options:
        ways = [{}] if option.agreement is None else ways_out(view, option.agreement, depth, targets)
        for moves in ways:
            cost = view.price(option.index, moves)
            if cost is not None:
                offers.append(Offer(option.index, moves, satisfaction(cost, D)))
    return sorted(offers, key=lambda offer: -offer.satisfaction)


def ways_out(
    view: AgreementView, agreement: int, depth: int, targets: int, taken: frozenset[int] = frozenset()
) -> list[dict[int, int]]:
    """Ways to move an earlier agreement off its option, the cheapest first.

    It moves to an option that is free for the initiator, or, where `depth` allows, to that of another
    earlier agreement, which moves in turn.
    """
    if depth < 1:
        return []
    taken |= {view.settled[agreement].option}
    ways = [{agreement: option.index} for option in view.options if option.held_by == "free"][:targets]
    if depth > 1 and len(ways) < targets:
        onward = [
            {agreement: option.index, **moves}
            for option in view.options
            if option.agreement is not None and option.index not in taken
            for moves in ways_out(view, option.agreement, depth - 1, targets, taken)
        ]
        ways += sorted(onward, key=lambda moves: sum(view.settled[id].cost for id in moves))
    return ways[:targets]
