"""What plays a seat. Subclass `Strategy`; one async method is enough."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import ConfigDict, Field, JsonValue, SkipValidation

from framework.messages import Action, Config, Conflict, Frozen, Observation
from framework.prompts import Prompts
from framework.trace import Note, SeatEvent, Usage

__all__ = ["BudgetSpent", "ModelFailure", "ModelRefused", "Params", "Record", "SeatLeft", "SeatStart", "Strategy"]

ObservationT = TypeVar("ObservationT", bound=Observation)


class Params(Config):
    """The typed parameters of a strategy; subclass it and name the subclass in `Strategy.params_type`."""


class SeatStart(Frozen):
    """What a seat is told before the first round.

    Attributes:
        game: Name of the game.
        seat: The strategy's own seat.
        seats: Number of seats.
        rounds: Number of rounds.
        retries: How often a rejected batch may be submitted anew.
        sweeps: Turn budget of the talk in each round.
        channels: Names of the channels that the game has open.
        view: The seat's own state, as text.
        facts: What the game tells every seat (for CalBench: number of slots).
        messages: How many messages one move may hold.
        chars: How many characters one message may have.
        prompts: How the game speaks to a language model; None if it does not. It is code and is not serialized.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    game: str
    seat: int
    seats: int
    rounds: int
    retries: int = 0
    sweeps: int = 1
    channels: tuple[str, ...] = ()
    view: str = ""
    facts: dict[str, JsonValue] = {}
    messages: int = 256
    chars: int = 8000
    prompts: SkipValidation[Prompts[Any] | None] = Field(default=None, exclude=True, repr=False)


class ModelFailure(Exception):
    """A model could not be asked, also after retries. It aborts the game at the boundary `model`."""


class BudgetSpent(ModelFailure):
    """Nothing is left to ask models with. It aborts the game, and the run stops, to be resumed."""


class ModelRefused(ModelFailure):
    """A provider takes no call with this key, or with this account. It aborts the game, and the run stops: no other
    game would fare better, and they are played when it is resumed."""


class SeatLeft(Exception):
    """The person who plays a seat is gone. It aborts the game at the boundary `user`, and the run stops."""


@dataclass
class Record:
    """What a strategy may write down about the move that it is making. It ends up in the trace only.

    Attributes:
        prompt: What a model was told.
        thinking: Its reasoning.
        usage: What the move consumed.
        events: Further events of the seat, in order.
        waiting: Name of the model that the move is waiting for, while it is. If the time of the move is over
            meanwhile, it is the model that has failed, and not the strategy.
    """

    prompt: str = ""
    thinking: str = ""
    usage: Usage | None = None
    events: list[SeatEvent] = field(default_factory=list)
    waiting: str = ""


class Strategy(ABC, Generic[ObservationT]):
    """Plays one seat of one game.

    A strategy never sees the runtime, another seat, the trace or the scenario: what it is handed is
    frozen and holds what its seat may know. `act` is required; the hooks do nothing unless overridden.

    Attributes:
        params_type: The class of its parameters.
        adversarial: Whether it works against the other seats; shown in traces and tables.
        reference: Whether it is a point of reference, which ratings list apart, and no competitor.
        interactive: Whether it talks to a person at the terminal, so that commands draw nothing there meanwhile.
        params: Its parameters.
        rng: Its own source of randomness, seeded by game and seat.
        record: What it writes down about the current move.
    """

    params_type: ClassVar[type[Params]] = Params
    adversarial: ClassVar[bool] = False
    reference: ClassVar[bool] = False
    interactive: ClassVar[bool] = False

    def __init__(self, params: Params | None = None, **values: Any) -> None:
        """Take parameters as a whole, or as keyword arguments of `params_type`.

        Raises:
            pydantic.ValidationError: If a parameter is unknown or has an unfit value.
        """
        self.params: Any = self.params_type(**values) if params is None else params
        self.rng = random.Random(0)
        self.record = Record()

    @abstractmethod
    async def act(self, observation: ObservationT) -> Sequence[Action]:
        """Move: messages while a channel is open, a batch where the phase asks for one.

        Args:
            observation: All that the seat may know now.

        Returns:
            Actions; an empty sequence passes.
        """

    async def start_game(self, start: SeatStart) -> None:
        """Called once, before the first round."""

    async def start_round(self, observation: ObservationT) -> None:
        """Called before the seat's first move of a round."""

    async def retry(self, observation: ObservationT, conflict: Conflict) -> Sequence[Action] | None:
        """A batch was rejected, with the exact conflict.

        Returns:
            The complete new batch, or None to submit nothing, which is the default.
        """
        return None

    async def end_round(self, observation: ObservationT) -> None:
        """Called when a round is over, with what the seat sees then."""

    async def end_game(self) -> None:
        """Called once when the game is over or was aborted; release what you hold."""

    @property
    def system_prompt(self) -> str:
        """The exact system prompt of a strategy that asks a model."""
        return ""

    def note(self, observation: Observation, kind: str, **data: JsonValue) -> None:
        """Write something down for whoever reads the trace; no seat sees it."""
        self.record.events.append(Note(round=observation.round.index, kind=kind, data=data))
