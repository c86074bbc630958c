"""The steps of a game's page: what a reader sees one after another."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pydantic import JsonValue, SerializeAsAny

from framework.messages import Conflict, Frozen

__all__ = [
    "BatchStep",
    "EffectStep",
    "EndStep",
    "EventStep",
    "InvalidStep",
    "MessageStep",
    "Playthrough",
    "Record",
    "RoundPage",
    "RoundStep",
    "SeatPage",
    "SilenceStep",
    "Step",
    "TurnPage",
    "Usage",
]


Fields: TypeAlias = dict[str, JsonValue]
"""An action or an event of any kind, with its type and all its fields."""


class Usage(Frozen):
    """What a turn consumed; see `framework.Usage`."""

    prompt: int
    completion: int
    calls: int
    cost: float | None = None


class Record(Frozen):
    """Something that a strategy recorded of itself, such as a model's reply; the text is kept apart.

    Attributes:
        event: Index of the event.
        title: What it is.
    """

    event: int
    title: str


class TurnPage(Frozen):
    """A seat was asked to move.

    Attributes:
        event: Index of the event with which it began.
        round: Index of the round.
        phase: Name of the phase.
        sweep: 0-based sweep.
        seat: The seat.
        attempt: 0 for the first try at a batch.
        inbox: Ids of the messages that it read.
        latency: Seconds.
        usage: What it consumed.
        texts: Which long texts there are of it: `prompt`, `thinking`, `view`.
        records: What the strategy recorded of itself.
    """

    event: int
    round: int
    phase: str
    sweep: int
    seat: int
    attempt: int = 0
    inbox: tuple[int, ...] = ()
    latency: float = 0.0
    usage: Usage | None = None
    texts: tuple[str, ...] = ()
    records: tuple[Record, ...] = ()


class Step(Frozen):
    """One thing that happened. A subclass narrows `kind`, which is always written.

    Attributes:
        event: Index of the event in the trace.
        round: Index of the round, -1 before the first.
        phase: Name of the phase, empty outside one.
        turn: Place of the turn that it belongs to; None outside turns.
    """

    kind: str
    event: int
    round: int = -1
    phase: str = ""
    turn: int | None = None


class RoundStep(Step):
    """A round begins."""

    kind: Literal["round"]


class MessageStep(Step):
    """A message was delivered; see `framework.trace.MessageSent`."""

    kind: Literal["message"]
    id: int
    channel: str
    sender: int
    to: int | None
    readers: tuple[int, ...]
    content: str


class SilenceStep(Step):
    """A seat was asked to speak and sent nothing."""

    kind: Literal["silence"]
    seat: int


class BatchStep(Step):
    """A seat submitted a batch, which may have been rejected."""

    kind: Literal["batch"]
    seat: int
    attempt: int
    actions: tuple[Fields, ...]
    conflict: Conflict | None = None


class InvalidStep(Step):
    """An action was refused; it had no effect."""

    kind: Literal["invalid"]
    seat: int
    action: Fields
    conflict: Conflict


class EffectStep(Step):
    """A batch took effect, or was undone."""

    kind: Literal["applied", "undone"]
    seat: int
    actions: tuple[Fields, ...]
    cost: float = 0.0


class EventStep(Step):
    """Any other event, with its fields.

    Attributes:
        type: Its type.
        seat: The seat that it is about, if one.
        data: Its fields; of what a strategy recorded of itself the short ones only.
        recorded: What it is, where a strategy recorded it of itself; the text is kept apart.
    """

    kind: Literal["event"]
    type: str
    seat: int | None = None
    data: Fields
    recorded: str = ""


class EndStep(Step):
    """The game is over, or was aborted."""

    kind: Literal["end", "aborted"]
    seat: int | None = None
    boundary: str = ""
    error: str = ""
    texts: tuple[str, ...] = ()


class SeatPage(Frozen):
    """Who sits in a seat.

    Attributes:
        strategy: Name of the strategy.
        adversarial: Whether it works against the others.
        params: Its parameters.
        event: Index of its event, under which its texts are kept.
        texts: Which long texts there are: `system_prompt`, `view`.
        records: What the strategy recorded of itself before the first round.
    """

    strategy: str
    adversarial: bool = False
    params: dict[str, JsonValue] = {}
    event: int = -1
    texts: tuple[str, ...] = ()
    records: tuple[Record, ...] = ()


class RoundPage(Frozen):
    """A round, as its heading shows it."""

    index: int
    label: str
    participants: tuple[int, ...]
    speakers: tuple[int, ...]


class Playthrough(Frozen):
    """A game from its first step to its last.

    Attributes:
        seats: Who sits where.
        rounds: The rounds.
        turns: The turns, in order.
        steps: The steps, in order.
        facts: What the game states of the scenario.
        channels: The channels that were open.
        topology: Who may address whom; None if all may.
    """

    seats: tuple[SeatPage, ...]
    rounds: tuple[RoundPage, ...]
    turns: tuple[TurnPage, ...]
    steps: tuple[SerializeAsAny[Step], ...]
    facts: dict[str, JsonValue] = {}
    channels: tuple[str, ...] = ()
    topology: tuple[tuple[int, int], ...] | None = None
