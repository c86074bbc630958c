"""The published numbers of the reference protocols, and how ours compare (CalBench paper, table 2)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from framework.stats import Interval
from framework.tables import Row, Table

__all__ = ["COLUMNS", "METHODS", "Comparison", "Method", "Shown", "by_row", "compare"]


class Published(NamedTuple):
    """One row of table 2: 45 tasks, means over seats."""

    coordination: float
    excess: float
    messages: float
    fairness: float
    vps: float


@dataclass(frozen=True, slots=True)
class Method:
    """A reference protocol as it is played here.

    Attributes:
        label: Its name in the table.
        strategy: The registered strategy.
        published: The paper's numbers, by setting.
        turns: The turn budget; None takes the game's default.
    """

    label: str
    strategy: str
    published: dict[str, Published]
    turns: int | None = None

    @property
    def folder(self) -> str:
        """Its label as the name of a folder."""
        return self.label.replace(", ", "-").replace(" ", "-")


_SD_MAP = {
    "uniform": Published(0.622, 1.68, 7.48, 0.741, 0.12),
    "varied": Published(0.631, 3.64, 7.30, 1.376, 0.08),
}

METHODS = (
    Method(
        "imap",
        "imap",
        {
            "uniform": Published(1.000, 0.26, 2.00, 0.530, 12.40),
            "varied": Published(1.000, 0.32, 2.00, 0.665, 12.40),
        },
    ),
    Method(
        "dsm-private",
        "dsm-private",
        {
            "uniform": Published(0.458, 0.98, 4.54, 0.809, 0.00),
            "varied": Published(0.489, 2.08, 4.43, 1.865, 0.00),
        },
    ),
    Method(
        "dsm-welfare",
        "dsm-welfare",
        {
            "uniform": Published(1.000, 0.27, 2.69, 0.530, 25.05),
            "varied": Published(0.991, 0.46, 2.78, 0.816, 23.55),
        },
    ),
    Method("sd-map", "sd-map", _SD_MAP),
    Method("sd-map, 4 sweeps", "sd-map", _SD_MAP, turns=4),
)
"""The rows of table 2. The paper does not state its turn budget; with 4 sweeps SD-MAP lands near its numbers."""


class Shown(NamedTuple):
    """A column of the comparison.

    Attributes:
        metric: The metric of ours.
        title: The heading.
        published: The column of the paper that it stands beside.
        digits: Digits that the paper prints.
        percent: Whether the number is shown as a percentage.
    """

    metric: str
    title: str
    published: str
    digits: int
    percent: bool = False


COLUMNS = (
    Shown("coordination", "Coord. %", "coordination", 1, percent=True),
    Shown("excess", "Excess", "excess", 2),
    Shown("excess_replayed", "Excess, replayed", "excess", 2),
    Shown("messages", "Msgs/mtg", "messages", 2),
    Shown("fairness", "Fairness", "fairness", 3),
    Shown("vps", "VPS", "vps", 2),
)


@dataclass(frozen=True, slots=True)
class Comparison:
    """One number of ours beside the paper's, both as shown.

    Attributes:
        setting: The cost setting.
        method: Label of the method.
        column: What is compared.
        games: Games behind our number.
        ours: Our mean with its interval; None where there is none.
        published: The paper's number.
    """

    setting: str
    method: str
    column: Shown
    games: int
    ours: Interval | None
    published: float

    @property
    def outside(self) -> bool:
        """Whether the paper's number lies outside our interval, at the digits that the paper prints."""
        if self.ours is None or math.isnan(self.ours.low):
            return False
        low, high = (round(bound, self.column.digits) for bound in self.ours[1:])
        return not low <= self.published <= high


def compare(method: Method, table: Table) -> Iterator[Comparison]:
    """Put the rows of one method's run beside the paper's.

    Args:
        method: The method.
        table: The summary of its run; rows of settings that the paper does not have are left out.
    """
    cells = {column.name: place for place, column in enumerate(table.columns)}
    for row in table.rows:
        published = method.published.get(row.group)
        for column in COLUMNS if published else ():
            scale = 100.0 if column.percent else 1.0
            ours = _cell(row, cells.get(column.metric))
            yield Comparison(
                setting=row.group,
                method=method.label,
                column=column,
                games=row.games,
                ours=None if ours is None else Interval(*(scale * value for value in ours)),
                published=scale * getattr(published, column.published),
            )


def _cell(row: Row, place: int | None) -> Interval | None:
    return None if place is None else row.cells[place]


def by_row(found: Sequence[Comparison]) -> dict[tuple[str, str], list[Comparison]]:
    """Comparisons by setting and method, in order of setting."""
    rows: dict[tuple[str, str], list[Comparison]] = {}
    for one in sorted(found, key=lambda one: one.setting):
        rows.setdefault((one.setting, one.method), []).append(one)
    return rows
