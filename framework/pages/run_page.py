"""What the pages say of runs: the list, a run's games as rows, and tables with intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from framework.evidence import Talk
from framework.messages import Frozen
from framework.pages.ratings import RatingsPage
from framework.results import GameResult
from framework.stats import Interval
from framework.tables import Column, Table

__all__ = [
    "Board",
    "BoardRow",
    "ColumnPage",
    "Front",
    "GameRows",
    "MessageRows",
    "RunPage",
    "RunSummary",
    "board_of",
    "messages_of",
    "rows_of",
]

Estimate = tuple[float, float | None, float | None]
"""A mean with its interval; the ends are None where there is none."""


class RunSummary(Frozen):
    """A run in the list of runs.

    Attributes:
        id: Its name in addresses.
        name: Its name, that of its folder.
        game: The game.
        suite: What was played: a suite, or a file of tasks.
        strategies: The strategies, each once.
        games: Games that are over, aborted ones among them.
        aborted: Games that could not be finished.
        tokens: Tokens that models read and wrote.
        cost: US dollars; None where no price is known.
        started: When its first game began, ISO 8601.
    """

    id: str
    name: str
    game: str
    suite: str
    strategies: tuple[str, ...]
    games: int
    aborted: int
    tokens: int
    cost: float | None
    started: str


class ColumnPage(Frozen):
    """A metric as a column; see `framework.tables.Column`."""

    name: str
    title: str
    better: str
    percent: bool
    headline: bool


class BoardRow(Frozen):
    """A row of a board; see `framework.tables.Row`."""

    run: str
    group: str
    strategy: str
    adversarial: bool
    games: int
    seats: int
    aborted: int
    cells: tuple[Estimate | None, ...]


class Board(Frozen):
    """A table with intervals: of one run, or of all runs of one game.

    Attributes:
        game: The game.
        columns: Its metrics.
        rows: One strategy in one setting of one run each.
        confidence: Coverage of the intervals.
        ratings: Ratings of its players, where it has some and several met.
    """

    game: str
    columns: tuple[ColumnPage, ...]
    rows: tuple[BoardRow, ...]
    confidence: float
    ratings: RatingsPage | None = None


class GameRows(Frozen):
    """The games of a run, column by column, so that many load at once.

    Attributes:
        number: Number of each game in its run.
        task: Its task.
        group: Its setting.
        repeat: Its repeat.
        seating: Place in `seatings` of who sat where.
        seatings: Who sat where, each arrangement once.
        boundary: Where the failure belongs, empty for a finished game.
        error: The failure in one sentence.
        tokens: Tokens that its models read and wrote.
        cost: US dollars; None where no price is known.
        seconds: How long it took.
        metrics: The value of each metric for each game, by name.
    """

    number: tuple[int, ...]
    task: tuple[str, ...]
    group: tuple[str, ...]
    repeat: tuple[int, ...]
    seating: tuple[int, ...]
    seatings: tuple[tuple[str, ...], ...]
    boundary: tuple[str, ...]
    error: tuple[str, ...]
    tokens: tuple[int, ...]
    cost: tuple[float | None, ...]
    seconds: tuple[float, ...]
    metrics: dict[str, tuple[float | None, ...]]


class Front(Frozen):
    """What every page needs first.

    Attributes:
        title: Title of the site.
        runs: The runs.
        traces: Whether traces can be downloaded.
        names: What each strategy is called for short.
    """

    title: str
    runs: tuple[RunSummary, ...]
    traces: bool = False
    names: dict[str, str] = {}


class RunPage(Frozen):
    """The page of one run, without its table.

    Attributes:
        id: The run's name in addresses.
        config: Its config file.
        columns: The metrics of its games.
        games: Its games.
        notes: One sentence about each thing that could not be read.
    """

    id: str
    config: str
    columns: tuple[ColumnPage, ...]
    games: GameRows
    notes: tuple[str, ...] = ()


class MessageRows(Frozen):
    """The messages of all games of a run, column by column, to be searched.

    Attributes:
        number: Number of the game of each message.
        message: Its id in the game.
        round: Its round.
        sender: Its sender.
        to: Whom it is addressed to; None for a chat.
        channel: Its channel.
        content: What it says.
    """

    number: tuple[int, ...] = ()
    message: tuple[int, ...] = ()
    round: tuple[int, ...] = ()
    sender: tuple[int, ...] = ()
    to: tuple[int | None, ...] = ()
    channel: tuple[str, ...] = ()
    content: tuple[str, ...] = ()


def messages_of(talks: Iterable[tuple[int, Talk]]) -> MessageRows:
    """The messages of some games as columns.

    Args:
        talks: The number of each game in addresses, and its talk.
    """
    sent = [(number, said.message) for number, talk in talks for said in talk.said]
    return MessageRows(
        number=tuple(number for number, _ in sent),
        message=tuple(message.id for _, message in sent),
        round=tuple(message.round for _, message in sent),
        sender=tuple(message.sender for _, message in sent),
        to=tuple(message.to for _, message in sent),
        channel=tuple(message.channel for _, message in sent),
        content=tuple(message.content for _, message in sent),
    )


def columns_page(columns: Sequence[Column]) -> tuple[ColumnPage, ...]:
    """Metrics as columns of a page."""
    return tuple(
        ColumnPage(name=c.name, title=c.title or c.name, better=c.better, percent=c.percent, headline=c.headline)
        for c in columns
    )


def board_of(game: str, table: Table) -> Board:
    """A table as a page shows it."""
    return Board(
        game=game,
        columns=columns_page(table.columns),
        rows=tuple(
            BoardRow(
                run=row.run,
                group=row.group,
                strategy=row.strategy,
                adversarial=row.adversarial,
                games=row.games,
                seats=row.seats,
                aborted=row.aborted,
                cells=tuple(_estimate(cell) for cell in row.cells),
            )
            for row in table.rows
        ),
        confidence=table.confidence,
    )


def _estimate(cell: Interval | None) -> Estimate | None:
    if cell is None:
        return None
    low, high = (None if math.isnan(end) else _short(end) for end in (cell.low, cell.high))
    return _short(cell.mean), low, high


def _short(value: float) -> float:
    """Six digits: more than a page shows, and short in a file."""
    return float(f"{value:.6g}")


def rows_of(results: Sequence[GameResult], numbers: Sequence[int]) -> GameRows:
    """Games as columns.

    Args:
        results: The games.
        numbers: The number of each in addresses.
    """
    seatings = {seating: place for place, seating in enumerate(dict.fromkeys(r.strategies for r in results))}
    names = dict.fromkeys(name for result in results for name in result.metrics)
    values = {name: tuple(_value(result, name) for result in results) for name in names}
    return GameRows(
        number=tuple(numbers),
        task=tuple(r.task for r in results),
        group=tuple(r.group for r in results),
        repeat=tuple(r.repeat for r in results),
        seating=tuple(seatings[r.strategies] for r in results),
        seatings=tuple(seatings),
        boundary=tuple(r.abort.boundary if r.abort else "" for r in results),
        error=tuple(r.abort.error if r.abort else "" for r in results),
        tokens=tuple(r.usage.prompt_tokens + r.usage.completion_tokens for r in results),
        cost=tuple(r.usage.cost for r in results),
        seconds=tuple(_short(r.seconds) for r in results),
        metrics=values,
    )


def _value(result: GameResult, name: str) -> float | None:
    found = result.metrics.get(name)
    if found is None or found.game is None or not math.isfinite(found.game):
        return None
    return _short(found.game)
