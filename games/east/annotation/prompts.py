"""What an annotator is asked."""

from __future__ import annotations

from pathlib import Path

from framework.templates import Templates
from games.east.annotation.labels import Fallacies, TomLabels
from games.east.annotation.sidecar import Kind
from games.east.annotation.task import Reasoning
from games.east.style import title

__all__ = ["SCHEMAS", "AnnotationPrompts"]

SCHEMAS: dict[Kind, type[TomLabels] | type[Fallacies]] = {"tom": TomLabels, "fallacies": Fallacies}


class AnnotationPrompts(Templates):
    """The annotators' prompts: `tom.j2` and `fallacies.j2` in a folder; our own wording of appendices A.2 and A.3."""

    templates = tuple(SCHEMAS)
    default = Path(__file__).parents[1] / "prompts" / "annotation"

    def prompt(self, kind: Kind, reasoning: Reasoning) -> str:
        """The prompt about one seat's reasoning.

        Raises:
            UserError: If a template is faulty.
        """
        scenario, seat = reasoning.scenario, reasoning.seat
        role = reasoning.outcome.roles[seat]
        return self.render(
            kind,
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
