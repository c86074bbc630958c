"""Files of one JSON text a line that are only ever appended to, so that whatever breaks off can be gone on with."""

from __future__ import annotations

import os
from pathlib import Path

from framework.errors import UserError

__all__ = ["append_line", "read_lines"]


def read_lines(path: Path) -> list[str]:
    """The lines of a journal; none if there is no file. The last one may be torn.

    Raises:
        UserError: If the file cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8") if path.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read ({error}); remove the file or mend it") from error
    return [line for line in text.split("\n") if line]  # and not at the line separators that a text may hold


def append_line(path: Path, line: str) -> None:
    """Add a line, synced, in a folder that is made if there is none. A torn line before it is ended.

    Raises:
        UserError: If the file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab+") as file:
            file.seek(-1 if file.tell() else 0, os.SEEK_END)
            torn = file.read() not in (b"", b"\n")
            file.write((b"\n" if torn else b"") + line.encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise UserError(f"{path}: cannot be written ({error.strerror}); free space, then go on") from error
