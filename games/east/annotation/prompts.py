"""What an annotator is asked."""

from __future__ import annotations

import hashlib
from functools import cached_property
from pathlib import Path
from typing import Any

from framework.errors import UserError
from games.east.annotation.labels import Fallacies, TomLabels
from games.east.annotation.sidecar import Kind
from games.east.annotation.task import Reasoning
from games.east.style import title

__all__ = ["SCHEMAS", "AnnotationPrompts"]

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
