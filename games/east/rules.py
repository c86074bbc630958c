"""What a run of EAST may vary besides its scenarios."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AliasChoices, BeforeValidator, Field, field_validator, model_validator

from framework.game import Rules
from games.east.association import AssociationName, association
from games.east.scenario import PromptVariant

__all__ = ["EastRules"]


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
