"""A time limit for one wait after another, with one timer for all of them."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Any, Self

__all__ = ["Clock"]


class Clock:
    """Stops a wait that takes too long, as `asyncio.timeout` does.

    That one sets a timer when a wait begins and takes it back when it ends. A game waits a hundred times
    for a moment, and never for long: here the timer stays, and looks when it goes off whether it is needed.
    One wait at a time: `with clock.limit(seconds): await something()`.

    Attributes:
        expired: Whether the latest wait took too long.
    """

    def __init__(self) -> None:
        self.expired = False
        self._seconds: float | None = None
        self._task: asyncio.Task[Any] | None = None
        self._cancelling = 0
        self._due = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def limit(self, seconds: float | None) -> Self:
        """Set the limit of the wait that follows; None for no limit."""
        self._seconds = seconds
        return self

    def close(self) -> None:
        """Take the timer back."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def __enter__(self) -> Self:
        self.expired = False
        task = asyncio.current_task()
        if self._seconds is None or task is None:
            return self
        loop = asyncio.get_running_loop()
        self._task, self._cancelling = task, task.cancelling()
        self._due = loop.time() + self._seconds
        if self._timer is None or self._timer.when() > self._due:
            self.close()
            self._timer = loop.call_at(self._due, self._look)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        task, self._task = self._task, None
        if not self.expired or task is None:
            return
        if task.uncancel() <= self._cancelling and kind is asyncio.CancelledError:
            raise TimeoutError from error

    def _look(self) -> None:
        self._timer = None
        if self._task is None:
            return
        loop = asyncio.get_running_loop()
        if loop.time() < self._due:
            self._timer = loop.call_at(self._due, self._look)
        else:
            self.expired = True
            self._task.cancel()
