"""Values with the game of each, and their mean with an interval over games."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

from framework.experiment import Reporting
from framework.stats import Interval, bootstrap_mean, wilson

__all__ = ["Sample", "share"]


@dataclass(slots=True)
class Sample:
    """Values, each with the game that it comes from: values of one game are not independent.

    Attributes:
        values: The values.
        games: The game of each.
    """

    values: list[float] = field(default_factory=list)
    games: list[Hashable] = field(default_factory=list)

    def add(self, game: Hashable, values: Iterable[float]) -> None:
        """Add the values of one game."""
        before = len(self.values)
        self.values.extend(values)
        self.games.extend([game] * (len(self.values) - before))

    def __len__(self) -> int:
        return len(self.values)

    def mean(self, reporting: Reporting) -> Interval | None:
        """The mean with a bootstrap interval over games; None without values."""
        if not self.values:
            return None
        return bootstrap_mean(
            self.values,
            self.games,
            confidence=reporting.confidence,
            resamples=reporting.resamples,
            seed=reporting.seed,
        )


def share(count: int, n: int, reporting: Reporting) -> Interval | None:
    """A share with Wilson's interval; None of nothing."""
    return wilson(count, n, reporting.confidence) if n else None
