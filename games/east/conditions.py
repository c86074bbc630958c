"""Epistemic conditions: who is told what, and where rational seats would meet.

Source: EAST paper, section 2.2. The last two are beyond the paper; it lists them as future work.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from framework.focal import Knowledge
from games.east.scenario import PAPER, PromptVariant, Role, Scenario, Vignette, shuffled

__all__ = ["BEYOND", "CONDITIONS", "NOISE", "PERSONAS", "Briefing", "Condition"]

Personas: TypeAlias = tuple[str, str]

PERSONAS: tuple[str, ...] = tuple(dict.fromkeys(persona for v in PAPER for persona in v.personas))
"""Whom a stranger may turn out to be: every persona of the paper, whatever game is played."""

NOISE = 0.25
"""Probability that a persona disclosed in the `noisy` condition is another one."""


class Briefing(NamedTuple):
    """What seats 0 and 1 are told."""

    seat_0: Knowledge
    seat_1: Knowledge


@dataclass(frozen=True, slots=True)
class Condition:
    """An epistemic condition.

    Attributes:
        name: Its name in ids, tables and configs.
        title: Its name for people.
        target: The role on which rational seats would meet.
        brief: What the seats with these two personas are told; chance comes from the source handed to it.
    """

    name: str
    title: str
    target: Role
    brief: Callable[[Personas, random.Random], Briefing]

    def scenario(self, vignette: Vignette, prompt: PromptVariant = "direct", seed: int = 0) -> Scenario:
        """The game that this condition makes of a vignette; the word orders come from the seed."""
        rng = random.Random(f"{seed}/{vignette.id}/{self.name}/{prompt}")
        orders = shuffled(vignette.words, rng)
        briefing = self.brief(vignette.personas, rng)
        return Scenario(
            vignette=vignette,
            condition=self.name,
            target=self.target,
            prompt=prompt,
            knowledge=(briefing.seat_0, briefing.seat_1),
            orders=orders,
        )


def _symmetric(personas: Personas, rng: random.Random) -> Briefing:
    one, two = personas
    return Briefing(
        Knowledge(own=one, partner=two, partner_takes_me_for=one),
        Knowledge(own=two, partner=one, partner_takes_me_for=two),
    )


def _asymmetric(personas: Personas, rng: random.Random) -> Briefing:
    one, two = personas
    return Briefing(Knowledge(own=one, partner=two), Knowledge(own=two, partner_takes_me_for=two))


def _zero_knowledge(personas: Personas, rng: random.Random) -> Briefing:
    one, two = personas
    return Briefing(Knowledge(own=one), Knowledge(own=two))


def _false_belief(personas: Personas, rng: random.Random) -> Briefing:
    """Seat 0 is told that the partner shares its own persona, and seat 1 is told of that."""
    one, two = personas
    return Briefing(
        Knowledge(own=one, partner=one, partner_takes_me_for=one),
        Knowledge(own=two, partner=one, partner_takes_me_for=one),
    )


def _noisy(personas: Personas, rng: random.Random) -> Briefing:
    """Both are told who the other is, and that such a statement is right in three of four cases."""
    strangers = [persona for persona in PERSONAS if persona not in personas]
    told = [rng.choice(strangers) if rng.random() < NOISE else truth for truth in personas]
    one, two = personas
    sure = 1.0 - NOISE
    return Briefing(
        Knowledge(own=one, partner=told[1], partner_takes_me_for=one, reliability=sure),
        Knowledge(own=two, partner=told[0], partner_takes_me_for=two, reliability=sure),
    )


CONDITIONS: tuple[Condition, ...] = (
    Condition("symmetric", "Symmetric", "shared", _symmetric),
    Condition("asymmetric", "Asymmetric", "persona_2", _asymmetric),
    Condition("zero_knowledge", "Zero knowledge", "unrelated", _zero_knowledge),
)
"""The three conditions of the paper."""

BEYOND: tuple[Condition, ...] = (
    Condition("false_belief", "False belief", "persona_1", _false_belief),
    Condition("noisy", "Noisy disclosure", "shared", _noisy),
)
"""Conditions that are not in the paper."""
