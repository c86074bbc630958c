"""Exact solvers for the assignment of items (meetings) to slots, with the lexicographic tie-break.

An item costs something in each slot or may not go there; two items that share a seat need different slots.
Of all assignments with the least total cost, the one whose slot vector is lexicographically smallest is the
answer. It is unique, so the solvers agree on it, and the fitting one is chosen by structure and size:

- if all items clash with each other, this is the assignment problem, solved by the Hungarian method. Costs
  are integers of any length: the tie-break is folded into the lowest digits, so that one run settles both;
- a few items with some clashes: branch and bound on the same folded costs;
- else CP-SAT, first for the least cost, then for the slots, at that cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

from games.calbench._cpsat import by_cpsat
from games.calbench._problem import NO_SOLUTION, Problem, Solution

Method: TypeAlias = Literal["auto", "assignment", "branch", "cpsat"]

_BRANCH_NODES = 3000
"""Nodes after which branch and bound hands over to CP-SAT; about 50 ms."""


def solve(problem: Problem, method: Method = "auto", effort: float = 60.0) -> Solution:
    """Place all items at least cost, with the lexicographically smallest slots.

    Args:
        problem: The items.
        method: Which solver; `auto` chooses by structure and size.
        effort: Limit of one CP-SAT search in its deterministic seconds.

    Raises:
        ValueError: `assignment` was asked for and some items do not clash.
    """
    clashes = _clashes(problem)
    parts = _components(clashes)
    slots = [0] * len(problem.costs)
    total = bound = 0
    status: Literal["optimal", "feasible"] = "optimal"
    for part in parts:
        answer = _solve_part(_restrict(problem, part), _is_clique(part, clashes), method, effort)
        if answer.total is None or answer.bound is None:
            return NO_SOLUTION
        for item, slot in zip(part, answer.slots, strict=True):
            slots[item] = slot
        total += answer.total
        bound += answer.bound
        if answer.status == "feasible":
            status = "feasible"
    return Solution(status, tuple(slots), total, bound)


def _solve_part(problem: Problem, clique: bool, method: Method, effort: float) -> Solution:
    if method == "assignment" and not clique:
        raise ValueError("the assignment method needs items that all clash with each other")
    if method == "cpsat":
        return by_cpsat(problem, effort)
    if clique and method != "branch":
        return _by_assignment(problem)
    answer = _by_branching(problem, None if method == "branch" else _BRANCH_NODES)
    return by_cpsat(problem, effort) if answer is None else answer


def _clashes(problem: Problem) -> list[set[int]]:
    clashes: list[set[int]] = [set() for _ in problem.costs]
    for group in set(problem.groups):
        for item in group:
            clashes[item].update(group)
    for item, others in enumerate(clashes):
        others.discard(item)
    return clashes


def _components(clashes: Sequence[set[int]]) -> list[list[int]]:
    seen: set[int] = set()
    parts: list[list[int]] = []
    for start in range(len(clashes)):
        if start in seen:
            continue
        part, frontier = {start}, [start]
        while frontier:
            new = clashes[frontier.pop()] - part
            part |= new
            frontier.extend(new)
        seen |= part
        parts.append(sorted(part))
    return parts


def _is_clique(part: Sequence[int], clashes: Sequence[set[int]]) -> bool:
    return all(len(clashes[item]) == len(part) - 1 for item in part)


def _restrict(problem: Problem, part: Sequence[int]) -> Problem:
    place = {item: index for index, item in enumerate(part)}
    groups = {tuple([place[item] for item in group if item in place]) for group in problem.groups}
    return Problem(
        problem.num_slots,
        tuple([problem.costs[item] for item in part]),
        tuple(sorted(group for group in groups if len(group) > 1)),
    )


class _Folded(NamedTuple):
    """Costs with the tie-break in their low digits.

    The key of item `m` in slot `t` is `cost * T**M + t * T**(M-1-m)`: sums of keys order assignments by
    total cost and then lexicographically by slots.
    """

    keys: list[list[int | None]]
    unit: int


def _fold(problem: Problem) -> _Folded:
    base = max(problem.num_slots, 2)
    unit = base ** len(problem.costs)
    keys: list[list[int | None]] = []
    digit = unit
    for row in problem.costs:
        digit //= base
        keys.append([None if cost is None else cost * unit + slot * digit for slot, cost in enumerate(row)])
    return _Folded(keys, unit)


def _optimal(problem: Problem, slots: Sequence[int]) -> Solution:
    total = sum(row[slot] or 0 for row, slot in zip(problem.costs, slots, strict=True))
    return Solution("optimal", tuple(slots), total, total)


def _by_assignment(problem: Problem) -> Solution:
    """Solve a clique by the Hungarian method (shortest augmenting paths with potentials)."""
    count, num_slots = len(problem.costs), problem.num_slots
    if count > num_slots:
        return NO_SOLUTION
    keys, unit = _fold(problem)
    dear = unit * (1 + sum(max((cost or 0 for cost in row), default=0) for row in problem.costs))
    rows = [[dear if key is None else key for key in row] for row in keys]
    slots = _hungarian(rows, num_slots)
    if any(problem.costs[item][slot] is None for item, slot in enumerate(slots)):
        return NO_SOLUTION
    return _optimal(problem, slots)


def _hungarian(rows: Sequence[Sequence[int]], width: int) -> list[int]:
    """Return the column of each row in the cheapest assignment of rows to distinct columns."""
    row_price = [0] * len(rows)
    column_price = [0] * width
    owner = [-1] * width
    for row in range(len(rows)):
        reach: list[int | None] = [None] * width
        parent = [-1] * width
        open_columns = set(range(width))
        current, column = row, -1
        while True:
            step, nearest = -1, -1
            costs, price = rows[current], row_price[current]
            for other in open_columns:
                slack = costs[other] - price - column_price[other]
                best = reach[other]
                if best is None or slack < best:
                    reach[other] = best = slack
                    parent[other] = column
                if nearest < 0 or best < step:
                    step, nearest = best, other
            row_price[row] += step
            for other in range(width):
                if other in open_columns:
                    reach[other] = (reach[other] or 0) - step
                else:
                    row_price[owner[other]] += step
                    column_price[other] -= step
            column = nearest
            open_columns.remove(column)
            if owner[column] < 0:
                break
            current = owner[column]
        _shift(owner, parent, column, row)
    slots = [-1] * len(rows)
    for column, row in enumerate(owner):
        if row >= 0:
            slots[row] = column
    return slots


def _shift(owner: list[int], parent: Sequence[int], column: int, row: int) -> None:
    """Hand columns on along the path that ends in a column without owner; `row` gets the first of them."""
    while column >= 0:
        before = parent[column]
        owner[column] = row if before < 0 else owner[before]
        column = before


def _by_branching(problem: Problem, node_limit: int | None) -> Solution | None:
    """Solve by depth-first branch and bound; None if it takes more than `node_limit` nodes."""
    search = _Search(problem, node_limit)
    if not search.run():
        return None
    return NO_SOLUTION if search.best_slots is None else _optimal(problem, search.best_slots)


class _Search:
    """Depth-first branch and bound on folded costs; the item with most to lose is placed next."""

    def __init__(self, problem: Problem, node_limit: int | None) -> None:
        keys, _ = _fold(problem)
        self.ranked = [sorted((key, slot) for slot, key in enumerate(row) if key is not None) for row in keys]
        self.clashes = [sorted(others) for others in _clashes(problem)]
        self.taken = [[0] * problem.num_slots for _ in keys]
        self.slots = [-1] * len(keys)
        self.best_slots: list[int] | None = None
        self.best_key: int | None = None
        self.nodes_left = node_limit

    def run(self) -> bool:
        """Search; return whether the search was completed."""
        return self._descend(0, len(self.slots))

    def _descend(self, spent: int, remaining: int) -> bool:
        if self.nodes_left is not None:
            self.nodes_left -= 1
            if self.nodes_left < 0:
                return False
        if remaining == 0:
            self.best_key, self.best_slots = spent, list(self.slots)
            return True
        floor, item = self._bound()
        if item is None:
            return True
        rest = floor - self._cheapest(item)
        for key, slot in self.ranked[item]:
            if self.taken[item][slot]:
                continue
            if self.best_key is not None and spent + rest + key >= self.best_key:
                break
            self._mark(item, slot, 1)
            finished = self._descend(spent + key, remaining - 1)
            self._mark(item, slot, -1)
            if not finished:
                return False
        return True

    def _mark(self, item: int, slot: int, change: int) -> None:
        self.slots[item] = slot if change > 0 else -1
        for other in self.clashes[item]:
            self.taken[other][slot] += change

    def _cheapest(self, item: int) -> int:
        taken = self.taken[item]
        return next(key for key, slot in self.ranked[item] if not taken[slot])

    def _bound(self) -> tuple[int, int | None]:
        """Return the sum of the cheapest keys, and the unplaced item whose second choice costs most more.

        The item is None if some unplaced item has no slot left.
        """
        floor = 0
        chosen: int | None = None
        most = (False, -1)
        for item, ranked in enumerate(self.ranked):
            if self.slots[item] >= 0:
                continue
            taken = self.taken[item]
            free = (key for key, slot in ranked if not taken[slot])
            first = next(free, None)
            if first is None:
                return 0, None
            second = next(free, None)
            regret = (True, 0) if second is None else (False, second - first)
            floor += first
            if regret > most:
                chosen, most = item, regret
        return floor, chosen
