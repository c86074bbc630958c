"""Channels: kinds of cheap talk, each a topic type with an audience rule and an activation rule."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Set
from dataclasses import dataclass

from pydantic import JsonValue

from framework.messages import Conflict, Round, Send
from framework.topology import Topology

__all__ = ["AllAgentChat", "Channel", "DirectMessage", "ParticipantChat", "Table"]

_TOPIC = re.compile(r"[\w\-.=]+", re.ASCII)
"""What AutoGen takes as a topic type; without the colon, which sets off the prefix of an agent's own topics."""


@dataclass(frozen=True, slots=True)
class Table:
    """The public facts that audience rules are decided by.

    Attributes:
        seats: Number of seats.
        topology: Who may address whom.
        round: The current round.
    """

    seats: int
    topology: Topology
    round: Round


@dataclass(frozen=True, slots=True)
class Channel(ABC):
    """A kind of cheap talk.

    To add one, give an audience rule, and override `refuse` and `activates` where they differ.

    Attributes:
        name: The topic type, and the channel's name in actions, traces and configs.
        addressed: Whether a message on it names one seat.
    """

    name: str
    addressed: bool = False

    def __post_init__(self) -> None:
        if not _TOPIC.fullmatch(self.name):
            raise ValueError(
                f"channel name {self.name!r} cannot be a topic; use letters, digits, '_', '-', '.' and '=' only"
            )

    @abstractmethod
    def audience(self, sender: int, to: int | None, table: Table) -> Set[int]:
        """The seats that a message reaches, the sender not counted."""

    def activates(self, seat: int, table: Table) -> bool:
        """Whether receipt makes a seat active that is not a participant of the round."""
        return False

    def refuse(self, sender: int, message: Send, table: Table) -> Conflict | None:
        """Why `sender` may not send `message` here now; None if it may."""
        return None


@dataclass(frozen=True, slots=True)
class DirectMessage(Channel):
    """A private message to one seat, along an edge of the topology. It activates whom it reaches."""

    name: str = "dm"
    addressed: bool = True

    def audience(self, sender: int, to: int | None, table: Table) -> Set[int]:
        return frozenset() if to is None else frozenset((to,))

    def activates(self, seat: int, table: Table) -> bool:
        return True

    def refuse(self, sender: int, message: Send, table: Table) -> Conflict | None:
        to = message.to
        data: dict[str, JsonValue] = {"channel": self.name, "to": to}
        if to is None:
            return Conflict(
                rule="no_recipient", message=f"A message on {self.name} must name a seat in 'to'.", data=data
            )
        if to == sender:
            return Conflict(rule="self_message", message=f"Seat {sender} cannot send a message to itself.", data=data)
        if not 0 <= to < table.seats:
            return Conflict(
                rule="unknown_seat",
                message=f"There is no seat {to}; the seats are 0 to {table.seats - 1}.",
                data=data,
            )
        if not table.topology.allows(sender, to):
            return Conflict(rule="no_edge", message=f"Seat {sender} has no connection to seat {to}.", data=data)
        return None


@dataclass(frozen=True, slots=True)
class ParticipantChat(Channel):
    """A chat that the round's participants share. It activates nobody."""

    name: str = "participant_groupchat"

    def audience(self, sender: int, to: int | None, table: Table) -> Set[int]:
        return frozenset(table.round.participants) - {sender}

    def refuse(self, sender: int, message: Send, table: Table) -> Conflict | None:
        if sender in table.round.participants:
            return None
        return Conflict(
            rule="not_a_participant",
            message=f"Seat {sender} is not a participant of this round and cannot use {self.name}.",
            data={"channel": self.name},
        )


@dataclass(frozen=True, slots=True)
class AllAgentChat(Channel):
    """A chat that every seat reads. It activates everyone."""

    name: str = "all_agent_groupchat"

    def audience(self, sender: int, to: int | None, table: Table) -> Set[int]:
        return frozenset(range(table.seats)) - {sender}

    def activates(self, seat: int, table: Table) -> bool:
        return True
