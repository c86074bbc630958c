"""A game as people read it."""

from __future__ import annotations

from framework.trace import Trace

__all__ = ["playthrough"]


def playthrough(trace: Trace) -> str:
    """The whole game as text."""
    return trace.game_id
