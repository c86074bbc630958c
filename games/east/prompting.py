"""Prompts from template files, and the choice in a model's reply.

A prompt is rendered from the typed fields of an observation and from nothing else. The wording of the
shipped pack is our own; it gives the information of appendix A.1 of the paper, in the same order, and asks
for the same output fields.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from games.east.observation import Choose, EastObservation

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["Answer", "PromptPack", "ReasonedAnswer", "read_choice", "reply_schema", "with_article"]

_SHIPPED = files("games.east").joinpath("prompts")


class Answer(BaseModel):
    """The reply to the `direct` prompt."""

    model_config = ConfigDict(extra="ignore")

    chosen_word: str


class ReasonedAnswer(BaseModel):
    """The reply to the other prompts: the reasoning comes first, so that a model writes it first."""

    model_config = ConfigDict(extra="ignore")

    reasoning: str = Field(default="")
    chosen_word: str


def reply_schema(observation: EastObservation) -> type[Answer] | type[ReasonedAnswer]:
    """The fields that the prompt of this observation asks for."""
    return Answer if observation.prompt == "direct" else ReasonedAnswer


def read_choice(observation: EastObservation, text: str) -> Choose:
    """The choice in a reply: its first JSON object that has a `chosen_word`, in a code block or amid prose.

    Raises:
        ValueError: With one sentence that the model can be told.
    """
    decoder = json.JSONDecoder()
    schema = reply_schema(observation)
    for start in (place for place, sign in enumerate(text) if sign == "{"):
        try:
            answer = schema.model_validate(decoder.raw_decode(text, start)[0])
        except (json.JSONDecodeError, ValidationError):
            continue
        return Choose(chosen_word=answer.chosen_word, reasoning=getattr(answer, "reasoning", ""))
    raise ValueError("The answer holds no JSON object with the text field chosen_word.")


def with_article(noun: str) -> str:
    """A noun with its indefinite article, by its first letter."""
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


@dataclass(frozen=True)
class PromptPack:
    """A folder of templates.

    `user.j2` is the prompt, and may include others; `system.j2` and `repair.j2` are the system prompt and
    what is said after an answer that cannot be used. Each sees `knowledge` (`framework.Knowledge`),
    `words` and `prompt`; `repair.j2` sees `problem` as well.

    Attributes:
        name: Name of the pack: its folder's.
        templates: The text of each template, by file name.
    """

    name: str
    templates: Mapping[str, str]

    REQUIRED: ClassVar[tuple[str, ...]] = ("system.j2", "user.j2", "repair.j2")

    @classmethod
    def load(cls, pack: str) -> PromptPack:
        """A shipped pack by its name, or any by the path of its folder.

        Raises:
            ValueError: If there is none, or a template is missing.
        """
        shipped = sorted(entry.name for entry in _SHIPPED.iterdir() if entry.is_dir())
        folder = _SHIPPED.joinpath(pack) if pack in shipped else Path(pack)
        if not folder.is_dir():
            raise ValueError(f"prompt pack {pack!r} is unknown; use one of {', '.join(shipped)}, or a folder's path")
        found = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".j2"))
        templates = {name: folder.joinpath(name).read_text(encoding="utf-8") for name in found}
        for name in cls.REQUIRED:
            if name not in templates:
                raise ValueError(f"prompt pack {pack!r} has no {name}; add the file")
        return cls(pack if pack in shipped else Path(pack).resolve().name, templates)

    @cached_property
    def sha256(self) -> str:
        """Hash of the names and texts of all templates."""
        whole = json.dumps(dict(sorted(self.templates.items())), ensure_ascii=False)
        return hashlib.sha256(whole.encode()).hexdigest()

    @cached_property
    def _environment(self) -> Environment:
        from jinja2 import DictLoader, StrictUndefined
        from jinja2.sandbox import ImmutableSandboxedEnvironment

        environment = ImmutableSandboxedEnvironment(loader=DictLoader(self.templates), undefined=StrictUndefined)
        environment.filters["with_article"] = with_article
        return environment

    def _render(self, template: str, observation: EastObservation, **more: str) -> str:
        return (
            self._environment.get_template(template)
            .render(knowledge=observation.knowledge, words=observation.words, prompt=observation.prompt, **more)
            .strip()
        )

    def system(self, observation: EastObservation) -> str:
        """The system prompt; empty in the shipped pack, as in the paper."""
        return self._render("system.j2", observation)

    def user(self, observation: EastObservation) -> str:
        """What the seat is asked."""
        return self._render("user.j2", observation)

    def repair(self, observation: EastObservation, problem: str) -> str:
        """What the seat is told after an answer that cannot be used.

        Args:
            observation: What the seat sees.
            problem: What is wrong with the answer, in one sentence.
        """
        return self._render("repair.j2", observation, problem=problem)

    def check(self) -> None:
        """Compile every template.

        Raises:
            ValueError: If one is faulty; the message names the file and the line.
        """
        from jinja2 import TemplateSyntaxError

        for name in self.templates:
            try:
                self._environment.get_template(name)
            except TemplateSyntaxError as error:
                raise ValueError(f"prompt pack {self.name}: {name} line {error.lineno}: {error.message}") from error
