"""EAST: two seats choose a word each, without a word between them, and win if it is the same.

Source: EAST paper, section 2.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import JsonValue, ValidationError

from framework.errors import explain
from framework.game import Game, Phase
from framework.messages import Round, Turn
from framework.trace import Trace
from games.east.choices import EastState, one_choice, one_of_the_words, settle
from games.east.conditions import BEYOND, CONDITIONS, PERSONAS, Condition
from games.east.generator import GeneratorConfig, propose
from games.east.observation import Choose, EastObservation, describe
from games.east.outcome import CHANCE, METRICS
from games.east.prompting import EastPrompts
from games.east.rules import EastRules
from games.east.scenario import PAPER, PROMPTS, PromptVariant, Scenario, Vignette, perturbed

if TYPE_CHECKING:
    from framework.analysis import Analysis, Drawing
    from framework.pages import PageModel

__all__ = ["East"]


class East(Game[Scenario, EastState]):
    """The Epistemic Asymmetry Schelling Task.

    To add a condition, subclass and extend `conditions`.

    Attributes:
        conditions: The conditions that it knows, by name.
    """

    name = "east"
    title = "EAST: the same word without talking, under epistemic asymmetry"
    rules_type = EastRules
    scenario_type = Scenario
    metrics = METRICS
    suites = {
        "paper": "10 vignettes x 3 conditions x 3 prompts = 90 games",
        "quick": "2 vignettes x 3 conditions, direct prompt = 6 games",
        "beyond": "10 vignettes x false belief and noisy disclosure x 3 prompts = 60 games",
    }
    default_suite = "paper"
    default_strategy = "normative"
    conditions: ClassVar[Mapping[str, Condition]] = {c.name: c for c in (*CONDITIONS, *BEYOND)}

    def phases(self) -> Sequence[Phase[EastState]]:
        return (
            Phase(
                name="choose", actions=(Choose,), retries=1, validators=(one_choice, one_of_the_words), settle=settle
            ),
        )

    # --- scenario and state ---------------------------------------------------------------------

    def start(self, scenario: Scenario) -> EastState:
        return EastState(scenario)

    def seats(self, scenario: Scenario) -> int:
        return 2

    def rounds(self, scenario: Scenario) -> Sequence[Round]:
        return (Round(index=0, participants=(0, 1), speakers=(0, 1), label="word"),)

    def observe(self, state: EastState, turn: Turn) -> EastObservation:
        scenario = state.scenario
        return EastObservation(
            turn=turn,
            knowledge=scenario.knowledge[turn.seat],
            words=scenario.orders[turn.seat],
            prompt=scenario.prompt,
            association=self.rules.association,
        )

    def view(self, state: EastState, seat: int) -> str:
        return describe(state.scenario.knowledge[seat], state.scenario.orders[seat])

    def final(self, state: EastState) -> dict[str, JsonValue]:
        return {} if state.outcome is None else state.outcome.model_dump(mode="json", exclude={"type", "round"})

    def task_id(self, scenario: Scenario) -> str:
        return scenario.id

    def group(self, scenario: Scenario) -> str:
        return f"{scenario.condition}/{scenario.prompt}"

    def perturb(self, scenario: Scenario, seat: int, rng: random.Random) -> Scenario:
        return perturbed(scenario, seat, PERSONAS, rng)

    # --- what is told of it ---------------------------------------------------------------------

    def facts(self, scenario: Scenario) -> dict[str, JsonValue]:
        pack = self.prompts()
        return {
            "vignette": scenario.vignette.id,
            "condition": scenario.condition,
            "prompt": scenario.prompt,
            "target": scenario.target,
            "chance": CHANCE,
            "prompt_pack": pack.name,
            "prompt_pack_hash": pack.hash,
        }

    def public_facts(self, scenario: Scenario) -> dict[str, JsonValue]:
        words: list[JsonValue] = [*sorted(scenario.orders[0])]
        return {"prompt": scenario.prompt, **({"words": words} if self.rules.constrain else {})}

    def prompts(self) -> EastPrompts:
        return _prompts()

    def page(self, trace: Trace, path: Path | None = None) -> PageModel:
        from games.east.page import page

        return page(trace, path)

    @classmethod
    def analyses(cls) -> Sequence[Analysis[Any]]:
        from games.east.declared import ANALYSES

        return ANALYSES

    @classmethod
    def drawings(cls) -> Sequence[Drawing[Any]]:
        from games.east.declared import DRAWINGS

        return DRAWINGS

    # --- suites ---------------------------------------------------------------------------------

    def suite(self, name: str, seed: int) -> Sequence[Scenario]:
        paper, beyond = [c.name for c in CONDITIONS], [c.name for c in BEYOND]
        if name == "paper":
            return self.scenarios(PAPER, self.rules.conditions or paper, self.rules.prompt_variants or PROMPTS, seed)
        if name == "quick":
            return self.scenarios(
                PAPER[:2], self.rules.conditions or paper, self.rules.prompt_variants or ("direct",), seed
            )
        if name == "beyond":
            return self.scenarios(PAPER, self.rules.conditions or beyond, self.rules.prompt_variants or PROMPTS, seed)
        raise ValueError(f"suite {name!r} is unknown to east; use one of {', '.join(self.suites)}")

    def scenarios(
        self, vignettes: Sequence[Vignette], conditions: Sequence[str], prompts: Sequence[PromptVariant], seed: int = 0
    ) -> list[Scenario]:
        """Every vignette in every condition with every prompt.

        Raises:
            ValueError: If a condition is unknown.
        """
        for name in conditions:
            if name not in self.conditions:
                raise ValueError(f"condition {name!r} is unknown to east; use some of {', '.join(self.conditions)}")
        return [
            self.conditions[condition].scenario(vignette, prompt, seed)
            for condition, prompt, vignette in product(conditions, prompts, vignettes)
        ]

    def generate(self, config: Mapping[str, JsonValue]) -> Sequence[Scenario]:
        """Scenarios from vignettes that the generator proposes; settings are those of `GeneratorConfig`."""
        try:
            settings = GeneratorConfig.model_validate(config)
            vignettes = propose(settings)
        except ValidationError as error:
            raise explain(error, GeneratorConfig, "generator of east") from error
        return self.scenarios(vignettes, settings.conditions, settings.prompts, settings.seed)


@cache
def _prompts() -> EastPrompts:
    return EastPrompts()
