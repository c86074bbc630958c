"""How a game speaks to a language model: a pack of templates, and the shape of an answer.

A game returns a `Prompts` from `Game.prompts`, and the framework hands it to every seat in
`SeatStart.prompts`. A strategy that asks a model renders its messages from it and reads the answers with
it, and so needs to know nothing of the game. Templates are given observations and nothing else: what a
seat may not know, no template can say.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from pydantic import BaseModel, JsonValue

from framework.messages import Action, Conflict, Observation
from framework.templates import Templates

if TYPE_CHECKING:
    from framework.strategy import SeatStart

__all__ = ["Move", "Prompts", "Question"]

ObservationT = TypeVar("ObservationT", bound=Observation)


class Move(NamedTuple):
    """What an answer says.

    Attributes:
        thinking: The model's reasoning, which goes to the trace and to no other seat.
        actions: Its actions, in order.
    """

    thinking: str
    actions: Sequence[Action]


class Question(NamedTuple):
    """A question about another seat, asked for measurement only and kept out of the conversation.

    Attributes:
        target: The seat that it is about.
        prompt: The question; the answer is a JSON array of one integer from -3 to 3 for each state.
        states: How many possible states of the target it asks about.
    """

    target: int
    prompt: str
    states: int


class Prompts(Templates, ABC, Generic[ObservationT]):
    """How a game speaks to a language model.

    Its templates are in one folder, and another one takes their place as a whole.
    """

    @abstractmethod
    def system(self, start: SeatStart) -> str:
        """The system prompt of a seat."""

    @abstractmethod
    def message(self, observation: ObservationT, first: bool, conflict: Conflict | None = None) -> str:
        """The message that asks a seat to move.

        Args:
            observation: What the seat may know now.
            first: Whether it is the seat's first move of the round.
            conflict: Why its last batch was rejected, when it is asked anew.
        """

    @abstractmethod
    def answer_type(self, start: SeatStart) -> type[BaseModel]:
        """The shape of every answer of a seat, for models that can be held to a schema."""

    @abstractmethod
    def read(self, data: JsonValue) -> Move:
        """What an answer says. It may be more lenient than `answer_type`: a model is not always held to it.

        Raises:
            pydantic.ValidationError: If the data is not an answer.
        """

    def repair(self, error: str) -> str:
        """The message that asks for an answer anew because the last one could not be read."""
        return (
            f"Your last reply could not be read: {error}\n"
            "Reply again, with one JSON object of the required form and nothing else."
        )

    def questions(self, observation: ObservationT) -> Sequence[Question]:
        """What to ask a seat about the others when a round is over; nothing by default."""
        return ()
