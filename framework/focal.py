"""The typed view of a focal-point problem, which protocols are written against.

Two parties have to name the same option without a word between them, and what each of them knows of
the other's identity, and of the other's knowledge, is stated as data. A game that is of this kind hands
a seat a `FocalView`; a protocol never needs to know what the options and the identities are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from pydantic import Field

from framework.messages import Action, Frozen

__all__ = ["ANYONE", "Association", "FocalView", "Knowledge"]

ANYONE = "anyone"
"""The identity of a person of whom nothing is known."""


class Knowledge(Frozen):
    """What one party knows of the other, and of the other's knowledge.

    Attributes:
        own: Its own identity.
        partner: Whom it takes the partner for; None if it knows nothing. It may be mistaken.
        partner_takes_me_for: Whom the partner takes it for, as far as it knows; None if the partner
            knows nothing of it.
        reliability: The probability, known to both, that a statement of identity is right.
        partner_knows_what_i_know: The structure of knowledge is common knowledge, always.
    """

    own: str
    partner: str | None = None
    partner_takes_me_for: str | None = None
    reliability: float = Field(default=1.0, gt=0.0, le=1.0)
    partner_knows_what_i_know: Literal[True] = True

    @property
    def partner_knows_mine(self) -> bool:
        """Whether the partner knows this party's identity, as far as this party knows."""
        return self.partner_takes_me_for == self.own

    def of_partner(self, identity: str) -> Knowledge:
        """What a partner with this identity would know, as far as this party can tell."""
        return Knowledge(
            own=identity,
            partner=self.partner_takes_me_for,
            partner_takes_me_for=None if self.partner is None else identity,
            reliability=self.reliability,
        )


class Association(Protocol):
    """How strongly an option belongs to an identity, as both parties would judge it."""

    def strength(self, identity: str, option: str) -> float:
        """Association strength; only its order matters. The identity may be `ANYONE`."""
        ...


@dataclass(frozen=True, slots=True)
class FocalView:
    """One party's view of a focal-point problem.

    Attributes:
        options: The options, in the order in which this party sees them.
        knowledge: What it knows of the partner and of the partner's knowledge.
        identities: Whom a stranger may turn out to be. The same for both parties.
        association: How strongly options belong to identities.
        choose: The batch that chooses an option.
    """

    options: tuple[str, ...]
    knowledge: Knowledge
    identities: tuple[str, ...]
    association: Association
    choose: Callable[[str], tuple[Action, ...]]
