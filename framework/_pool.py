"""A pool of worker processes, and how a run feeds an executor."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from types import TracebackType

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
        self.executor = ProcessPoolExecutor(workers, mp_context=context, initializer=enter_worker)

    def __enter__(self) -> ProcessPool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            for worker in set(multiprocessing.active_children()) - self._before:
                worker.kill()
        self.executor.shutdown(wait=True, cancel_futures=True)


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
        submit()
        while running:
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            running -= done
            failed = [future for future in done if future.exception() is not None]
            add([result for future in done.difference(failed) for result in future.result()])
            for future in failed:
                future.result()
            submit()
    except BrokenProcessPool as error:
        raise WorkerDied("a worker process died in the middle of a game") from error
    finally:
        for future in running:
            future.cancel()
