"""The figure of every game: each headline metric by strategy and setting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from framework.analysis.declared import Drawing
from framework.analysis.gather import Seen
from framework.analysis.groups import Group, Part, by_strategy
from framework.analysis.plotting import bars, figure, finish, looks
from framework.experiment import Reporting
from framework.specs import short_names
from framework.stats import Interval
from framework.tables import Row, RunResults, summarise
from framework.trace import Trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["OVERVIEW", "by_label", "label_of", "settings_of"]

FactsT = TypeVar("FactsT")


def label_of(group: Group, groups: Sequence[Group]) -> str:
    """A strategy as figures name it: in short, and with its run where several runs have it."""
    short = short_names(other.strategy for other in groups)[group.strategy]
    label = f"{short} (adversarial)" if group.adversarial else short
    runs = {other.run for other in groups if other.label == group.label}
    return f"{label} ({group.run})" if len(runs) > 1 else label


def by_label(games: Sequence[Seen[FactsT]]) -> dict[str, dict[str, list[Part[FactsT]]]]:
    """The seats of each strategy, by its name in figures and by setting."""
    groups = by_strategy(games)
    found: dict[str, dict[str, list[Part[FactsT]]]] = {}
    for group, parts in groups.items():
        found.setdefault(label_of(group, list(groups)), {})[group.setting] = parts
    return found


def settings_of(labels: Mapping[str, Mapping[str, object]]) -> list[str]:
    """All settings, by name: panels stand in one order, whatever was played first."""
    return sorted({setting for settings in labels.values() for setting in settings})


def _nothing(trace: Trace) -> None:
    """All that is drawn is in the games' rows."""


def _overview(games: Sequence[Seen[None]], reporting: Reporting) -> Figure | None:
    runs = list(dict.fromkeys(game.run for game in games))
    if not games:
        return None
    table = summarise([RunResults(run, [g.result for g in games if g.run == run]) for run in runs], reporting)
    groups = [Group(row.run, row.group, row.strategy, row.adversarial) for row in table.rows]
    rows: dict[str, dict[str, Row]] = {}
    for group, row in zip(groups, table.rows, strict=True):
        rows.setdefault(label_of(group, groups), {})[group.setting] = row
    columns = [(place, column) for place, column in enumerate(table.columns) if column.headline]
    settings = settings_of(rows)
    made = figure(len(columns), 2.5, 1.6 + len(rows) * max(0.45, 0.3 * len(settings)), share_y=True)
    labels = [f"{label}\nn = {sum(row.seats for row in own.values())} seats" for label, own in rows.items()]
    for axes, (place, column) in zip(made.axes, columns, strict=True):
        bars(
            axes,
            labels,
            {
                setting or "all games": [
                    _scaled(own[setting].cells[place], column.percent) if setting in own else None
                    for own in rows.values()
                ]
                for setting in settings
            },
        )
        arrow = {"lower": " ↓", "higher": " ↑", "neither": ""}[column.better]
        axes.set_title(f"{column.title or column.name}{' (%)' if column.percent else ''}{arrow}", fontsize=9)
    entries = looks(settings) if settings != [""] else None
    note = f"Means with {100 * reporting.confidence:g} % intervals over {len(games)} games; arrows point to the better."
    return finish(made, "Results by strategy", note, entries, "bar")


def _scaled(cell: Interval | None, percent: bool) -> Interval | None:
    return Interval(*(100 * part for part in cell)) if cell is not None and percent else cell


OVERVIEW: Drawing[None] = Drawing(name="overview", title="Results by strategy", read=_nothing, draw=_overview)
