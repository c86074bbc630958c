"""Ends a move that blocks the event loop, which no timeout of asyncio can."""

from __future__ import annotations

import asyncio
import signal
import threading
from types import FrameType
from typing import Any

__all__ = ["Watchdog"]


class Watchdog:
    """While the event loop turns, it winds an alarm clock up again and again.

    A strategy that computes or sleeps without awaiting stops the loop, so that the clock goes off; the alarm
    raises TimeoutError in the very code that blocks. It guards nothing outside the main thread, to which
    signals go, or where the platform has no interval timer.

    Args:
        seconds: How long the loop may stand still; None for ever.
    """

    def __init__(self, seconds: float | None) -> None:
        alive = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
        self._seconds = seconds if alive else None
        self._timer: asyncio.TimerHandle | None = None
        self._before: Any = None

    def __enter__(self) -> Watchdog:
        if self._seconds is not None:
            self._before = signal.signal(signal.SIGALRM, self._alarm)
            self._wind()
        return self

    def __exit__(self, *_: object) -> None:
        if self._seconds is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self._before)
        if self._timer is not None:
            self._timer.cancel()

    def _wind(self) -> None:
        assert self._seconds is not None
        pause = min(1.0, self._seconds / 4)
        signal.setitimer(signal.ITIMER_REAL, self._seconds + pause)
        self._timer = asyncio.get_running_loop().call_later(pause, self._wind)

    def _alarm(self, signum: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"blocked the event loop for {self._seconds:g} s; await instead of waiting")
