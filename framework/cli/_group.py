"""The commands: the built-in ones, and those of other packages, which are imported when they are called."""

from __future__ import annotations

import ast
import importlib.util
from functools import cache
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from framework.registry import COMMANDS, Entry, entries, load

__all__ = ["CommandGroup"]


@cache
def _registered() -> dict[str, Entry]:
    return {entry.name: entry for entry in entries(COMMANDS)}


def _summary(entry: Entry) -> str:
    """The first line of the docstring of a command's module, read without importing it."""
    module = entry.value.partition(":")[0]
    top, *rest = module.split(".")
    try:
        spec = importlib.util.find_spec(top)
        places = [Path(place).joinpath(*rest) for place in (spec.submodule_search_locations or ())] if spec else []
        files = [file for place in places for file in (place.with_suffix(".py"), place / "__init__.py")]
        source = next(file for file in files if file.is_file()).read_text(encoding="utf-8")
        said = (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]
    except (ImportError, StopIteration, OSError, SyntaxError, ValueError):
        said = ""
    return said or f"A command of {entry.package}."


class CommandGroup(TyperGroup):
    """Built-in commands, then those registered under `cheaptalk.commands`.

    An entry point is a `typer.Typer`, or a function that takes one and adds a command of the entry's name.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        own = super().list_commands(ctx)
        return [*own, *sorted(set(_registered()) - set(own))]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        command = super().get_command(ctx, cmd_name)
        if command is not None or cmd_name not in _registered():
            return command
        return TyperCommand(cmd_name, help=_summary(_registered()[cmd_name]))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] in _registered() and args[0] not in self.commands:
            self.add_command(_loaded(args[0]), args[0])
        return super().resolve_command(ctx, args)


def _loaded(name: str) -> Any:
    from framework.errors import UserError

    found = load(COMMANDS, name)
    if not isinstance(found, typer.Typer):
        app = typer.Typer()
        app.callback()(lambda: None)
        found(app)
        group: Any = get_command(app)
        command = group.commands.get(name)
        if command is None:
            raise UserError(f"command {name!r}: {found.__name__} adds no command of that name; register one")
        return command
    return get_command(found)
