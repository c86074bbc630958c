"""`cheaptalk list`: what there is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from pydantic import BaseModel

    from framework.game import Game

__all__ = ["list_"]


def list_(
    what: Annotated[
        str | None,
        typer.Argument(
            help="games, strategies, suites, rules, channels or topologies; or one game or strategy, with its knobs."
        ),
    ] = None,
) -> None:
    """Show the games, strategies, suites, rules, channels and topologies that there are."""
    from framework.errors import UserError, nearest
    from framework.registry import GAMES, STRATEGIES, entries

    known = [entry.name for group in (GAMES, STRATEGIES) for entry in entries(group)]
    if what is not None and (":" in what or what in known):
        _print_one(what)
        return
    if what is not None and what not in _SECTIONS:
        raise UserError(f"{what!r} cannot be listed; {nearest(what, [*_SECTIONS, *known], most=6)}")
    for section in [what] if what else _SECTIONS:
        lines = list(_SECTIONS[section]())
        width = max((len(name) for name, _ in lines), default=0)
        print(f"{section}:")
        for name, said in lines:
            print(f"  {name.ljust(width)}  {said}".rstrip())


def _print_one(name: str) -> None:
    """A strategy with its parameters, or a game with its rules."""
    from framework import registry
    from framework.game import Game

    is_game = name in {entry.name for entry in registry.entries(registry.GAMES)}
    found = registry.find(registry.GAMES if is_game else registry.STRATEGIES, name)
    is_game = isinstance(found, type) and issubclass(found, Game)
    kind: Any = registry.game(name) if is_game else registry.strategy(name)
    print(f"{name}: {_summary(kind)}".rstrip(": "))
    said = list(_fields(kind.rules_type if is_game else kind.params_type))
    width = max((len(field) for field, _ in said), default=0)
    for field, meaning in said:
        print(f"  {field.ljust(width)}  {meaning}")


def _fields(model: type[BaseModel]) -> Iterator[tuple[str, str]]:
    """What each field of some settings means, by the docstrings of their classes, and its default."""
    meanings: dict[str, str] = {}
    names = "|".join(model.model_fields)
    for base in reversed(model.__mro__):
        text = (base.__dict__.get("__doc__") or "").partition("Attributes:")[2]
        parts = re.split(rf"(?:^|\n)\s*({names}): ", f"\n{text}")
        meanings |= {field: " ".join(meaning.split()) for field, meaning in zip(parts[1::2], parts[2::2], strict=True)}
    for field, info in model.model_fields.items():
        default = "required" if info.is_required() else f"default {_plain(info.get_default(call_default_factory=True))}"
        meaning = meanings.get(field, "").removesuffix(".")
        yield field, f"{meaning} ({default})" if meaning else default


def _games() -> Iterator[tuple[str, str]]:
    from framework.errors import UserError
    from framework.registry import GAMES, entries, game

    for entry in entries(GAMES):
        try:
            found = game(entry.name)
            yield entry.name, found.title or _summary(found)
        except UserError as error:
            yield entry.name, f"(not usable: {error})"


def _strategies() -> Iterator[tuple[str, str]]:
    from framework.errors import UserError
    from framework.registry import STRATEGIES, entries, strategy

    for entry in entries(STRATEGIES):
        try:
            found = strategy(entry.name)
            fields = ", ".join(found.params_type.model_fields)
            marked = "adversarial: " if found.adversarial else ""
            yield entry.name, f"{marked}{_summary(found)}{f' [{fields}]' if fields else ''}"
        except UserError as error:
            yield entry.name, f"(not usable: {error})"


def _suites() -> Iterator[tuple[str, str]]:
    for name, found in _usable():
        for suite, said in found.suites.items():
            default = " (default)" if suite == found.default_suite else ""
            yield f"{name} {suite}", f"{said}{default}"


def _rules() -> Iterator[tuple[str, str]]:
    for name, found in _usable():
        for rule, meaning in _fields(found.rules_type):
            yield f"{name} {rule}", meaning


def _plain(value: object) -> str:
    """A value as one types it."""
    from framework.topology import TopologySpec

    if value is None or value == "":
        return "none"
    if isinstance(value, TopologySpec):
        return value.name
    if isinstance(value, (tuple, list)):
        return ",".join(map(str, value)) or "empty"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _channels() -> Iterator[tuple[str, str]]:
    for name, found in _usable():
        for channel in found.channels:
            yield f"{name} {channel.name}", _summary(type(channel))


def _topologies() -> Iterator[tuple[str, str]]:
    from framework.topology import TOPOLOGIES

    for name, make in TOPOLOGIES.items():
        yield name, (make.__doc__ or "").strip().partition("\n")[0]


def _usable() -> Iterator[tuple[str, type[Game[Any, Any]]]]:
    from framework.errors import UserError
    from framework.registry import GAMES, entries, game

    for entry in entries(GAMES):
        try:
            yield entry.name, game(entry.name)
        except UserError:
            continue  # `list games` says why


def _summary(found: type) -> str:
    return (found.__doc__ or "").strip().partition("\n")[0]


_SECTIONS: dict[str, Callable[[], Iterator[tuple[str, str]]]] = {
    "games": _games,
    "strategies": _strategies,
    "suites": _suites,
    "rules": _rules,
    "channels": _channels,
    "topologies": _topologies,
}
