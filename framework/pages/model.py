"""The neutral pieces of a game's page: a game offers them as data, and the pages draw them.

A game that shows something of its own overrides `Game.page` and returns a `PageModel`. Everything is text:
no piece can carry markup. What changes in the course of a game names the event after which it holds, by its
index in the trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from framework.messages import Frozen

__all__ = [
    "Card",
    "Cell",
    "CellChange",
    "CellKind",
    "Fact",
    "Grid",
    "Label",
    "PageModel",
    "Sheet",
    "Tally",
    "TallyChange",
    "Tone",
    "diff",
]

Tone: TypeAlias = Literal["plain", "good", "bad", "warn", "focus", "muted"]
"""How something is meant; the pages never rely on its colour alone."""
Look: TypeAlias = Literal["empty", "fill", "hatch", "solid", "outline"]
"""How a cell is drawn."""
Index = Annotated[int, Field(ge=0)]


class CellKind(Frozen):
    """A kind of cell, as the legend explains it.

    Attributes:
        name: Its name in `Cell.kind`.
        title: What it means, for people.
        look: How it is drawn.
        level: Strength of the drawing, 1 to 3.
    """

    name: str
    title: str
    look: Look = "fill"
    level: int = Field(default=1, ge=1, le=3)


class Cell(Frozen):
    """What a cell of a grid holds.

    Attributes:
        kind: Name of its kind.
        text: A few characters that fit into it.
        title: The same in words, for a reader who points at it or hears it.
        key: What is in it: one that moves keeps its key, so that the pages can show whence it came.
    """

    kind: str
    text: str = ""
    title: str = ""
    key: str = ""


class CellChange(Frozen):
    """A cell holds something else after an event."""

    event: Index
    row: Index
    column: Index
    cell: Cell


class TallyChange(Frozen):
    """A row's tally has another value after an event."""

    event: Index
    row: Index
    value: str


class Tally(Frozen):
    """A number at the end of each row, such as what the row's seat has paid.

    Attributes:
        title: Its heading.
        values: The value of each row at the start.
        changes: How they change, in the order of the events.
    """

    title: str
    values: tuple[str, ...]
    changes: tuple[TallyChange, ...] = ()


class Grid(Frozen):
    """Rows of cells that change in the course of the game, such as one calendar a seat.

    Attributes:
        title: Its heading.
        rows: Title of each row.
        seats: The seat that each row belongs to; empty where rows are not seats.
        columns: Title of each column.
        row_title: What a row is, such as `seat`.
        column_title: What a column is, such as `slot`.
        kinds: The kinds of cell, in the order of the legend.
        cells: The cells at the start, row by row.
        changes: How they change, in the order of the events.
        tallies: Numbers at the end of the rows.

    Raises:
        ValueError: If the sizes do not fit, or a cell is of an unknown kind.
    """

    title: str
    rows: tuple[str, ...]
    seats: tuple[int, ...] = ()
    columns: tuple[str, ...]
    row_title: str = "seat"
    column_title: str = "slot"
    kinds: tuple[CellKind, ...]
    cells: tuple[tuple[Cell, ...], ...]
    changes: tuple[CellChange, ...] = ()
    tallies: tuple[Tally, ...] = ()

    @model_validator(mode="after")
    def _fits(self) -> Self:
        height, width = len(self.rows), len(self.columns)
        if len(self.cells) != height or any(len(row) != width for row in self.cells):
            raise ValueError(f"grid {self.title!r} needs {height} rows of {width} cells")
        if self.seats and len(self.seats) != height:
            raise ValueError(f"grid {self.title!r} has {height} rows and {len(self.seats)} seats; give one a row")
        for change in self.changes:
            if change.row >= height or change.column >= width:
                raise ValueError(f"grid {self.title!r} has no cell in row {change.row}, column {change.column}")
        for tally in self.tallies:
            if len(tally.values) != height or any(change.row >= height for change in tally.changes):
                raise ValueError(f"tally {tally.title!r} does not fit the {height} rows of grid {self.title!r}")
        self._check_kinds({kind.name for kind in self.kinds})
        return self

    def _check_kinds(self, known: set[str]) -> None:
        used = {cell.kind for row in self.cells for cell in row} | {change.cell.kind for change in self.changes}
        if strangers := sorted(used - known):
            raise ValueError(f"grid {self.title!r} has cells of kind {strangers[0]!r}, which its legend lacks")


class Fact(Frozen):
    """A line of a card.

    Attributes:
        label: What it is.
        value: The text.
        tone: How it is meant.
        event: The event after which it is known; 0 for what holds from the start.
        long: Whether it is prose, which gets the width of the card.
    """

    label: str
    value: str
    tone: Tone = "plain"
    event: Index = 0
    long: bool = False


class Card(Frozen):
    """Facts under a heading, such as what one seat knew and chose.

    Attributes:
        title: The heading.
        seat: The seat that it is about, if one.
        facts: Its lines.
    """

    title: str
    seat: int | None = None
    facts: tuple[Fact, ...] = ()


class Sheet(Frozen):
    """A small table that does not change.

    Attributes:
        title: Its heading.
        columns: Titles of the columns.
        rows: The cells, row by row.

    Raises:
        ValueError: If a row has not as many cells as there are columns.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"sheet {self.title!r} needs {len(self.columns)} cells in every row")
        return self


class Label(Frozen):
    """What an event means, in the game's own words.

    Attributes:
        event: The event.
        text: One short sentence without a stop.
        tone: How it is meant.
        headline: Whether it also stands beside the title of its round.
    """

    event: Index
    text: str
    tone: Tone = "plain"
    headline: bool = False


class PageModel(Frozen):
    """What a game shows of one playing, besides what the framework shows of every game.

    Attributes:
        grids: Grids that change as one steps through the game.
        cards: Facts by seat or about the game.
        sheets: Small tables.
        labels: What events mean.
        private_grid: Place of the grid whose rows are the seats' private states and whose columns are the
            slots that beliefs are about; the belief view shows it beside the belief.
    """

    grids: tuple[Grid, ...] = ()
    cards: tuple[Card, ...] = ()
    sheets: tuple[Sheet, ...] = ()
    labels: tuple[Label, ...] = ()
    private_grid: int | None = None


def diff(before: Sequence[Cell], after: Sequence[Cell], *, event: int, row: int) -> tuple[CellChange, ...]:
    """The cells of a row in which `after` differs from `before`."""
    pairs = zip(before, after, strict=True)
    return tuple(
        CellChange(event=event, row=row, column=column, cell=new)
        for column, (old, new) in enumerate(pairs)
        if old != new
    )
