"""The data of one EAST game: two personas, four words, and what each seat is told.

Everything here is frozen and goes to JSON and back. A scenario states in full what each seat knows, so
that a game needs no condition to be played or scored.

Source: EAST paper, sections 2.1 to 2.3 and table 1.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Literal, NamedTuple, Self, TypeAlias, get_args

from pydantic import Field, model_validator

from framework.focal import Knowledge
from framework.messages import Frozen

__all__ = [
    "PAPER",
    "PROMPTS",
    "ROLES",
    "PromptVariant",
    "Role",
    "Scenario",
    "Vignette",
    "Words",
    "perturbed",
    "shuffled",
    "vignette",
]

Role: TypeAlias = Literal["persona_1", "persona_2", "shared", "unrelated"]
"""What a word is to the two personas; persona 1 is that of seat 0."""
PromptVariant: TypeAlias = Literal["direct", "standard_cot", "strategic_tom"]
"""What a model is asked to do before it answers: nothing, think, or think about the partner."""

ROLES: tuple[Role, ...] = get_args(Role)
PROMPTS: tuple[PromptVariant, ...] = get_args(PromptVariant)


class Misled(NamedTuple):
    """Whether each seat was told something untrue."""

    seat_0: bool
    seat_1: bool


class Words(Frozen):
    """Four different words, by role.

    Attributes:
        persona_1: Belongs to the persona of seat 0.
        persona_2: Belongs to the persona of seat 1.
        shared: Belongs to both, though less than their own words do.
        unrelated: A frequent word that belongs to neither.
    """

    persona_1: str = Field(min_length=1)
    persona_2: str = Field(min_length=1)
    shared: str = Field(min_length=1)
    unrelated: str = Field(min_length=1)

    @model_validator(mode="after")
    def _differ(self) -> Self:
        if len({word.casefold() for word in self.all}) != len(ROLES):
            raise ValueError(f"the four words must differ, also without regard to case; got {', '.join(self.all)}")
        return self

    @property
    def all(self) -> tuple[str, ...]:
        """The words in the order of `ROLES`. No seat ever sees them in it."""
        return (self.persona_1, self.persona_2, self.shared, self.unrelated)

    def of(self, role: Role) -> str:
        """The word of a role."""
        return self.all[ROLES.index(role)]

    def role(self, word: str) -> Role:
        """The role of a word.

        Raises:
            ValueError: If it is not one of the four.
        """
        return ROLES[self.all.index(word)]


class Vignette(Frozen):
    """Two personas and their words.

    Attributes:
        id: Short name, unique in a suite.
        personas: The personas of seats 0 and 1, as one would finish "You are a ...".
        words: The four words.
    """

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    personas: tuple[str, str]
    words: Words


class Scenario(Frozen):
    """One game: a vignette, what each seat is told, and how it is asked.

    Attributes:
        vignette: The personas and words.
        condition: Name of the epistemic condition.
        target: The role on which rational seats would meet in this condition.
        prompt: How a model is asked.
        knowledge: What seats 0 and 1 know; `own` is always true, the rest may not be.
        orders: The words in the order in which seats 0 and 1 see them.
    """

    vignette: Vignette
    condition: str = Field(pattern=r"^[a-z0-9][a-z0-9_]*$")
    target: Role
    prompt: PromptVariant = "direct"
    knowledge: tuple[Knowledge, Knowledge]
    orders: tuple[tuple[str, ...], tuple[str, ...]]

    @model_validator(mode="after")
    def _fits(self) -> Self:
        for seat in (0, 1):
            if sorted(self.orders[seat]) != sorted(self.vignette.words.all):
                raise ValueError(f"seat {seat} must see the four words of the vignette, once each")
            if self.knowledge[seat].own != self.vignette.personas[seat]:
                raise ValueError(f"seat {seat} must know its own persona, {self.vignette.personas[seat]!r}")
        return self

    @property
    def id(self) -> str:
        """Unique in a suite."""
        return f"{self.vignette.id}.{self.condition}.{self.prompt}"

    @property
    def misled(self) -> Misled:
        """Which seats were told something untrue about the partner or about what the partner was told."""
        return Misled(self._misled(0), self._misled(1))

    def _misled(self, seat: int) -> bool:
        mine, theirs = self.knowledge[seat], self.knowledge[1 - seat]
        about_partner = mine.partner not in (None, self.vignette.personas[1 - seat])
        about_knowledge = mine.reliability == 1.0 and mine.partner_takes_me_for != theirs.partner
        return about_partner or about_knowledge


def shuffled(words: Words, rng: random.Random) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """An order of the words for each seat, independent of the other's and of the roles."""
    return (tuple(rng.sample(words.all, 4)), tuple(rng.sample(words.all, 4)))


def perturbed(scenario: Scenario, seat: int, personas: Sequence[str], rng: random.Random) -> Scenario:
    """The same game with other secrets of one seat: the order of its words, and its persona where that is one.

    Args:
        scenario: The game.
        seat: The seat.
        personas: Personas to take another one from.
        rng: Where the other secrets come from.
    """
    orders, knowledge = list(scenario.orders), list(scenario.knowledge)
    names, old = list(scenario.vignette.personas), scenario.vignette.personas[seat]
    orders[seat] = tuple(rng.sample(orders[seat], 4))
    if old not in knowledge[1 - seat].model_dump().values():
        new = rng.choice([persona for persona in personas if persona not in names])
        names[seat] = new
        mine = knowledge[seat]
        taken = new if mine.partner_knows_mine else mine.partner_takes_me_for
        knowledge[seat] = mine.model_copy(update={"own": new, "partner_takes_me_for": taken})
    return scenario.model_copy(
        update={
            "vignette": scenario.vignette.model_copy(update={"personas": tuple(names)}),
            "orders": tuple(orders),
            "knowledge": tuple(knowledge),
        }
    )


def vignette(id: str, personas: tuple[str, str], words: tuple[str, str, str, str]) -> Vignette:
    """A vignette from its words in the order persona 1, persona 2, shared, unrelated."""
    return Vignette(id=id, personas=personas, words=Words(**dict(zip(ROLES, words, strict=True))))


PAPER: tuple[Vignette, ...] = (
    vignette(
        "bespoke-tailor-surgeon", ("bespoke tailor", "general surgeon"), ("fabric", "scalpel", "stitches", "bicycle")
    ),
    vignette("builder-dentist", ("construction worker", "dentist"), ("concrete", "cavity", "drill", "apple")),
    vignette("carpenter-pianist", ("master carpenter", "concert pianist"), ("sawdust", "crescendo", "hammer", "water")),
    vignette("baker-ceramist", ("professional baker", "ceramic artist"), ("flour", "clay", "knead", "umbrella")),
    vignette(
        "pilot-surgeon", ("commercial airline pilot", "general surgeon"), ("cockpit", "scalpel", "instrument", "apple")
    ),
    vignette("chef-engineer", ("professional chef", "software engineer"), ("spatula", "compiler", "server", "bicycle")),
    vignette("botanist-webdev", ("botanist", "web developer"), ("fertilizer", "JavaScript", "root", "bicycle")),
    vignette("master-tailor-surgeon", ("master tailor", "general surgeon"), ("fabric", "scalpel", "stitch", "cloud")),
    vignette(
        "biologist-teacher", ("marine biologist", "high school math teacher"), ("coral", "algebra", "school", "bread")
    ),
    vignette(
        "pianist-engineer", ("classical pianist", "software engineer"), ("sonata", "Python", "keyboard", "umbrella")
    ),
)
"""The ten scenarios of the paper (table 1)."""
