"""Plays the games of a run: here or in a pool of processes, resumable, with one small row a game in memory."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from uuid import UUID, uuid5

from framework import registry
from framework._jobs import Common, Job, StorageError, keep, long_lived, play_job
from framework._loop import run_to_end
from framework._pool import ProcessPool, WorkerDied, play_in_pool
from framework._runfolder import ManifestLine, Planned, RunFolder, is_played_again, trace_name
from framework._watchdog import Watchdog
from framework.errors import UserError
from framework.experiment import Experiment, Setup
from framework.results import GameResult, total_usage
from framework.specs import StrategySpec
from framework.trace import Trace, Usage

__all__ = ["Opened", "Outcome", "Progress", "RunStopped", "Tally", "new_folder", "plan", "run"]

_NAMESPACE = UUID("6f0b5a52-6f0c-5d0e-9d53-0d3c2f4b8a71")
_UNWRITTEN = 4


class Tally(NamedTuple):
    """How far a run is.

    Attributes:
        done: Games that are over, those of earlier sittings counted.
        planned: Games of the run.
        aborted: Games that could not be finished.
    """

    done: int
    planned: int
    aborted: int


Progress = Callable[[Tally], None]
"""Told of every game that is over. It may be called from another thread."""


Opened = Callable[[Experiment, Path], None]
"""Told of a run and its folder before the first game."""


@dataclass
class Outcome:
    """What a run gave.

    Attributes:
        experiment: The experiment with every default written out.
        folder: Where it is.
        planned: Number of its games.
        results: One row for each game that is over, by number.
        usage: What models consumed, in all sittings.
        notes: One sentence about each thing that resuming found amiss, and about seats that rotate unevenly.
    """

    experiment: Experiment
    folder: Path
    planned: int
    results: list[GameResult] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    notes: Sequence[str] = ()

    @property
    def aborted(self) -> list[GameResult]:
        """The games that could not be finished."""
        return [result for result in self.results if result.abort]

    @property
    def mendable(self) -> list[GameResult]:
        """The aborted games that a resume plays again, since they failed for something outside the run."""
        return [result for result in self.results if is_played_again(result)]

    def trace(self, result: GameResult) -> str:
        """The file of a game's trace, relative to the folder."""
        return trace_name(result.number, result.task)


class RunStopped(Exception):
    """A run ended before its last game; the finished games are kept, and the message says how to go on.

    Attributes:
        outcome: What there is.
        interrupted: Whether the person at the keyboard stopped it.
    """

    def __init__(self, why: str, outcome: Outcome, interrupted: bool = False) -> None:
        kept = len(outcome.results) - len(outcome.mendable)
        super().__init__(
            f"{why}: {kept} of {outcome.planned} games are kept and {outcome.planned - kept} are left; "
            f"go on with: cheaptalk run {outcome.folder} --resume"
        )
        self.outcome = outcome
        self.interrupted = interrupted


def new_folder(experiment: Experiment, root: Path = Path("runs")) -> Path:
    """Make the next free folder `<game>-<suite>-<strategy>-<n>` below `root`.

    Raises:
        UserError: If it cannot be made.
    """
    suite = experiment.suite or Path(experiment.tasks).stem or "scenarios"
    strategy = experiment.strategy.name if experiment.strategy else "default"
    parts = (re.sub(r"[^A-Za-z0-9._]+", "-", part.rpartition(":")[2]).strip("-.") for part in (suite, strategy))
    stem = "-".join([re.sub(r"[^A-Za-z0-9._]+", "-", experiment.game.rpartition(":")[2]).lower(), *parts])
    number = 1
    while True:
        folder = root / f"{stem}-{number}"
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            number += 1
        except OSError as error:
            raise UserError(f"run folder {folder} cannot be made ({error.strerror}); give another --out") from error
        else:
            return folder


