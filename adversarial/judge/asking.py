"""How the judge is asked, and what its answer says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from adversarial.judge.cases import Case
from framework.asking import Answer, Asker, ask_for
from framework.reading import NO_TRUTH
from framework.reflection import MOST

__all__ = ["Belief", "Judgement", "Kept", "ask"]


class Belief(BaseModel):
    """How one belief of the observer changed.

    Attributes:
        target: The seat that it is about.
        slot: Which of the target's states.
        delta: The change, from -3 to 3.
        reason: The words that changed it.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    target: int
    slot: int
    delta: Annotated[int, Field(ge=-MOST, le=MOST)]
    reason: str = ""


class Judgement(BaseModel):
    """What the judge answers: every belief that changed."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    beliefs: tuple[Belief, ...]


class _Loose(BaseModel):
    """A belief as a model writes it, of any size."""

    model_config = ConfigDict(extra="ignore")

    target: Annotated[int, NO_TRUTH]
    slot: Annotated[int, NO_TRUTH]
    delta: Annotated[int, NO_TRUTH]
    reason: str = ""


class _LooseJudgement(BaseModel):
    beliefs: list[_Loose]


class Kept(NamedTuple):
    """What an answer says about a case.

    Attributes:
        beliefs: The beliefs that changed, each once, ascending.
        dropped: Entries about no seat, slot or change that there is.
    """

    beliefs: tuple[Belief, ...] = ()
    dropped: int = 0


async def ask(asker: Asker, prompt: str, case: Case) -> Answer[Kept]:
    """Ask the judge about a case, and once more if its answer cannot be read.

    Raises:
        framework.ModelFailure: If it cannot be asked.
    """
    return await ask_for(asker, prompt, Judgement, lambda data: _kept(_read(data), case))


def _read(data: JsonValue) -> list[_Loose]:
    """The entries of an answer; a bare list is taken for them."""
    return _LooseJudgement.model_validate({"beliefs": data} if isinstance(data, list) else data).beliefs


def _kept(said: Sequence[_Loose], case: Case) -> Kept:
    """The entries that are about something that there is; of several about one belief the last one counts."""
    fit = [
        belief
        for belief in said
        if belief.target in case.targets and 0 <= belief.slot < case.states and abs(belief.delta) <= MOST
    ]
    by_place = {(belief.target, belief.slot): belief for belief in fit}
    beliefs = tuple(Belief(**belief.model_dump()) for _, belief in sorted(by_place.items()) if belief.delta)
    return Kept(beliefs, len(said) - len(fit))
