"""The tables of EAST as CSV files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import get_args

from framework.csvfile import Row, write_rows
from games.east.outcome import CHANCE, Convergence
from games.east.results import Played
from games.east.tables import cells, crossplay, pairs, share

__all__ = ["interval", "write_tables"]

_WAYS: tuple[Convergence, ...] = get_args(Convergence)


def write_tables(folder: Path, games: Sequence[Played]) -> list[Path]:
    """Write `games.csv`, `rates.csv`, `pairs.csv` and `crossplay.csv`.

    Raises:
        UserError: If the folder cannot be written.
    """
    return [
        write_rows(folder / "games.csv", _games(games)),
        write_rows(folder / "rates.csv", _rates(games)),
        write_rows(folder / "pairs.csv", _pairs(games)),
        write_rows(folder / "crossplay.csv", _crossplay(games)),
    ]


def interval(name: str) -> tuple[str, str, str]:
    """The headings of a share and of its interval."""
    return (name, f"{name}_low", f"{name}_high")


def _games(games: Sequence[Played]) -> Iterator[Row]:
    place = ("run", "task", "vignette", "condition", "prompt", "strategy_0", "strategy_1", "aborted")
    yield (*place, "word_0", "word_1", "role_0", "role_1", "target", "convergence", "normative")
    for game in games:
        outcome = game.outcome
        row = (game.run, game.task, game.vignette, game.condition, game.prompt, *game.strategies, int(outcome is None))
        if outcome is None:
            yield (*row, *(None,) * 7)
        else:
            ending = (outcome.target, outcome.convergence, int(outcome.normative))
            yield (*row, *outcome.words, *outcome.roles, *ending)


def _rates(games: Sequence[Played]) -> Iterator[Row]:
    shares = [heading for name in ("match", "normative", "accidental", "invalid") for heading in interval(name)]
    yield ("pairing", "condition", "prompt", "games", "aborted", "chance", *shares, *(f"n_{way}" for way in _WAYS))
    for cell in cells(games):
        counts = (cell.matches, cell.normative, cell.accidental, cell.invalid)
        yield (
            *(cell.pairing, cell.condition, cell.prompt, cell.games, cell.aborted, CHANCE),
            *(value for count in counts for value in share(count, cell.games)),
            *(cell.convergence[way] for way in _WAYS),
        )


def _pairs(games: Sequence[Played]) -> Iterator[Row]:
    yield ("pairing", "condition", "prompt", "role_0", "role_1", "games")
    for pair in pairs(games):
        roles = (pair.seat_0 or "invalid", pair.seat_1 or "invalid")
        yield (pair.pairing, pair.condition, pair.prompt, *roles, pair.count)


def _crossplay(games: Sequence[Played]) -> Iterator[Row]:
    yield ("strategy_0", "strategy_1", "condition", "games", *interval("normative"), *interval("match"))
    for rate in crossplay(games):
        shares = (*share(rate.normative, rate.games), *share(rate.matches, rate.games))
        yield (rate.seat_0, rate.seat_1, rate.condition, rate.games, *shares)
