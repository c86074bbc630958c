"""The seats of one strategy in one setting of one run: the rows of most tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, NamedTuple, TypeVar

from framework.analysis.findings import Field, Value
from framework.analysis.gather import Seen

__all__ = ["ALL", "GROUP_FIELDS", "Group", "Part", "by_strategy"]

FactsT = TypeVar("FactsT")

ALL = "all"
"""Stands for all settings or all strategies together."""

GROUP_FIELDS = (
    Field("run", "run", "text", key=True),
    Field("setting", "setting", "text", key=True),
    Field("strategy", "strategy", "text"),
)
"""The first columns of a table by group."""


class Group(NamedTuple):
    """What a row is about.

    Attributes:
        run: The run.
        setting: The setting under which tables list its games.
        strategy: The strategy.
        adversarial: Whether it works against the other seats.
    """

    run: str
    setting: str
    strategy: str
    adversarial: bool = False

    @property
    def label(self) -> str:
        """The strategy, marked if it is adversarial."""
        return f"{self.strategy} (adversarial)" if self.adversarial else self.strategy

    def cells(self) -> tuple[Value, ...]:
        """The first cells of its row, for `GROUP_FIELDS`."""
        return (self.run, self.setting, self.label)


class Part(NamedTuple, Generic[FactsT]):
    """The seats of a group in one game.

    Attributes:
        game: The game.
        seats: The group's seats, ascending.
    """

    game: Seen[FactsT]
    seats: tuple[int, ...]

    def values(self, metric: str) -> list[float]:
        """A metric's values for these seats, where they have one."""
        found = self.game.result.metrics.get(metric)
        by_seat = [found.seats[seat] for seat in self.seats] if found is not None and found.seats else []
        return [value for value in by_seat if value is not None]


def by_strategy(games: Sequence[Seen[FactsT]], *, totals: bool = False) -> dict[Group, list[Part[FactsT]]]:
    """The games by run, setting and strategy: runs and settings in order of appearance, strategies by name.

    Args:
        games: The games.
        totals: Whether all settings together, and all strategies together, get groups of their own, where there
            are several.
    """
    found: dict[Group, list[Part[FactsT]]] = {}
    for game in games:
        for group, seats in _seats(game).items():
            found.setdefault(group, []).append(Part(game, seats))
    place = {key: number for number, key in enumerate(dict.fromkeys(group[:2] for group in found))}
    ordered = {group: found[group] for group in sorted(found, key=lambda group: (place[group[:2]], group))}
    return _with_totals(games, ordered) if totals else ordered


def _seats(game: Seen[FactsT]) -> dict[Group, tuple[int, ...]]:
    seats: dict[Group, tuple[int, ...]] = {}
    for seat, strategy in enumerate(game.result.strategies):
        group = Group(game.run, game.result.group, strategy, seat in game.result.adversarial)
        seats[group] = (*seats.get(group, ()), seat)
    return seats


def _with_totals(
    games: Sequence[Seen[FactsT]], found: dict[Group, list[Part[FactsT]]]
) -> dict[Group, list[Part[FactsT]]]:
    """Each run's settings, then all of them; in each the strategies, then all of them."""
    whole: dict[Group, list[Part[FactsT]]] = {}
    for run in dict.fromkeys(group.run for group in found):
        settings = list(dict.fromkeys(group.setting for group in found if group.run == run))
        own = [game for game in games if game.run == run]
        for setting in [*settings, ALL] if len(settings) > 1 else settings:
            groups = [g for g in found if g.run == run and setting in (g.setting, ALL)]
            players = sorted({(g.strategy, g.adversarial) for g in groups})
            for strategy, adversarial in players:
                same = [g for g in groups if (g.strategy, g.adversarial) == (strategy, adversarial)]
                whole[Group(run, setting, strategy, adversarial)] = [part for g in same for part in found[g]]
            if len(players) > 1:
                inside = [game for game in own if setting in (game.result.group, ALL)]
                whole[Group(run, setting, ALL)] = [Part(game, tuple(range(game.result.seats))) for game in inside]
    return whole
