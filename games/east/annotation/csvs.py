"""Annotations as CSV files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from framework.csvfile import Row, write_rows
from games.east.annotation.agreement import Agreement
from games.east.annotation.analysis import Labelling, cooccurrence, fallacy_shares, reasoning_shares
from games.east.annotation.labels import FALLACIES, LEVELS
from games.east.csvs import interval
from games.east.tables import share

__all__ = ["write_agreements", "write_labels"]


def write_labels(folder: Path, labelling: Labelling) -> list[Path]:
    """Write `labels.csv`, `reasoning.csv`, `fallacies.csv` and `cooccurrence.csv`.

    Raises:
        UserError: If the folder cannot be written.
    """
    return [
        write_rows(folder / "labels.csv", _labels(labelling)),
        write_rows(folder / "reasoning.csv", _reasoning(labelling)),
        write_rows(folder / "fallacies.csv", _fallacies(labelling)),
        write_rows(folder / "cooccurrence.csv", _cooccurrence(labelling)),
    ]


def write_agreements(folder: Path, found: list[Agreement]) -> Path:
    """Write `agreement.csv`.

    Raises:
        UserError: If the folder cannot be written.
    """
    return write_rows(folder / "agreement.csv", [Agreement._fields, *found])


def _labels(labelling: Labelling) -> Iterator[Row]:
    place = ("run", "task", "condition", "prompt", "strategy", "seat", "convergence", "annotator")
    yield (*place, "level", "recursive_target", "information_coherence", *FALLACIES)
    for judged in labelling.judged:
        game, tom = judged.game, judged.tom
        present = None if judged.fallacies is None else judged.fallacies.present
        yield (
            *(game.run, game.task, game.condition, game.prompt, game.strategies[judged.seat], judged.seat),
            game.outcome.convergence if game.outcome else None,
            judged.annotator,
            tom.highest_level_achieved if tom else None,
            tom.recursive_target if tom else None,
            tom.information_coherence if tom else None,
            *(None if present is None else int(name in present) for name in FALLACIES),
        )


def _reasoning(labelling: Labelling) -> Iterator[Row]:
    shares = [heading for level in LEVELS for heading in interval(f"level_{level}")]
    yield ("strategy", "condition", "prompt", "n", *shares, "with_tom", *interval("incoherent"))
    for row in reasoning_shares(labelling):
        yield (
            *(row.strategy, row.condition, row.prompt, row.n),
            *(value for level in LEVELS for value in share(row.levels[level], row.n)),
            row.with_tom,
            *share(row.incoherent, row.with_tom),
        )


def _fallacies(labelling: Labelling) -> Iterator[Row]:
    yield ("condition", "fallacy", "n", "count", *interval("share"))
    for row in fallacy_shares(labelling):
        yield (row.condition, row.fallacy, row.n, row.count, *share(row.count, row.n))


def _cooccurrence(labelling: Labelling) -> Iterator[Row]:
    yield ("fallacy", *FALLACIES)
    for name, counts in zip(FALLACIES, cooccurrence(labelling), strict=True):
        yield (name, *(int(count) for count in counts))
