"""What a trace is made of: one typed event for everything that happens (CalBench paper, A.6 and table 5)."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, ConfigDict, JsonValue, SerializeAsAny

from framework._kinds import Kinds
from framework.messages import AnyAction, Conflict, Frozen, Round

__all__ = [
    "AgentRegistered",
    "AnyEvent",
    "Asked",
    "BatchApplied",
    "BatchRejected",
    "BatchRolledBack",
    "Boundary",
    "DecideEnd",
    "DecideStart",
    "Event",
    "GameAborted",
    "GameEnd",
    "GameStart",
    "IllegalPublish",
    "InvalidAction",
    "MessageSent",
    "Moved",
    "Note",
    "PhaseStart",
    "RoundStart",
    "SeatEvent",
    "TurnEnd",
    "TurnStart",
    "UnknownEvent",
    "Usage",
]

Boundary = Literal["user", "model", "strategy", "rules", "harness"]
"""Where a failure belongs."""


class Event(Frozen):
    """One typed entry of a trace. A subclass narrows `type` to a literal."""

    kinds: ClassVar[Kinds] = Kinds()
    type: str

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        Event.kinds.add(cls)


class UnknownEvent(Event):
    """An event of a type that is not known here; its fields are kept as they are."""

    model_config = ConfigDict(frozen=True, extra="allow")


def _read_event(data: Any) -> Any:
    return Event.kinds.read(data, Event, UnknownEvent)


AnyEvent = Annotated[SerializeAsAny[Event], BeforeValidator(_read_event)]


class SeatEvent(Event):
    """An event that a strategy records of itself: what it was asked, what it noted down.

    Attributes:
        seat: The seat; the framework sets it, so that no strategy can speak for another.
    """

    seat: int = -1


class Usage(Frozen):
    """What a move consumed.

    Attributes:
        prompt_tokens: Tokens read by the model.
        completion_tokens: Tokens written by the model.
        calls: Calls of a model.
        cost: US dollars by the price table in force; None where no price is known.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    calls: int = 0
    cost: float | None = None


class GameStart(Event):
    """The first event: the scenario in full and who sits where.

    Attributes:
        game: Name of the game.
        seed: Seed of this playing of it.
        seats: Number of seats.
        rounds: Number of rounds.
        channels: Names of the channels that this game has open.
        topology: Edges along which seats may address each other; None if all may.
        strategies: Name of the strategy in each seat.
        adversarial: The seats whose strategy is adversarial.
        facts: What the game states of the scenario (for CalBench: slots, optimal and greedy cost).
        scenario: The scenario in full: the model itself while the game is in memory, its JSON in a trace
            that was read back. Validate it with the game's scenario type to use it.
    """

    type: Literal["game_start"] = "game_start"
    game: str
    seed: int
    seats: int
    rounds: int
    channels: tuple[str, ...]
    topology: tuple[tuple[int, int], ...] | None = None
    strategies: tuple[str, ...]
    adversarial: tuple[int, ...] = ()
    facts: dict[str, JsonValue] = {}
    scenario: Any = None


class AgentRegistered(Event):
    """A seat is taken.

    Attributes:
        seat: The seat.
        strategy: Name of its strategy.
        params: The strategy's parameters.
        adversarial: Whether the strategy works against the others.
        system_prompt: The exact text given to a model, empty for a strategy without one.
        view: The seat's own state at the start, as text.
    """

    type: Literal["agent_registered"] = "agent_registered"
    seat: int
    strategy: str
    params: dict[str, JsonValue] = {}
    adversarial: bool = False
    system_prompt: str = ""
    view: str = ""


class RoundStart(Event):
    """A round begins."""

    type: Literal["round_start"] = "round_start"
    round: Round


class PhaseStart(Event):
    """A phase begins."""

    type: Literal["phase_start"] = "phase_start"
    round: int
    phase: str


class Asked(Event):
    """A seat is asked to move.

    Attributes:
        round: Index of the round.
        phase: Name of the phase.
        turn: 0-based sweep.
        seat: The seat that is asked.
        inbox: Ids of the posts that it reads now.
        prompt: What a model was told, empty for a strategy without one.
    """

    round: int
    phase: str
    turn: int
    seat: int
    inbox: tuple[int, ...] = ()
    prompt: str = ""


