"""Reads what a model writes: JSON as it should be, or what can be made out of it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, TypeVar

import json_repair
from pydantic import BeforeValidator, JsonValue, ValidationError
from pydantic_core import from_json

__all__ = ["LONGEST", "NO_TRUTH", "Unreadable", "read_json", "read_reply", "reasoning"]

T = TypeVar("T")

LONGEST = 250_000
"""Characters of a reply that are looked at; a longer one is not read."""
_LONGEST_REPAIR = 100_000
_DEEPEST = 40
_THINK = re.compile(r"^\s*<think>(.*?)</think>", re.DOTALL)


def _no_truth(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("input should be a number, not true or false")
    return value


NO_TRUTH = BeforeValidator(_no_truth)
"""Put last beside `int`: 3, 3.0 and "3" pass, as models write them, but not `true`, which pydantic takes for 1."""


class Unreadable(ValueError):
    """A reply that cannot be read; its message is the exact error, as the model is told it."""


def read_reply(text: str, read: Callable[[JsonValue], T], *, complete: bool = True) -> T:
    """What a reply says.

    Args:
        text: The reply.
        read: Makes sense of its JSON; it raises pydantic's ValidationError where it cannot.
        complete: False if the model was cut off, so that a missing end is not made up.

    Raises:
        Unreadable: If nothing can be made out of it.
    """
    data = read_json(text, complete=complete)
    try:
        return read(data)
    except ValidationError as error:
        if isinstance(data, list):  # several objects: one of them may be the answer
            for part in data:
                try:
                    return read(part)
                except ValidationError:
                    continue
        raise Unreadable(_sentence(error)) from error


def reasoning(text: str, thought: str, given: str) -> str:
    """All the reasoning that came with a reply.

    Args:
        text: The reply, which may begin with a `<think>` block.
        thought: What the provider handed over apart from the text.
        given: What the answer itself gives as its reasoning.
    """
    block = _THINK.match(text[:LONGEST])
    parts = (thought, block[1] if block else "", given)
    return "\n\n".join(part.strip() for part in parts if part.strip())


def read_json(text: str, *, complete: bool = True) -> JsonValue:
    """The JSON in a reply, with fences, prose, trailing commas and the like taken away.

    Raises:
        Unreadable: If there is none, or it is too long or too deep to be meant.
    """
    if len(text) > LONGEST:
        raise Unreadable(f"it has more than {LONGEST} characters")
    text = _THINK.sub("", text)
    try:
        data: JsonValue = from_json(text, allow_inf_nan=False)
        return data
    except ValueError as error:
        fault = str(error)
    if not complete:
        raise Unreadable("it was cut off before its end; answer more briefly")
    return _repaired(text, fault)


def _repaired(text: str, fault: str) -> JsonValue:
    starts = [at for at in (text.find("{"), text.find("[")) if at >= 0]
    if not starts:
        raise Unreadable("it holds no JSON object")
    if len(text) > _LONGEST_REPAIR or _depth(text) > _DEEPEST:
        raise Unreadable(f"it is not valid JSON: {fault}")
    try:
        found: Any = json_repair.loads(text[min(starts) :], skip_json_loads=True)
        whole = json.dumps(found, ensure_ascii=False).encode("utf-8", "replace")  # half a character is no reason
        data: JsonValue = from_json(whole, allow_inf_nan=False)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"it is not valid JSON: {fault}") from error
    if not isinstance(data, (dict, list)) or (not data and "[]" not in text and "{}" not in text):
        raise Unreadable(f"it is not valid JSON: {fault}")
    return data


def _depth(text: str) -> int:
    """How deep brackets are nested, at most; those in texts are counted as well."""
    depth = deepest = 0
    for character in text:
        if character in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in "]}":
            depth = max(0, depth - 1)
    return deepest


def _sentence(error: ValidationError) -> str:
    fault = error.errors(include_url=False, include_input=False, include_context=False)[0]
    where = ".".join(str(part) for part in fault["loc"])
    return f"{fault['msg'].removeprefix('Value error, ')}{f' at {where}' if where else ''}"
