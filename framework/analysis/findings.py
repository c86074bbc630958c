"""What one analysis found: a small typed table that every format can print."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

from framework.stats import Interval

__all__ = ["Direction", "Field", "Findings", "Kind", "Value"]

Value: TypeAlias = str | int | float | Interval | None
"""A cell: text, a count, a number, an estimate with its interval, or nothing."""
Kind: TypeAlias = Literal["text", "count", "number", "share", "p"]
Direction: TypeAlias = Literal["lower", "higher", "neither"]


@dataclass(frozen=True, slots=True)
class Field:
    """A column.

    Attributes:
        name: Its key in CSV and JSON; the ends of an interval are `name_low` and `name_high`.
        title: Its heading.
        kind: What its cells are; a `share` is within 0..1 and shown in per cent, a `p` is a p or q value.
        better: Which direction is better.
        digits: Decimals of a number.
        aside: Whether it is for programs alone: in CSV and JSON, and not shown to people.
        key: Whether it tells rows apart. People are not shown a key that is the same, or empty, in all rows.
    """

    name: str
    title: str
    kind: Kind = "number"
    better: Direction = "neither"
    digits: int = 2
    key: bool = False
    aside: bool = False


@dataclass(frozen=True, slots=True)
class Findings:
    """A table with its heading and its small print.

    Attributes:
        fields: The columns.
        rows: The rows, one value a column.
        note: What the numbers are: the unit that is counted, the intervals, the tests.
        name: Its key in JSON and the stem of its files.
        title: Its heading.

    Raises:
        ValueError: If a row has not one value for each column.
    """

    fields: tuple[Field, ...]
    rows: tuple[tuple[Value, ...], ...]
    note: str = ""
    name: str = ""
    title: str = ""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.fields):
                raise ValueError(f"table {self.name!r} has {len(self.fields)} columns and a row of {len(row)} values")

    def shown(self) -> tuple[int, ...]:
        """The places of the columns that tell people something: no key that rows share, no test that was not made."""
        return tuple(place for place in range(len(self.fields)) if self._tells(place))

    def _tells(self, place: int) -> bool:
        field, column = self.fields[place], [row[place] for row in self.rows]
        if field.aside:
            return False
        if field.key:
            return any(value != column[0] for value in column)
        return field.kind != "p" or not column or any(isinstance(p, float) and not math.isnan(p) for p in column)
