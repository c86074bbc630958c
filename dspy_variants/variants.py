"""Prompt blocks: Markdown files with front matter, each in one version, found by name or by path.

A file is named `NAME.vN.md`. A new version is a new file: what a trace names stays what it was.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import yaml
from pydantic import Field, PositiveInt, ValidationError

from framework.errors import UserError, explain, nearest
from framework.messages import Frozen

__all__ = ["SHIPPED", "Variant", "load_variant", "shipped", "write_variant"]

SHIPPED = Path(__file__).parent / "blocks"
"""Where the blocks are that come with the package."""

_NAME = r"[a-z0-9]+(?:-[a-z0-9]+)*"
_BY_NAME = re.compile(rf"(?P<name>{_NAME})(?:@(?P<version>\d+))?")
_FILE = re.compile(rf"(?P<name>{_NAME})\.v(?P<version>\d+)\.md")
_FRONT = re.compile(r"---\n(?P<front>.*?)\n---\n(?P<text>.*)", re.DOTALL)


class Variant(Frozen):
    """A prompt block.

    Attributes:
        name: Its name.
        version: Its version.
        game: The game that it is for.
        made: Whether a person wrote it or an optimizer did.
        about: One line about it.
        record: Name of the file beside it that records how it was optimized.
        text: The block, as it is appended to the system prompt.
    """

    name: str = Field(pattern=f"^{_NAME}$")
    version: PositiveInt
    game: str
    made: Literal["authored", "optimized"]
    about: str = ""
    record: str = ""
    text: str = Field(min_length=1)

    @property
    def label(self) -> str:
        """Name and version, as traces state them."""
        return f"{self.name}@{self.version}"

    @property
    def hash(self) -> str:
        """SHA-256 of the text."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def filename(self) -> str:
        """The name that its file has."""
        return f"{self.name}.v{self.version}.md"


def shipped() -> Iterator[Path]:
    """The files of the blocks that come with the package, by name and version."""
    return iter(sorted(path for path in SHIPPED.glob("*.md") if _FILE.fullmatch(path.name)))


def load_variant(wanted: str) -> Variant:
    """A block by name (`settle-early`: the newest version; `settle-early@1`) or by the path of its file.

    Raises:
        UserError: If there is none, a path leads upwards, or the file is not a block.
    """
    if wanted.endswith(".md"):
        return _read(_checked(wanted))
    match = _BY_NAME.fullmatch(wanted)
    if match is None:
        raise UserError(f"variant {wanted!r} is neither a name such as settle-early@1 nor the path of an .md file")
    found = {int(parts["version"]): path for path, parts in _versions(match["name"])}
    if not found:
        names = {parts["name"] for path in shipped() if (parts := _FILE.fullmatch(path.name))}
        raise UserError(f"variant {match['name']!r} is unknown; {nearest(match['name'], names)}")
    version = int(match["version"] or max(found))
    if version not in found:
        have = ", ".join(map(str, sorted(found)))
        raise UserError(f"variant {match['name']} has no version {version}; use one of {have}")
    return _read(found[version])


def _versions(name: str) -> Iterator[tuple[Path, re.Match[str]]]:
    for path in shipped():
        parts = _FILE.fullmatch(path.name)
        if parts is not None and parts["name"] == name:
            yield path, parts


def _checked(text: str) -> Path:
    """A path that a config names. It may not lead upwards: configs come from other people, too."""
    path = Path(text)
    if ".." in path.parts:
        raise UserError(f"variant {text!r} leads out of its folder; name a path without '..'")
    if path.is_symlink():
        raise UserError(f"variant {text!r} is a link; name the file itself")
    return path


def _read(path: Path) -> Variant:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        said = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise UserError(f"variant {path}: {said}; check the path") from error
    match = _FRONT.fullmatch(text)
    if match is None:
        raise UserError(f"variant {path}: it has no front matter; begin with '---', name, version, game, made, '---'")
    try:
        front = yaml.safe_load(match["front"])
        return Variant.model_validate({**front, "text": match["text"].strip()})
    except (yaml.YAMLError, TypeError) as error:
        raise UserError(f"variant {path}: its front matter is not YAML; write lines such as 'version: 1'") from error
    except ValidationError as error:
        raise explain(error, Variant, f"variant {path}") from error


def write_variant(folder: Path, variant: Variant) -> Path:
    """Write a block as a new file.

    Raises:
        UserError: If the version is there already, or the folder cannot be written.
    """
    path = folder / variant.filename
    front = variant.model_dump(exclude={"text"}, exclude_defaults=True)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(f"---\n{yaml.safe_dump(front, sort_keys=False)}---\n{variant.text.strip()}\n")
    except FileExistsError as error:
        raise UserError(f"{path} is there already, and a version never changes; write a higher one") from error
    except OSError as error:
        raise UserError(f"{path} cannot be written ({error.strerror}); name another folder") from error
    return path
