"""Typed protocols cannot say what an appointment is about: their payloads hold numbers and fixed words only."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import pytest
from pydantic import BaseModel, ConfigDict, JsonValue

from framework import Seating, Trace, play, registry
from games.calbench import CalBench
from games.calbench.labels import bank
from games.calbench.privacy import EVIDENCE
from protocols.typed import TypedProtocol

TYPED = sorted(
    entry.name
    for entry in registry.entries(registry.STRATEGIES)
    if entry.package == "cheaptalk" and issubclass(registry.strategy(entry.name), TypedProtocol)
)

NUMBERS = (int, float, bool, NoneType)


def leaves(kind: Any) -> Iterator[Any]:
    """What a value of a type is made of: numbers, literal words, and whatever else it may hold."""
    origin, inside = get_origin(kind), get_args(kind)
    if origin is Annotated:
        yield from leaves(inside[0])
    elif origin in (Union, UnionType, tuple, dict):
        for part in inside:
            yield from () if part is Ellipsis else leaves(part)
    elif origin is Literal:
        yield from inside
    elif isinstance(kind, type) and issubclass(kind, BaseModel):
        if kind.model_config.get("extra") != "forbid":
            yield Any
        for field in kind.model_fields.values():
            yield from leaves(field.annotation)
    else:
        yield kind


def openings(kind: Any) -> list[Any]:
    """What of a type could hold a text that nobody fixed beforehand."""
    return [leaf for leaf in leaves(kind) if leaf not in NUMBERS and not isinstance(leaf, str)]


def words(name: str) -> set[str]:
    """The words that a protocol's payloads may hold."""
    return {leaf for leaf in leaves(registry.strategy(name).vocabulary) if isinstance(leaf, str)}


def strings(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from strings(part)


@cache
def played(name: str) -> tuple[Trace, ...]:
    game = CalBench()
    kind = registry.strategy(name)
    return tuple(
        asyncio.run(play(game, task, [Seating(name, kind()) for _ in range(game.seats(task))]))
        for task in game.suite("quick", 0)
    )


def test_the_reference_protocols_are_among_those_tested():
    assert {"imap", "sd-map"} <= set(TYPED)


@pytest.mark.parametrize("name", TYPED)
def test_a_payload_can_hold_no_text_of_its_own(name):
    assert openings(registry.strategy(name).vocabulary) == []


class Tight(BaseModel):
    model_config = ConfigDict(extra="forbid")


class FreeText(Tight):
    why: str


class AnyValue(Tight):
    why: Any


class AnyWords(Tight):
    why: tuple[str, ...]


class AnyKeys(Tight):
    why: dict[str, int]


class AnyWordOrNumber(Tight):
    why: int | str | None


class AnyList(Tight):
    why: list  # type: ignore[type-arg]


class AnyMore(BaseModel):
    model_config = ConfigDict(extra="allow")


@pytest.mark.parametrize("kind", [FreeText, AnyValue, AnyWords, AnyKeys, AnyWordOrNumber, AnyList, AnyMore])
def test_a_payload_that_could_hold_text_would_be_found(kind):
    assert openings(kind)


@pytest.mark.parametrize("name", TYPED)
def test_nothing_but_fixed_words_and_numbers_was_ever_sent(name):
    known = words(name)
    posts = [post for trace in played(name) for post in trace.posts]
    assert posts
    for post in posts:
        assert set(strings(json.loads(post.content))) <= known


@pytest.mark.parametrize("name", TYPED)
def test_no_term_of_a_label_was_ever_sent(name):
    contents = {post.content.lower() for trace in played(name) for post in trace.posts}
    said = "\n".join(contents)
    assert not [term for label in bank().labels for term in label.canaries if term in said]


@pytest.mark.parametrize("name", TYPED)
def test_the_evidence_table_reads_everything_that_was_sent(name):
    assert all(EVIDENCE.read(post.content) for trace in played(name) for post in trace.posts)
