"""Lines that a person types, without holding up whoever waits for something else.

A line is waited for in a thread that the process does not wait for when it ends, so that Ctrl-C ends a run at
once. Nothing is read before it is asked for, and a question that is given up does not take the next one's answer.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections import deque
from contextlib import suppress
from typing import NamedTuple

__all__ = ["Keyboard", "keyboard"]


class _Question(NamedTuple):
    loop: asyncio.AbstractEventLoop
    answer: asyncio.Future[str | None]

    def reply(self, line: str | None) -> None:
        """Answer it, in its own loop, unless it was given up."""

        def tell() -> None:
            if not self.answer.done():
                self.answer.set_result(line)

        with suppress(RuntimeError):  # the loop is closed
            self.loop.call_soon_threadsafe(tell)


class Keyboard:
    """Reads lines from standard input; each goes to who has waited for one longest.

    Args:
        descriptor: The file descriptor to read from; None for that of `sys.stdin`.
    """

    def __init__(self, descriptor: int | None = None) -> None:
        self._descriptor = descriptor
        self._left = b""
        self._lock = threading.Lock()
        self._questions: deque[_Question] = deque()
        self._reading = False

    async def line(self) -> str | None:
        """The next line that is typed, without its end; None if there will be none."""
        loop = asyncio.get_running_loop()
        question = _Question(loop, loop.create_future())
        with self._lock:
            self._questions.append(question)
            begin, self._reading = not self._reading, True
        if begin:
            threading.Thread(target=self._read, name="keyboard", daemon=True).start()
        try:
            return await question.answer
        finally:
            with self._lock, suppress(ValueError):
                self._questions.remove(question)

    def _read(self) -> None:
        """Read for as long as somebody waits."""
        while True:
            line = self._next()
            with self._lock:
                if self._questions:
                    self._questions.popleft().reply(line)
                if not self._questions:
                    self._reading = False
                    return

    def _next(self) -> str | None:
        """Block until there is a whole line, or an end; not by `sys.stdin`, which would be locked meanwhile."""
        while b"\n" not in self._left:
            try:
                more = os.read(sys.stdin.fileno() if self._descriptor is None else self._descriptor, 4096)
            except (OSError, ValueError, AttributeError):  # closed, or replaced by something that is no file
                more = b""
            if not more:
                line, self._left = self._left, b""
                return line.decode("utf-8", "replace") if line else None
            self._left += more
        line, _, self._left = self._left.partition(b"\n")
        return line.decode("utf-8", "replace").removesuffix("\r")


keyboard = Keyboard()
"""That of this process."""
