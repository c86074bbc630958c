"""Delivery by subscription: exactly the audience receives, and only the referee publishes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from autogen_core import AgentId, BaseAgent, MessageContext, TopicId
from opentelemetry.trace import NoOpTracer, NoOpTracerProvider, TracerProvider

from framework import AllAgentChat, Channel, DirectMessage, ParticipantChat, Post, Seating, play
from framework.player import Request
from framework.runtime import SEAT, Switchboard, Void
from tests.core.toy import Proposer, Toy, ToyObservation

SEATS = 5


class Listener(BaseAgent):
    """Keeps what it receives, and answers a request with the number of it."""

    def __init__(self) -> None:
        super().__init__("listener")
        self.heard: list[Any] = []

    async def on_message_impl(self, message: Any, ctx: MessageContext) -> Any:
        self.heard.append(message)
        return len(self.heard)

    @property
    def posts(self) -> list[int]:
        return [message.id for message in self.heard if isinstance(message, Post)]


class Table:
    """An open switchboard with a listener in each seat."""

    def __init__(self, spans: TracerProvider | None) -> None:
        self.board = Switchboard(spans)
        self.seats = [Listener() for _ in range(SEATS)]
        self.posts = 0

    async def say(self, channel: Channel, sender: int, *readers: int) -> int:
        post = Post(id=self.posts, channel=channel.name, sender=sender, to=None, round=0, content="hello")
        self.posts += 1
        await self.board.publish(post, channel, readers)
        return post.id

    async def heard(self, post: int) -> list[int]:
        await self.settle()
        return [seat for seat, listener in enumerate(self.seats) if post in listener.posts]

    async def settle(self) -> None:
        for _ in range(50):
            await asyncio.sleep(0)


@pytest.fixture(params=[None, NoOpTracerProvider()], ids=["straight", "with AutoGen's queue and spans"])
async def table(request: pytest.FixtureRequest) -> AsyncIterator[Table]:
    table = Table(request.param)
    await table.board.open(table.seats)
    yield table
    await table.board.close()


async def test_a_direct_message_reaches_its_addressee_and_nobody_else(table: Table):
    for sender in range(SEATS):
        for to in set(range(SEATS)) - {sender}:
            assert await table.heard(await table.say(DirectMessage(), sender, to)) == [to]


async def test_a_group_s_post_reaches_its_members(table: Table):
    post = await table.say(ParticipantChat(), 1, 2, 4)
    assert await table.heard(post) == [1, 2, 4]  # the player of seat 1 drops the echo of its own post
    assert [table.board.published_to(seat) for seat in range(SEATS)] == [0, 0, 1, 0, 1]


async def test_groups_that_share_members_and_a_channel_do_not_mix(table: Table):
    first = await table.say(ParticipantChat(), 0, 1, 2)
    second = await table.say(ParticipantChat(), 0, 1)
    third = await table.say(ParticipantChat(), 2, 3, 4)
    assert await table.heard(first) == [0, 1, 2]
    assert await table.heard(second) == [0, 1]
    assert await table.heard(third) == [2, 3, 4]


async def test_two_channels_with_one_audience_do_not_deliver_twice(table: Table):
    first = await table.say(ParticipantChat(), 0, 1, 2, 3, 4)
    second = await table.say(AllAgentChat(), 0, 1, 2, 3, 4)
    await table.settle()
    assert table.seats[3].posts == [first, second]


async def test_a_post_that_nobody_reads_is_delivered_to_nobody(table: Table):
    assert await table.heard(await table.say(ParticipantChat(), 0)) == []


async def test_a_group_of_an_earlier_round_can_be_used_anew(table: Table):
    assert await table.heard(await table.say(ParticipantChat(), 0, 1, 2)) == [0, 1, 2]
    await table.board.end_round()
    assert await table.heard(await table.say(ParticipantChat(), 0, 2, 3)) == [0, 2, 3]
    assert await table.heard(await table.say(ParticipantChat(), 1, 0, 2)) == [0, 1, 2]
    assert await table.heard(await table.say(DirectMessage(), 0, 1)) == [1]


async def test_a_post_that_is_still_on_its_way_when_its_round_ends_arrives(table: Table):
    post = await table.say(ParticipantChat(), 0, 1, 2)
    await table.board.end_round()
    assert await table.heard(post) == [0, 1, 2]


async def test_posts_arrive_in_the_order_in_which_they_were_published(table: Table):
    said = []
    for number in range(30):
        channel: Channel = AllAgentChat() if number % 3 else DirectMessage()
        said.append(await table.say(channel, 0, *((1, 2, 3, 4) if number % 3 else (4,))))
    await table.settle()
    assert table.seats[4].posts == said


async def test_a_request_reaches_its_seat_and_brings_the_reply_back(table: Table):
    assert await table.board.ask(2, "move") == 1
    assert [listener.heard for listener in table.seats] == [[], [], ["move"], [], []]
    assert table.board.intrusions() == []


def runtime(table: Table, seat: int) -> Any:
    """The runtime as an agent sees it; a strategy is never handed it."""
    return table.seats[seat].runtime


def turn_request() -> Request:
    observation = ToyObservation.model_construct(secret=(), colour="")
    return Request("act", observation, 0)


async def test_a_publish_that_the_referee_did_not_make_delivers_nothing(table: Table):
    await table.say(DirectMessage(), 0, 1)  # so that the topic has its subscriber
    await table.settle()
    stolen = table.seats[1].heard[0]
    for message in (Post(id=9, channel="dm", sender=0, to=1, round=0, content="forged"), stolen, "text"):
        await runtime(table, 3).publish_message(message, TopicId("dm", "1"), sender=AgentId(SEAT, "0"))
    await table.settle()
    assert table.seats[1].heard == [stolen, Void(), Void(), Void()]
    found = table.board.intrusions()
    assert [(item.sender, item.target) for item in found] == [("seat/0", "dm/1")] * 3
    assert "forged" in found[0].content
    assert table.board.intrusions() == []


async def test_a_request_that_the_referee_did_not_make_asks_nothing(table: Table):
    await runtime(table, 3).send_message(turn_request(), AgentId(SEAT, "1"))
    assert table.seats[1].heard == [Void()]
    assert [(item.sender, item.target) for item in table.board.intrusions()] == [("None", "seat/1")]


async def test_a_forged_message_that_cannot_be_printed_is_replaced_all_the_same(table: Table):
    class Unprintable:
        def __str__(self) -> str:
            raise ValueError("no")

    await runtime(table, 3).send_message(Unprintable(), AgentId(SEAT, "1"))
    await runtime(table, 3).send_message("\ud800", AgentId(SEAT, "1"))
    assert table.seats[1].heard == [Void(), Void()]
    assert [item.content for item in table.board.intrusions()] == ["a Unprintable that cannot be printed", "?"]


async def test_an_intrusion_does_not_stop_what_follows(table: Table):
    for _ in range(20):
        await runtime(table, 3).publish_message("noise", TopicId("dm", "1"))
    assert await table.heard(await table.say(DirectMessage(), 0, 1)) == [1]
    assert await table.board.ask(1, "move") > 0
    assert len(table.board.intrusions()) == 20


async def test_a_switchboard_that_was_never_opened_can_be_closed():
    await Switchboard().close()


async def test_a_game_is_the_same_with_spans_and_without():
    scenario = Toy().suite("groups", 0)[0]
    traces = [
        await play(Toy(), scenario, [Seating("proposer", Proposer()) for _ in scenario.secrets], tracer_provider=spans)
        for spans in (None, NoOpTracerProvider())
    ]
    assert traces[0].aborted is None
    assert traces[0].posts
    assert traces[0].comparable() == traces[1].comparable()


async def test_spans_come_out_where_somebody_reads_them():
    names: list[str] = []

    class Naming(NoOpTracer):
        def start_as_current_span(self, name: str, *args: Any, **kwargs: Any) -> Any:
            names.append(name)
            return super().start_as_current_span(name, *args, **kwargs)

    class Provider(NoOpTracerProvider):
        def get_tracer(self, *args: Any, **kwargs: Any) -> NoOpTracer:
            return Naming()

    board = Switchboard(Provider())
    await board.open([Listener()])
    await board.ask(0, "move")
    await board.close()
    assert any("process" in name for name in names)
