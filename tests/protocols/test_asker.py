from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from autogen_core.models import AssistantMessage, SystemMessage, UserMessage
from autogen_ext.models.replay import ReplayChatCompletionClient
from pydantic import BaseModel

from framework import ModelFailure
from framework.asking import Said, open_asker
from framework.errors import UserError
from protocols.asker import ClientAsker
from tests.llm.provider import provider

TALK = [Said("system", "Be brief."), Said("user", "1?"), Said("assistant", "1"), Said("user", "2?")]


class Shape(BaseModel):
    value: int


class Listening(ReplayChatCompletionClient):
    """A client that keeps what it was asked."""

    async def create(self, messages: Any, **options: Any) -> Any:
        self.asked, self.held = list(messages), options.get("json_output")
        return await super().create(messages, **options)


def info(**known: bool) -> Any:
    base = {"vision": False, "function_calling": False, "json_output": False, "structured_output": False}
    return {**base, "family": "unknown", **known}


@pytest.mark.parametrize(
    ("known", "held"), [({"structured_output": True}, Shape), ({"json_output": True}, True), ({}, None)]
)
def test_a_client_is_held_to_a_schema_as_far_as_it_can_be(known: dict[str, bool], held: object) -> None:
    client = Listening(["2"], model_info=info(**known))
    asyncio.run(ClientAsker(client, "x").ask(TALK, Shape))
    assert client.held is held
    asyncio.run(ClientAsker(Listening(["2"], model_info=info(**known)), "x").ask(TALK))


def test_a_conversation_reaches_the_client_in_order() -> None:
    client = Listening(["2"])
    reply = asyncio.run(ClientAsker(client, "x").ask(TALK))
    assert [type(message) for message in client.asked] == [SystemMessage, UserMessage, AssistantMessage, UserMessage]
    assert [message.content for message in client.asked] == ["Be brief.", "1?", "1", "2?"]
    assert (reply.text, reply.usage.calls) == ("2", 1)


def test_a_model_is_opened_by_the_text_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "replies.json"
    path.write_text(json.dumps(["one"]))
    asker = open_asker(f"replay:{path}")
    assert asker.name == f"replay:{path}"

    async def twice() -> None:
        assert (await asker.ask(TALK)).text == "one"
        with pytest.raises(ModelFailure):
            await asker.ask(TALK)

    asyncio.run(twice())


def test_a_model_that_is_not_known_is_refused_at_once() -> None:
    with pytest.raises(UserError, match="provider 'nobody' is unknown"):
        open_asker("nobody:x")


def test_a_model_on_a_server_of_ones_own_is_asked_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    with provider(lambda body: (200, f"I am {body['model']}")) as server:
        asker = open_asker("openai:own", server.base_url)
        assert asyncio.run(asker.ask(TALK)).text == "I am own"
    assert len(server.requests) == 1
