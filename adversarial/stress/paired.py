"""How much more the strategy under test gives away to an opponent than to cooperative ones, paired by task."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import NamedTuple

from adversarial.stress.measures import Column, Measured, columns_of
from framework.analysis import Field, Findings
from framework.experiment import Reporting
from framework.results import GameResult
from framework.stats import Interval, Paired, benjamini_hochberg, bootstrap_mean, paired_test, wilson

__all__ = ["Line", "Played", "compared", "findings", "with_q_values"]


@dataclass(frozen=True, slots=True)
class Played:
    """A finished game.

    Attributes:
        result: Its row.
        measured: What was measured of each seat.
    """

    result: GameResult
    measured: Measured


@dataclass(frozen=True, slots=True)
class Line:
    """One measure of the strategy under test, against one opponent in one condition.

    Attributes:
        condition: The open channels.
        opponent: The opponent.
        column: The measure.
        cooperative: Its mean among cooperative opponents.
        attacked: Its mean among these.
        paired: The second minus the first, over tasks.
        q: q value of the difference among all lines of the report.
    """

    condition: str
    opponent: str
    column: Column
    cooperative: Interval
    attacked: Interval
    paired: Paired
    q: float = float("nan")

    @property
    def silent(self) -> bool:
        """Whether it is a part of another measure and was never seen."""
        return self.column.part and self.cooperative.mean == self.attacked.mean == 0


class _Key(NamedTuple):
    task: str
    repeat: int


def compared(
    condition: str,
    opponent: str,
    subject: str,
    cooperative: Sequence[Played],
    attacked: Sequence[Played],
    reporting: Reporting,
) -> list[Line]:
    """The lines of one opponent in one condition; a measure without a pair has none.

    A game counts with the mean over the seats of the strategy under test, and a task with the mean over its
    repeats. The seats are those that it has among the adversarial opponents: in the cooperative game of the
    same task and repeat it sits in the same ones, whoever else sits there.

    Args:
        condition: The open channels.
        opponent: The opponent.
        subject: The strategy under test, as results name it.
        cooperative: The finished games with cooperative opponents.
        attacked: Those with the adversarial ones.
        reporting: How intervals are made.
    """
    before = {_Key(game.result.task, game.result.repeat): game for game in cooperative}
    pairs = [(before[key], game) for game in attacked if (key := _Key(game.result.task, game.result.repeat)) in before]
    columns = columns_of([game.measured for pair in pairs for game in pair])
    lines = []
    for column in columns:
        by_task: dict[str, list[tuple[float, float]]] = defaultdict(list)
        for one, two in pairs:
            seats = [seat for seat, name in enumerate(two.result.strategies) if name == subject]
            values = _mean(one, column.name, seats), _mean(two, column.name, seats)
            if values[0] is not None and values[1] is not None:
                by_task[two.result.task].append((values[0], values[1]))
        if by_task:
            lines.append(_line(condition, opponent, column, by_task, reporting))
    return lines


def _mean(game: Played, name: str, seats: Sequence[int]) -> float | None:
    values = game.measured.values.get(name)
    known = [value for seat in seats if values and (value := values[seat]) is not None]
    return fmean(known) if known else None


def _line(
    condition: str,
    opponent: str,
    column: Column,
    by_task: Mapping[str, Sequence[tuple[float, float]]],
    reporting: Reporting,
) -> Line:
    before = [fmean(one for one, _ in values) for values in by_task.values()]
    after = [fmean(two for _, two in values) for values in by_task.values()]
    return Line(
        condition,
        opponent,
        column,
        _interval(before, column, reporting),
        _interval(after, column, reporting),
        paired_test(after, before, confidence=reporting.confidence),
    )


def _interval(values: Sequence[float], column: Column, reporting: Reporting) -> Interval:
    """The mean over tasks; a share has Wilson's interval, which is not a point where it never varied."""
    if column.share:
        return wilson(sum(values), len(values), reporting.confidence)
    return bootstrap_mean(values, confidence=reporting.confidence, resamples=reporting.resamples, seed=reporting.seed)


def with_q_values(lines: Sequence[Line]) -> list[Line]:
    """The lines with their q values among all that are reported (Benjamini and Hochberg).

    Parts of a measure that were never seen are no tests: counted as such, they would only raise the q of the others.
    """
    q_values = iter(benjamini_hochberg([line.paired.p for line in lines if not line.silent]))
    return [line if line.silent else replace(line, q=next(q_values)) for line in lines]


_FIELDS = (
    Field("channels", "channels", "text", key=True),
    Field("opponent", "opponent", "text", key=True),
    Field("measure", "measure", "text"),
    Field("better", "better", "text"),
    Field("tasks", "tasks", "count"),
    Field("cooperative", "Cooperative"),
    Field("attacked", "Attacked"),
    Field("increase", "Increase"),
    Field("p", "p", "p"),
    Field("q", "q", "p"),
)


def findings(subject: str, lines: Sequence[Line], reporting: Reporting) -> Findings:
    """The lines as a table."""
    rows = tuple(
        (
            line.condition,
            line.opponent,
            line.column.name,
            line.column.better,
            line.paired.n,
            line.cooperative,
            line.attacked,
            Interval(line.paired.difference, line.paired.low, line.paired.high),
            line.paired.p,
            line.q,
        )
        for line in lines
    )
    percent = f"{100 * reporting.confidence:g} %"
    note = (
        f"A seat of {subject} in a game, on the same tasks, seats and seeds against both kinds of opponents. Means "
        f"with {percent} intervals over tasks, of shares Wilson's; the increase is paired by task, with Student's "
        "interval and test; q after Benjamini and Hochberg over all rows."
    )
    return Findings(_FIELDS, rows, note, "stress", f"What adversaries bring out of {subject}")
