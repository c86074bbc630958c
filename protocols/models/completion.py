"""What is asked of a model and what comes back, independent of who provides it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from autogen_core.models import LLMMessage
from pydantic import BaseModel

from framework.messages import Frozen
from protocols.models.schema import strict_schema
from protocols.models.spec import ModelSpec

__all__ = ["Ask", "Completion", "Token", "Tokens"]


@dataclass(frozen=True, slots=True)
class Ask:
    """One request.

    Attributes:
        messages: The conversation, the system prompt first.
        schema: The shape of the reply, for a model that can be held to one; None for free text.
        temperature: Sampling temperature; None leaves it to the provider.
        max_tokens: The longest reply; None leaves it to the provider.
        logprobs: How many alternatives to ask for at each token of the reply; 0 asks for none.
        sample: Tells apart requests that are otherwise the same, such as those of two repeats of a task.
        thread: Names the conversation, so that a local model can keep it in memory.
    """

    messages: tuple[LLMMessage, ...]
    schema: type[BaseModel] | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    logprobs: int = 0
    sample: str = ""
    thread: str = ""

    def key(self, spec: ModelSpec) -> str:
        """SHA-256 of the complete request, the model's configuration included."""
        request: dict[str, Any] = {
            "model": spec.hash,
            "messages": [message.model_dump(mode="json") for message in self.messages],
            "schema": None if self.schema is None else strict_schema(self.schema),
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
            "logprobs": self.logprobs,
            "sample": self.sample,
        }
        return hashlib.sha256(json.dumps(request, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()


class Tokens(Frozen):
    """How many tokens a call read and wrote."""

    prompt: int = 0
    completion: int = 0

    @property
    def total(self) -> int:
        """Both together."""
        return self.prompt + self.completion


class Token(Frozen):
    """A token of a reply.

    Attributes:
        text: The token.
        logprob: Its log-probability.
        alternatives: Tokens that could have stood there with their log-probabilities, itself included if given.
    """

    text: str
    logprob: float
    alternatives: tuple[tuple[str, float], ...] = ()


class Completion(Frozen):
    """A reply.

    Attributes:
        text: The text; empty if the model sent none.
        thought: Reasoning that the provider hands over apart from the text.
        finish: Why the reply ended.
        tokens: What the call read and wrote; 0 for a cached reply would hide it, so it is as it was then.
        logprobs: The tokens with their log-probabilities, where they were asked for and are to be had.
        latency: Seconds from the request to the reply, without waiting for a turn and without retries.
        tries: How often it was asked.
        cached: Whether it came from the cache on disk, and so cost nothing now.
    """

    text: str
    thought: str = ""
    finish: str = "stop"
    tokens: Tokens = Tokens()
    logprobs: tuple[Token, ...] = ()
    latency: float = 0.0
    tries: int = 1
    cached: bool = False
