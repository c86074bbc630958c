"""How a table looks: plain aligned text, or rich's on a terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from framework.stats import Interval
from framework.tables import Column, Row, Table

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["footer", "plain", "pretty"]

_ARROW = {"lower": " ↓", "higher": " ↑", "neither": ""}


class _Grid(NamedTuple):
    """The table as text: headings, and for each row the leading cells and the metrics' two lines."""

    lead: list[str]
    heads: list[str]
    rows: list[tuple[list[str], list[tuple[str, str]]]]


def _number(value: float, percent: bool) -> str:
    if percent:
        return f"{100 * value:.1f}"
    digits = 2 if abs(value) < 100 else 1 if abs(value) < 1000 else 0
    return f"{value:.{digits}f}"


def _cell(cell: Interval | None, percent: bool) -> tuple[str, str]:
    """The mean, and the interval."""
    if cell is None:
        return "-", ""
    if math.isnan(cell.low):
        return _number(cell.mean, percent), ""
    return _number(cell.mean, percent), f"[{_number(cell.low, percent)}, {_number(cell.high, percent)}]"


def _title(column: Column) -> str:
    return f"{column.title or column.name}{' %' if column.percent else ''}{_ARROW[column.better]}"


def _grid(table: Table, names: Sequence[str] | None) -> _Grid:
    shown = [
        (number, column)
        for number, column in enumerate(table.columns)
        if (column.name in names if names is not None else column.headline)
    ]
    runs = len({row.run for row in table.rows}) > 1
    groups = any(row.group for row in table.rows)
    aborted = any(row.aborted for row in table.rows)
    lead = ["run"] * runs + ["setting"] * groups + ["strategy", "games", "seats"] + ["aborted"] * aborted
    rows = []
    for row in table.rows:
        cells = [row.run] * runs + [row.group] * groups + [_strategy(row), str(row.games), str(row.seats)]
        cells += [str(row.aborted)] * aborted
        rows.append((cells, [_cell(row.cells[number], column.percent) for number, column in shown]))
    return _Grid(lead, [_title(column) for _, column in shown], rows)


def _strategy(row: Row) -> str:
    return f"{row.strategy} (adversarial)" if row.adversarial else row.strategy


def footer(table: Table, names: Sequence[str] | None = None) -> str:
    """What the intervals are, which games are missing from the means, and how to see the metrics not shown."""
    said = f"Means with {100 * table.confidence:g} % intervals over games" if table.rows else "No games"
    if table.aborted:
        parts = ", ".join(f"{count} at {boundary}" for boundary, count in sorted(table.aborted.items()))
        total = sum(table.aborted.values())
        said += f"; {total} of {table.games} games aborted ({parts}) and in no mean"
    hidden = 0 if names is not None else sum(not column.headline for column in table.columns)
    return f"{said}; {hidden} more metrics: cheaptalk report RUN --metrics all." if hidden else f"{said}."


def plain(table: Table, names: Sequence[str] | None = None) -> str:
    """The table as aligned text, one row a line.

    Args:
        table: The table.
        names: The metrics to show; None shows the headline ones.
    """
    grid = _grid(table, names)
    lines = [grid.lead + grid.heads]
    lines += [lead + [f"{mean} {interval}".rstrip() for mean, interval in cells] for lead, cells in grid.rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    text = ("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines)
    return "\n".join(text)


def pretty(table: Table, names: Sequence[str] | None = None, width: int = 100) -> Sequence[RenderableType]:
    """The table for a terminal, each interval below its mean, in as many parts as the width asks for."""
    from rich.table import Table as RichTable

    grid = _grid(table, names)
    parts: list[RenderableType] = []
    lead_width = sum(2 + max(len(head), *(len(row[0][i]) for row in grid.rows)) for i, head in enumerate(grid.lead))
    begin = 0
    while begin < len(grid.heads) or not parts:
        end, used = begin, lead_width
        while end < len(grid.heads) and (end == begin or used + _width(grid, end) <= width):
            used += _width(grid, end)
            end += 1
        part = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        for head in grid.lead:
            part.add_column(head, no_wrap=True)
        for head in grid.heads[begin:end]:
            part.add_column(head, no_wrap=True)
        for lead, cells in grid.rows:
            part.add_row(*lead, *(f"{mean}\n[dim]{_escaped(interval)}[/dim]" for mean, interval in cells[begin:end]))
        parts.append(part)
        begin = end
    return parts


def _width(grid: _Grid, number: int) -> int:
    cells = [row[1][number] for row in grid.rows]
    return 2 + max(len(grid.heads[number]), *(max(len(mean), len(interval)) for mean, interval in cells))


def _escaped(text: str) -> str:
    return text.replace("[", "\\[")
