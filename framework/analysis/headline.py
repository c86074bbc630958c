"""The table by strategy and setting as findings, so that it goes into every format."""

from __future__ import annotations

from collections.abc import Sequence

from framework.analysis.findings import Field, Findings
from framework.tables import Row, Table

__all__ = ["HEADLINE", "footer", "headline"]

HEADLINE = "headline"
"""The name of the table on the command line and in files."""


def headline(table: Table, names: Sequence[str] | None = None) -> Findings:
    """The table of some metrics.

    Args:
        table: The table.
        names: The metrics; None takes the headline ones.
    """
    shown = [
        (place, column)
        for place, column in enumerate(table.columns)
        if (column.headline if names is None else column.name in names)
    ]
    fields = (
        Field("run", "run", "text", key=len({row.run for row in table.rows}) < 2),
        Field("setting", "setting", "text", key=not any(row.group for row in table.rows)),
        Field("strategy", "strategy", "text"),
        Field("games", "games", "count"),
        Field("seats", "seats", "count"),
        Field("aborted", "aborted", "count", key=not any(row.aborted for row in table.rows)),
        *(
            Field(column.name, column.title or column.name, "share" if column.percent else "number", column.better)
            for _, column in shown
        ),
    )
    rows = tuple((*_place(row), *(row.cells[place] for place, _ in shown)) for row in table.rows)
    return Findings(fields, rows, footer(table, ()), HEADLINE, "Results by strategy and setting")


def _place(row: Row) -> tuple[str | int, ...]:
    strategy = f"{row.strategy} (adversarial)" if row.adversarial else row.strategy
    return (row.run, row.group, strategy, row.games, row.seats, row.aborted)


def footer(table: Table, names: Sequence[str] | None = None) -> str:
    """What the intervals are, which games are missing from the means, and how to see the metrics not shown."""
    said = f"Means with {100 * table.confidence:g} % intervals over games" if table.rows else "No games"
    if table.aborted:
        parts = ", ".join(f"{count} at {boundary}" for boundary, count in sorted(table.aborted.items()))
        total = sum(table.aborted.values())
        said += f"; {total} of {table.games} games aborted ({parts}) and in no mean"
    hidden = 0 if names is not None else sum(not column.headline for column in table.columns)
    more = f"{hidden} more metric{'s' * (hidden > 1)}"
    return f"{said}; {more}: cheaptalk report RUN --metrics all." if hidden else f"{said}."
