"""Random draws that are the same on every machine and Python version.

`random.Random` promises only `random()` and `getrandbits()` to be stable across versions; shuffling and
sampling are therefore built here on `getrandbits`.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from typing import TypeVar, final

T = TypeVar("T")


@final
class Dice:
    """A seeded source of draws; each named stream of a seed is independent of the others."""

    def __init__(self, seed: int, stream: str) -> None:
        """Start the stream of a seed.

        Args:
            seed: 0 or more.
            stream: Name of the purpose, so that one purpose's draws do not shift another's.
        """
        digest = hashlib.sha256(f"{seed}/{stream}".encode()).digest()
        self._bits = random.Random(int.from_bytes(digest, "big"))

    def below(self, bound: int) -> int:
        """Draw an integer from `0..bound-1`."""
        bits = bound.bit_length()
        draw = self._bits.getrandbits(bits)
        while draw >= bound:
            draw = self._bits.getrandbits(bits)
        return draw

    def pick(self, items: Sequence[T]) -> T:
        """Draw one item."""
        return items[self.below(len(items))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Return the items in random order."""
        order = list(items)
        for last in range(len(order) - 1, 0, -1):
            other = self.below(last + 1)
            order[last], order[other] = order[other], order[last]
        return order

    def sample(self, items: Sequence[T], count: int) -> list[T]:
        """Draw distinct items, in random order."""
        return self.shuffled(items)[:count]
