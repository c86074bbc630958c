"""What an EAST seat sees, and the one thing that it can do."""

from __future__ import annotations

from typing import Literal

from framework.focal import FocalView, Knowledge
from framework.messages import Action, Observation
from games.east.association import AssociationName, association
from games.east.conditions import PERSONAS
from games.east.scenario import PromptVariant

__all__ = ["Choose", "EastObservation", "describe"]


class Choose(Action):
    """Choose a word.

    Attributes:
        chosen_word: The word; case and surrounding space do not matter.
    """

    type: Literal["choose"] = "choose"
    chosen_word: str


class EastObservation(Observation):
    """All that a seat knows: who it is, what it was told, and the words in an order of its own.

    Attributes:
        knowledge: What it knows of the partner, and of the partner's knowledge.
        words: The four words, with no hint of their roles.
        prompt: How a model is asked.
        association: Where strategies without a model take association strengths from.
    """

    knowledge: Knowledge
    words: tuple[str, ...]
    prompt: PromptVariant
    association: AssociationName = "table"

    @property
    def focal(self) -> FocalView:
        return FocalView(
            options=self.words,
            knowledge=self.knowledge,
            identities=PERSONAS,
            association=association(self.association),
            choose=lambda word: (Choose(chosen_word=word),),
        )

    def describe(self) -> str:
        return describe(self.knowledge, self.words)


def describe(knowledge: Knowledge, words: tuple[str, ...]) -> str:
    """A seat's own view, as text for people."""
    taken = knowledge.partner_takes_me_for
    to_them = f"you are: {taken or 'unknown'}"
    if taken is not None and not knowledge.partner_knows_mine:
        to_them += " (they were told so, and it is not true)"
    lines = [
        "Choose the word that the other player chooses. You win if it is the same, and you cannot talk.",
        f"You are: {knowledge.own}",
        f"The other player is: {knowledge.partner or 'unknown to you'}",
        f"To the other player {to_them}",
        f"Words: {', '.join(words)}",
    ]
    if knowledge.reliability < 1.0:
        lines.insert(
            4, f"What players are told about each other is right in {100 * knowledge.reliability:g} % of cases."
        )
    return "\n".join(lines)
