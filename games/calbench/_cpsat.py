"""The oracle's assignment problem as a CP-SAT model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from games.calbench._problem import NO_SOLUTION, Problem, Solution

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

_BLOCK_LIMIT = 2**42
"""Largest weight in an objective that settles the slots of several items at once."""


class _Model:
    """One 0/1 variable for each item and slot that it may take."""

    def __init__(self, problem: Problem, effort: float) -> None:
        from ortools.sat.python import cp_model

        self._sat = cp_model
        self.problem = problem
        self.model = cp_model.CpModel()
        self.variables: list[dict[int, cp_model.IntVar]] = [
            {slot: self.model.new_bool_var("") for slot, cost in enumerate(row) if cost is not None}
            for row in problem.costs
        ]
        for choices in self.variables:
            self.model.add_exactly_one(choices.values())
        for group in problem.groups:
            for slot in range(problem.num_slots):
                rivals = [self.variables[item][slot] for item in group if slot in self.variables[item]]
                if len(rivals) > 1:
                    self.model.add_at_most_one(rivals)
        self.solver = cp_model.CpSolver()
        self.solver.parameters.num_workers = 1
        self.solver.parameters.random_seed = 0
        self.solver.parameters.linearization_level = 2
        self.solver.parameters.max_deterministic_time = effort

    def cost(self) -> cp_model.LinearExprT:
        """The total cost."""
        pairs = [
            (variable, self.problem.costs[item][slot] or 0)
            for item, choices in enumerate(self.variables)
            for slot, variable in choices.items()
        ]
        return self._sat.LinearExpr.weighted_sum([v for v, _ in pairs], [c for _, c in pairs])

    def place_value(self, items: Sequence[int]) -> cp_model.LinearExprT:
        """The slots of some items read as the digits of one number."""
        digit = self.problem.num_slots ** len(items)
        variables: list[cp_model.IntVar] = []
        weights: list[int] = []
        for item in items:
            digit //= self.problem.num_slots
            variables.extend(self.variables[item].values())
            weights.extend(slot * digit for slot in self.variables[item])
        return self._sat.LinearExpr.weighted_sum(variables, weights)

    def minimise(self, objective: cp_model.LinearExprT, known: Solution) -> Solution:
        """Search from the last solution for the least objective; `total` and `bound` are the objective's.

        A search that ends before it has found or refuted anything gives what was `known` before.
        """
        if known.slots:
            self._hint(known.slots)
        self.model.minimize(objective)
        status = self.solver.status_name(self.solver.solve(self.model))
        if status == "UNKNOWN":
            return known
        if status not in ("OPTIMAL", "FEASIBLE"):
            return NO_SOLUTION
        slots = tuple(
            [
                next(slot for slot, variable in choices.items() if self.solver.boolean_value(variable))
                for choices in self.variables
            ]
        )
        total = round(self.solver.objective_value)
        bound = round(self.solver.best_objective_bound)
        return Solution("optimal" if status == "OPTIMAL" else "feasible", slots, total, bound)

    def _hint(self, slots: Sequence[int]) -> None:
        self.model.clear_hints()  # type: ignore[no-untyped-call]
        for item, choices in enumerate(self.variables):
            for slot, variable in choices.items():
                self.model.add_hint(variable, slots[item] == slot)

    def fix(self, items: Sequence[int], slots: Sequence[int]) -> None:
        """Keep items where they are."""
        for item in items:
            self.model.add(self.variables[item][slots[item]] == 1)


def by_cpsat(problem: Problem, effort: float) -> Solution:
    """Find the least cost, then at that cost the lexicographically smallest slots, block by block.

    Args:
        problem: The items.
        effort: Limit of one search in CP-SAT's deterministic seconds.
    """
    model = _Model(problem, effort)
    cheapest = model.minimise(model.cost(), _greedy(problem))
    if cheapest.total is None or cheapest.status == "feasible":
        return cheapest
    model.model.add(model.cost() <= cheapest.total)
    answer = cheapest
    for block in _blocks(problem):
        answer = model.minimise(model.place_value(block), answer._replace(status="feasible"))
        if answer.status != "optimal":
            return Solution("feasible", answer.slots or cheapest.slots, cheapest.total, cheapest.total)
        model.fix(block, answer.slots)
    return Solution("optimal", answer.slots, cheapest.total, cheapest.total)


def _greedy(problem: Problem) -> Solution:
    """Each item in turn at its cheapest slot that no rival has; no solution where one item finds none."""
    rivals: list[set[int]] = [set() for _ in problem.costs]
    for group in problem.groups:
        for item in group:
            rivals[item].update(group)
    slots: list[int] = []
    for item, row in enumerate(problem.costs):
        taken = {slots[rival] for rival in rivals[item] if rival < item}
        open_slots = [(cost, slot) for slot, cost in enumerate(row) if cost is not None and slot not in taken]
        if not open_slots:
            return NO_SOLUTION
        slots.append(min(open_slots)[1])
    total = sum(row[slot] or 0 for row, slot in zip(problem.costs, slots, strict=True))
    bound = sum(min(cost for cost in row if cost is not None) for row in problem.costs)
    return Solution("optimal" if total == bound else "feasible", tuple(slots), total, bound)


def _blocks(problem: Problem) -> list[range]:
    size = 1
    while problem.num_slots ** (size + 1) <= _BLOCK_LIMIT and size < len(problem.costs):
        size += 1
    return [range(start, min(start + size, len(problem.costs))) for start in range(0, len(problem.costs), size)]
