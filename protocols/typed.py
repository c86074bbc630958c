"""What the typed protocols share: payloads as JSON, and a strategy that reads nothing else.

A message that is malformed, of an unknown kind, late, repeated or from a seat that may not send it is
ignored, and a note in the trace says why; it is never an error.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Annotated, Any, ClassVar, Generic, NamedTuple, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from framework import Action, AgreementView, Frozen, Observation, Post, Send, Strategy

__all__ = ["Payload", "Received", "TypedProtocol", "direct", "send_all"]


class Payload(Frozen):
    """A typed message. A subclass narrows `kind` to a literal.

    Attributes:
        kind: Names the message.
        agreement: Id of the agreement that it is about.
    """

    kind: str
    agreement: int


PayloadT = TypeVar("PayloadT", bound=Payload)


class Received(NamedTuple, Generic[PayloadT]):
    """A well-formed payload and the post that carried it."""

    post: Post
    payload: PayloadT


def direct(to: int, payload: Payload) -> Send:
    """A direct message that carries a payload."""
    return Send(channel="dm", to=to, content=payload.model_dump_json())


@cache
def _adapter(vocabulary: Any) -> TypeAdapter[Any]:
    return TypeAdapter(Annotated[vocabulary, Field(discriminator="kind")])


class TypedProtocol(Strategy[Observation], Generic[PayloadT]):
    """A protocol over an `AgreementView` that speaks in payloads only.

    It talks while a channel is open, commits where its seat is a party, and moves earlier agreements
    where it is not. In a game without an agreement view it passes.

    Attributes:
        vocabulary: The union of the payload classes that it understands.
        reference: It is a point of reference unless a subclass says that it competes.
    """

    vocabulary: ClassVar[Any]
    reference: ClassVar[bool] = True

    async def act(self, observation: Observation) -> Sequence[Action]:
        view = observation.agreement
        if view is None:
            name = type(self).__name__
            raise TypeError(f"{name} needs a game that offers an agreement view; {type(observation).__name__} has none")
        received = self._read(observation)
        if observation.turn.channels:
            return self.talk(observation, view, received)
        self.catch_up(observation, view, received)
        return self.decide(view) if observation.turn.participates else self.assist(view)

    @abstractmethod
    def talk(
        self, observation: Observation, view: AgreementView, received: Sequence[Received[PayloadT]]
    ) -> Sequence[Send]:
        """What to say, given the well-formed payloads that came in since the last turn."""

    def catch_up(self, observation: Observation, view: AgreementView, received: Sequence[Received[PayloadT]]) -> None:
        """Take in what came after the seat's last turn of talk, which it cannot answer; ignored by default."""
        for post, payload in received:
            self.ignore(observation, post, f"{payload.kind} came when the talk was over")

    @abstractmethod
    def decide(self, view: AgreementView) -> Sequence[Action]:
        """The batch of a party; empty without an agreement."""

    def assist(self, view: AgreementView) -> Sequence[Action]:
        """The batch of a seat that is not a party but was drawn in; empty by default."""
        return ()

    def ignore(self, observation: Observation, post: Post, why: str) -> None:
        """Record that a message was not acted upon."""
        self.note(observation, "ignored_message", post=post.id, sender=post.sender, why=why)

    def _read(self, observation: Observation) -> list[Received[PayloadT]]:
        received = []
        for post in observation.inbox:
            try:
                received.append(Received(post, _adapter(self.vocabulary).validate_json(post.content)))
            except ValidationError as error:
                self.ignore(observation, post, error.errors(include_url=False, include_input=False)[0]["msg"])
        return received


def send_all(seats: Iterable[int], payload: Payload) -> list[Send]:
    """The same payload to several seats, one direct message each."""
    content = payload.model_dump_json()
    return [Send(channel="dm", to=seat, content=content) for seat in seats]
