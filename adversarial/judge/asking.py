"""How the judge is asked, and what its answer says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from adversarial.judge.cases import Case
from framework.asking import Asker, Said
from framework.reflection import MOST
from framework.results import total_usage
from framework.trace import Usage
from protocols.reading import Unreadable, read_reply

__all__ = ["Answer", "Belief", "Judgement", "ask"]


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

    target: int
    slot: int
    delta: int
    reason: str = ""


class _LooseJudgement(BaseModel):
    beliefs: list[_Loose]


class Answer(NamedTuple):
    """What came of a case.

    Attributes:
        beliefs: The beliefs that changed, each once, ascending.
        dropped: Entries about no seat, slot or change that there is.
        reply: The last reply.
        error: Why it could not be read, also when asked again; empty if it could.
        usage: What the calls consumed.
    """

    beliefs: tuple[Belief, ...]
    dropped: int
    reply: str
    error: str
    usage: Usage


async def ask(asker: Asker, prompt: str, case: Case) -> Answer:
    """Ask the judge about a case, and once more if its answer cannot be read.

    Raises:
        framework.ModelFailure: If it cannot be asked.
    """
    conversation = [Said("user", prompt)]
    usages, text, fault = [], "", ""
    for _ in range(2):
        text, usage = await asker.ask(conversation, Judgement)
        usages.append(usage)
        try:
            said = read_reply(text, _read)
        except Unreadable as error:
            fault = str(error)
            again = f"Your answer could not be read: {fault}. Answer again, with one JSON object of the required form."
            conversation += [Said("assistant", text), Said("user", again)]
        else:
            kept = _kept(said, case)
            return Answer(kept.beliefs, kept.dropped, text, "", total_usage(usages))
    return Answer((), 0, text, fault, total_usage(usages))


def _read(data: JsonValue) -> list[_Loose]:
    """The entries of an answer; a bare list is taken for them."""
    return _LooseJudgement.model_validate({"beliefs": data} if isinstance(data, list) else data).beliefs


class _Kept(NamedTuple):
    beliefs: tuple[Belief, ...]
    dropped: int


def _kept(said: Sequence[_Loose], case: Case) -> _Kept:
    """The entries that are about something that there is; of several about one belief the last one counts."""
    fit = [
        belief
        for belief in said
        if belief.target in case.targets and 0 <= belief.slot < case.states and abs(belief.delta) <= MOST
    ]
    by_place = {(belief.target, belief.slot): belief for belief in fit}
    beliefs = tuple(Belief(**belief.model_dump()) for _, belief in sorted(by_place.items()) if belief.delta)
    return _Kept(beliefs, len(said) - len(fit))
