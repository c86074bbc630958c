"""EAST: two seats choose a word each, without a word between them, and win if it is the same.

Source: EAST paper, section 2.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import AliasChoices, BeforeValidator, Field, JsonValue, ValidationError, field_validator, model_validator

from framework.errors import explain
from framework.game import Ballot, Game, Phase, Rules, Settlement
from framework.messages import Batch, Conflict, Round, Turn
from framework.trace import Trace
from games.east.association import AssociationName, association
from games.east.conditions import BEYOND, CONDITIONS, PERSONAS, Condition
from games.east.generator import GeneratorConfig, propose
from games.east.observation import Choose, EastObservation, describe
from games.east.outcome import CHANCE, METRICS, EastOutcome, score_choices
from games.east.prompting import EastPrompts
from games.east.scenario import PAPER, PROMPTS, PromptVariant, Scenario, Vignette, perturbed

if TYPE_CHECKING:
    from framework.analysis import Analysis, Drawing
    from framework.pages import PageModel

__all__ = ["East", "EastRules", "EastState"]


def _split(value: Any) -> Any:
    """Names from text with commas, as a command line gives them."""
    return [name.strip() for name in value.split(",") if name.strip()] if isinstance(value, str) else value


class EastRules(Rules):
    """The knobs of EAST.

    Attributes:
        conditions: Play these conditions of the suite only; empty for all.
        prompt_variants: Play these prompt variants of the suite only; empty for all. It goes by `prompts` as well.
        association: Where strategies without a model take association strengths from.
        constrain: Whether the schema of an answer admits the four words only, for models that are held to a schema.
            The prompt is the same either way.
    """

    conditions: Annotated[tuple[str, ...], BeforeValidator(_split)] = ()
    prompt_variants: Annotated[tuple[PromptVariant, ...], BeforeValidator(_split)] = Field(
        default=(), validation_alias=AliasChoices("prompt_variants", "prompts")
    )
    association: AssociationName = "table"
    constrain: bool = True

    @model_validator(mode="before")
    @classmethod
    def _by_one_name(cls, data: Any) -> Any:
        """The short name of the prompt variants is typed over what a file says under the long one."""
        if not isinstance(data, dict) or "prompts" not in data:
            return data
        return {**{key: value for key, value in data.items() if key != "prompts"}, "prompt_variants": data["prompts"]}

    @field_validator("association")
    @classmethod
    def _can_be_loaded(cls, name: AssociationName) -> AssociationName:
        association(name)
        return name


@dataclass(frozen=True, slots=True)
class EastState:
    """The scenario, and the outcome once both seats have chosen."""

    scenario: Scenario
    outcome: EastOutcome | None = None


def resolve(word: str, words: Sequence[str]) -> str | None:
    """The one of `words` that is meant, without regard to case and surrounding space; None if none is."""
    wanted = word.strip().casefold()
    return next((known for known in words if known.casefold() == wanted), None)


def one_choice(state: EastState, seat: int, batch: Batch) -> Conflict | None:
    """A seat chooses exactly once."""
    if len(batch) == 1:
        return None
    return Conflict(
        rule="one_choice",
        message=f"Choose exactly one word; this batch holds {len(batch)} choices.",
        data={"choices": len(batch)},
    )


def one_of_the_words(state: EastState, seat: int, batch: Batch) -> Conflict | None:
    """The choice is one of the four words."""
    words = state.scenario.orders[seat]
    for action in batch:
        if isinstance(action, Choose) and resolve(action.chosen_word, words) is None:
            return Conflict(
                rule="invalid_choice",
                message=f"{action.chosen_word!r:.80} is not one of the words; choose one of {', '.join(words)}.",
                data={"chosen_word": action.chosen_word, "words": list(words)},
            )
    return None


def settle(state: EastState, ballot: Ballot) -> Settlement:
    """Both choices become known at once."""
    words = state.scenario.vignette.words.all
    one, two = (
        next((resolve(a.chosen_word, words) for a in ballot.batches.get(seat, ()) if isinstance(a, Choose)), None)
        for seat in (0, 1)
    )
    outcome = score_choices(state.scenario, (one, two), ballot.round.index)
    return Settlement(replace(state, outcome=outcome), [outcome])


class East(Game[Scenario, EastState]):
    """The Epistemic Asymmetry Schelling Task.

    To add a condition, subclass and extend `conditions`.

    Attributes:
        conditions: The conditions that it knows, by name.
    """

    name = "east"
    title = "EAST"
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

    def start(self, scenario: Scenario) -> EastState:
        return EastState(scenario)

    def seats(self, scenario: Scenario) -> int:
        return 2

    def rounds(self, scenario: Scenario) -> Sequence[Round]:
        return (Round(index=0, participants=(0, 1), speakers=(0, 1), label="word"),)

    def phases(self) -> Sequence[Phase[EastState]]:
        return (
            Phase(
                name="choose", actions=(Choose,), retries=1, validators=(one_choice, one_of_the_words), settle=settle
            ),
        )

    def observe(self, state: EastState, turn: Turn) -> EastObservation:
        scenario = state.scenario
        return EastObservation(
            turn=turn,
            knowledge=scenario.knowledge[turn.seat],
            words=scenario.orders[turn.seat],
            prompt=scenario.prompt,
            association=self.rules.association,
        )

    def task_id(self, scenario: Scenario) -> str:
        return scenario.id

    def group(self, scenario: Scenario) -> str:
        return f"{scenario.condition}/{scenario.prompt}"

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

    def perturb(self, scenario: Scenario, seat: int, rng: random.Random) -> Scenario:
        return perturbed(scenario, seat, PERSONAS, rng)

    def public_facts(self, scenario: Scenario) -> dict[str, JsonValue]:
        words: list[JsonValue] = [*sorted(scenario.orders[0])]
        return {"prompt": scenario.prompt, **({"words": words} if self.rules.constrain else {})}

    def prompts(self) -> EastPrompts:
        return _prompts()

    def view(self, state: EastState, seat: int) -> str:
        return describe(state.scenario.knowledge[seat], state.scenario.orders[seat])

    def final(self, state: EastState) -> dict[str, JsonValue]:
        return {} if state.outcome is None else state.outcome.model_dump(mode="json", exclude={"type", "round"})


@cache
def _prompts() -> EastPrompts:
    return EastPrompts()
