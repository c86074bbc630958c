"""Strategies for focal-point problems that ask no model: they play any game that offers a `FocalView`.

Of two options that a strategy rates alike it takes the one that belongs more to anyone, and then the first
by name, so that the order in which a seat happens to see its options decides nothing.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from pydantic import Field

from framework.focal import ANYONE, FocalView, Knowledge
from framework.messages import Action, Observation
from framework.strategy import Params, Strategy

__all__ = ["Egocentric", "FocalStrategy", "LevelK", "LevelKParams", "Normative", "Uniform"]


class FocalStrategy(Strategy[Observation]):
    """Chooses an option from a focal view; a subclass says which."""

    @abstractmethod
    def pick(self, view: FocalView) -> str:
        """The option to choose."""

    async def act(self, observation: Observation) -> Sequence[Action]:
        view = observation.focal
        if view is None:
            name = type(self).__name__
            raise TypeError(f"{name} needs a game that offers a focal view; {type(observation).__name__} has none")
        return view.choose(self.pick(view))


class Uniform(FocalStrategy):
    """Any option, at random."""

    def pick(self, view: FocalView) -> str:
        return self.rng.choice(view.options)


class Egocentric(FocalStrategy):
    """The option nearest to one's own identity."""

    def pick(self, view: FocalView) -> str:
        return _nearest(view, view.knowledge.own)


class Normative(FocalStrategy):
    """The option nearest to what both know that both know (EAST paper, section 2.2).

    An identity is common ground if the party that does not have it has been told it. Where one identity
    is, its own option is the focal point; where both are, the option that is nearest to the farther of
    the two; where none is, the option that belongs to anyone.
    """

    def pick(self, view: FocalView) -> str:
        strength, knowledge = view.association.strength, view.knowledge
        mine = () if knowledge.partner_takes_me_for is None else (knowledge.partner_takes_me_for,)
        grounds = [(mine or (ANYONE,), 1.0)]
        if knowledge.partner is not None:
            grounds = [((*mine, theirs), share) for theirs, share in _beliefs(view, knowledge).items()]

        def rating(option: str) -> float:
            return sum(share * min(strength(who, option) for who in common) for common, share in grounds)

        return _best(view, rating)


class LevelKParams(Params):
    """Parameters of `LevelK`.

    Attributes:
        k: Depth of reasoning; 0 is egocentric.
    """

    k: int = Field(default=1, ge=0, le=3)


class LevelK(FocalStrategy):
    """Best response to a partner who reasons one level less deeply, as far as one's own knowledge allows.

    A seat that does not know its partner's identity takes every identity for equally likely, and what
    the partner would know is `Knowledge.of_partner`.
    """

    params_type = LevelKParams

    def pick(self, view: FocalView) -> str:
        @cache
        def choice(knowledge: Knowledge, level: int) -> str:
            if level == 0:
                return _nearest(view, knowledge.own)
            votes = dict.fromkeys(view.options, 0.0)
            for identity, share in _beliefs(view, knowledge).items():
                votes[choice(knowledge.of_partner(identity), level - 1)] += share
            return _best(view, lambda option: votes[option])

        return choice(view.knowledge, self.params.k)


def _beliefs(view: FocalView, knowledge: Knowledge) -> Mapping[str, float]:
    """How likely the partner is to have each identity."""
    anyone = dict.fromkeys(view.identities, 1.0 / len(view.identities))
    if knowledge.partner is None:
        return anyone
    sure = knowledge.reliability
    if sure == 1.0:
        return {knowledge.partner: 1.0}
    mixed = {who: (1.0 - sure) * share for who, share in anyone.items()}
    mixed[knowledge.partner] = mixed.get(knowledge.partner, 0.0) + sure
    return mixed


def _nearest(view: FocalView, identity: str) -> str:
    return _best(view, lambda option: view.association.strength(identity, option))


def _best(view: FocalView, rating: Callable[[str], float]) -> str:
    def key(option: str) -> tuple[float, float, str]:
        return (-round(rating(option), 9), -view.association.strength(ANYONE, option), option)

    return min(view.options, key=key)
