"""A seat's conversation with its model: one for the whole game, on an AutoGen chat completion context."""

from __future__ import annotations

from typing import NamedTuple

from autogen_core.model_context import (
    BufferedChatCompletionContext,
    ChatCompletionContext,
    UnboundedChatCompletionContext,
)
from autogen_core.models import AssistantMessage, LLMMessage, SystemMessage, UserMessage

from framework.errors import UserError

__all__ = ["EstimatedTokenContext", "Thread", "make_context"]

_CHARS_A_TOKEN = 4
_SOURCE, _SEAT = "referee", "seat"


class EstimatedTokenContext(ChatCompletionContext):
    """The newest messages that fit into a number of tokens, at four characters a token.

    AutoGen's own token-limited context counts with the client, which may download a vocabulary.

    Args:
        limit: Tokens that all messages together may have; the newest is always kept.
    """

    def __init__(self, limit: int) -> None:
        super().__init__()
        self._limit = limit

    async def get_messages(self) -> list[LLMMessage]:
        room = self._limit * _CHARS_A_TOKEN
        kept = 0
        for message in reversed(self._messages):
            room -= len(str(message.content))
            if room < 0 and kept:
                break
            kept += 1
        return self._messages[len(self._messages) - kept :]


def make_context(text: str) -> ChatCompletionContext:
    """A context from `unbounded`, `buffered:N` (messages) or `tokens:N`.

    Raises:
        UserError: If the text is none of these.
    """
    kind, _, number = text.partition(":")
    if text == "unbounded":
        return UnboundedChatCompletionContext()
    if number.isdecimal() and int(number) > 0:
        if kind == "buffered":
            return BufferedChatCompletionContext(buffer_size=int(number))
        if kind == "tokens":
            return EstimatedTokenContext(int(number))
    raise UserError(f"context {text!r} is unknown; write unbounded, buffered:N (messages) or tokens:N")


class Sent(NamedTuple):
    """What is sent to the model.

    Attributes:
        messages: The system prompt and what the context keeps of the conversation.
        numbers: Which messages of the conversation these are, from 0; None for all.
    """

    messages: tuple[LLMMessage, ...]
    numbers: tuple[int, ...] | None


class Thread:
    """A conversation.

    Args:
        system: The system prompt; empty for none.
        context: Decides what of the conversation is sent.
    """

    def __init__(self, system: str, context: ChatCompletionContext) -> None:
        self._system: tuple[LLMMessage, ...] = (SystemMessage(content=system),) if system else ()
        self._context = context
        self._number: dict[int, int] = {}

    async def hear(self, text: str) -> None:
        """Add a message to the model."""
        await self._add(UserMessage(content=text, source=_SOURCE))

    async def say(self, text: str) -> None:
        """Add the model's reply."""
        await self._add(AssistantMessage(content=text, source=_SEAT))

    async def _add(self, message: LLMMessage) -> None:
        self._number[id(message)] = len(self._number)
        await self._context.add_message(message)

    async def sent(self, aside: str = "") -> Sent:
        """What would be sent now.

        Args:
            aside: A further message that the conversation does not keep.
        """
        kept = list(await self._context.get_messages())
        while kept and isinstance(kept[0], AssistantMessage):  # providers want the model's own words answered to
            del kept[0]
        numbers = None if len(kept) == len(self._number) else tuple([self._number[id(m)] for m in kept])
        extra: tuple[LLMMessage, ...] = (UserMessage(content=aside, source=_SOURCE),) if aside else ()
        return Sent((*self._system, *kept, *extra), numbers)
