"""Whether a vignette is what it should be: does each word belong to whom it is meant for?

The paper lists stricter validation of its scenarios' semantics as future work (section 5). Here it is by an
association, which for anything but the paper's own words means the embedding model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from pydantic import Field

from framework.focal import Association
from framework.messages import Frozen
from games.east.scenario import ROLES, Vignette

__all__ = ["VettingLimits", "Strengths", "Vetting", "vet"]


class VettingLimits(Frozen):
    """What a vignette has to keep to; strengths are those of the association that it is vetted with.

    Attributes:
        own: A persona's word has to be stronger for it than for the other persona, by more than this.
        lead: A persona's word has to be stronger for it than the shared word is, by more than this.
        balance: The shared word's strength for the two personas may differ by so much.
        unrelated: For each persona, the shared word has to be stronger than the unrelated one, by more than this.
    """

    own: float = Field(default=0.0, ge=0)
    lead: float = Field(default=0.0, ge=0)
    balance: float = Field(default=0.15, ge=0)
    unrelated: float = Field(default=0.0, ge=0)


class Strengths(NamedTuple):
    """A persona's strengths, by role."""

    persona_1: float
    persona_2: float
    shared: float
    unrelated: float


@dataclass(frozen=True, slots=True)
class Vetting:
    """What vetting found.

    Attributes:
        vignette: The vignette.
        one: Strengths for persona 1.
        two: Strengths for persona 2.
        distance: Semantic distance between the personas; None if there is no measure of it.
        limits: What it was held to.
    """

    vignette: Vignette
    one: Strengths
    two: Strengths
    distance: float | None
    limits: VettingLimits

    @property
    def own(self) -> tuple[float, float]:
        """How much stronger each persona's word is for it than for the other one."""
        return (self.one.persona_1 - self.two.persona_1, self.two.persona_2 - self.one.persona_2)

    @property
    def lead(self) -> tuple[float, float]:
        """How much stronger each persona's word is for it than the shared word."""
        return (self.one.persona_1 - self.one.shared, self.two.persona_2 - self.two.shared)

    @property
    def balance(self) -> float:
        """How far the shared word's two strengths lie apart."""
        return abs(self.one.shared - self.two.shared)

    @property
    def unrelated(self) -> tuple[float, float]:
        """How much stronger the shared word is for each persona than the unrelated one."""
        return (self.one.shared - self.one.unrelated, self.two.shared - self.two.unrelated)

    @property
    def faults(self) -> tuple[str, ...]:
        """One sentence about each thing that is not as it should be."""
        words, personas, found = self.vignette.words, self.vignette.personas, []
        for seat, word in enumerate((words.persona_1, words.persona_2)):
            mine, theirs = personas[seat], personas[1 - seat]
            if self.own[seat] <= self.limits.own:
                found.append(f"{word} is no nearer to {mine} than to {theirs} ({self.own[seat]:+.2f})")
            if self.lead[seat] <= self.limits.lead:
                found.append(f"{word} is no nearer to {mine} than {words.shared} is ({self.lead[seat]:+.2f})")
            if self.unrelated[seat] <= self.limits.unrelated:
                gap = self.unrelated[seat]
                found.append(f"{words.shared} is no nearer to {mine} than {words.unrelated} is ({gap:+.2f})")
        if self.balance > self.limits.balance:
            found.append(f"{words.shared} is much nearer to one persona than to the other ({self.balance:.2f})")
        return tuple(found)

    @property
    def passed(self) -> bool:
        """Whether nothing is amiss."""
        return not self.faults


def vet(
    vignette: Vignette,
    association: Association,
    limits: VettingLimits | None = None,
    distance: Callable[[str, str], float] | None = None,
) -> Vetting:
    """Vet a vignette.

    Args:
        vignette: The vignette.
        association: Says how strongly a word belongs to a persona.
        limits: What to hold it to.
        distance: Semantic distance of two personas.
    """
    one, two = (
        Strengths(*(association.strength(persona, vignette.words.of(role)) for role in ROLES))
        for persona in vignette.personas
    )
    apart = None if distance is None else distance(*vignette.personas)
    return Vetting(vignette, one, two, apart, limits or VettingLimits())
