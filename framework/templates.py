"""Folders of Jinja templates: what a game says to models, what a judge is asked."""

from __future__ import annotations

import hashlib
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from framework.errors import UserError

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["Templates"]


_loaded: dict[tuple[Templates, str], Any] = {}
"""Other folders that are in use, as they are by their hashes."""


class Templates:
    """The files `NAME.j2` in one folder, and what they include. Another folder takes their place as a whole.

    Attributes:
        templates: Names of the templates that a folder has to hold.
        default: Our own folder.
        folder: The folder in use.
    """

    templates: ClassVar[tuple[str, ...]]
    default: ClassVar[Path]

    def __init__(self, folder: Path | None = None) -> None:
        """Use a folder of templates, by default our own.

        Raises:
            UserError: If the folder lacks a template.
        """
        self.folder = folder or self.default
        for name in self.templates:
            if not (self.folder / f"{name}.j2").is_file():
                raise UserError(
                    f"prompts {self.folder}: there is no {name}.j2; copy our own from {self.default} and edit"
                )

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and isinstance(other, Templates) and other.folder == self.folder

    def __hash__(self) -> int:
        return hash((type(self), self.folder))

    def using(self, folder: Path) -> Self:
        """The same templates from another folder.

        Raises:
            UserError: If the folder lacks a template, or one is no template. Names that it does not know show
                when it is filled in.
        """
        other = type(self)(folder)
        known: Self | None = _loaded.get((other, other.hash))  # each seat of each game asks
        if known is None:
            for path in sorted(folder.rglob("*.j2")):
                other._load(path.relative_to(folder).as_posix().removesuffix(".j2"))
            known = _loaded[other, other.hash] = other
        return known

    @property
    def name(self) -> str:
        """Name of the pack, as traces state it."""
        return self.folder.name

    @cached_property
    def hash(self) -> str:
        """SHA-256 of all templates of the folder, by name."""
        digest = hashlib.sha256()
        for path in sorted(self.folder.rglob("*.j2")):
            digest.update(f"{path.relative_to(self.folder).as_posix()}\n".encode())
            digest.update(path.read_bytes())
        return digest.hexdigest()

    def render(self, template: str, **values: Any) -> str:
        """A template with its values filled in; a name that it does not know is an error, never a blank.

        Raises:
            UserError: If the template is faulty.
        """
        loaded = self._load(template)
        try:
            return loaded.render(**values).strip()
        except Exception as error:  # a template may divide by zero, add texts to numbers, or loop too far
            raise self._faulty(template, error) from error

    def _load(self, name: str) -> Template:
        """A template.

        Raises:
            UserError: If the file is none.
        """
        try:
            template: Template = self._environment.get_template(f"{name}.j2")
        except Exception as error:
            raise self._faulty(name, error) from error
        return template

    def _faulty(self, name: str, error: Exception) -> UserError:
        line = getattr(error, "lineno", None)
        where = f"{name}.j2" if line is None else f"{name}.j2 line {line}"
        return UserError(f"prompts {self.folder}: {where}: {str(error).rstrip('.')}; correct the template")

    @cached_property
    def _environment(self) -> Any:
        from jinja2 import FileSystemLoader, StrictUndefined
        from jinja2.sandbox import ImmutableSandboxedEnvironment

        return ImmutableSandboxedEnvironment(
            loader=FileSystemLoader(self.folder),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
