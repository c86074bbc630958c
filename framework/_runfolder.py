"""A run's folder: its lock, its manifest, its traces, and what a resumed run finds in it."""

from __future__ import annotations

import errno
import fcntl
import io
import os
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import JsonValue, ValidationError

from framework.errors import UserError
from framework.experiment import Experiment, read_experiment, write_experiment
from framework.messages import Frozen
from framework.results import GameResult, read_result, total_usage
from framework.trace import Boundary, TraceError, Usage

__all__ = ["Found", "ManifestLine", "Planned", "RunFolder", "replay"]

_PROBE_BYTES = 256 * 1024


class ManifestLine(Frozen):
    """One line of `manifest.jsonl`: a game that is over, written once its trace is safe.

    Attributes:
        number: Number of the game in its run, from 0.
        task: Id of the scenario.
        repeat: 0-based repeat of the task.
        game_id: Unique id of this playing, the same in the trace.
        trace: The trace's file, relative to the run's folder.
        status: Whether it was played to its end.
        boundary: Where the failure belongs, if it was aborted.
        error: The failure in one sentence, if it was aborted.
        usage: What its models consumed.
    """

    number: int
    task: str
    repeat: int
    game_id: str
    trace: str
    status: Literal["finished", "aborted"]
    boundary: Boundary | None = None
    error: str = ""
    usage: Usage = Usage()

    @classmethod
    def of(cls, result: GameResult, trace: str) -> ManifestLine:
        """The line of a game."""
        abort = result.abort
        return cls(
            number=result.number,
            task=result.task,
            repeat=result.repeat,
            game_id=result.game_id,
            trace=trace,
            status="aborted" if abort else "finished",
            boundary=abort.boundary if abort else None,
            error=abort.error if abort else "",
            usage=result.usage,
        )


class Planned(NamedTuple):
    """A game that a run has to play, as its folder knows it."""

    game_id: str
    trace: str


class Found(NamedTuple):
    """What earlier sittings of a run left.

    Attributes:
        results: The games that are whole, by id.
        usage: What all games of earlier sittings consumed, also those that are played again.
        unlisted: Games with a trace and without a line, because the run was killed between the two.
        notes: One sentence about each thing that was not as it should be.
    """

    results: dict[str, GameResult]
    usage: Usage
    unlisted: Sequence[ManifestLine]
    notes: Sequence[str]


class RunFolder:
    """The folder of one run, locked for this process until it is closed.

    Args:
        path: The folder; it is made if there is none.

    Raises:
        UserError: If it cannot be made or written, or another process is using it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.traces = path / "traces"
        self._manifest: io.FileIO | None = None
        try:
            self.traces.mkdir(parents=True, exist_ok=True)
            self._lock = (path / "lock").open("a+")
        except OSError as error:
            raise _unwritable(path, error) from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._lock.seek(0)
            owner = self._lock.read().strip() or "unknown"
            self._lock.close()
            raise UserError(
                f"run folder {path} is in use by process {owner}; wait for it to end, or give another --out"
            ) from error
        self._lock.truncate(0)
        self._lock.write(f"{os.getpid()}\n")
        self._lock.flush()

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let another process use the folder."""
        if self._manifest is not None:
            self._manifest.close()
        self._lock.close()

    def claim(self, experiment: Experiment, *, resume: bool) -> None:
        """Make the folder this experiment's, and see that it can be written.

        Raises:
            UserError: If it holds something and `resume` is off, belongs to another experiment, or is full.
        """
        config = self.path / "config.yaml"
        try:
            if config.exists():
                self._check_same(experiment, config, resume)
            elif strangers := sorted({entry.name for entry in self.path.iterdir()} - {"lock", "traces"}):
                raise UserError(f"{self.path} holds {strangers[0]} and is not a run's folder; give another --out")
            self._probe()
            if not config.exists():
                fresh = self.path / ".config.yaml.tmp"
                write_experiment(fresh, experiment)
                fresh.replace(config)
            self._cut_torn_line()
            self._manifest = io.FileIO(self.path / "manifest.jsonl", "ab")
        except OSError as error:
            raise _unwritable(self.path, error) from error

    def _check_same(self, experiment: Experiment, config: Path, resume: bool) -> None:
        if not resume:
            raise UserError(f"{self.path} holds a run already; add --resume to continue it, or give another --out")
        there = read_experiment(config).identity()
        if difference := _difference(there, experiment.identity()):
            raise UserError(f"{self.path} belongs to another experiment: {difference}; give another --out")

    def _probe(self) -> None:
        """Write as much as a trace may need, to hear of a full disk before a game is played."""
        probe = self.traces / ".probe"
        try:
            with probe.open("wb") as file:
                file.write(b"\0" * _PROBE_BYTES)
                file.flush()
                os.fsync(file.fileno())
        finally:
            with suppress(OSError):
                probe.unlink(missing_ok=True)

    def _cut_torn_line(self) -> None:
        with (self.path / "manifest.jsonl").open("ab+") as file:
            file.seek(0)
            content = file.read()
            if content and not content.endswith(b"\n"):
                file.truncate(content.rfind(b"\n") + 1)

    def append(self, lines: Iterable[ManifestLine]) -> None:
        """Add games to the manifest: all of them, and safe against a crash when this returns.

        Raises:
            OSError: If the disk is full; then none is added.
        """
        manifest = self._manifest
        if manifest is None:
            raise RuntimeError("the folder is not claimed")
        content = b"".join(line.model_dump_json(exclude_defaults=True).encode() + b"\n" for line in lines)
        end = os.fstat(manifest.fileno()).st_size
        try:
            if manifest.write(content) != len(content):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(manifest.fileno())
        except OSError:
            manifest.truncate(end)
            raise

    def recover(self, planned: Sequence[Planned]) -> Found:
        """What earlier sittings left, with the manifest made complete and leftovers removed."""
        for leftover in self.traces.glob(".*.tmp"):
            leftover.unlink(missing_ok=True)
        found = replay(self.path, planned)
        self.append(found.unlisted)
        return found


