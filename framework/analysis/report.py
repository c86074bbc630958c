"""All tables of some runs: those of every game, then those that the game declares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from framework import registry
from framework.analysis.declared import Analysis, Drawing
from framework.analysis.failures import FAILURES
from framework.analysis.figures import OVERVIEW
from framework.analysis.findings import Findings
from framework.analysis.gather import Gathered, gather_runs
from framework.analysis.usage import USAGE
from framework.errors import UserError, nearest
from framework.experiment import Reporting
from framework.results import read_result
from framework.tables import trace_paths
from framework.trace import TraceError

__all__ = ["NEUTRAL", "NEUTRAL_DRAWINGS", "analyses_of", "drawings_of", "game_of", "select", "tabulate"]

NEUTRAL: tuple[Analysis[Any], ...] = (FAILURES, USAGE)
"""The tables of every game, besides the one by strategy and setting."""

NEUTRAL_DRAWINGS: tuple[Drawing[Any], ...] = (OVERVIEW,)
"""The figures of every game."""


def game_of(folder: Path) -> str:
    """The game of a run.

    Raises:
        UserError: If the folder holds no traces, or the first one cannot be read.
    """
    try:
        return read_result(trace_paths(folder)[0]).game
    except TraceError as error:
        raise UserError(f"{error}, with: cheaptalk run {folder} --resume") from error


def analyses_of(game: str) -> tuple[Analysis[Any], ...]:
    """What a game is asked: its own questions, if it is known here, then those of every game."""
    try:
        own = registry.game(game).analyses()
    except UserError:
        own = ()
    return (*own, *NEUTRAL)


def drawings_of(game: str) -> tuple[Drawing[Any], ...]:
    """The figures of a game: those of every game, then its own, if it is known here."""
    try:
        own = registry.game(game).drawings()
    except UserError:
        own = ()
    return (*NEUTRAL_DRAWINGS, *own)


def select(names: Sequence[str], known: Sequence[Analysis[Any]], also: Sequence[str] = ()) -> list[Analysis[Any]]:
    """The analyses of these names, in the order in which they are known.

    Args:
        names: What was asked for.
        known: The analyses.
        also: Names that may be asked for besides, and are no analyses.

    Raises:
        UserError: If there is none of a name.
    """
    by_name = [analysis.name for analysis in known]
    for name in names:
        if name not in (*by_name, *also):
            raise UserError(f"--table: {name!r} is not a table of these runs; {nearest(name, [*also, *by_name], 12)}")
    return [analysis for analysis in known if analysis.name in names]


def tabulate(
    folders: Sequence[Path], analyses: Sequence[Analysis[Any]], reporting: Reporting
) -> tuple[Gathered, list[Findings]]:
    """Read the traces of runs once, and answer the questions.

    Raises:
        UserError: As `gather_runs`.
    """
    gathered = gather_runs(folders, [analysis.read for analysis in analyses])
    return gathered, list(_answers(gathered, analyses, reporting))


def _answers(gathered: Gathered, analyses: Sequence[Analysis[Any]], reporting: Reporting) -> Iterator[Findings]:
    for analysis in analyses:
        yield analysis.findings(gathered.seen(analysis.read), reporting)
