"""What seats say of their own beliefs when they are asked after a round, and how much that gives away.

The measure is reflection-calibrated VPS (CalBench paper, F.3 and F.4). After each round every seat is asked,
for each other seat and each state of it, how its belief has changed, from -3 to 3. A change of 3 counts as
one state. The raw measure counts every change; the calibrated one counts a change towards the truth only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from framework.trace import SeatEvent

__all__ = ["MOST", "Movement", "Reflection", "movement"]

MOST = 3
"""The largest change of belief that can be reported; it counts as one state."""


class Reflection(SeatEvent):
    """What a seat reported about one other seat after a round. It is a measurement: no seat ever sees it.

    Attributes:
        seat: The observer, which was asked.
        round: Index of the round.
        target: The seat that it was asked about.
        prompt: The question, which followed the observer's whole conversation so far.
        reply: What came back.
        deltas: The reported change for each state of the target; empty if the reply could not be read.
        expected: The same refined by the log-probabilities of the numbers; empty where there are none.
        error: Why the reply could not be read.
        prompt_tokens: Tokens read by the model. Reflection is counted apart from play.
        completion_tokens: Tokens written by the model.
        cost: US dollars by the price table in force; None where no price is known.
        latency: Seconds that the call took.
    """

    type: Literal["reflection"] = "reflection"
    round: int
    target: int
    prompt: str = ""
    reply: str = ""
    deltas: tuple[int, ...] = ()
    expected: tuple[float, ...] = ()
    error: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    latency: float = 0.0


class Movement(NamedTuple):
    """How far beliefs moved, in states.

    Attributes:
        raw: Sum of the size of every change, each divided by 3.
        calibrated: The part of it that went towards the truth.
    """

    raw: float
    calibrated: float


def movement(deltas: Sequence[float], occupied: Sequence[bool]) -> Movement:
    """How far one seat's beliefs about another moved.

    Args:
        deltas: The change for each state, positive towards occupied.
        occupied: Whether the state was occupied in truth.

    Raises:
        ValueError: If the two are not of one length.
    """
    if len(deltas) != len(occupied):
        raise ValueError(f"{len(deltas)} changes for {len(occupied)} states; give one for each")
    raw = sum(abs(delta) for delta in deltas) / MOST
    right = sum(abs(d) for d, truth in zip(deltas, occupied, strict=True) if (d > 0) == truth and d != 0) / MOST
    return Movement(raw, right)
