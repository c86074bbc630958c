"""How EAST speaks to a language model.

A message is rendered from the typed fields of an observation and from nothing else. The wording of the
shipped templates is our own; it gives the information of appendix A.1 of the paper, in the same order, and
asks for the same output fields.
"""

from __future__ import annotations

import json
import random
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, create_model

from framework.messages import Conflict
from framework.prompts import Move, Prompts
from framework.strategy import SeatStart
from games.east.observation import Choose, EastObservation
from games.east.scenario import PROMPTS

__all__ = ["Answer", "EastPrompts", "ReasonedAnswer", "with_article"]


class Answer(BaseModel):
    """The answer to the `direct` prompt."""

    model_config = ConfigDict(extra="ignore")

    chosen_word: str = Field(description="The word that you pick: one of the four words of the list.")


class ReasonedAnswer(BaseModel):
    """The answer to the other prompts. The reasoning comes first, so that a model writes it first."""

    model_config = ConfigDict(extra="ignore")

    reasoning: str = Field(description="Your reasoning, step by step.")
    chosen_word: str = Field(description="The word that you pick: one of the four words of the list.")


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore")

    reasoning: JsonValue = ""
    chosen_word: str


def with_article(noun: str) -> str:
    """A noun with its indefinite article, by its first letter."""
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


class EastPrompts(Prompts[EastObservation]):
    """One message a game, as in the paper.

    Templates see `knowledge` (`framework.Knowledge`), `words`, `prompt` and the function `a`, which puts the
    article before a noun. `user.j2` is the message and includes the file of its prompt variant; `retry.j2`
    asks anew after an invalid choice and sees `problem`, one sentence; `system.j2` is the system prompt,
    empty as in the paper.
    """

    templates = ("system", "user", "retry", "knowledge", *PROMPTS)
    default = Path(__file__).parent / "prompts" / "plain"

    def system(self, start: SeatStart) -> str:
        return self.render("system")

    def message(self, observation: EastObservation, first: bool, conflict: Conflict | None = None) -> str:
        values = {
            "knowledge": observation.knowledge,
            "words": observation.words,
            "prompt": observation.prompt,
            "a": with_article,
        }
        if conflict is None:
            return self.render("user", **values)
        return self.render("retry", **values, problem=conflict.message)

    def answer_type(self, start: SeatStart) -> type[BaseModel]:
        free = Answer if start.facts.get("prompt") == "direct" else ReasonedAnswer
        words = start.facts.get("words")
        return _constrained(free, _dealt(words, start)) if isinstance(words, list) else free

    def read(self, data: JsonValue) -> Move:
        """What an answer says; reasoning is taken where it comes, and is never missed."""
        answer = _Lenient.model_validate(data)
        thinking = answer.reasoning if isinstance(answer.reasoning, str) else json.dumps(answer.reasoning)
        return Move(thinking, (Choose(chosen_word=answer.chosen_word),))


def _dealt(words: list[JsonValue], start: SeatStart) -> tuple[str, ...]:
    """The words in an order that comes from the seat's own view, for a schema that a provider may show to the model.

    In one order for both seats, the first word would be a place to meet that the game does not offer.
    """
    names = sorted(map(str, words))
    return tuple(random.Random(f"{start.seat}/{start.view}").sample(names, len(names)))


@lru_cache(maxsize=128)
def _constrained(free: type[Answer] | type[ReasonedAnswer], words: tuple[str, ...]) -> type[BaseModel]:
    """The same answer, with one of the words only."""
    fields: dict[str, Any] = {name: (str, info) for name, info in free.model_fields.items()}
    fields["chosen_word"] = (Literal[words], free.model_fields["chosen_word"])
    made: type[BaseModel] = create_model(free.__name__, __config__=free.model_config, **fields)
    return made
