"""The table by strategy and setting as findings, so that it goes into every format."""

from __future__ import annotations

from collections.abc import Sequence

from framework._layout import footer
from framework.analysis.findings import Field, Findings
from framework.tables import Table

__all__ = ["HEADLINE", "headline"]

HEADLINE = "headline"
"""The name of the table on the command line and in files."""


def headline(table: Table, names: Sequence[str] | None = None) -> Findings:
    """The table of some metrics.

    Args:
        table: The table.
        names: The metrics; None takes the headline ones.
    """
    places = [
        place
        for place, column in enumerate(table.columns)
        if (column.headline if names is None else column.name in names)
    ]
    fields = (
        Field("run", "run", "text", key=True),
        Field("setting", "setting", "text", key=True),
        Field("strategy", "strategy", "text"),
        Field("games", "games", "count"),
        Field("seats", "seats", "count"),
        Field("aborted", "aborted", "count", key=True),
        *(
            Field(column.name, column.title or column.name, "share" if column.percent else "number", column.better)
            for column in (table.columns[place] for place in places)
        ),
    )
    rows = tuple(
        (
            row.run,
            row.group,
            f"{row.strategy} (adversarial)" if row.adversarial else row.strategy,
            row.games,
            row.seats,
            row.aborted,
            *(row.cells[place] for place in places),
        )
        for row in table.rows
    )
    return Findings(fields, rows, footer(table, ()), HEADLINE, "Results by strategy and setting")
