"""Asks a language model outside of play, such as a judge of finished games.

Games do not import the model layer. They are handed an `Asker`, or find one by the text that names a model:
the entry point `default` of the group `cheaptalk.models` is a function from that text to an `Asker`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol, cast

from pydantic import BaseModel

from framework import registry
from framework.trace import Usage

__all__ = ["MODELS", "Asker", "Reply", "Said", "open_asker"]

MODELS = "cheaptalk.models"


class Said(NamedTuple):
    """A part of a conversation with a model."""

    role: Literal["system", "user", "assistant"]
    text: str


class Reply(NamedTuple):
    """What a model answered, and what that consumed."""

    text: str
    usage: Usage


class Asker(Protocol):
    """A model that can be asked."""

    @property
    def name(self) -> str:
        """Its name, for files and tables."""
        ...

    async def ask(self, conversation: Sequence[Said], schema: type[BaseModel] | None = None) -> Reply:
        """Ask it.

        Args:
            conversation: All that was said so far, the question last.
            schema: The shape of the reply, to which the model is held if it can be.

        Raises:
            framework.ModelFailure: If it cannot be asked, also after retries.
        """
        ...


def open_asker(model: str) -> Asker:
    """The model that a text names, such as `openai:gpt-5-mini` or `local`.

    Raises:
        UserError: If no model layer is installed, or it cannot use the model.
    """
    return cast(Asker, registry.load(MODELS, "default")(model))
