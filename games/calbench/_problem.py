"""The assignment problem behind the oracle: items (meetings) that want slots."""

from __future__ import annotations

from typing import Literal, NamedTuple


class Problem(NamedTuple):
    """Items to be placed.

    Attributes:
        num_slots: Slots `0..num_slots-1`.
        costs: Cost by item and slot; None where the item may not go.
        groups: Sets of items that need pairwise different slots, one for each seat.
    """

    num_slots: int
    costs: tuple[tuple[int | None, ...], ...]
    groups: tuple[tuple[int, ...], ...]


class Solution(NamedTuple):
    """An answer; `slots` is empty and the numbers are None if there is none.

    Attributes:
        status: `optimal`, `feasible` (search ended early) or `infeasible`.
        slots: Slot of each item.
        total: Cost of the assignment.
        bound: Proven lower bound of the cost.
    """

    status: Literal["optimal", "feasible", "infeasible"]
    slots: tuple[int, ...]
    total: int | None
    bound: int | None


NO_SOLUTION = Solution("infeasible", (), None, None)
