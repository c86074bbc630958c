"""Asks a seat, after a round, how its beliefs about the others have changed (CalBench paper, F.3)."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any

from pydantic import BaseModel, Field, JsonValue, RootModel, TypeAdapter, create_model

from framework import Observation, Prompts, Question
from framework.reading import NO_TRUTH, Unreadable, read_reply
from framework.reflection import MOST, Reflection
from protocols.brains import Brain
from protocols.models import Token

__all__ = ["expected_deltas", "reflect"]

_NUMBER = re.compile(r"-?\d+")


async def reflect(brain: Brain, prompts: Prompts[Any], observation: Observation) -> Sequence[Reflection]:
    """One question for each other seat. Nothing of it stays in the conversation.

    Raises:
        ModelFailure: If the model cannot be asked.
    """
    questions = prompts.questions(observation)
    return await asyncio.gather(*(_ask(brain, question, observation.round.index) for question in questions))


async def _ask(brain: Brain, question: Question, round: int) -> Reflection:
    said = await brain.aside(question.prompt, _shape(question.states))
    reply, usage = said.completion, said.usage
    deltas: tuple[int, ...] = ()
    error = ""
    try:
        deltas = read_reply(reply.text, _reader(question.states), complete=reply.finish != "length")
    except Unreadable as unreadable:
        error = str(unreadable)
    return Reflection(
        round=round,
        target=question.target,
        prompt=question.prompt,
        reply=said.kept,
        deltas=deltas,
        expected=expected_deltas(reply.logprobs, deltas),
        error=error,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        cost=usage.cost,
        latency=reply.latency,
    )


_Delta = Annotated[int, Field(ge=-MOST, le=MOST), NO_TRUTH]


@cache
def _shape(states: int) -> type[BaseModel]:
    """An array of one integer for each state, as a schema."""
    array = Annotated[list[_Delta], Field(min_length=states, max_length=states)]
    return create_model("Deltas", __base__=RootModel[array])


@cache
def _reader(states: int) -> Any:
    array = TypeAdapter(Annotated[tuple[_Delta, ...], Field(min_length=states, max_length=states)])

    def read(data: JsonValue) -> tuple[int, ...]:
        return array.validate_python(data)

    return read


def expected_deltas(tokens: Sequence[Token], deltas: Sequence[int]) -> tuple[float, ...]:
    """Each reported number replaced by its expectation over the numbers that could have stood in its place.

    Where a number begins, the alternatives that are a number from 0 to 3 count with their probability, and a
    minus sign with its own; the number after the sign is known only where the sign was taken. What else could
    have stood there is left out and the rest sums to 1.

    Args:
        tokens: The reply's tokens with their log-probabilities.
        deltas: The numbers that were read from the reply.

    Returns:
        One expectation for each number; empty if the tokens do not show as many numbers.
    """
    text, starts = "", []
    for token in tokens:
        starts.append(len(text))
        text += token.text
    found = list(_NUMBER.finditer(text))
    if not tokens or not deltas or [int(match.group()) for match in found] != list(deltas):
        return ()
    owner = [number for number, token in enumerate(tokens) for _ in token.text]
    return tuple([_expected(tokens, owner, m.start(), m.end() - 1, int(m.group())) for m in found])


def _expected(tokens: Sequence[Token], owner: Sequence[int], first: int, last: int, taken: int) -> float:
    """The expectation of the number whose first and last characters are at `first` and `last`."""
    begin = tokens[owner[first]]
    weights: dict[float, float] = {}
    sign = 0.0
    for said, logprob in begin.alternatives or ((begin.text, begin.logprob),):
        number = said.strip(" [,\n\t")
        if re.fullmatch(r"-?[0-3]", number):
            weights[float(number)] = weights.get(float(number), 0.0) + math.exp(logprob)
        elif number == "-":
            sign += math.exp(logprob)
    if taken < 0 and owner[first] != owner[last]:
        negative = _negative(tokens[owner[last]], taken)
        weights[negative] = weights.get(negative, 0.0) + sign
    total = sum(weights.values())
    return sum(value * weight for value, weight in weights.items()) / total if total else float(taken)


def _negative(digit: Token, taken: int) -> float:
    """The expectation after a minus sign."""
    weights = {
        -int(said.strip()): math.exp(logprob)
        for said, logprob in digit.alternatives or ((digit.text, digit.logprob),)
        if re.fullmatch(r"[0-3]", said.strip())
    }
    total = sum(weights.values())
    return sum(value * weight for value, weight in weights.items()) / total if total else float(taken)
