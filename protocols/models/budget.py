"""What a process has spent on models, and when it must stop."""

from __future__ import annotations

from framework.strategy import BudgetSpent
from protocols.models.completion import Tokens
from protocols.models.prices import Price
from protocols.models.settings import Budget

__all__ = ["Ledger"]


class Ledger:
    """Counts what all models of a process consume, against one budget.

    Calls that are in flight when the budget ends are finished and counted, so it can be overrun by as many.
    """

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.calls = 0
        self.tokens = 0
        self.dollars = 0.0

    def check(self) -> None:
        """See that there is something left.

        Raises:
            BudgetSpent: If there is not.
        """
        limits = self.budget
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
        self.calls += 1
        self.tokens += tokens.total
        self.dollars += price.of(tokens) if price is not None else 0.0
