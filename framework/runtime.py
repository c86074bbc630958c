"""One AutoGen runtime for one game: seats are agents, channels are topics, audiences are subscriptions.

Nothing else in the framework touches AutoGen's runtime. The referee alone publishes. A topic is a channel
and an audience, and only the seats of that audience are subscribed to it, so that what a seat may read is
decided by who is subscribed and by nothing else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from autogen_core import (
    Agent,
    AgentId,
    BaseAgent,
    CancellationToken,
    DefaultInterventionHandler,
    MessageContext,
    MessageHandlerContext,
    SingleThreadedAgentRuntime,
    Subscription,
    TopicId,
)
from opentelemetry.trace import TracerProvider

from framework._intake import writable
from framework.channels import Channel
from framework.messages import Post

__all__ = ["Fence", "Intrusion", "SEAT", "Switchboard", "Void"]

SEAT = "seat"
"""The agent type of every seat; the key of its agent id is the number of the seat."""


class _QuietRuntime(SingleThreadedAgentRuntime):
    """AutoGen's runtime without its queue between a message and its recipients, and without spans.

    A publish goes straight to the agents that AutoGen's subscriptions name, which only put it into their
    inboxes, and a request to a task of the seat's own: the order of the two is not defined in the queue
    either. That is most of the cost of a message; the version of AutoGen is pinned.
    """

    async def publish_message(
        self,
        message: Any,
        topic_id: TopicId,
        *,
        sender: AgentId | None = None,
        cancellation_token: CancellationToken | None = None,
        message_id: str | None = None,
    ) -> None:
        token = cancellation_token or CancellationToken()
        context = MessageContext(
            sender=sender, topic_id=topic_id, is_rpc=False, cancellation_token=token, message_id=message_id or ""
        )
        for handler in self._intervention_handlers or ():
            message = await handler.on_publish(message, message_context=context)
        for address in await self._subscription_manager.get_subscribed_recipients(topic_id):
            agent = await self._get_agent(address)
            await agent.on_message(message, context)

    async def send_message(
        self,
        message: Any,
        recipient: AgentId,
        *,
        sender: AgentId | None = None,
        cancellation_token: CancellationToken | None = None,
        message_id: str | None = None,
    ) -> Any:
        token = cancellation_token or CancellationToken()
        context = MessageContext(
            sender=sender, topic_id=None, is_rpc=True, cancellation_token=token, message_id=message_id or ""
        )
        for handler in self._intervention_handlers or ():
            message = await handler.on_send(message, message_context=context, recipient=recipient)
        agent = await self._get_agent(recipient)
        # A future of its own: who stops waiting does not stop the seat, and a seat that cancels its own task
        # has answered all the same.
        answer = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(_handle(agent, message, context, answer))
        self._background_tasks.add(task)
        task.add_done_callback(self._background_tasks.discard)
        return await answer


async def _handle(agent: Agent, message: Any, context: MessageContext, answer: asyncio.Future[Any]) -> None:
    with MessageHandlerContext.populate_context(agent.id):
        try:
            reply = await agent.on_message(message, context)
        except BaseException as error:
            if not answer.done():
                answer.set_exception(error)
        else:
            if not answer.done():
                answer.set_result(reply)


@dataclass(frozen=True, slots=True)
class Void:
    """What an illegal message is replaced by; no seat acts on it."""


@dataclass(frozen=True, slots=True)
class Fence:
    """Asks a seat to answer once it has received so many posts in all."""

    posts: int


@dataclass(frozen=True, slots=True)
class Intrusion:
    """A message that did not come from the referee.

    Attributes:
        sender: Who is named as its sender.
        target: The topic or the recipient.
        content: Text of the message.
    """

    sender: str
    target: str
    content: str


def _text(message: Any) -> str:
    try:
        return writable(str(message))[:2000]
    except Exception:  # an exception here would leave the runtime's queue waiting for ever
        return f"a {type(message).__name__} that cannot be printed"


class _Audit(DefaultInterventionHandler):
    """Lets through what the switchboard announced, and turns everything else into a `Void`.

    To drop a message or to raise here would leave the runtime's queue waiting for ever.
    """

    def __init__(self) -> None:
        self.announced: dict[int, Any] = {}
        self.intrusions: list[Intrusion] = []

    def _judge(self, message: Any, context: MessageContext, target: str) -> Any:
        if self.announced.pop(id(message), None) is message:
            return message
        self.intrusions.append(Intrusion(str(context.sender), target, _text(message)))
        return Void()

    async def on_publish(self, message: Any, *, message_context: MessageContext) -> Any:
        return self._judge(message, message_context, str(message_context.topic_id))

    async def on_send(self, message: Any, *, message_context: MessageContext, recipient: AgentId) -> Any:
        return self._judge(message, message_context, str(recipient))


class _Membership(Subscription):
    """One seat's subscription to exactly one topic."""

    def __init__(self, topic: TopicId, seat: int) -> None:
        self.seat = seat
        self._topic = topic
        self._agent = AgentId(SEAT, str(seat))
        self._id = f"{topic}/{seat}"

    @property
    def id(self) -> str:
        return self._id

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Membership) and self._id == other._id

    def __hash__(self) -> int:
        return hash(self._id)

    def is_match(self, topic_id: TopicId) -> bool:
        return topic_id == self._topic

    def map_to_agent(self, topic_id: TopicId) -> AgentId:
        return self._agent


