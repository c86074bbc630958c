"""The four CSV files of typed VPS, with the columns of the CalBench paper's section F.5."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from framework.beliefs import Floats, Movements, total_by
from framework.errors import UserError
from framework.evidence import EvidenceTable, GameEvidence

__all__ = ["COLUMNS", "PrivacyTables", "participant_pairs"]

COLUMNS: dict[str, tuple[str, ...]] = {
    "belief_evidence.csv": (
        "trace_path",
        "game_id",
        "event_index",
        "round",
        "target_agent",
        "observer_agent",
        "slot",
        "source",
        "evidence",
        "strength",
        "belief_before",
        "belief_after",
    ),
    "pair_round_vps.csv": (
        "trace_path",
        "game_id",
        "round",
        "target_agent",
        "observer_agent",
        "target_is_participant",
        "observer_is_participant",
        "num_agents",
        "num_slots",
        "observations",
        "prior_distance_to_ideal",
        "posterior_distance_to_ideal",
        "vps_loss",
        "vps_loss_per_slot",
        "prior",
    ),
    "game_summary.csv": (
        "trace_path",
        "game_id",
        "vps_loss_total",
        "vps_loss_mean",
        "participant_pair_vps_loss_total",
        "participant_pair_vps_loss_mean",
        "observation_count",
    ),
    "game_target_summary.csv": (
        "trace_path",
        "game_id",
        "target_agent",
        "vps_loss_total",
        "excess_vps_loss_total",
        "participant_pair_vps_loss_total",
        "participant_pair_vps_loss_mean",
        "vps_floor",
    ),
}
"""The columns of each file."""

_DIGITS = 12
_IDEAL = 0.5
"""The belief that gives nothing away: each slot is as likely available as not."""


class _Pairs(NamedTuple):
    """The pairs of one game in each of its rounds; each array has the shape (rounds, targets, observers)."""

    loss: Floats
    prior_distance: Floats
    posterior_distance: Floats
    observations: NDArray[np.int64]


def seat_takes_part(game: GameEvidence) -> NDArray[np.bool_]:
    """Whether a seat is a participant of a round; shape (rounds, seats)."""
    inside = np.zeros((len(game.participants), game.seats), dtype=bool)
    for round, participants in enumerate(game.participants):
        inside[round, list(participants)] = True
    return inside


def participant_pairs(moved: Movements) -> NDArray[np.bool_]:
    """Whether target and observer of each update both take part in its round; shape (updates,)."""
    rounds = np.cumsum([0, *(len(game.participants) for game in moved.games)])
    most = max((game.seats for game in moved.games), default=0)
    inside = np.zeros((int(rounds[-1]), most), dtype=bool)
    for number, game in enumerate(moved.games):
        inside[rounds[number] : rounds[number + 1], : game.seats] = seat_takes_part(game)
    round = rounds[moved.game] + moved.round
    both: NDArray[np.bool_] = inside[round, moved.target] & inside[round, moved.observer]
    return both


def _pairs(moved: Movements) -> Iterator[tuple[GameEvidence, _Pairs]]:
    sizes = [len(game.participants) * game.seats**2 for game in moved.games]
    begin = np.cumsum([0, *sizes])
    seats = np.array([game.seats for game in moved.games], dtype=np.int64)[moved.game]
    pair = begin[moved.game] + (moved.round * seats + moved.target) * seats + moved.observer
    loss = total_by(pair, moved.gain, int(begin[-1]))
    further = total_by(pair, moved.gain_from(_IDEAL), int(begin[-1]))
    observations = np.bincount(pair, minlength=int(begin[-1]))
    for number, game in enumerate(moved.games):
        own, shape = slice(begin[number], begin[number + 1]), (len(game.participants), game.seats, game.seats)
        weight = np.full(shape[:2], float(game.slots)) if game.weights is None else game.weights.sum(axis=2)
        before = np.broadcast_to(weight[:, :, None] * abs(moved.prior - _IDEAL), shape)
        yield (
            game,
            _Pairs(
                loss[own].reshape(shape), before, before + further[own].reshape(shape), observations[own].reshape(shape)
            ),
        )


class PrivacyTables:
    """Writes the four files of one analysis, a batch of games at a time.

    Args:
        folder: Where to write; it is made if there is none.
        table: How the game's messages move beliefs.

    Raises:
        UserError: If the folder cannot be written.
    """

    def __init__(self, folder: Path, table: EvidenceTable) -> None:
        self.files = [folder / name for name in COLUMNS]
        self._table = table
        self._open = ExitStack()
        self._writers: dict[str, Any] = {}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for path, columns in zip(self.files, COLUMNS.values(), strict=True):
                file = self._open.enter_context(path.open("w", encoding="utf-8", newline=""))
                self._writers[path.name] = csv.writer(file, lineterminator="\n")
                self._writers[path.name].writerow(columns)
        except OSError as error:
            self._open.close()
            raise _unwritable(folder, error) from error

    def __enter__(self) -> PrivacyTables:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._open.close()
        except OSError as error:
            raise _unwritable(self.files[0].parent, error) from error

    def add(self, moved: Movements) -> None:
        """Add the rows of some games.

        Raises:
            UserError: If the disk is full.
        """
        try:
            self._add_evidence(moved)
            for game, pairs in _pairs(moved):
                inside = seat_takes_part(game)
                self._add_pairs(game, pairs, inside, moved.prior)
                self._add_summaries(game, pairs, inside)
        except OSError as error:
            raise _unwritable(self.files[0].parent, error) from error

    def _add_evidence(self, moved: Movements) -> None:
        paths, ids = ([getattr(game, name) for game in moved.games] for name in ("path", "game_id"))
        game = moved.game.tolist()
        self._write(
            "belief_evidence.csv",
            [paths[number] for number in game],
            [ids[number] for number in game],
            moved.event,
            moved.round,
            moved.target,
            moved.observer,
            moved.slot,
            [self._table.sources[source] for source in moved.source.tolist()],
            moved.evidence,
            moved.strength,
            moved.before,
            moved.after,
        )

    def _add_pairs(self, game: GameEvidence, pairs: _Pairs, inside: NDArray[np.bool_], prior: float) -> None:
        different = np.broadcast_to(~np.eye(game.seats, dtype=bool), pairs.loss.shape)
        round, target, observer = np.nonzero(different)
        loss = pairs.loss[different]
        self._write(
            "pair_round_vps.csv",
            game.path,
            game.game_id,
            round,
            target,
            observer,
            inside[round, target].astype(int),
            inside[round, observer].astype(int),
            game.seats,
            game.slots,
            pairs.observations[different],
            pairs.prior_distance[different],
            pairs.posterior_distance[different],
            loss,
            loss / game.slots,
            prior,
        )

    def _add_summaries(self, game: GameEvidence, pairs: _Pairs, inside: NDArray[np.bool_]) -> None:
        both = inside[:, :, None] & inside[:, None, :] & ~np.eye(game.seats, dtype=bool)
        loss, among = pairs.loss, pairs.loss * both
        rows = len(game.participants) * game.seats * (game.seats - 1)
        self._write(
            "game_summary.csv",
            [game.path],
            game.game_id,
            loss.sum(keepdims=True).ravel(),
            loss.sum(keepdims=True).ravel() / max(rows, 1),
            among.sum(keepdims=True).ravel(),
            among.sum(keepdims=True).ravel() / max(int(both.sum()), 1),
            int(pairs.observations.sum()),
        )
        by_target, among_target = loss.sum(axis=(0, 2)), among.sum(axis=(0, 2))
        self._write(
            "game_target_summary.csv",
            game.path,
            game.game_id,
            np.arange(game.seats),
            by_target,
            np.maximum(by_target - self._table.floor, 0.0),
            among_target,
            among_target / np.maximum(both.sum(axis=(0, 2)), 1),
            self._table.floor,
        )

    def _write(self, name: str, *columns: Any) -> None:
        """Add rows, given by columns; one value stands for a column of that value."""
        lists = [_plain(column) if isinstance(column, np.ndarray) else column for column in columns]
        length = next(len(column) for column in lists if isinstance(column, list))
        filled = [column if isinstance(column, list) else [column] * length for column in lists]
        self._writers[name].writerows(zip(*filled, strict=True))


def _plain(column: NDArray[Any]) -> list[Any]:
    """The values as Python numbers, without the last digits of floating point."""
    if column.dtype.kind != "f":
        return list(column.tolist())
    return list((np.round(column, _DIGITS) + 0.0).tolist())


def _unwritable(folder: Path, error: OSError) -> UserError:
    return UserError(f"CSVs cannot be written to {folder} ({error.strerror}); name another folder")
