"""The judge's and the seats' own reports of changed beliefs, one row a belief, set against the truth."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from adversarial.judge.agreement import Cell
from adversarial.judge.cases import CaseKey
from adversarial.judge.journal import Entry
from adversarial.judge.measured import JudgedGame
from framework.analysis import Seen
from framework.reflection import MOST

__all__ = ["Change", "Judged", "Precision", "by_target", "cells", "judged_changes", "precisions", "reported_changes"]


class Change(NamedTuple):
    """A belief that changed.

    Attributes:
        cell: Which belief.
        round: In which round.
        delta: By how much, from -3 to 3 and not 0.
        truth: Whether the state was true when the round ended.
        reason: What the judge says changed it; empty for a report.
    """

    cell: Cell
    round: int
    delta: int
    truth: bool
    reason: str = ""

    @property
    def right(self) -> bool:
        """Whether it went towards the truth."""
        return (self.delta > 0) == self.truth

    @property
    def raw(self) -> float:
        """How far it went, in states."""
        return abs(self.delta) / MOST

    @property
    def calibrated(self) -> float:
        """How far it went towards the truth, in states."""
        return self.raw if self.right else 0.0


@dataclass(frozen=True, slots=True)
class Judged:
    """A game and what the judge said of it.

    Attributes:
        seen: The game.
        facts: What is kept of it.
        entries: The judge's answers, by case.
    """

    seen: Seen[JudgedGame]
    facts: JudgedGame
    entries: Mapping[CaseKey, Entry]

    @property
    def complete(self) -> bool:
        """Whether the judge was asked about every case of it."""
        return all(case.key in self.entries for case in self.facts.cases)

    @property
    def failed(self) -> int:
        """How many answers could not be read."""
        return sum(bool(entry.error) for entry in self.entries.values())


def judged_changes(game: Judged) -> Iterator[Change]:
    """What the judge says changed, in the order of the cases."""
    facts = game.facts
    for case in facts.cases:
        entry = game.entries.get(case.key)
        for belief in entry.beliefs if entry else ():
            cell = Cell(facts.game_id, case.key.observer, belief.target, belief.slot)
            truth = bool(facts.truth(case.key.round, belief.target)[belief.slot])
            yield Change(cell, case.key.round, belief.delta, truth, belief.reason)


def reported_changes(game: Judged) -> Iterator[Change]:
    """What the seats themselves reported, in the order of their reports."""
    facts = game.facts
    for report in facts.reported:
        truth = facts.truth(report.round, report.target)
        for slot, delta in enumerate(report.deltas):
            if delta:
                cell = Cell(facts.game_id, report.observer, report.target, slot)
                yield Change(cell, report.round, delta, bool(truth[slot]))


class Summed(NamedTuple):
    """The changes of one cell.

    Attributes:
        total: Their sum.
        rows: How many there were, those of 0 among them.
    """

    total: int
    rows: int

    @property
    def mean(self) -> float:
        """Their mean."""
        return self.total / self.rows


class Cells(NamedTuple):
    """Both measurements by cell: the judge's changes, and all that was reported, changed or not."""

    judge: Mapping[Cell, Summed]
    reflection: Mapping[Cell, Summed]


def cells(games: Iterable[Judged]) -> Cells:
    """The changes of some games, summed over the rounds."""
    judge: dict[Cell, list[int]] = defaultdict(list)
    reflection: dict[Cell, list[int]] = defaultdict(list)
    for game in games:
        for change in judged_changes(game):
            judge[change.cell].append(change.delta)
        for report in game.facts.reported:
            for slot, delta in enumerate(report.deltas):
                reflection[Cell(game.facts.game_id, report.observer, report.target, slot)].append(delta)
    return Cells(*({cell: Summed(sum(all), len(all)) for cell, all in part.items()} for part in (judge, reflection)))


def by_target(changes: Iterable[Change], seats: int) -> list[float]:
    """Calibrated VPS of each seat as a target, before any floor."""
    totals = [0.0] * seats
    for change in changes:
        totals[change.cell.target] += change.calibrated
    return totals


class Precision(NamedTuple):
    """How often changes of beliefs about one target of one game went towards the truth (I.4).

    Attributes:
        game: The game.
        target: The target.
        judge: The judge's changes, and how many of them were right.
        reflection: The reported ones.
    """

    game: Judged
    target: int
    judge: tuple[int, int]
    reflection: tuple[int, int]

    @property
    def judge_share(self) -> float:
        """Share of the judge's changes that were right."""
        return self.judge[1] / self.judge[0]

    @property
    def reflection_share(self) -> float:
        """Share of the reported ones."""
        return self.reflection[1] / self.reflection[0]

    @property
    def gap(self) -> float:
        """The first minus the second."""
        return self.judge_share - self.reflection_share


def precisions(games: Iterable[Judged]) -> list[Precision]:
    """Each target of each game about which both the judge and the seats have changes."""
    found = []
    for game in games:
        judge, reflection = _counts(list(judged_changes(game))), _counts(list(reported_changes(game)))
        found += [
            Precision(game, target, judge[target], reflection[target])
            for target in range(game.facts.seats)
            if target in judge and target in reflection
        ]
    return found


def _counts(changes: Sequence[Change]) -> dict[int, tuple[int, int]]:
    """Number of changes, and of right ones, by target."""
    targets = {change.cell.target for change in changes}
    return {
        target: (len(own), sum(change.right for change in own))
        for target in targets
        if (own := [change for change in changes if change.cell.target == target])
    }
