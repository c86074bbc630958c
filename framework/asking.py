"""Asks a language model outside of play, such as a judge of finished games.

Games do not import the model layer. They are handed an `Asker`, or find one by the text that names a model:
the entry point `default` of the group `cheaptalk.models` is a function from that text, and from a `base_url` if
one is given, to an `Asker`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, Literal, NamedTuple, Protocol, TypeVar, cast

from pydantic import BaseModel, JsonValue

from framework import registry
from framework.reading import Unreadable, read_reply
from framework.results import total_usage
from framework.trace import Usage

__all__ = ["MODELS", "Answer", "Asker", "Reply", "Said", "ask_for", "open_asker"]

T = TypeVar("T")

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


class Answer(NamedTuple, Generic[T]):
    """What came of a question.

    Attributes:
        value: What the reply says; None if it could not be read, also when asked again.
        reply: The last reply.
        error: Why it could not be read; empty if it could.
        usage: What the calls consumed.
    """

    value: T | None
    reply: str
    error: str
    usage: Usage


async def ask_for(asker: Asker, prompt: str, schema: type[BaseModel], read: Callable[[JsonValue], T]) -> Answer[T]:
    """Ask a model for JSON, and once more if its reply cannot be read.

    Args:
        asker: The model.
        prompt: The question.
        schema: The shape of the reply.
        read: Makes sense of its JSON; it raises pydantic's ValidationError where it cannot.

    Raises:
        framework.ModelFailure: If it cannot be asked.
    """
    conversation = [Said("user", prompt)]
    usages, text, fault = [], "", ""
    for _ in range(2):
        text, usage = await asker.ask(conversation, schema)
        usages.append(usage)
        try:
            return Answer(read_reply(text, read), text, "", total_usage(usages))
        except Unreadable as error:
            fault = str(error)
        again = f"Your answer could not be read: {fault}. Answer again, with only one JSON object of the required form."
        conversation += [Said("assistant", text), Said("user", again)]
    return Answer(None, text, fault, total_usage(usages))


def open_asker(model: str, base_url: str | None = None) -> Asker:
    """The model that a text names, such as `openai:gpt-5-mini` or `local`.

    Args:
        model: The text.
        base_url: Where an OpenAI-compatible server listens; the provider's own if none.

    Raises:
        UserError: If no model layer is installed, or it cannot use the model.
    """
    where = {"base_url": base_url} if base_url else {}
    return cast(Asker, registry.load(MODELS, "default")(model, **where))
