"""Fills the pages that are generated from the code when the documentation is built."""

from __future__ import annotations

import inspect
from typing import Any, get_args

from framework import registry
from framework.trace import Event

MARK = "<!-- events -->"


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put a table of every event and field where a page asks for it."""
    return markdown.replace(MARK, "\n".join(map(_section, _events()))) if MARK in markdown else markdown


def _events() -> list[type[Event]]:
    """Every event that the framework, the games and the strategies declare, the framework's first."""
    for group in (registry.GAMES, registry.STRATEGIES):
        for entry in registry.entries(group):
            registry.load(group, entry.name)
    found, waiting = [], [Event]
    while waiting:
        cls = waiting.pop(0)
        waiting.extend(cls.__subclasses__())
        if get_args(cls.model_fields["type"].annotation) and cls.__module__.split(".")[0] != "tests":
            found.append(cls)
    return sorted(found, key=lambda cls: cls.__module__ != "framework.events")


def _section(cls: type[Event]) -> str:
    names = " / ".join(f"`{name}`" for name in get_args(cls.model_fields["type"].annotation))
    described = _attributes(cls)
    rows = [
        f"| `{name}` | `{_type(field.annotation)}` | {described.get(name, '')} |"
        for name, field in cls.model_fields.items()
        if name != "type"
    ]
    summary = (inspect.getdoc(cls) or "").split("\n\nAttributes:")[0].replace("\n", " ")
    return "\n".join([f"### {names}", "", summary, "", "| field | type | meaning |", "| --- | --- | --- |", *rows, ""])


def _type(annotation: Any) -> str:
    text = annotation.__name__ if inspect.isclass(annotation) and not get_args(annotation) else str(annotation)
    for module in ("framework.trace.", "framework.messages.", "typing.", "games.calbench.", "games.east."):
        text = text.replace(module, "")
    return text.replace("|", "\\|")


def _attributes(cls: type[Event]) -> dict[str, str]:
    """What the docstrings of a class and of its bases say about each field."""
    found: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        text = inspect.cleandoc(base.__doc__ or "")
        if "Attributes:" not in text:
            continue
        name = ""
        for line in text.split("Attributes:\n", 1)[1].splitlines():
            if not line.strip():
                break
            if line.startswith("    ") and not line.startswith("     "):
                name, _, rest = line.strip().partition(": ")
                found[name] = rest
            elif name:
                found[name] += " " + line.strip()
    return found
