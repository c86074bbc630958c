"""A pool of worker processes, and how a run feeds an executor."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from itertools import islice
from types import FrameType, TracebackType
from typing import Any

from framework._jobs import Job, enter_worker, play_group
from framework.results import GameResult

__all__ = ["ProcessPool", "WorkerDied", "play_in_pool"]


class WorkerDied(Exception):
    """A worker process ended in the middle of a game."""


class ProcessPool:
    """Worker processes that import what they need once between them, leave Ctrl-C to this process and end with it.

    Args:
        workers: Number of processes.
        needed: Classes that every game needs.
    """

    def __init__(self, workers: int, needed: Iterable[type]) -> None:
        methods = multiprocessing.get_all_start_methods()
        context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
        context.set_forkserver_preload(["framework._jobs", *dict.fromkeys(kind.__module__ for kind in needed)])
        self._before = set(multiprocessing.active_children())
        # A fork server is started once and keeps the environment of that time; settings and keys may be newer.
        now = (dict(os.environ),)
        self.executor = ProcessPoolExecutor(workers, mp_context=context, initializer=enter_worker, initargs=now)

    def __enter__(self) -> ProcessPool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            for worker in set(multiprocessing.active_children()) - self._before:
                worker.kill()
        self.executor.shutdown(wait=True, cancel_futures=True)


class _HeldInterrupt:
    """Keeps Ctrl-C from falling between the two halves of a step; it comes out when the step is done."""

    def __init__(self) -> None:
        self._held = False
        self._late = False
        self._before: Any = None

    def __enter__(self) -> _HeldInterrupt:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _interrupt(self, signum: int, frame: FrameType | None) -> None:
        self._late = True
        if not self._held:
            raise KeyboardInterrupt

    def during(self, step: Callable[[], None]) -> None:
        """Do a step as a whole."""
        self._held = True
        try:
            step()
        finally:
            self._held = False
        if self._late:
            raise KeyboardInterrupt


def play_in_pool(
    executor: Executor,
    jobs: Sequence[Job],
    workers: int,
    concurrency: int,
    add: Callable[[Sequence[GameResult]], None],
) -> None:
    """Play jobs on an executor, with few of them submitted at a time.

    Args:
        executor: Where they are played.
        jobs: The jobs.
        workers: How many processes play at once.
        concurrency: How many games overlap in one of them.
        add: Takes the rows of games whose traces are safe.

    Raises:
        StorageError: If a trace cannot be written.
        WorkerDied: If a process ended in the middle of a game.
    """
    source = iter(jobs)
    running: set[Future[list[GameResult]]] = set()

    def submit() -> None:
        while len(running) < 2 * workers and (group := [job.portable() for job in islice(source, concurrency)]):
            running.add(executor.submit(play_group, group))

    try:
        with _HeldInterrupt() as interrupt:
            submit()
            while running:
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                running -= done
                interrupt.during(partial(_take, done, add))
                submit()
    except BrokenProcessPool as error:
        raise WorkerDied("a worker process died in the middle of a game") from error
    finally:
        for future in running:
            future.cancel()


def _take(done: set[Future[list[GameResult]]], add: Callable[[Sequence[GameResult]], None]) -> None:
    """Add what was played, then raise what failed."""
    failed = [future for future in done if future.exception() is not None]
    add([result for future in done.difference(failed) for result in future.result()])
    for future in failed:
        future.result()
