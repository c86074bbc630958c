"""Everything that the page of one game shows, from its trace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import JsonValue

from framework.errors import UserError
from framework.experiment import make_game
from framework.game import Game
from framework.messages import Frozen
from framework.pages.beliefs import BeliefPage, reflected_beliefs, typed_beliefs
from framework.pages.model import PageModel
from framework.pages.steps import Playthrough
from framework.pages.timeline import read_steps
from framework.results import result_of
from framework.tables import columns_of
from framework.trace import Trace, read_trace

__all__ = ["GamePage", "MetricPage", "Pages", "game_page", "read_game"]


class MetricPage(Frozen):
    """A metric of a game; see `framework.Metric` and `framework.MetricValue`."""

    name: str
    title: str
    better: str
    percent: bool
    headline: bool
    game: float | None
    seats: tuple[float | None, ...]


class GamePage(Frozen):
    """The page of one game, without its long texts.

    Attributes:
        game: The game as the run's config names it.
        title: The game's name for people.
        game_id: Id of the playing.
        number: Number of the game in its run.
        task: Id of the scenario.
        group: The setting under which tables list it.
        repeat: 0-based repeat of the task.
        seed: Seed of the playing.
        started: ISO 8601, UTC.
        seconds: How long it took.
        play: Its steps.
        model: What the game itself shows.
        beliefs: How beliefs moved, by each measure that there is.
        metrics: Its metrics.
        notes: One sentence about each thing that could not be shown.
    """

    game: str
    title: str
    game_id: str
    number: int
    task: str
    group: str
    repeat: int
    seed: int
    started: str
    seconds: float
    play: Playthrough
    model: PageModel = PageModel()
    beliefs: tuple[BeliefPage, ...] = ()
    metrics: tuple[MetricPage, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pages:
    """The page of a game, and the long texts that it loads when they are asked for."""

    page: GamePage
    texts: Mapping[str, str]


def read_game(path: Path, name: str, rules: Mapping[str, JsonValue], number: int) -> Pages:
    """The page of a trace on disk.

    Args:
        path: The trace.
        name: The game as the run's config names it; without it the page lacks what only the game can show.
        rules: The knobs of the game, as the run's config has them.
        number: Number of the game in its run.

    Raises:
        TraceError: If the trace cannot be read.
    """
    game, missing = None, ""
    if name:
        try:
            game = _game(name, rules)  # also makes its events and actions known
        except UserError as error:
            missing = f"The game's own panels are missing: {error}."
    return game_page(read_trace(path), game, number, path, missing)


def _game(name: str, rules: Mapping[str, JsonValue]) -> Game[Any, Any]:
    """The game under its rules; under its default ones if it no longer takes those."""
    try:
        return make_game(name, rules)
    except UserError:
        return make_game(name, {})


def game_page(
    trace: Trace, game: Game[Any, Any] | None, number: int = 0, path: Path | None = None, missing: str = ""
) -> Pages:
    """The page of a trace.

    Args:
        trace: The trace, of a finished or an aborted game.
        game: The game that it is of, if it is at hand.
        number: Number of the game in its run.
        path: The trace's file, beside which the game may keep more.
        missing: Why it is not.
    """
    read = read_steps(trace)
    result = result_of(trace)
    own = _own(trace, game, path)
    page = GamePage(
        game=result.game,
        title=(game.title or game.name) if game else result.game,
        game_id=trace.game_id,
        number=number,
        task=result.task,
        group=result.group,
        repeat=result.repeat,
        seed=result.seed,
        started=trace.started_at.isoformat(timespec="seconds"),
        seconds=result.seconds,
        play=read.playthrough,
        model=own.model,
        beliefs=own.beliefs,
        metrics=_metrics(trace),
        notes=tuple(note for note in (missing, *own.notes) if note),
    )
    return Pages(page, read.texts)


class _Own(NamedTuple):
    """What the game itself shows, and what could not be shown."""

    model: PageModel
    beliefs: tuple[BeliefPage, ...]
    notes: tuple[str, ...]


def _own(trace: Trace, game: Game[Any, Any] | None, path: Path | None) -> _Own:
    """What the game itself shows. A fault of a game's page leaves the rest of the page as it is."""
    if game is None:
        return _Own(PageModel(), (), ())
    notes: list[str] = []
    model = PageModel()
    try:
        model = game.page(trace, path)
    except Exception as error:
        notes.append(f"The game's own panels are missing: {type(error).__name__}: {error}.")
    found: list[BeliefPage | None] = []
    try:
        found = [typed_beliefs(trace, game.evidence) if game.evidence else None, reflected_beliefs(trace)]
    except Exception as error:
        notes.append(f"The belief view is missing: {type(error).__name__}: {error}.")
    return _Own(model, tuple(page for page in found if page), tuple(notes))


def _metrics(trace: Trace) -> tuple[MetricPage, ...]:
    columns = columns_of([result_of(trace)])
    return tuple(
        MetricPage(
            name=column.name,
            title=column.title or column.name,
            better=column.better,
            percent=column.percent,
            headline=column.headline,
            game=trace.metrics[column.name].game,
            seats=trace.metrics[column.name].seats,
        )
        for column in columns
    )
