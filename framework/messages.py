"""What crosses a seat's boundary: actions go out, posts and observations come in.

Everything here is frozen. All subscribers of a topic are handed the same object, so an object that one
of them could change would be a channel that no game declared.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, JsonValue, SerializeAsAny, model_validator

from framework._kinds import Kinds
from framework.agreement import AgreementView

if TYPE_CHECKING:
    from framework.focal import FocalView

__all__ = [
    "Action",
    "AnyAction",
    "Batch",
    "Config",
    "Conflict",
    "Frozen",
    "Observation",
    "Post",
    "Round",
    "Send",
    "Turn",
    "UnknownAction",
    "batch_of",
]


class Frozen(BaseModel):
    """A pydantic model that refuses changes and unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Config(Frozen):
    """What people write in files and flags: numbers in it are finite, and no truths as in `turns: yes`."""

    model_config = ConfigDict(allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _numbers_are_numbers(cls, data: Any) -> Any:
        for name, value in data.items() if isinstance(data, dict) else ():
            field = cls.model_fields.get(name)
            if isinstance(value, bool) and field is not None and _is_number(field.annotation):
                raise ValueError(f"{name!r} is {str(value).lower()}; write a number")
        return data


def _is_number(annotation: Any) -> bool:
    """Whether a field is a number or None, and no truth."""
    if get_origin(annotation) is Annotated:
        return _is_number(get_args(annotation)[0])
    parts = [part for part in get_args(annotation) if part is not type(None)]
    return annotation in (int, float) or (bool(parts) and all(map(_is_number, parts)))


class Action(Frozen):
    """One typed tool call. A subclass narrows `type` to a literal, which names it on the wire."""

    kinds: ClassVar[Kinds] = Kinds()
    type: str

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        Action.kinds.add(cls)


class UnknownAction(Action):
    """An action of a kind that is not known here, read from a trace or a reply."""

    model_config = ConfigDict(frozen=True, extra="allow")


def _read_action(data: Any) -> Any:
    return Action.kinds.read(data, Action, UnknownAction)


AnyAction = Annotated[SerializeAsAny[Action], BeforeValidator(_read_action)]
"""An action of any kind, as a field: written with all its own fields, read back as its own class."""

Batch = tuple[Action, ...]
"""The actions that a seat submits at once: valid as a whole or not at all."""


class Send(Action):
    """Say something on a channel.

    Attributes:
        channel: Name of the channel, for instance `dm`.
        content: The text, or the JSON of a typed payload.
        to: The addressed seat, on a channel that takes one; otherwise None.
    """

    type: Literal["send"] = "send"
    channel: str
    content: str
    to: int | None = None


class Post(Frozen):
    """A message as its readers receive it.

    Attributes:
        id: Running number of the post, from 0: in the game where the referee publishes it, among those
            that have reached a seat where the seat reads it, which so learns nothing of what it missed.
        channel: Name of the channel that carried it.
        sender: The seat that sent it.
        to: The addressed seat, on a channel that takes one.
        round: The round in which it was sent.
        content: The text, or the JSON of a typed payload.
    """

    id: int
    channel: str
    sender: int
    to: int | None
    round: int
    content: str


class Conflict(Frozen):
    """Why a batch was rejected.

    Attributes:
        rule: Short machine-readable name of the rule that was broken.
        message: One exact English sentence, as the seat is told it.
        data: The values that the sentence names.
    """

    rule: str
    message: str
    data: dict[str, JsonValue] = {}


class Round(Frozen):
    """One unit of play, as every seat may know it.

    Attributes:
        index: 0-based number of the round.
        participants: The seats that the round is about, ascending.
        speakers: The same seats in the order in which they speak.
        label: What the round decides, for people (for instance `meeting 3`).
    """

    index: int
    participants: tuple[int, ...]
    speakers: tuple[int, ...]
    label: str = ""


class Turn(Frozen):
    """Where in the game a seat is asked to move.

    Attributes:
        seat: The seat that moves.
        seats: Number of seats in the game.
        round: The current round.
        phase: Name of the current phase.
        sweep: 0-based pass over the active speakers.
        sweeps: The turn budget: how many sweeps there are at most.
        channels: Names of the channels that are open to this seat now.
        reachable: The seats to which this seat may address a message, ascending.
        attempt: 0 for the first try at a batch, then the number of the retry.
        retries: How often a rejected batch may be submitted anew.
    """

    seat: int
    seats: int
    round: Round
    phase: str
    sweep: int = 0
    sweeps: int = 1
    channels: tuple[str, ...] = ()
    reachable: tuple[int, ...] = ()
    attempt: int = 0
    retries: int = 0

    @property
    def last(self) -> bool:
        """Whether the turn budget ends with this sweep."""
        return self.sweep + 1 >= self.sweeps

    @property
    def participates(self) -> bool:
        """Whether the seat is a participant of the round."""
        return self.seat in self.round.participants


class Observation(Frozen):
    """All that a seat may know now. A game subclasses it and adds the seat's own private view.

    Attributes:
        turn: Where in the game the seat is.
        inbox: The posts that reached the seat since its own last move, in order of delivery.
    """

    turn: Turn
    inbox: tuple[Post, ...] = ()

    @property
    def seat(self) -> int:
        """The seat that observes."""
        return self.turn.seat

    @property
    def round(self) -> Round:
        """The current round."""
        return self.turn.round

    @property
    def phase(self) -> str:
        """Name of the current phase."""
        return self.turn.phase

    @property
    def others(self) -> tuple[int, ...]:
        """The round's participants but for the seat itself, ascending."""
        return tuple(seat for seat in self.turn.round.participants if seat != self.turn.seat)

    @property
    def agreement(self) -> AgreementView | None:
        """The typed view of a streaming agreement problem, in a game that offers one."""
        return None

    @property
    def focal(self) -> FocalView | None:
        """The typed view of a focal-point problem, in a game that offers one."""
        return None

    def describe(self) -> str:
        """What the seat sees, as text for people; a game adds its own private view."""
        return f"seat {self.seat}, round {self.round.index}, phase {self.phase}"

    def __repr__(self) -> str:  # the runtime formats every message for its log
        return f"<{type(self).__name__} seat={self.turn.seat} round={self.turn.round.index} phase={self.turn.phase}>"


def batch_of(actions: Sequence[Action]) -> Batch:
    """The actions of a move that are not messages, in order."""
    return tuple(action for action in actions if not isinstance(action, Send))
