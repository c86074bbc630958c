"""A model client that answers from a function, and seats that use it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import Any

from autogen_core.models import (
    ChatCompletionClient,
    CreateResult,
    LLMMessage,
    ModelFamily,
    ModelInfo,
    RequestUsage,
)

from framework import Seating
from protocols.llm import LlmStrategy

Answer = Callable[[Sequence[LLMMessage]], str | Exception]


class FakeClient(ChatCompletionClient):
    """Answers from a function of the conversation, after a while."""

    component_type = "model"
    component_config_schema: Any = None

    def __init__(self, answer: Answer, delay: float = 0.0) -> None:
        self.answer, self.delay = answer, delay
        self.calls: list[list[LLMMessage]] = []
        self.arguments: list[Mapping[str, Any]] = []
        self.in_flight = self.most_in_flight = 0

    async def create(self, messages: Sequence[LLMMessage], **arguments: Any) -> CreateResult:
        self.calls.append(list(messages))
        self.arguments.append(arguments)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await asyncio.sleep(self.delay)
        finally:
            self.in_flight -= 1
        said = self.answer(messages)
        if isinstance(said, Exception):
            raise said
        usage = RequestUsage(prompt_tokens=sum(len(str(m.content)) for m in messages) // 4, completion_tokens=10)
        return CreateResult(finish_reason="stop", content=said, usage=usage, cached=False)

    async def create_stream(
        self, messages: Sequence[LLMMessage], **arguments: Any
    ) -> AsyncGenerator[str | CreateResult, None]:
        yield await self.create(messages, **arguments)

    async def close(self) -> None:
        return None

    def actual_usage(self) -> RequestUsage:
        return RequestUsage(prompt_tokens=0, completion_tokens=0)

    total_usage = actual_usage

    def count_tokens(self, messages: Sequence[LLMMessage], **_: Any) -> int:
        raise AssertionError("count_tokens may download a vocabulary")

    remaining_tokens = count_tokens

    @property
    def capabilities(self) -> Any:
        return self.model_info

    @property
    def model_info(self) -> ModelInfo:
        return ModelInfo(
            vision=False,
            function_calling=False,
            json_output=False,
            structured_output=False,
            family=ModelFamily.UNKNOWN,
        )


def always(text: str) -> Answer:
    """The same answer to everything."""
    return lambda messages: text


def first_free(messages: Sequence[LLMMessage]) -> str:
    """Passes in the talk, and takes the first free slot of the calendar in the decision."""
    last = str(messages[-1].content)
    if "Phase: DECISION" not in last:
        return '{"thinking": "", "actions": []}'
    meeting = re.search(r"Meeting to schedule: M(\d+)", last)
    slot = re.search(r"Slot (\d+): \[FREE\]", last)
    assert meeting
    assert slot
    action = f'{{"type": "schedule", "meeting_id": {meeting[1]}, "slot": {slot[1]}}}'
    return f'{{"thinking": "free", "actions": [{action}]}}'


def seats(count: int, client: ChatCompletionClient, **params: Any) -> list[Seating]:
    """One model strategy a seat, all on one client."""
    return [Seating("llm", LlmStrategy(from_client=client, **params)) for _ in range(count)]
