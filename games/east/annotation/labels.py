"""What annotators say about a piece of reasoning.

Source: EAST paper, sections 2.5, 2.6, A.2 and A.3; the names of the fields are the paper's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, NamedTuple, Self, TypeAlias, get_args

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

__all__ = [
    "FALLACIES",
    "GROUPS",
    "LEVELS",
    "Coherence",
    "Fallacies",
    "Finding",
    "Labels",
    "Level",
    "RecursiveTarget",
    "TomLabels",
]

Level: TypeAlias = Literal[-1, 0, 1, 2]
"""Shallow, behavioural, other-directed ToM and recursive ToM inference."""
RecursiveTarget: TypeAlias = Literal["behavior", "mental_state", "N/A"]
Coherence: TypeAlias = Literal["TRUE", "FALSE", "N/A"]

LEVELS: tuple[Level, ...] = get_args(Level)


def _said(value: Any) -> Any:
    """A truth value in the paper's spelling."""
    return str(value).upper() if isinstance(value, bool) else value


class _Labels(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)


class TomLabels(_Labels):
    """The Theory-of-Mind level of a piece of reasoning (paper, A.2).

    Attributes:
        highest_level_achieved: The highest level that occurs.
        rationale: Why, or the sentence that shows it.
        recursive_target: What recursion is about at level 2; `N/A` at every other level.
        information_coherence: Whether ToM reasoning fits what the seat was told; `N/A` below level 1.
        information_coherence_rationale: Why, or `N/A`.
    """

    highest_level_achieved: Level
    rationale: str
    recursive_target: RecursiveTarget
    information_coherence: Annotated[Coherence, BeforeValidator(_said)]
    information_coherence_rationale: str

    @model_validator(mode="after")
    def _fit(self) -> Self:
        if (self.recursive_target == "N/A") == (self.highest_level_achieved == 2):
            raise ValueError("recursive_target must be behavior or mental_state at level 2, N/A at any other")
        if (self.information_coherence == "N/A") == (self.highest_level_achieved >= 1):
            raise ValueError("information_coherence must be TRUE or FALSE at levels 1 and 2, N/A at -1 and 0")
        return self


class Finding(_Labels):
    """Whether a fallacy occurs, and a quotation or an explanation."""

    error_present: bool
    rationale: str


class IdentityAndSemantics(_Labels):
    """Fallacies about who the players are and what the words mean."""

    hallucinating_own_persona: Finding
    hallucinating_other_persona: Finding
    semantic_fallacy: Finding
    misunderstanding_association_strength: Finding


class EpistemicTracking(_Labels):
    """Fallacies about who knows what."""

    misrepresenting_own_epistemic_state: Finding
    misrepresenting_other_epistemic_state: Finding
    misrepresenting_meta_epistemic_state: Finding
    ignoring_provided_knowledge: Finding


class StrategicExecution(_Labels):
    """Fallacies about the aim and how to reach it.

    The paper calls the egocentric one `egocentric_salience_projection` in one place; both are accepted.
    """

    violating_goal_or_hallucinating_constraints: Finding
    egocentric_projection: Finding = Field(
        validation_alias=AliasChoices("egocentric_projection", "egocentric_salience_projection")
    )
    other_unclassified_fallacy: Finding


class Fallacy(NamedTuple):
    """A fallacy by name, and what was found."""

    name: str
    finding: Finding


class Fallacies(_Labels):
    """Which of the eleven fallacies a piece of reasoning commits (paper, A.3)."""

    identity_and_semantics: IdentityAndSemantics
    epistemic_tracking: EpistemicTracking
    strategic_execution: StrategicExecution

    def each(self) -> Iterator[Fallacy]:
        """All eleven, in order."""
        for group in (self.identity_and_semantics, self.epistemic_tracking, self.strategic_execution):
            for name in type(group).model_fields:
                yield Fallacy(name, getattr(group, name))

    @property
    def present(self) -> frozenset[str]:
        """Names of those that occur."""
        return frozenset(fallacy.name for fallacy in self.each() if fallacy.finding.error_present)


Labels: TypeAlias = TomLabels | Fallacies

GROUPS: dict[str, tuple[str, ...]] = {
    "identity_and_semantics": tuple(IdentityAndSemantics.model_fields),
    "epistemic_tracking": tuple(EpistemicTracking.model_fields),
    "strategic_execution": tuple(StrategicExecution.model_fields),
}
"""The fallacies by group."""

FALLACIES: tuple[str, ...] = tuple(name for names in GROUPS.values() for name in names)
