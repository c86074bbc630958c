"""What is said in a game: who may say what and where, who hears it, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from framework.channels import Channel, Table
from framework.game import Phase
from framework.messages import Action, Batch, Conflict, Post, Round, Send
from framework.runtime import Switchboard
from framework.topology import Topology
from framework.trace import Event, InvalidAction, MessageSent

__all__ = ["Floor", "Limits", "Spot"]

_NAME = 80
"""Characters of a channel's name that are kept where no such channel exists."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one seat may do in one move.

    Attributes:
        seconds: Time for a move; None for no limit.
        messages: Messages in a move; what is beyond is not delivered and is recorded.
        chars: Characters in a message; a longer one is not delivered and is recorded.
    """

    seconds: float | None = 600.0
    messages: int = 256
    chars: int = 8000


@dataclass
class Spot:
    """Where play is: the turn's coordinates, as events carry them.

    Attributes:
        round: The current round.
        phase: Name of the current phase.
        sweep: 0-based pass over the active speakers.
        reached: Seats outside the round that a message has reached since their own last turn.
        active: Seats outside the round that a message has made active in it.
    """

    round: Round
    phase: str = ""
    sweep: int = 0
    reached: set[int] = field(default_factory=set)
    active: set[int] = field(default_factory=set)
    _copies: dict[int, Round] = field(default_factory=dict)

    def copy_for(self, seat: int) -> Round:
        """The round as a seat is handed it: a copy of its own, since the audience rules read the other one."""
        if seat not in self._copies:
            self._copies[seat] = self.round.model_copy()
        return self._copies[seat]


class Floor:
    """Carries messages from a move to their audience.

    Args:
        channels: The channels that the game has open, by name.
        topology: Who may address whom.
        board: Delivers.
        limits: What one seat may do in one move.
        log: Writes an event into the trace.

    Attributes:
        posts: Number of messages that were delivered.
    """

    def __init__(
        self,
        channels: Mapping[str, Channel],
        topology: Topology,
        board: Switchboard,
        limits: Limits,
        log: Callable[[Event], None],
    ) -> None:
        self._channels, self._topology, self._board = channels, topology, board
        self._limits, self._log = limits, log
        self.posts = 0

    async def carry_out(self, seat: int, phase: Phase[Any], spot: Spot, actions: Sequence[Action]) -> Batch:
        """Publish what was said, and return what is left: the legal actions of the batch."""
        batch: list[Action] = []
        messages = 0
        for action in actions:
            if isinstance(action, Send):
                messages += 1
                if messages > self._limits.messages:
                    self._refuse(seat, spot, action, _too_many(self._limits.messages))
                    break
                await self._say(seat, phase, spot, action)
            elif type(action) in phase.actions:  # a subclass might overrule what the rules read
                batch.append(action)
            else:
                self._refuse(seat, spot, action, _wrong_phase(action, phase.name))
        return tuple(batch)

    def kept(self, actions: Sequence[Action]) -> Batch:
        """A move as a trace keeps it: up to the first message too many, each text cut off at the limit."""
        kept: list[Action] = []
        messages = 0
        for action in actions:
            kept.append(self.clipped(action))
            messages += isinstance(action, Send)
            if messages > self._limits.messages:
                break
        return tuple(kept)

    def clipped(self, action: Action) -> Action:
        """The action as a trace keeps it: text beyond the limits is cut off."""
        if not isinstance(action, Send):
            return action
        if len(action.content) <= self._limits.chars and len(action.channel) <= _NAME:
            return action
        kept = {"content": action.content[: self._limits.chars], "channel": action.channel[:_NAME]}
        return action.model_copy(update=kept)

    def _refuse(self, seat: int, spot: Spot, action: Action, conflict: Conflict) -> None:
        self._log(
            InvalidAction(
                round=spot.round.index,
                phase=spot.phase,
                turn=spot.sweep,
                seat=seat,
                action=self.clipped(action),
                conflict=conflict,
            )
        )

    def _objection(self, seat: int, phase: Phase[Any], message: Send, table: Table) -> Conflict | None:
        """Why a message may not be sent here and now."""
        channel = self._channels.get(message.channel)
        if channel is None or message.channel not in phase.channels:
            name = message.channel[:_NAME]
            return Conflict(
                rule="closed_channel",
                message=f"Channel {name!r} is not open in the {phase.name} phase.",
                data={"channel": name, "phase": phase.name},
            )
        if len(message.content) > self._limits.chars:
            return Conflict(
                rule="too_long",
                message=f"A message may have {self._limits.chars} characters; this one has {len(message.content)}.",
                data={"limit": self._limits.chars, "chars": len(message.content)},
            )
        return channel.refuse(seat, message, table)

    async def _say(self, seat: int, phase: Phase[Any], spot: Spot, message: Send) -> None:
        table = Table(self._topology.seats, self._topology, spot.round)
        if conflict := self._objection(seat, phase, message, table):
            self._refuse(seat, spot, message, conflict)
            return
        channel = self._channels[message.channel]
        to = message.to if channel.addressed else None
        readers = _readers(channel, seat, to, table)
        post = Post(
            id=self.posts, channel=channel.name, sender=seat, to=to, round=spot.round.index, content=message.content
        )
        self.posts += 1
        self._log(
            MessageSent(
                type="dm_sent" if channel.addressed else "groupchat_sent",
                id=post.id,
                round=post.round,
                phase=phase.name,
                turn=spot.sweep,
                channel=channel.name,
                sender=seat,
                to=to,
                readers=readers,
                content=post.content,
                chars=len(post.content),
            )
        )
        await self._board.publish(post, channel, readers)
        for reader in readers:
            if reader not in spot.round.participants and channel.activates(reader, table):
                spot.active.add(reader)
                spot.reached.add(reader)


def _readers(channel: Channel, sender: int, to: int | None, table: Table) -> tuple[int, ...]:
    readers = tuple(sorted(set(channel.audience(sender, to, table)) - {sender}))
    if readers and not 0 <= readers[0] <= readers[-1] < table.seats:
        strange = readers[0] if readers[0] < 0 else readers[-1]
        raise ValueError(
            f"channel {channel.name!r} has seat {strange} in an audience, "
            f"and the seats are 0 to {table.seats - 1}; correct its audience rule"
        )
    return readers


def _too_many(most: int) -> Conflict:
    return Conflict(
        rule="too_many_messages",
        message=f"A move may hold {most} messages; this one and what follows it is not delivered.",
        data={"limit": most},
    )


def _wrong_phase(action: Action, phase: str) -> Conflict:
    kind = action.type[:_NAME]
    return Conflict(
        rule="wrong_phase",
        message=f"Action {kind!r} is not legal in the {phase} phase.",
        data={"action": kind, "phase": phase},
    )
