"""How much the strategies of some runs gave away: typed VPS from their traces, summed up by strategy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from framework.beliefs import PRIOR, Floats, Movements, check_prior, move, total_by
from framework.errors import UserError
from framework.evidence import EvidenceTable, GameEvidence, Talk, declared, gather
from framework.experiment import Reporting
from framework.privacy_tables import PrivacyTables, participant_pairs
from framework.stats import Interval, bootstrap_mean
from framework.tables import Column, Row, Table
from framework.trace import Boundary, TraceError, read_trace

__all__ = ["GameLeak", "Privacy", "leaks", "measure", "summarise_leaks"]

_AT_ONCE = 500
"""Games whose evidence is in memory at a time."""


@dataclass(frozen=True, slots=True)
class GameLeak:
    """What one game gave away, by target.

    Attributes:
        group: The setting under which tables list the game.
        strategies: Name of the strategy in each seat.
        adversarial: The seats whose strategy works against the others.
        total: VPS of each seat as a target, before the floor; shape (N,).
        among_participants: The part of it from pairs that both take part in the round; shape (N,).
        by_source: The total split by kind of message; shape (N, K).
        unread: Messages of each seat that are not typed: what they gave away is not in the numbers.
        run: The run that the game belongs to.
    """

    group: str
    strategies: tuple[str, ...]
    adversarial: tuple[int, ...]
    total: Floats
    among_participants: Floats
    by_source: Floats
    unread: tuple[int, ...]
    run: str = ""


class Unfinished(NamedTuple):
    """A game that was aborted: it is counted, and in no mean."""

    run: str
    group: str
    strategies: tuple[str, ...]
    adversarial: tuple[int, ...]
    boundary: Boundary


class Privacy(NamedTuple):
    """What a measurement found.

    Attributes:
        table: One row for each run, setting and strategy.
        files: The CSV files that were written.
        unread: Number of messages that are not typed, by strategy; seats that sent any are in no mean.
    """

    table: Table
    files: Sequence[Path]
    unread: Counter[str]


def leaks(moved: Movements, kinds: int) -> list[GameLeak]:
    """Sum the movements of some games up by target.

    Args:
        moved: The movements.
        kinds: Number of kinds of message in the game's table.
    """
    begin = np.cumsum([0, *(game.seats for game in moved.games)])
    target, gain, seats = begin[moved.game] + moved.target, moved.gain, int(begin[-1])
    total = total_by(target, gain, seats)
    among = total_by(target, gain * participant_pairs(moved), seats)
    split = total_by(target * kinds + moved.source, gain, seats * kinds).reshape(seats, kinds)
    found = []
    for number, game in enumerate(moved.games):
        own = slice(int(begin[number]), int(begin[number + 1]))
        found.append(
            GameLeak(
                group=game.group,
                strategies=game.strategies,
                adversarial=game.adversarial,
                total=total[own],
                among_participants=among[own],
                by_source=split[own],
                unread=game.unread,
            )
        )
    return found


def measure(
    runs: Sequence[Path],
    out: Path | None = None,
    *,
    prior: float = PRIOR,
    weighted: bool = False,
    floor: float | None = None,
    reporting: Reporting | None = None,
) -> Privacy:
    """Measure the typed VPS of some runs of one game.

    Args:
        runs: Folders of runs, or single traces.
        out: Where to write the four CSV files; None writes none.
        prior: The belief at the start of each round.
        weighted: Whether slots weigh what the game says, instead of all the same.
        floor: What is subtracted from each target's total; None takes the game's own.
        reporting: How intervals are made.

    Raises:
        UserError: If a run holds no traces, a trace cannot be read, the runs are of different games, the game
            declares no table, or the folder cannot be written.
    """
    try:
        check_prior(prior)
    except ValueError as error:
        raise UserError(str(error)) from error
    sources = [_Source(run.resolve().name, path) for run in runs for path in _traces(run)]
    game = _read(sources[0].path).game
    table = declared(game)
    table = table if floor is None else replace(table, floor=floor)
    found: list[GameLeak] = []
    unfinished: list[Unfinished] = []
    with ExitStack() as stack:
        csvs = stack.enter_context(PrivacyTables(out, table)) if out else None
        for begin in range(0, len(sources), _AT_ONCE):
            names: list[str] = []
            games: list[GameEvidence] = []
            for run, talk, path in _played(sources[begin : begin + _AT_ONCE], game, unfinished):
                names.append(run)
                evidence = gather(talk, table, path=str(path))
                games.append(replace(evidence, weights=_weights(path, game, table)) if weighted else evidence)
            moved = move(games, prior)
            found += [replace(leak, run=run) for run, leak in zip(names, leaks(moved, len(table.rules)), strict=True)]
            if csvs:
                csvs.add(moved)
    unread: Counter[str] = Counter()
    for leak in found:
        for strategy, count in zip(leak.strategies, leak.unread, strict=True):
            unread[strategy] += count
    return Privacy(summarise_leaks(found, unfinished, table, reporting), csvs.files if csvs else (), +unread)


class _Source(NamedTuple):
    run: str
    path: Path


class _Played(NamedTuple):
    run: str
    talk: Talk
    path: Path


def _traces(run: Path) -> list[Path]:
    if run.is_file():
        return [run]
    paths = sorted((run / "traces").glob("[!.]*.json")) if run.is_dir() else []
    if not paths:
        raise UserError(f"{run} holds no traces; name the folder of a run, such as runs/<name>, or a trace")
    return paths


def _read(path: Path) -> Talk:
    try:
        return Talk.read(path)
    except TraceError as error:
        raise UserError(str(error)) from error


def _played(sources: Iterable[_Source], game: str, unfinished: list[Unfinished]) -> Iterator[_Played]:
    """The finished games of some traces; those that were aborted are added to `unfinished`."""
    for run, path in sources:
        talk = _read(path)
        if talk.game != game:
            raise UserError(
                f"{path} is of the game {talk.game}, others are of {game}; measure runs of one game at a time"
            )
        if talk.aborted:
            start = talk.start
            unfinished.append(Unfinished(run, talk.group, start.strategies, start.adversarial, talk.aborted))
        else:
            yield _Played(run, talk, path)


def _weights(path: Path, game: str, table: EvidenceTable) -> Floats:
    if table.weights is None:
        raise UserError(f"game {game} declares no weights of slots; leave --weighted out")
    try:
        return table.weights(read_trace(path))
    except TraceError as error:
        raise UserError(str(error)) from error


class _Key(NamedTuple):
    run: str
    group: str
    strategy: str
    adversarial: bool


class _Part(NamedTuple):
    """The seats of one strategy in one game."""

    leak: GameLeak
    seats: tuple[int, ...]

    @property
    def measured(self) -> list[int]:
        """The seats all of whose messages are typed."""
        return [seat for seat in self.seats if not self.leak.unread[seat]]


class _Sample(NamedTuple):
    """Values of one column, with the game of each."""

    values: list[float]
    games: list[int]

    def add(self, game: int, *values: float) -> None:
        self.values.extend(values)
        self.games.extend([game] * len(values))


def _keys(game: GameLeak | Unfinished) -> dict[_Key, tuple[int, ...]]:
    seats: dict[_Key, tuple[int, ...]] = {}
    for seat, strategy in enumerate(game.strategies):
        key = _Key(game.run, game.group, strategy, seat in game.adversarial)
        seats[key] = (*seats.get(key, ()), seat)
    return seats


def summarise_leaks(
    found: Sequence[GameLeak],
    unfinished: Sequence[Unfinished],
    table: EvidenceTable,
    reporting: Reporting | None = None,
) -> Table:
    """One row for each run, setting and strategy, over its seats as targets.

    The columns are `vps`, per seat and above the floor; `vps_total`, a game's sum over the seats of the
    strategy before any floor; `participant_share`, the part of that from pairs that both take part in the
    round; and one for each kind of message that gave something away, which sum to `vps_total`. A seat that
    sent a message which is not typed is in no mean, nor are the sums of its game.
    """
    parts: dict[_Key, list[_Part]] = {}
    for leak in found:
        for key, seats in _keys(leak).items():
            parts.setdefault(key, []).append(_Part(leak, seats))
    aborted = Counter(key for game in unfinished for key in _keys(game))
    told = np.sum([np.abs(leak.by_source).sum(axis=0) for leak in found], axis=0) > 0 if found else []
    kinds = [number for number, any_told in enumerate(told) if any_told]
    columns = (
        Column("vps", "VPS", "lower"),
        Column("vps_total", "VPS/game", "lower"),
        Column("participant_share", "Among participants", percent=True),
        *(Column(f"vps_{table.sources[kind]}", table.sources[kind]) for kind in kinds),
    )
    order = list(dict.fromkeys([*parts, *aborted]))
    place = {name: number for number, name in enumerate(dict.fromkeys(key[:2] for key in order))}
    order.sort(key=lambda key: (place[key[:2]], key))
    rows = tuple(_row(key, parts.get(key, []), aborted[key], kinds, table.floor, reporting) for key in order)
    boundaries = Counter(str(game.boundary) for game in unfinished)
    confidence = (reporting or Reporting()).confidence
    return Table(columns, rows, boundaries, len(found) + len(unfinished), confidence)


def _row(
    key: _Key, parts: Sequence[_Part], aborted: int, kinds: Sequence[int], floor: float, reporting: Reporting | None
) -> Row:
    above, total, share, *split = [_Sample([], []) for _ in range(3 + len(kinds))]
    for game, part in enumerate(parts):
        leak, seats = part.leak, part.measured
        above.add(game, *np.maximum(leak.total[seats] - floor, 0.0).tolist())
        if len(seats) < len(part.seats):
            continue
        sum_of_seats = float(leak.total[seats].sum())
        total.add(game, sum_of_seats)
        if sum_of_seats > 0:
            share.add(game, float(leak.among_participants[seats].sum()) / sum_of_seats)
        for kind, sample in zip(kinds, split, strict=True):
            sample.add(game, float(leak.by_source[seats, kind].sum()))
    cells = tuple(_interval(sample, reporting or Reporting()) for sample in (above, total, share, *split))
    seats_measured = sum(len(part.measured) for part in parts)
    return Row(key.run, key.group, key.strategy, key.adversarial, len(parts), seats_measured, aborted, cells)


def _interval(sample: _Sample, reporting: Reporting) -> Interval | None:
    if not sample.values:
        return None
    return bootstrap_mean(
        sample.values,
        sample.games,
        confidence=reporting.confidence,
        resamples=reporting.resamples,
        seed=reporting.seed,
    )