class Switchboard:
    """Connects the seats of one game.

    Args:
        tracer_provider: Where OpenTelemetry spans go; None makes none.
    """

    def __init__(self, tracer_provider: TracerProvider | None = None) -> None:
        self._audit = _Audit()
        self._runtime = (
            _QuietRuntime(intervention_handlers=[self._audit])
            if tracer_provider is None
            else SingleThreadedAgentRuntime(intervention_handlers=[self._audit], tracer_provider=tracer_provider)
        )
        self._ids = count()
        self._seats = 0
        self._addresses: list[AgentId] = []
        self._opened = False
        self._received: list[int] = []
        self._fenced: list[int] = []
        self._audiences: dict[TopicId, list[_Membership]] = {}

    async def open(self, agents: Sequence[BaseAgent]) -> None:
        """Register one agent a seat and start delivery."""
        self._seats = len(agents)
        self._received = [0] * self._seats
        self._fenced = [0] * self._seats
        self._addresses = [AgentId(SEAT, str(seat)) for seat in range(self._seats)]
        for agent, address in zip(agents, self._addresses, strict=True):
            await self._runtime.register_agent_instance(agent, address)
        self._runtime.start()
        self._opened = True

    async def publish(self, post: Post, channel: Channel, readers: Iterable[int]) -> None:
        """Publish a post to the topic of its channel and audience."""
        seats = sorted(readers)
        if not seats:
            return
        # A group's topic is the same for all its senders; the player ignores the echo of its own posts.
        members = seats if channel.addressed else sorted({*seats, post.sender})
        topic = await self._audience(channel, members)
        for seat in seats:
            self._received[seat] += 1
        self._audit.announced[id(post)] = post
        await self._runtime.publish_message(post, topic, message_id=str(next(self._ids)))

    async def _audience(self, channel: Channel, members: Sequence[int]) -> TopicId:
        topic = TopicId(channel.name, ".".join(map(str, members)))
        if topic not in self._audiences:
            memberships = [_Membership(topic, seat) for seat in members]
            for membership in memberships:
                await self._runtime.add_subscription(membership)
            self._audiences[topic] = memberships
        return topic

    async def end_round(self) -> None:
        """Close the groups that were made for the round; single seats and the group of all stay."""
        groups = [topic for topic, members in self._audiences.items() if 1 < len(members) < self._seats]
        await self._deliver({membership.seat for topic in groups for membership in self._audiences[topic]})
        for topic in groups:
            for membership in self._audiences.pop(topic):
                await self._runtime.remove_subscription(membership.id)

    async def _deliver(self, seats: Iterable[int]) -> None:
        """Wait until the seats have received everything: who has left a group misses what is still on its way."""
        for seat in sorted(seats):
            if self._fenced[seat] < self._received[seat]:
                self._fenced[seat] = self._received[seat]
                await self.ask(seat, Fence(self._received[seat]))

    def published_to(self, seat: int) -> int:
        """How many posts have been published to `seat` so far."""
        return self._received[seat]

    async def ask(self, seat: int, request: Any) -> Any:
        """Send a request to a seat and wait for its reply."""
        self._audit.announced[id(request)] = request
        return await self._runtime.send_message(request, self._addresses[seat], message_id=str(next(self._ids)))

    def intrusions(self) -> list[Intrusion]:
        """Messages since the last call that did not come from the referee."""
        found, self._audit.intrusions = self._audit.intrusions, []
        return found

    async def close(self) -> None:
        """Stop delivery. It does not wait for a seat that still works."""
        if self._opened:
            await self._runtime.stop()