class Moved(Event):
    """What the seat did when it was asked.

    Attributes:
        round: Index of the round.
        phase: Name of the phase.
        turn: 0-based sweep.
        seat: The seat.
        actions: All actions that it returned, in order.
        thinking: Its reasoning, never shown to another seat.
        usage: What the move consumed.
        latency: Seconds that the move took.
    """

    round: int
    phase: str
    turn: int
    seat: int
    actions: tuple[AnyAction, ...] = ()
    thinking: str = ""
    usage: Usage | None = None
    latency: float = 0.0


class TurnStart(Asked):
    """A seat is asked to speak."""

    type: Literal["turn_start"] = "turn_start"


class TurnEnd(Moved):
    """What the seat said in its turn."""

    type: Literal["turn_end"] = "turn_end"


class DecideStart(Asked):
    """A seat is asked for a batch; `attempt` counts from 0 and `view` is its state at that moment."""

    type: Literal["decide_start"] = "decide_start"
    attempt: int = 0
    view: str = ""


class DecideEnd(Moved):
    """The batch that a seat submitted."""

    type: Literal["decide_end"] = "decide_end"
    attempt: int = 0


class MessageSent(Event):
    """A delivered message, and exactly who could read it.

    Attributes:
        type: `dm_sent` on a channel that addresses one seat, otherwise `groupchat_sent`.
        id: Running number of the post in the game.
        round: Index of the round.
        phase: Name of the phase.
        turn: 0-based sweep.
        channel: Name of the channel.
        sender: The seat that sent it.
        to: The addressed seat, if the channel takes one.
        readers: The seats that received it, ascending.
        content: The text, or the JSON of a typed payload.
        chars: Length of the content in characters.
    """

    type: Literal["dm_sent", "groupchat_sent"] = "dm_sent"
    id: int
    round: int
    phase: str
    turn: int
    channel: str
    sender: int
    to: int | None = None
    readers: tuple[int, ...]
    content: str
    chars: int


class InvalidAction(Event):
    """An action that the phase, the channel or the topology does not allow; it had no effect."""

    type: Literal["invalid_action"] = "invalid_action"
    round: int
    phase: str
    turn: int
    seat: int
    action: AnyAction
    conflict: Conflict


class BatchRejected(Event):
    """A batch that broke a rule; nothing of it took effect."""

    type: Literal["batch_rejected"] = "batch_rejected"
    round: int
    phase: str
    seat: int
    attempt: int
    conflict: Conflict
    actions: tuple[AnyAction, ...] = ()


class BatchApplied(Event):
    """A batch that took effect; `cost` is on the game's internal scale and `view` is the state after it."""

    type: Literal["batch_applied"] = "batch_applied"
    round: int
    phase: str
    seat: int
    actions: tuple[AnyAction, ...] = ()
    cost: float = 0.0
    view: str = ""


class BatchRolledBack(Event):
    """A valid batch that was undone because others' batches failed."""

    type: Literal["batch_rolled_back"] = "batch_rolled_back"
    round: int
    phase: str
    seat: int
    actions: tuple[AnyAction, ...] = ()


class Note(SeatEvent):
    """Something a strategy wrote down for whoever reads the trace, such as a protocol's books."""

    type: Literal["note"] = "note"
    round: int
    kind: str
    data: dict[str, JsonValue] = {}


class IllegalPublish(Event):
    """A publish that did not come from the referee; it was replaced by a harmless message."""

    type: Literal["illegal_publish"] = "illegal_publish"
    sender: str
    topic: str
    content: str


class GameAborted(Event):
    """The game could not be finished; it is counted and shown, and never averaged in.

    Attributes:
        boundary: Where the failure belongs.
        seat: The seat at which it happened, if at one.
        error: One sentence.
        detail: The traceback, or what the provider said.
        stop: Whether the run stops with it, because no further game could be played either.
    """

    type: Literal["game_aborted"] = "game_aborted"
    boundary: Boundary
    seat: int | None = None
    error: str
    detail: str = ""
    stop: bool = False


class GameEnd(Event):
    """The last event of a game that was played to its end."""

    type: Literal["game_end"] = "game_end"
    rounds: int
