"""Finds games, strategies and commands by name: entry points, modules, or a newcomer's own file."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from framework.errors import UserError, nearest, place_in

if TYPE_CHECKING:
    from framework.game import Game
    from framework.strategy import Strategy

__all__ = ["COMMANDS", "GAMES", "STRATEGIES", "Entry", "entries", "find", "game", "load", "strategy"]

GAMES = "cheaptalk.games"
STRATEGIES = "cheaptalk.strategies"
COMMANDS = "cheaptalk.commands"


@dataclass(frozen=True, slots=True)
class Entry:
    """A registered name, not loaded yet.

    Attributes:
        name: The name.
        value: What it stands for, as `module:attribute`.
        package: The distribution that registered it.
    """

    name: str
    value: str
    package: str


@cache
def _points(group: str) -> dict[str, tuple[EntryPoint, ...]]:
    found: dict[str, tuple[EntryPoint, ...]] = {}
    for point in sorted(entry_points(group=group), key=lambda p: p.name):
        others = found.get(point.name, ())
        if all(point.value != other.value for other in others):
            found[point.name] = (*others, point)
    return found


def entries(group: str) -> tuple[Entry, ...]:
    """What is registered in a group of entry points, by name. Nothing is imported."""
    return tuple(
        Entry(point.name, point.value, point.dist.name if point.dist else "")
        for points in _points(group).values()
        for point in points
    )


def load(group: str, name: str) -> Any:
    """What a registered name stands for.

    Raises:
        UserError: If the name is unknown, registered twice for different things, or cannot be imported.
    """
    kind = group.rpartition(".")[2].removesuffix("s").replace("strategie", "strategy")
    points = _points(group).get(name)
    if points is None and name.endswith(".py"):
        raise UserError(f"{kind} {name!r} is a file; name a class in it, as {name}:Class")
    if points is None:
        raise UserError(f"{kind} {name!r} is unknown; {nearest(name, _points(group))}")
    if len(points) > 1:
        owners = " and ".join(f"{p.dist.name if p.dist else '?'} ({p.value})" for p in points)
        raise UserError(f"{kind} {name!r} is registered by {owners}; name the class itself, as module:Class")
    (point,) = points
    try:
        return point.load()
    except Exception as error:
        owner = f", which {point.dist.name} registers," if point.dist else ""
        raise UserError(f"{kind} {name!r}{owner} cannot be loaded from {point.value}: {_what(error)}") from error


def find(group: str, name: str) -> Any:
    """What a name stands for: a registered name, `module.path:Class` or `path/to/file.py:Class`.

    Raises:
        UserError: If there is nothing of that name or it cannot be loaded.
    """
    return _named_in_code(name) if ":" in name else load(group, name)


def game(name: str) -> type[Game[Any, Any]]:
    """A game by its registered name, `module.path:Class` or `path/to/file.py:Class`.

    Raises:
        UserError: If there is none or it cannot be loaded.
    """
    from framework.game import Game

    return _class(GAMES, name, Game)


def strategy(name: str) -> type[Strategy[Any]]:
    """A strategy's class by its registered name, `module.path:Class` or `path/to/file.py:Class`.

    Raises:
        UserError: If there is none or it cannot be loaded.
    """
    from framework.strategy import Strategy

    return _class(STRATEGIES, name, Strategy)


def _class(group: str, name: str, base: type[Any]) -> type[Any]:
    found = find(group, name)
    if not (isinstance(found, type) and issubclass(found, base)):
        raise UserError(f"{name!r} is not a {base.__name__}; name a subclass of framework.{base.__name__}")
    if missing := sorted(getattr(found, "__abstractmethods__", ())):
        raise UserError(f"{name!r} does not define {missing[0]!r}; add the method to the class")
    return found


def _named_in_code(name: str) -> Any:
    """The attribute that `module.path:Class` or `path/to/file.py:Class` names."""
    source, _, attribute = name.rpartition(":")
    try:
        module = _file(Path(source)) if source.endswith(".py") else _module(source)
    except Exception as error:
        raise UserError(f"{name!r} cannot be loaded: {_what(error)}") from error
    if not hasattr(module, attribute):
        classes = [key for key, value in vars(module).items() if isinstance(value, type)]
        raise UserError(f"{source} has no {attribute!r}; {nearest(attribute, classes)}")
    return getattr(module, attribute)


def _module(name: str) -> ModuleType:
    _search_in(Path.cwd())
    return importlib.import_module(name)


def _file(path: Path) -> ModuleType:
    """Import a file once: as other files import it, so that their classes are the same, or under a name of its own."""
    where = path.resolve(strict=True)
    name = f"_cheaptalk_file_{hashlib.sha256(str(where).encode()).hexdigest()[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    _search_in(where.parent)
    if _is_imported_as(where.stem, where):
        return importlib.import_module(where.stem)
    spec = importlib.util.spec_from_file_location(name, where)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _is_imported_as(name: str, where: Path) -> bool:
    """Whether `import name` gives this very file, and not another one that is found first."""
    importlib.invalidate_caches()  # the file may be newer than the last look into its folder
    try:
        spec = importlib.util.find_spec(name) if name.isidentifier() else None
    except (ImportError, ValueError):
        return False
    return spec is not None and spec.origin is not None and Path(spec.origin).resolve() == where


def _search_in(folder: Path) -> None:
    """Let imports find what lies in a folder, after everything that is installed."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def _what(error: BaseException) -> str:
    if isinstance(error, FileNotFoundError):
        return f"there is no file {error.filename}; check the path"
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error.msg} (line {error.lineno})"
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else 'no message'}{place_in(error)}"