def trace_name(number: int, task: str) -> str:
    """The name of a game's trace in the run's folder."""
    return f"traces/{number:04d}-{re.sub(r'[^A-Za-z0-9._-]+', '_', task)[:80]}.json"


def replay(folder: Path, planned: Sequence[Planned]) -> Found:
    """Which of the planned games are whole, by the manifest and by the traces themselves."""
    lines, torn = _lines(folder)
    notes = [f"manifest line {number} cannot be read and is left out" for number in torn]
    latest = {line.game_id: line for line in lines}
    results: dict[str, GameResult] = {}
    unlisted: list[ManifestLine] = []
    for game in planned:
        line = latest.get(game.game_id)
        result = _whole(folder / game.trace, game.game_id)
        if line is None and result is not None:
            unlisted.append(ManifestLine.of(result, game.trace))
        if result is None and line is not None:
            notes.append(f"trace {game.trace} is missing or torn; the game is played again")
        if result is not None and not is_played_again(result):
            results[game.game_id] = result
    return Found(results, total_usage(line.usage for line in [*lines, *unlisted]), unlisted, notes)


def is_played_again(result: GameResult) -> bool:
    """Whether a game could not be finished for what is outside the run: no model answered, a template is faulty."""
    return result.abort is not None and result.abort.boundary in ("model", "user")


def _whole(trace: Path, game_id: str) -> GameResult | None:
    try:
        result = read_result(trace)
    except TraceError:
        return None
    return result if result.game_id == game_id else None


def _lines(folder: Path) -> tuple[list[ManifestLine], list[int]]:
    """The readable lines of a manifest, and the numbers of the others."""
    try:
        content = (folder / "manifest.jsonl").read_bytes()
    except FileNotFoundError:
        return [], []
    lines: list[ManifestLine] = []
    torn: list[int] = []
    for number, line in enumerate(content.splitlines(), start=1):
        try:
            lines.append(ManifestLine.model_validate_json(line))
        except ValidationError:
            torn.append(number)
    return lines, torn


def _difference(there: JsonValue, here: JsonValue, place: str = "") -> str:
    """The first place at which two configs differ, with both values; empty if they are equal."""
    if isinstance(there, dict) and isinstance(here, dict):
        for key in {**there, **here}:
            where = f"{place}.{key}" if place else str(key)
            if found := _difference(there.get(key), here.get(key), where):
                return found
        return ""
    return "" if there == here else f"{place} is {there!r:.60} there and {here!r:.60} here"


def _unwritable(path: Path, error: OSError) -> UserError:
    remedy = "free some space" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "give another --out"
    return UserError(f"run folder {path} cannot be written ({error.strerror}); {remedy}")
