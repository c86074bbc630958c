"""Walks everything that can be reached from an object that a seat is handed."""

from __future__ import annotations

import types
from collections.abc import Iterator
from functools import partial
from typing import Any

from pydantic import BaseModel

__all__ = ["numbers_in", "parts", "reachable"]

_LEAVES = (str, bytes, int, float, complex, type(None), type, types.ModuleType, types.BuiltinFunctionType)


def reachable(root: Any) -> Iterator[Any]:
    """Every object that attributes, items, closures and bound methods lead to, the root first.

    Underscored attributes count: a name is no wall.
    """
    seen: set[int] = set()
    kept: list[Any] = []  # so that no id is used twice
    todo = [root]
    while todo:
        item = todo.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        kept.append(item)
        yield item
        if not isinstance(item, _LEAVES):
            todo.extend(reversed(parts(item)))


def parts(item: Any) -> list[Any]:
    """What an object holds directly."""
    if isinstance(item, dict | types.MappingProxyType):
        return [*item.keys(), *item.values()]
    held: list[Any] = []
    if isinstance(item, list | tuple | set | frozenset):
        held += list(item)
    if isinstance(item, types.MethodType):
        held += [item.__self__, item.__func__]
    if isinstance(item, types.FunctionType):
        held += [cell.cell_contents for cell in item.__closure__ or () if _filled(cell)]
        held += [*(item.__defaults__ or ()), *(item.__kwdefaults__ or {}).values()]
        return held
    if isinstance(item, partial):
        held += [item.func, *item.args, *item.keywords.values()]
    if isinstance(item, BaseModel):
        held += [*(item.__pydantic_extra__ or {}).values(), *(item.__pydantic_private__ or {}).values()]
    held += list(getattr(item, "__dict__", {}).values())
    for cls in type(item).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        names = (slots,) if isinstance(slots, str) else slots
        held += [getattr(item, name) for name in names if not name.startswith("__") and hasattr(item, name)]
    return held


def _filled(cell: types.CellType) -> bool:
    try:
        _ = cell.cell_contents
    except ValueError:
        return False
    return True


def numbers_in(root: Any) -> tuple[int, ...]:
    """The whole numbers in what a seat sees, ascending: its plausible ids, options and seats."""
    found = {item for item in reachable(root) if isinstance(item, int) and not isinstance(item, bool)}
    return tuple(sorted(found))
