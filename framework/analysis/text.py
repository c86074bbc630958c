"""A table as text: what each cell says, and the table in aligned lines or for a terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from framework.analysis.findings import Field, Findings, Value
from framework.stats import Interval

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["Said", "heading", "numeric", "plain", "pretty", "said"]

_ARROW = {"lower": " ↓", "higher": " ↑", "neither": ""}
_SMALLEST = 1e-300


class Said(NamedTuple):
    """What a cell says: the value, and its interval if it has one."""

    value: str
    interval: str = ""

    @property
    def line(self) -> str:
        """Both in one line."""
        return f"{self.value} {self.interval}".rstrip()


def heading(field: Field) -> str:
    """The heading of a column, with its unit and direction."""
    return f"{field.title}{' %' if field.kind == 'share' else ''}{_ARROW[field.better]}"


def numeric(field: Field) -> bool:
    """Whether the cells of a column are numbers."""
    return field.kind != "text"


def said(value: Value, field: Field) -> Said:
    """What a cell says to people."""
    if value is None:
        return Said("-")
    if isinstance(value, str):
        return Said(value)
    if not isinstance(value, Interval):
        return Said(_number(value, field))
    if math.isnan(value.low):
        return Said(_number(value.mean, field))
    return Said(_number(value.mean, field), f"[{_number(value.low, field)}, {_number(value.high, field)}]")


def _number(value: float, field: Field) -> str:
    text = "-" if math.isnan(value) else _digits(value, field)
    return text[1:] if text.startswith("-") and not text.strip("-0.") and len(text) > 1 else text


def _digits(value: float, field: Field) -> str:
    if field.kind == "share":
        return f"{100 * value:.1f}"
    if field.kind == "count":
        return f"{value:.0f}"
    if field.kind == "p":
        return f"{value:.3f}" if value >= 0.001 else f"{value:.1e}" if value > _SMALLEST else "0"
    digits = field.digits
    if abs(value) >= 100:
        digits = max(0, digits - (1 if abs(value) < 1000 else 2))
    return f"{value:.{digits}f}"


class _Grid(NamedTuple):
    """The columns that are shown, with their headings and what their cells say."""

    fields: list[Field]
    heads: list[str]
    rows: list[list[Said]]


def _grid(findings: Findings) -> _Grid:
    places = findings.shown()
    fields = [findings.fields[place] for place in places]
    rows = [[said(row[place], findings.fields[place]) for place in places] for row in findings.rows]
    return _Grid(fields, [heading(field) for field in fields], rows)


def plain(findings: Findings, *, flush: bool = True) -> str:
    """The table as aligned lines, one a row.

    Args:
        findings: The table.
        flush: Whether numbers without intervals are set to the right.
    """
    fields, heads, rows = _grid(findings)
    lines = [heads, *([cell.line for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    right = [
        flush and numeric(field) and not any(row[place].interval for row in rows) for place, field in enumerate(fields)
    ]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(line, widths, right, strict=True)
        ).rstrip()
        for line in lines
    )


def pretty(findings: Findings, width: int = 100) -> Sequence[RenderableType]:
    """The table for a terminal, each interval below its value, in as many parts as the width asks for.

    The columns of text at the left are repeated in each part, and said once where rows share them.
    """
    from rich.table import Table as RichTable

    grid = _grid(findings)
    lead = next((place for place, field in enumerate(grid.fields) if numeric(field)), len(grid.fields))
    widths = [_width(grid, place) for place in range(len(grid.fields))]
    parts: list[RenderableType] = []
    begin = lead
    while begin < len(grid.fields) or not parts:
        end, used = begin, sum(widths[:lead])
        while end < len(grid.fields) and (end == begin or used + widths[end] <= width):
            used += widths[end]
            end += 1
        places = [*range(lead), *range(begin, end)]
        part = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        for place in places:
            part.add_column(
                grid.heads[place], no_wrap=place >= lead, justify="right" if numeric(grid.fields[place]) else "left"
            )
        for number, row in enumerate(grid.rows):
            above = grid.rows[number - 1] if number else None
            part.add_row(*(_markup(row, above, place, lead) for place in places))
        parts.append(part)
        begin = end
    return parts


def _width(grid: _Grid, place: int) -> int:
    cells = [row[place] for row in grid.rows]
    return 2 + max(len(grid.heads[place]), *(max(len(cell.value), len(cell.interval)) for cell in cells), 0)


def _markup(row: Sequence[Said], above: Sequence[Said] | None, place: int, lead: int) -> str:
    if above is not None and place < lead - 1 and row[: place + 1] == above[: place + 1]:
        return ""
    value, interval = (text.replace("[", "\\[") for text in row[place])
    return f"{value}\n[dim]{interval}[/dim]" if interval else value
