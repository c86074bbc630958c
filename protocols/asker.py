"""Models for those who ask outside of play; see `framework.asking`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from framework.asking import Reply, Said
from framework.trace import Usage

if TYPE_CHECKING:
    from autogen_core.models import ChatCompletionClient, LLMMessage

__all__ = ["ClientAsker", "ModelAsker", "open_model_asker"]


def _messages(conversation: Sequence[Said]) -> list[LLMMessage]:
    from autogen_core.models import AssistantMessage, SystemMessage, UserMessage

    messages: list[LLMMessage] = []
    for role, text in conversation:
        if role == "system":
            messages.append(SystemMessage(content=text))
        elif role == "user":
            messages.append(UserMessage(content=text, source="user"))
        else:
            messages.append(AssistantMessage(content=text, source="assistant"))
    return messages


class ClientAsker:
    """Any AutoGen model client, as it is: without retries, cache and budget of ours.

    Args:
        client: The client. It is held to a schema by its own `json_output`, as far as it can be.
        name: Its name in files and tables.
    """

    def __init__(self, client: ChatCompletionClient, name: str) -> None:
        self._client, self._name = client, name

    @property
    def name(self) -> str:
        return self._name

    async def ask(self, conversation: Sequence[Said], schema: type[BaseModel] | None = None) -> Reply:
        held: Any = None
        if schema is not None:
            info = self._client.model_info
            held = schema if info.get("structured_output") else True if info.get("json_output") else None
        result = await self._client.create(_messages(conversation), json_output=held)
        usage = Usage(
            prompt_tokens=result.usage.prompt_tokens, completion_tokens=result.usage.completion_tokens, calls=1
        )
        return Reply(result.content if isinstance(result.content, str) else "", usage)


class ModelAsker:
    """A model by its short form, with the model layer's retries, limits, cache and budget.

    Raises:
        UserError: If the text names no model that can be used.
    """

    def __init__(self, text: str, base_url: str = "") -> None:
        from protocols.models import ModelSpec

        self._spec = ModelSpec.parse(text, base_url=base_url)
        self._spec.check()

    @property
    def name(self) -> str:
        return self._spec.label

    async def ask(self, conversation: Sequence[Said], schema: type[BaseModel] | None = None) -> Reply:
        from protocols.models import Ask, open_model

        model = open_model(self._spec)
        reply = await model.complete(Ask(tuple(_messages(conversation)), schema))
        return Reply(reply.text, model.usage(reply))


def open_model_asker(text: str, base_url: str = "") -> ModelAsker:
    """The entry point `default` of `cheaptalk.models`."""
    return ModelAsker(text, base_url)
