"""`cheaptalk list`: what there is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from framework.game import Game

__all__ = ["list_"]


def list_(
    what: Annotated[
        str | None, typer.Argument(help="games, strategies, suites, rules, channels or topologies.")
    ] = None,
) -> None:
    """Show the games, strategies, suites, rules, channels and topologies that there are."""
    from framework.errors import UserError, nearest

    if what is not None and what not in _SECTIONS:
        raise UserError(f"{what!r} cannot be listed; {nearest(what, _SECTIONS)}")
    for section in [what] if what else _SECTIONS:
        lines = list(_SECTIONS[section]())
        width = max((len(name) for name, _ in lines), default=0)
        print(f"{section}:")
        for name, said in lines:
            print(f"  {name.ljust(width)}  {said}".rstrip())


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
        for rule, info in found.rules_type.model_fields.items():
            default = info.get_default(call_default_factory=True)
            yield f"{name} {rule}", f"default {default.name if rule == 'topology' else _plain(default)}"


def _plain(value: object) -> str:
    """A rule's value as one types it."""
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
