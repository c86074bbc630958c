"""One game of a run: from its job to its trace on disk and its row. It runs here or in a worker process."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import threading
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from multiprocessing import connection, parent_process
from pathlib import Path
from typing import Any

from pydantic import BaseModel, JsonValue

from framework._loop import run_here
from framework._watchdog import Watchdog
from framework.experiment import Experiment, LimitsConfig, make_game
from framework.game import Game
from framework.referee import Limits, Referee, Seating
from framework.results import GameResult, result_of
from framework.specs import StrategySpec
from framework.trace import GameAborted, Trace, write_trace

__all__ = ["Common", "Job", "StorageError", "enter_worker", "keep", "long_lived", "play_group", "play_job"]


class StorageError(Exception):
    """A trace or a manifest line could not be written; the message is the system's."""


@dataclass(frozen=True, slots=True)
class Common:
    """What all jobs of a run share.

    Attributes:
        key: Hash of the run's config, under which a worker keeps the game.
        game: The game as the config names it.
        rules: Its knobs.
        limits: What one seat may do in one move.
        config: What a trace states of the run.
    """

    key: str
    game: str
    rules: Mapping[str, JsonValue]
    limits: LimitsConfig
    config: Mapping[str, JsonValue]

    @classmethod
    def of(cls, experiment: Experiment) -> Common:
        """What the jobs of an experiment share."""
        config = experiment.identity()
        config.pop("scenarios")  # each trace holds its own
        return cls(experiment.config_hash, experiment.game, experiment.rules, experiment.limits, config)


@dataclass(frozen=True, slots=True)
class Job:
    """One game to play.

    Attributes:
        common: What it shares with the other jobs of the run.
        number: Number of the game in the run.
        task: Id of its scenario.
        group: The setting under which tables list it.
        repeat: 0-based repeat of the task.
        game_id: Its id.
        seed: Its seed.
        seating: The strategy of each seat.
        scenario: The scenario; as JSON where the job goes to another process, which may not know its class.
        trace: Where its trace goes.
    """

    common: Common
    number: int
    task: str
    group: str
    repeat: int
    game_id: str
    seed: int
    seating: tuple[StrategySpec, ...]
    scenario: BaseModel | str
    trace: Path

    def portable(self) -> Job:
        """The same job with its scenario as JSON."""
        if isinstance(self.scenario, str):
            return self
        return replace(self, scenario=self.scenario.model_dump_json())

    def config(self) -> dict[str, JsonValue]:
        """What the trace states of the run and of its own place in it."""
        return {
            **self.common.config,
            "task": self.task,
            "group": self.group,
            "number": self.number,
            "repeat": self.repeat,
            "seating": [spec.label for spec in self.seating],
        }


async def play_job(job: Job, game: Game[Any, Any]) -> Trace:
    """Play a game. Whatever goes wrong in it, a complete trace comes out."""
    started = datetime.now(UTC)
    limits = job.common.limits
    seating = [Seating(spec.label, spec.build()) for spec in job.seating]
    try:
        scenario = job.scenario
        if isinstance(scenario, str):
            scenario = game.scenario_type.model_validate_json(scenario)
        referee = Referee(
            game,
            scenario,
            seating,
            seed=job.seed,
            game_id=job.game_id,
            config=job.config(),
            limits=Limits(limits.seconds, limits.messages, limits.chars),
        )
        return await referee.play()
    except Exception as error:
        what = f"{type(error).__name__} before or after play, in the harness or in the rules of {game.name}: {error}"
        aborted = GameAborted(boundary="harness", error=what, detail=traceback.format_exc())
        return Trace(
            game_id=job.game_id,
            config=job.config(),
            events=(aborted,),
            started_at=started,
            ended_at=datetime.now(UTC),
        )


def keep(job: Job, trace: Trace) -> GameResult:
    """Write a trace and return its row.

    Raises:
        StorageError: If it cannot be written.
    """
    try:
        write_trace(job.trace, trace)
    except OSError as error:
        raise StorageError(error.strerror or str(error)) from error
    return result_of(trace)


_games: dict[str, Game[Any, Any]] = {}


def play_group(jobs: Sequence[Job]) -> list[GameResult]:
    """Play jobs of one run so that they overlap, and keep their traces. This is what a worker process runs.

    Raises:
        StorageError: If a trace cannot be written.
    """
    common = jobs[0].common
    game = _games.get(common.key)
    if game is None:
        _games.clear()
        game = _games[common.key] = make_game(common.game, common.rules)

    async def one(job: Job) -> GameResult:
        return keep(job, await play_job(job, game))

    async def all_of_them() -> list[GameResult]:
        with Watchdog(common.limits.seconds):
            return await asyncio.gather(*(one(job) for job in jobs))

    return run_here(all_of_them())


@contextmanager
def long_lived() -> Iterator[None]:
    """Spare the garbage collector what is loaded already, and let it come less often.

    Games leave little behind that is circular: at its usual pace the collector takes a tenth of the time.
    """
    usual = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    try:
        yield
    finally:
        gc.set_threshold(*usual)
        gc.unfreeze()


def enter_worker(environment: Mapping[str, str]) -> None:
    """Take over the environment of the process that started this one, leave Ctrl-C to it, and do not outlive it."""
    os.environ.clear()
    os.environ.update(environment)
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is None:
        return
    sentinel = parent.sentinel

    def follow() -> None:
        connection.wait([sentinel])
        os._exit(1)

    threading.Thread(target=follow, daemon=True, name="follow the parent").start()
