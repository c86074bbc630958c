"""Who thinks for a seat: a model with a conversation that we keep, or an AutoGen agent that keeps its own."""

from __future__ import annotations

import asyncio
import json
import time
from abc import ABC, abstractmethod
from itertools import count
from typing import NamedTuple

from autogen_agentchat.base import ChatAgent, Response
from autogen_agentchat.messages import BaseChatMessage, TextMessage
from autogen_core import CancellationToken
from pydantic import BaseModel

from framework.strategy import ModelFailure
from framework.trace import Usage
from protocols.models import Ask, Completion, Model, Tokens
from protocols.models.spec import without_keys
from protocols.thread import Thread

__all__ = ["AgentBrain", "Brain", "ModelBrain", "Sampling", "Said"]

_thread_ids = count()


class Sampling(NamedTuple):
    """How replies are drawn.

    Attributes:
        temperature: None leaves it to the provider.
        max_tokens: The longest reply; None leaves it to the provider.
        schema: The shape of a reply, for models that can be held to one.
        sample: Tells apart the requests of different playings.
        keep: How many characters of a reply the conversation keeps.
    """

    temperature: float | None = None
    max_tokens: int | None = None
    schema: type[BaseModel] | None = None
    sample: str = ""
    keep: int = 16_000


class Said(NamedTuple):
    """A reply.

    Attributes:
        kept: Its text, as the conversation holds it.
        completion: All that came back.
        usage: What it consumed now.
        sent: Which messages of the conversation were sent; None for all.
    """

    kept: str
    completion: Completion
    usage: Usage
    sent: tuple[int, ...] | None = None


class Brain(ABC):
    """Answers prompts, one after another, and remembers them."""

    @abstractmethod
    async def ask(self, prompt: str) -> Said:
        """The reply to the next prompt of the conversation.

        Raises:
            ModelFailure: If there is none.
        """

    @abstractmethod
    async def aside(self, prompt: str, schema: type[BaseModel] | None) -> Said:
        """The reply to a prompt that leaves no mark in the conversation, with log-probabilities if there are any.

        Raises:
            ModelFailure: If there is none.
        """

    def first(self, prompt: str) -> str:
        """The prompt of a move as it is sent."""
        return prompt

    def close(self) -> None:
        """Say that the conversation is over."""
        return


class ModelBrain(Brain):
    """A model with one conversation for the whole game.

    Args:
        model: The model.
        thread: The conversation.
        sampling: How replies are drawn.
    """

    def __init__(self, model: Model, thread: Thread, sampling: Sampling) -> None:
        self._model, self._thread, self._sampling = model, thread, sampling
        self._name = f"thread-{next(_thread_ids)}"

    async def ask(self, prompt: str) -> Said:
        sampling = self._sampling
        await self._thread.hear(prompt)
        sent = await self._thread.sent()
        reply = await self._model.complete(
            Ask(
                sent.messages,
                schema=sampling.schema,
                temperature=sampling.temperature,
                max_tokens=sampling.max_tokens,
                sample=sampling.sample,
                thread=self._name,
            )
        )
        kept = reply.text[: sampling.keep]
        await self._thread.say(kept)
        return Said(kept, reply, self._model.usage(reply), sent.numbers)

    async def aside(self, prompt: str, schema: type[BaseModel] | None) -> Said:
        sent = await self._thread.sent(aside=prompt)
        reply = await self._model.complete(
            Ask(
                sent.messages,
                schema=schema,
                temperature=self._sampling.temperature,
                logprobs=10,
                sample=self._sampling.sample,
                thread=self._name,
            )
        )
        return Said(reply.text[: self._sampling.keep], reply, self._model.usage(reply), sent.numbers)

    def close(self) -> None:
        self._model.release(self._name)


class AgentBrain(Brain):
    """An AutoGen chat agent, which keeps its own conversation, tools and memory.

    The game's system prompt goes to it before the first prompt: its own system message stays as it is.

    Args:
        agent: The agent; it must play no other seat.
        system: The game's system prompt.
        keep: How many characters of a reply the trace keeps.
    """

    def __init__(self, agent: ChatAgent, system: str, keep: int) -> None:
        self._agent, self._system, self._keep = agent, system, keep
        self._begun = False
        self._turn = asyncio.Lock()

    def first(self, prompt: str) -> str:
        """A prompt as it is sent: the first one follows the game's system prompt."""
        return prompt if self._begun or not self._system else f"{self._system}\n\n{prompt}"

    async def ask(self, prompt: str) -> Said:
        async with self._turn:
            said = await self._send(self.first(prompt))
        self._begun = True
        return said

    async def aside(self, prompt: str, schema: type[BaseModel] | None) -> Said:
        async with self._turn:  # an agent has one conversation: two questions at once would see each other
            state = await self._agent.save_state()
            try:
                return await self._send(self.first(prompt))
            finally:
                await self._agent.load_state(state)

    async def _send(self, text: str) -> Said:
        began = time.perf_counter()
        try:
            message = TextMessage(content=text, source="referee")
            response = await self._agent.on_messages([message], CancellationToken())
        except Exception as error:  # what its provider said may repeat the key, so it is not chained
            said = without_keys(" ".join(str(error).split()))[:300]
            raise ModelFailure(f"agent {self._agent.name}: {type(error).__name__}: {said}") from None
        return self._said(response, time.perf_counter() - began)

    def _said(self, response: Response, latency: float) -> Said:
        spent = [message.models_usage for message in (*(response.inner_messages or ()), response.chat_message)]
        tokens = Tokens(
            prompt=sum(usage.prompt_tokens for usage in spent if usage),
            completion=sum(usage.completion_tokens for usage in spent if usage),
        )
        text = without_keys(_text_of(response.chat_message)).encode("utf-8", "replace").decode()
        completion = Completion(text=text, tokens=tokens, latency=round(latency, 6))
        usage = Usage(prompt_tokens=tokens.prompt, completion_tokens=tokens.completion, calls=1)
        return Said(text[: self._keep], completion, usage)


def _text_of(message: BaseChatMessage) -> str:
    """The text of an agent's answer; a structured answer as JSON."""
    content = getattr(message, "content", None)
    if isinstance(content, BaseModel):
        return content.model_dump_json()
    return content if isinstance(content, str) else json.dumps(content, default=str)
