"""The oracle's assignment problem as a CP-SAT model."""

from __future__ import annotations

import math
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

    def minimise(self, objective: cp_model.LinearExprT) -> Solution | None:
        """Search from the last solution for the least objective; `total` and `bound` are the objective's.

        Returns:
            None if the effort was spent before anything was known.
        """
        self.model.minimize(objective)
        status = self.solver.status_name(self.solver.solve(self.model))
        if status == "INFEASIBLE":
            return NO_SOLUTION
        if status not in ("OPTIMAL", "FEASIBLE"):
            return None
        slots = self._slots()
        self.model.clear_hints()  # type: ignore[no-untyped-call]
        for item, choices in enumerate(self.variables):
            for slot, variable in choices.items():
                self.model.add_hint(variable, slots[item] == slot)
        total = round(self.solver.objective_value)
        if status == "OPTIMAL":
            return Solution("optimal", slots, total, total)
        return Solution("feasible", slots, total, math.ceil(self.solver.best_objective_bound - 1e-6))

    def anything(self) -> Solution:
        """Search, for as long as it takes, for the first assignment or the proof that there is none."""
        self.solver.parameters.stop_after_first_solution = True
        self.solver.parameters.max_deterministic_time = math.inf
        return self.minimise(self.cost()) or NO_SOLUTION

    def _slots(self) -> tuple[int, ...]:
        return tuple(
            [
                next(slot for slot, variable in choices.items() if self.solver.boolean_value(variable))
                for choices in self.variables
            ]
        )

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
    cheapest = model.minimise(model.cost()) or model.anything()
    if cheapest.status != "optimal":
        return cheapest
    model.model.add(model.cost() <= (cheapest.total or 0))
    slots = cheapest.slots
    for block in _blocks(problem):
        answer = model.minimise(model.place_value(block))
        if answer is None or answer.status != "optimal":
            return Solution("feasible", slots, cheapest.total, cheapest.total)
        slots = answer.slots
        model.fix(block, slots)
    return Solution("optimal", slots, cheapest.total, cheapest.total)


def _blocks(problem: Problem) -> list[range]:
    size = 1
    while problem.num_slots ** (size + 1) <= _BLOCK_LIMIT and size < len(problem.costs):
        size += 1
    return [range(start, min(start + size, len(problem.costs))) for start in range(0, len(problem.costs), size)]
