"""How a game speaks to a language model: a pack of templates, and the shape of an answer.

A game returns a `Prompts` from `Game.prompts`, and the framework hands it to every seat in
`SeatStart.prompts`. A strategy that asks a model renders its messages from it and reads the answers with
it, and so needs to know nothing of the game. Templates are given observations and nothing else: what a
seat may not know, no template can say.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, Self, TypeVar

from pydantic import BaseModel, JsonValue

from framework.errors import UserError
from framework.messages import Action, Conflict, Observation

if TYPE_CHECKING:
    from jinja2 import Template

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


class Prompts(ABC, Generic[ObservationT]):
    """How a game speaks to a language model.

    The templates are Jinja files, `NAME.j2`, in one folder. Another folder takes their place as a whole.

    Attributes:
        templates: Names of the templates that a folder has to hold.
        default: The game's own folder.
        folder: The folder in use.
    """

    templates: ClassVar[tuple[str, ...]]
    default: ClassVar[Path]

    def __init__(self, folder: Path | None = None) -> None:
        """Use a folder of templates, by default the game's own.

        Raises:
            UserError: If the folder lacks a template.
        """
        self.folder = folder or self.default
        missing = [name for name in self.templates if not (self.folder / f"{name}.j2").is_file()]
        if missing:
            raise UserError(
                f"prompts {self.folder}: there is no {missing[0]}.j2; copy the game's own from {self.default} and edit"
            )

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and isinstance(other, Prompts) and other.folder == self.folder

    def __hash__(self) -> int:
        return hash((type(self), self.folder))

    def using(self, folder: Path) -> Self:
        """The same game's prompts from another folder.

        Raises:
            UserError: If the folder lacks a template.
        """
        return type(self)(folder)

    @property
    def name(self) -> str:
        """Name of the pack, as traces state it."""
        return self.folder.name

    @cached_property
    def hash(self) -> str:
        """SHA-256 of all templates of the folder, by name."""
        digest = hashlib.sha256()
        for path in sorted(self.folder.rglob("*.j2")):
            digest.update(f"{path.relative_to(self.folder).as_posix()}\n".encode())
            digest.update(path.read_bytes())
        return digest.hexdigest()

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

    def render(self, template: str, **values: Any) -> str:
        """A template with its values filled in; a name that it does not know is an error, never a blank.

        Raises:
            UserError: If the template is faulty.
        """
        from jinja2 import TemplateError

        try:
            return self._template(template).render(**values).strip()
        except TemplateError as error:
            line = getattr(error, "lineno", None)
            where = f"{template}.j2" if line is None else f"{template}.j2 line {line}"
            raise UserError(f"prompts {self.folder}: {where}: {error}; correct the template") from error

    @cached_property
    def _environment(self) -> Any:
        from jinja2 import FileSystemLoader, StrictUndefined
        from jinja2.sandbox import ImmutableSandboxedEnvironment

        return ImmutableSandboxedEnvironment(
            loader=FileSystemLoader(self.folder),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )

    def _template(self, name: str) -> Template:
        template: Template = self._environment.get_template(f"{name}.j2")
        return template
