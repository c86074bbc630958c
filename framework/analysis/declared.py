"""What a game declares for `cheaptalk report` and `cheaptalk plot`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, TypeVar

from framework.analysis.findings import Findings
from framework.analysis.gather import Seen
from framework.experiment import Reporting
from framework.trace import Trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Analysis", "Drawing"]

FactsT = TypeVar("FactsT")


@dataclass(frozen=True, kw_only=True)
class Analysis(Generic[FactsT]):
    """One question about runs, and how it is answered.

    A trace is read once for all analyses, and what `read` returns of it is all that is kept: make it small.
    Analyses that share a function share what it returns.

    Attributes:
        name: Its name on the command line and the stem of its files.
        title: The question, as a heading.
        read: What is kept of a trace.
        tabulate: The table, from what was kept of each game. A table without rows is not shown.
        aborted: Whether games that could not be finished are read as well.
    """

    name: str
    title: str
    read: Callable[[Trace], FactsT]
    tabulate: Callable[[Sequence[Seen[FactsT]], Reporting], Findings]
    aborted: bool = False

    def findings(self, games: Sequence[Seen[FactsT]], reporting: Reporting) -> Findings:
        """The table under its name and heading; of several runs it always says which one a row is of."""
        kept = games if self.aborted else [game for game in games if game.result.abort is None]
        found = self.tabulate(kept, reporting)
        if len({game.run for game in games}) > 1:
            fields = tuple(replace(field, key=field.key and field.name != "run") for field in found.fields)
            found = replace(found, fields=fields)
        return replace(found, name=self.name, title=self.title)


@dataclass(frozen=True, kw_only=True)
class Drawing(Generic[FactsT]):
    """A figure of runs, and how it is drawn.

    Attributes:
        name: Its name on the command line and the stem of its files.
        title: What it shows.
        read: What is kept of a trace; as for an analysis.
        draw: The figure, from what was kept of each finished game; None where there is nothing to draw.
    """

    name: str
    title: str
    read: Callable[[Trace], FactsT]
    draw: Callable[[Sequence[Seen[FactsT]], Reporting], Figure | None]

    def figure(self, games: Sequence[Seen[FactsT]], reporting: Reporting) -> Figure | None:
        """The figure; None where there is nothing to draw."""
        return self.draw([game for game in games if game.result.abort is None], reporting)
