"""Writes rows as a CSV file."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeAlias

from framework.errors import UserError

__all__ = ["Cell", "Row", "write_rows"]

Cell: TypeAlias = str | int | float | None
Row: TypeAlias = Sequence[Cell]


def write_rows(path: Path, rows: Iterable[Row]) -> Path:
    """Write a table, its heading first, into a folder that is made if there is none.

    A value that does not exist, None or NaN, becomes an empty field.

    Raises:
        UserError: If the file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([_shown(value) for value in row] for row in rows)
    except OSError as error:
        raise UserError(f"{path} cannot be written ({error.strerror}); name another folder") from error
    return path


def _shown(value: Cell) -> Cell:
    return None if isinstance(value, float) and math.isnan(value) else value
