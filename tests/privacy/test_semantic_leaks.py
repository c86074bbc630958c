"""Typed protocols cannot say what an appointment is about: their payloads hold numbers and fixed words only."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, JsonValue, TypeAdapter

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

TELLING = {"type", "enum", "const", "$ref", "anyOf", "oneOf", "allOf"}
"""What a schema has to say of a field so that it does not take just anything."""


@cache
def schema(name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = TypeAdapter(registry.strategy(name).vocabulary).json_schema()
    return found


def parts(node: Any) -> Iterator[Mapping[str, Any]]:
    """A schema and everything inside it."""
    if isinstance(node, dict):
        yield node
    for part in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from parts(part)


def words(name: str) -> set[str]:
    """The words that a protocol's payloads may hold."""
    found: set[str] = set()
    for part in parts(schema(name)):
        found.update(word for word in (*part.get("enum", ()), part.get("const")) if isinstance(word, str))
    return found


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


def openings(root: Any) -> list[Mapping[str, Any]]:
    """The places of a schema at which free text fits."""
    found = []
    for part in parts(root):
        if part.get("type") == "string" and not {"enum", "const"} & part.keys():
            found.append(part)
        if part.get("type") == "object" and part.get("additionalProperties") is not False:
            found.append(part)
        if part.get("type") == "array" and not {"items", "prefixItems"} & part.keys():
            found.append(part)
        inside = [*part.get("properties", {}).values(), *part.get("prefixItems", ())]
        found += [field for field in inside if not TELLING & field.keys()]
    return found


@pytest.mark.parametrize("name", TYPED)
def test_a_payload_can_hold_no_text_of_its_own(name):
    assert openings(schema(name)) == []


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


class AnyMore(BaseModel):
    model_config = ConfigDict(extra="allow")


@pytest.mark.parametrize("kind", [FreeText, AnyValue, AnyWords, AnyKeys, AnyMore])
def test_a_payload_that_could_hold_text_would_be_found(kind):
    assert openings(kind.model_json_schema())


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
