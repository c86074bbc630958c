"""What has been spent on models, and when it must stop."""

from __future__ import annotations

import logging
import os
import threading
from pathlib import Path

from pydantic import ValidationError

from framework.messages import Frozen
from framework.strategy import BudgetSpent
from protocols.models.completion import Tokens
from protocols.models.prices import Price
from protocols.models.settings import Budget

__all__ = ["Ledger"]

_log = logging.getLogger("cheaptalk.models")


class _Line(Frozen):
    """What one call consumed."""

    calls: int = 1
    tokens: int
    dollars: float


class Ledger:
    """Counts what models consume, against one budget. Threads may share it, each with an event loop of its own.

    Calls that are in flight when the budget ends are finished and counted, so it can be overrun by as many.

    Args:
        budget: The limits.
        book: A file to which every call is added. All who name the same one count together: the worker
            processes of a run, and its later sittings. None counts in memory, for this process only.
    """

    def __init__(self, budget: Budget, book: Path | None = None) -> None:
        self.budget = budget
        self.calls = 0
        self.tokens = 0
        self.dollars = 0.0
        self._book = book
        self._read = 0
        self._lock = threading.Lock()

    def check(self) -> None:
        """See that there is something left.

        Raises:
            BudgetSpent: If there is not.
        """
        limits = self.budget
        if limits == Budget():
            return
        with self._lock:
            self._catch_up()
        for name, spent, limit, form in (
            ("calls", self.calls, limits.calls, "d"),
            ("tokens", self.tokens, limits.tokens, "d"),
            ("dollars", self.dollars, limits.dollars, ".4f"),
        ):
            if limit is not None and spent >= limit:
                raise BudgetSpent(
                    f"the budget of {limit} {name} is spent ({spent:{form}}); resume the run with a larger one"
                )

    def spend(self, tokens: Tokens, price: Price | None) -> None:
        """Count a call that reached its provider."""
        line = _Line(tokens=tokens.total, dollars=price.of(tokens) if price is not None else 0.0)
        if not self._write(line):
            with self._lock:
                self._add(line)

    def _write(self, line: _Line) -> bool:
        """Whether a line is in the book, from which it is counted later."""
        if self._book is None:
            return False
        try:
            with self._book.open("ab", buffering=0) as book:  # one write, so that lines of several processes stay whole
                book.write(line.model_dump_json().encode() + b"\n")
        except OSError as error:
            _log.warning("%s cannot be written (%s); this call counts in this process only", self._book, error.strerror)
            return False
        return True

    def _add(self, line: _Line) -> None:
        self.calls += line.calls
        self.tokens += line.tokens
        self.dollars += line.dollars

    def _catch_up(self) -> None:
        """Count what has been added to the book since it was last read."""
        if self._book is None:
            return
        try:
            with self._book.open("rb") as book:
                if os.fstat(book.fileno()).st_size == self._read:
                    return
                book.seek(self._read)
                new = book.read()
        except FileNotFoundError:
            return
        new = new[: new.rfind(b"\n") + 1]
        self._read += len(new)
        for text in new.splitlines():
            try:
                self._add(_Line.model_validate_json(text))
            except ValidationError:  # torn by a full disk
                continue