def _game_seed(seed: int, index: int, repeat: int) -> int:
    """The seed of a game: it depends on nothing but the run's seed and the game's place."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{index}/{repeat}".encode()).digest()[:6], "big")


def _seating(experiment: Experiment, seats: int, shift: int) -> tuple[StrategySpec, ...]:
    default = experiment.strategy
    assert default is not None, "a setup fills in the default strategy"
    order = [experiment.seats.get(seat, default) for seat in range(seats)]
    shift = shift % seats if experiment.rotate else 0
    return tuple(order[(seat - shift) % seats] for seat in range(seats))


def plan(setup: Setup, folder: Path) -> list[Job]:
    """All games of a run, in order: each task with its repeats, then the next task."""
    experiment, game, scenarios = setup
    common = Common.of(experiment)
    jobs: list[Job] = []
    for index, scenario in enumerate(scenarios):
        task, group, seats = game.task_id(scenario), game.group(scenario), game.seats(scenario)
        for repeat in range(experiment.repeats):
            job = Job(
                common=common,
                number=len(jobs),
                task=task,
                group=group,
                repeat=repeat,
                game_id=str(uuid5(_NAMESPACE, f"{common.key}/{index}/{task}/{repeat}")),
                seed=_game_seed(experiment.seed, index, repeat),
                seating=_seating(experiment, seats, index + repeat),
                scenario=scenario,
                trace=folder.absolute() / trace_name(len(jobs), task),
            )
            jobs.append(job)
    return jobs


def _uneven(jobs: Sequence[Job]) -> list[str]:
    """One sentence for each setting in which a strategy plays some seats more often than others."""
    games: dict[tuple[str, int], list[Job]] = {}
    for job in jobs:
        games.setdefault((job.group, len(job.seating)), []).append(job)
    notes = []
    for (group, seats), played in games.items():
        times = Counter((spec.label, seat) for job in played for seat, spec in enumerate(job.seating))
        labels = {label for label, _ in times}
        if any(len({times[label, seat] for seat in range(seats)}) > 1 for label in labels):
            notes.append(
                f"setting {group or 'all'}: in {len(played)} games of {seats} seats no rotation is even; "
                f"play a multiple of {seats}, for instance with --repeats {seats}"
            )
    return notes


def run(
    experiment: Experiment,
    *,
    resume: bool = False,
    executor: Executor | None = None,
    progress: Progress | None = None,
    opened: Opened | None = None,
) -> Outcome:
    """Play an experiment.

    Args:
        experiment: What to play.
        resume: Whether to go on with what is in its folder.
        executor: Where games are played; None plays them here, or with `jobs` above 1 in a pool of processes.
            An executor that is handed in is used as it is and not shut down.
        progress: Told of every game that is over.
        opened: Told of the run, with every default written out, and of its folder before the first game.

    Returns:
        What the run gave; aborted games are among its results.

    Raises:
        UserError: If the experiment does not fit, or its folder cannot be used; no game was played.
        RunStopped: If the run ended early; its outcome holds what there is.
    """
    setup = Setup.of(experiment)
    path = Path(experiment.out) if experiment.out else new_folder(setup.experiment)
    with RunFolder(path) as folder:
        folder.claim(setup.experiment, resume=resume)
        if opened is not None:
            opened(setup.experiment, path)
        jobs = plan(setup, path)
        found = folder.recover([Planned(job.game_id, trace_name(job.number, job.task)) for job in jobs])
        notes = [*found.notes, *(_uneven(jobs) if setup.experiment.rotate else ())]
        sitting = _Sitting(folder, Outcome(setup.experiment, path, len(jobs), notes=notes), progress)
        sitting.take_over(list(found.results.values()), found.usage)
        todo = [job for job in jobs if job.game_id not in found.results]
        sitting.play(todo, setup, executor)
    return sitting.outcome


def _needed(setup: Setup) -> list[type]:
    specs = [setup.experiment.strategy, *setup.experiment.seats.values()]
    return [type(setup.game), *(registry.strategy(spec.name) for spec in specs if spec is not None)]


class _Sitting:
    """One process's work on a run."""

    def __init__(self, folder: RunFolder, outcome: Outcome, progress: Progress | None) -> None:
        self._folder = folder
        self._progress = progress
        self.outcome = outcome
        self._aborted = 0

    def take_over(self, results: Sequence[GameResult], usage: Usage) -> None:
        """Count what earlier sittings left."""
        self.outcome.results.extend(results)
        self.outcome.usage = usage
        self._aborted = len(self.outcome.aborted)
        self._tell()

    def _tell(self) -> None:
        if self._progress is not None:
            self._progress(Tally(len(self.outcome.results), self.outcome.planned, self._aborted))

    def add(self, results: Sequence[GameResult]) -> None:
        """Add games whose traces are safe to the manifest and to the outcome.

        Raises:
            StorageError: If the manifest cannot be written.
        """
        lines = [ManifestLine.of(result, trace_name(result.number, result.task)) for result in results]
        try:
            self._folder.append(lines)
        except OSError as error:
            raise StorageError(error.strerror or str(error)) from error
        for result in results:
            self.outcome.results.append(result)
            self.outcome.usage = total_usage([self.outcome.usage, result.usage])
            self._aborted += result.abort is not None
            self._tell()
        for result in results:
            if result.abort and result.abort.stop:
                raise RunStopped(result.abort.error, self.outcome)

    def play(self, todo: Sequence[Job], setup: Setup, executor: Executor | None) -> None:
        """Play the games that are left."""
        experiment = setup.experiment
        try:
            if executor is not None:
                play_in_pool(executor, todo, experiment.jobs, experiment.concurrency, self.add)
            elif experiment.jobs > 1 and len(todo) > 1:
                with ProcessPool(min(experiment.jobs, len(todo)), _needed(setup)) as pool:
                    play_in_pool(pool.executor, todo, experiment.jobs, experiment.concurrency, self.add)
            else:
                with long_lived():
                    run_to_end(self._play_here(todo, setup))
        except KeyboardInterrupt:
            raise RunStopped("interrupted", self._sorted(), interrupted=True) from None
        except StorageError as error:
            raise RunStopped(f"{self._folder.path} cannot be written ({error})", self._sorted()) from error
        except WorkerDied as error:
            raise RunStopped(str(error), self._sorted()) from error
        finally:
            self._sorted()

    def _sorted(self) -> Outcome:
        self.outcome.results.sort(key=lambda result: result.number)
        return self.outcome

    async def _play_here(self, todo: Sequence[Job], setup: Setup) -> None:
        jobs = iter(todo)
        writer = _Writer(self)
        with Watchdog(setup.experiment.limits.seconds):
            width = max(1, min(setup.experiment.concurrency, len(todo)))
            lanes = [asyncio.create_task(self._lane(jobs, setup, writer)) for _ in range(width)]
            try:
                over, _ = await asyncio.wait(lanes, return_when=asyncio.FIRST_EXCEPTION)
                for lane in over:
                    lane.result()
                await writer.drain()
            except asyncio.CancelledError:
                # The games in flight are given up, and their runtimes' tasks would complain of that.
                asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)
                raise
            finally:
                for lane in lanes:
                    lane.cancel()
                await asyncio.gather(*lanes, return_exceptions=True)
                writer.close()

    @staticmethod
    async def _lane(jobs: Iterator[Job], setup: Setup, writer: _Writer) -> None:
        for job in jobs:
            trace = await play_job(job, setup.game)
            await writer.put(job, trace)
            if trace.aborted is not None and trace.aborted.stop:
                await writer.drain()  # it says that the run stops, before another game begins


class _Writer:
    """Writes traces in a thread, so that waiting for the disk overlaps with play; few wait at a time."""

    def __init__(self, sitting: _Sitting) -> None:
        self._sitting = sitting
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="trace writer")
        self._pending: deque[Future[None]] = deque()

    def _write(self, job: Job, trace: Trace) -> None:
        self._sitting.add([keep(job, trace)])

    async def put(self, job: Job, trace: Trace) -> None:
        """Write a trace soon. What earlier writes raised comes out here."""
        self._pending.append(self._thread.submit(self._write, job, trace))
        while len(self._pending) > _UNWRITTEN or self._pending[0].done():
            await asyncio.wrap_future(self._pending.popleft())
            if not self._pending:
                break

    async def drain(self) -> None:
        """Wait until everything is written."""
        while self._pending:
            await asyncio.wrap_future(self._pending.popleft())

    def close(self) -> None:
        """End the thread when it has written what it was given."""
        self._thread.shutdown(wait=True)
