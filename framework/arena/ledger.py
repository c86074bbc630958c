"""The ledger of an arena: one SQLite file with its players, its matches and every change of a rating."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

from framework.errors import UserError
from framework.ratings import Change, Rating
from framework.results import GameResult

__all__ = ["Ledger", "Match", "Status"]

Status = Literal["planned", "finished", "aborted"]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS arena (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS player (name TEXT PRIMARY KEY, joined INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS match (
    number INTEGER PRIMARY KEY,
    scenario INTEGER NOT NULL,
    task TEXT NOT NULL,
    seating TEXT NOT NULL,
    game_id TEXT NOT NULL,
    trace TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'planned' CHECK (status IN ('planned', 'finished', 'aborted')),
    boundary TEXT,
    error TEXT,
    prompt_tokens INTEGER,
    completion_tokens INTEGER,
    model_calls INTEGER,
    cost_usd REAL
) STRICT;
CREATE TABLE IF NOT EXISTS rating (
    match INTEGER NOT NULL REFERENCES match (number),
    rated TEXT NOT NULL,
    player TEXT NOT NULL,
    metric TEXT NOT NULL,
    score REAL NOT NULL,
    mu_before REAL NOT NULL,
    sigma_before REAL NOT NULL,
    mu REAL NOT NULL,
    sigma REAL NOT NULL,
    PRIMARY KEY (match, rated, player)
) STRICT;
"""


class Match(NamedTuple):
    """One game of an arena.

    Attributes:
        number: Its number, from 0.
        scenario: Place of its task in the suite.
        task: Id of its task.
        seating: The player in each seat.
        game_id: Id of the playing, the same in its trace.
        trace: Its trace's file, relative to the arena's folder.
        status: Whether it is still to be played, or how it ended.
    """

    number: int
    scenario: int
    task: str
    seating: tuple[str, ...]
    game_id: str
    trace: str
    status: Status = "planned"


class Ledger:
    """The ledger of one arena. What a method has written is safe when it returns.

    Args:
        path: The SQLite file; it is made if there is none.

    Raises:
        UserError: If it cannot be opened, or is no ledger.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._db = sqlite3.connect(path, isolation_level=None)
            self._db.execute("PRAGMA foreign_keys = ON")
            self._db.executescript(_SCHEMA)
        except sqlite3.Error as error:
            raise UserError(f"ledger {path} cannot be used ({error}); restore it, or give another --out") from error

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    @contextmanager
    def _whole(self) -> Iterator[sqlite3.Connection]:
        """Everything within is written, or nothing."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield self._db
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def claim(self, identity: Mapping[str, object]) -> None:
        """Make the ledger this arena's.

        Raises:
            UserError: If it belongs to another one.
        """
        there = {name: json.loads(value) for name, value in self._db.execute("SELECT name, value FROM arena")}
        for name, value in identity.items():
            if there and there.get(name) != value:
                raise UserError(
                    f"{self.path} belongs to another arena: {name} is {there.get(name)!r:.60} there and "
                    f"{value!r:.60} here; give another --out"
                )
        if not there:
            with self._whole() as db:
                rows = [(name, json.dumps(value)) for name, value in identity.items()]
                db.executemany("INSERT INTO arena VALUES (?, ?)", rows)

    def join(self, players: Iterable[str]) -> None:
        """Add players that are not in it yet; they join with the next match."""
        number = self.count()
        with self._whole() as db:
            rows = [(player, number) for player in players]
            db.executemany("INSERT OR IGNORE INTO player VALUES (?, ?)", rows)

    def players(self) -> tuple[str, ...]:
        """All players that ever joined, in that order."""
        return tuple(name for (name,) in self._db.execute("SELECT name FROM player ORDER BY joined, rowid"))

    def matches(self, status: Status | None = None) -> list[Match]:
        """The matches in order, all or those of one status."""
        rows = self._db.execute(
            "SELECT number, scenario, task, seating, game_id, trace, status FROM match"
            " WHERE ?1 IS NULL OR status = ?1 ORDER BY number",
            (status,),
        )
        return [
            Match(number, scenario, task, tuple(json.loads(seating)), game_id, trace, found)
            for number, scenario, task, seating, game_id, trace, found in rows
        ]

    def count(self, status: Status | None = None) -> int:
        """How many matches there are, in all or of one status."""
        (number,) = self._db.execute("SELECT count(*) FROM match WHERE ?1 IS NULL OR status = ?1", (status,)).fetchone()
        return int(number)

    def played(self) -> Counter[str]:
        """Matches of each player, those that are planned among them."""
        return Counter(player for match in self.matches() for player in set(match.seating))

    def plan(self, matches: Sequence[Match]) -> None:
        """Write down matches before they are played."""
        with self._whole() as db:
            db.executemany(
                "INSERT INTO match (number, scenario, task, seating, game_id, trace) VALUES (?, ?, ?, ?, ?, ?)",
                [(m.number, m.scenario, m.task, json.dumps(m.seating), m.game_id, m.trace) for m in matches],
            )

    def settle(self, match: Match, result: GameResult, changes: Sequence[Change]) -> None:
        """Write down how a match ended and what it did to ratings."""
        abort, used = result.abort, result.usage
        with self._whole() as db:
            db.execute(
                "UPDATE match SET status = ?, boundary = ?, error = ?, prompt_tokens = ?, completion_tokens = ?,"
                " model_calls = ?, cost_usd = ? WHERE number = ?",
                (
                    "aborted" if abort else "finished",
                    abort.boundary if abort else None,
                    abort.error if abort else None,
                    used.prompt_tokens,
                    used.completion_tokens,
                    used.calls,
                    used.cost,
                    match.number,
                ),
            )
            db.executemany(
                "INSERT INTO rating VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [(match.number, *change[:4], *change.before, *change.after) for change in changes],
            )

    def changes(self) -> list[tuple[int, Change]]:
        """Every change of a rating with the number of its match, in the order in which they were made."""
        rows = self._db.execute("SELECT * FROM rating ORDER BY match, rowid")
        return [
            (match, Change(rated, player, metric, score, Rating(mu0, sigma0), Rating(mu, sigma)))
            for match, rated, player, metric, score, mu0, sigma0, mu, sigma in rows
        ]

    def ratings(self) -> dict[str, dict[str, Rating]]:
        """The latest ratings, by what they are and by player."""
        found: dict[str, dict[str, Rating]] = {}
        for _, change in self.changes():
            found.setdefault(change.rated, {})[change.player] = change.after
        return found
