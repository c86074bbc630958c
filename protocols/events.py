"""What seats with a language model add to a trace."""

from __future__ import annotations

from typing import Literal

from pydantic import JsonValue

from framework import SeatEvent

__all__ = ["InvalidResponse", "ModelCall", "ModelSeat"]


class ModelSeat(SeatEvent):
    """A seat is played by a language model.

    Attributes:
        model: Short form of the model.
        config: Its configuration, without keys.
        pack: Name of the pack of prompt templates.
        pack_hash: SHA-256 of its templates.
        context: What of the conversation is sent.
        variant: Name, version and hash of the block that is appended to the system prompt, if there is one.
    """

    type: Literal["model_seat"] = "model_seat"
    model: str
    config: dict[str, JsonValue] = {}
    pack: str = ""
    pack_hash: str = ""
    context: str = "unbounded"
    variant: str = ""


class ModelCall(SeatEvent):
    """One call of a model.

    With the system prompt and the prompts of the moves, these are the conversation exactly as it was sent;
    see `protocols.transcript`.

    Attributes:
        round: Index of the round.
        purpose: `move`, whose prompt is that of the move; `repair`, after a reply that could not be read.
        prompt: The message that was added to the conversation; empty for a `move`.
        reply: The text that came back.
        kept: How many characters of it the conversation keeps; None for all.
        thought: Reasoning that the provider handed over apart from the text; it is not sent back.
        sent: Which messages of the conversation were sent, by number; None for all.
        finish: Why the reply ended.
        prompt_tokens: Tokens read.
        completion_tokens: Tokens written.
        cost: US dollars by the price table in force; None where no price is known.
        latency: Seconds from the request to the reply.
        tries: How often the provider was asked.
        cached: Whether the reply came from the cache.
    """

    type: Literal["model_call"] = "model_call"
    round: int
    purpose: Literal["move", "repair"]
    prompt: str = ""
    reply: str
    kept: int | None = None
    thought: str = ""
    sent: tuple[int, ...] | None = None
    finish: str = "stop"
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    latency: float = 0.0
    tries: int = 1
    cached: bool = False


class InvalidResponse(SeatEvent):
    """A model's reply could not be read, also after it was asked to repair it; it counts as an empty batch.

    Attributes:
        round: Index of the round.
        error: Why it could not be read.
    """

    type: Literal["invalid_response"] = "invalid_response"
    round: int
    error: str
