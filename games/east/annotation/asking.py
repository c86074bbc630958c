"""How an annotator is asked: the prompt, the model, and the answer checked against its schema."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from framework.asking import Asker, Said
from framework.errors import UserError
from framework.results import total_usage
from framework.trace import Usage
from games.east.annotation.labels import Fallacies, Labels, TomLabels
from games.east.annotation.sidecar import Kind
from games.east.annotation.task import Reasoning
from games.east.style import title

__all__ = ["SCHEMAS", "AnnotationPrompts", "Answer", "ask"]

SCHEMAS: dict[Kind, type[TomLabels] | type[Fallacies]] = {"tom": TomLabels, "fallacies": Fallacies}


class AnnotationPrompts:
    """The annotators' prompts: `tom.j2` and `fallacies.j2` in a folder, and what they include.

    Args:
        folder: The folder; our own wording of the paper's appendices A.2 and A.3 by default.

    Raises:
        UserError: If one of the two is missing.
    """

    default = Path(__file__).parents[1] / "prompts" / "annotation"

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or self.default
        for kind in SCHEMAS:
            if not (self.folder / f"{kind}.j2").is_file():
                raise UserError(f"prompts {self.folder}: there is no {kind}.j2; copy our own from {self.default}")

    @cached_property
    def hash(self) -> str:
        """SHA-256 of all templates of the folder, by name."""
        digest = hashlib.sha256()
        for path in sorted(self.folder.glob("*.j2")):
            digest.update(path.name.encode() + b"\n" + path.read_bytes())
        return digest.hexdigest()

    @cached_property
    def _environment(self) -> Any:
        from jinja2 import FileSystemLoader, StrictUndefined
        from jinja2.sandbox import ImmutableSandboxedEnvironment

        loader = FileSystemLoader(self.folder)
        return ImmutableSandboxedEnvironment(
            loader=loader, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
        )

    def render(self, kind: Kind, reasoning: Reasoning) -> str:
        """The prompt about one seat's reasoning.

        Raises:
            UserError: If a template is faulty.
        """
        from jinja2 import TemplateError

        scenario, seat = reasoning.scenario, reasoning.seat
        role = reasoning.outcome.roles[seat]
        try:
            text = self._environment.get_template(f"{kind}.j2").render(
                condition=title(scenario.condition),
                prompt=title(scenario.prompt),
                seat=seat,
                persona=scenario.vignette.personas[seat],
                partner=scenario.vignette.personas[1 - seat],
                told=scenario.knowledge[seat].partner,
                misled=scenario.knowledge[seat].partner not in (None, scenario.vignette.personas[1 - seat]),
                words=scenario.vignette.words,
                chosen="none of the four" if role is None else f"{reasoning.outcome.words[seat]} ({title(role)})",
                game_prompt=reasoning.prompt,
                trace=reasoning.text,
            )
        except TemplateError as error:
            line = getattr(error, "lineno", None)
            where = f"{kind}.j2" if line is None else f"{kind}.j2 line {line}"
            raise UserError(f"prompts {self.folder}: {where}: {error}; correct the template") from error
        return str(text).strip()


class Answer(NamedTuple):
    """What an annotator said.

    Attributes:
        labels: The labels; None if there were none that fit, also when asked again.
        reply: Its last reply.
        error: What was wrong with it, in one sentence; empty if nothing was.
        usage: What both calls consumed.
    """

    labels: Labels | None
    reply: str
    error: str
    usage: Usage


async def ask(asker: Asker, prompt: str, schema: type[TomLabels] | type[Fallacies]) -> Answer:
    """Ask an annotator, and once more if its answer does not fit the schema.

    Raises:
        framework.ModelFailure: If it cannot be asked.
    """
    conversation = [Said("user", prompt)]
    usages, text, fault = [], "", ""
    for _ in range(2):
        text, usage = await asker.ask(conversation, schema)
        usages.append(usage)
        try:
            return Answer(_labels(text, schema), text, "", total_usage(usages))
        except ValueError as error:
            fault = str(error)
        again = f"{fault} Answer again, with ONLY one JSON object of the required form."
        conversation += [Said("assistant", text), Said("user", again)]
    return Answer(None, text, fault, total_usage(usages))


def _labels(reply: str, schema: type[TomLabels] | type[Fallacies]) -> Labels:
    """The first JSON object in a reply that fits.

    Raises:
        ValueError: With one sentence about the first object that does not fit, or about there being none.
    """
    fault = "The answer holds no JSON object."
    for number, data in enumerate(_objects(reply)):
        try:
            return schema.model_validate(data)
        except ValidationError as error:
            if number == 0:
                first = error.errors(include_url=False)[0]
                where = ".".join(map(str, first["loc"]))
                said = first["msg"].removeprefix("Value error, ")
                fault = f"The answer does not fit: {f'{where}: ' if where else ''}{said}."
    raise ValueError(fault)


def _objects(text: str) -> Iterator[Any]:
    decoder, place = json.JSONDecoder(), text.find("{")
    while place != -1:
        try:
            data, end = decoder.raw_decode(text, place)
        except ValueError:
            end = place + 1
        else:
            yield data
        place = text.find("{", end)
