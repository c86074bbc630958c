"""What it costs to speak first (paper, G.2, table 12 and figure 6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

from framework.analysis import Analysis, Field, Findings, Group, Part, Seen, by_strategy
from framework.analysis.findings import Value
from framework.analysis.groups import GROUP_FIELDS
from framework.experiment import Reporting
from framework.stats import Interval, Paired, benjamini_hochberg, paired_test
from games.calbench.analysis.facts import AgentMeeting, GameFacts, game_facts

__all__ = ["MEASURES", "SPEAKERS", "Effect", "Measure", "effects", "paired_means"]


@dataclass(frozen=True, slots=True)
class Measure:
    """Something that is measured of each meeting of a seat.

    Attributes:
        name: Its key.
        title: Its heading.
        of: Its value; None where it was not measured.
    """

    name: str
    title: str
    of: Callable[[AgentMeeting], float | None]


MEASURES = (
    Measure("vps", "VPS", lambda meeting: meeting.vps),
    Measure("excess", "cost", lambda meeting: meeting.excess),
    Measure("messages", "messages", lambda meeting: meeting.messages),
)
"""VPS and cost as in table 12, and messages."""


class Effect(NamedTuple):
    """A paired comparison; None without a single pair.

    Attributes:
        paired: First speakers minus later ones.
        q: Its q value among all comparisons of its run and measure.
    """

    paired: Paired | None
    q: float


def paired_means(parts: Sequence[Part[GameFacts | None]], measure: Measure) -> list[tuple[float, float]]:
    """For each seat of a game, the mean of the meetings in which it spoke first, and of its others.

    A seat without a measured meeting of either sort makes no pair.
    """
    pairs = []
    for game, seats in parts:
        for seat in seats if game.facts else ():
            by_role: dict[bool, list[float]] = {True: [], False: []}
            for meeting in game.facts.of(seat) if game.facts else ():
                value = measure.of(meeting)
                if value is not None:
                    by_role[meeting.first].append(value)
            if by_role[True] and by_role[False]:
                pairs.append((fmean(by_role[True]), fmean(by_role[False])))
    return pairs


def effects(
    groups: Mapping[Group, Sequence[Part[GameFacts | None]]], measure: Measure, reporting: Reporting
) -> dict[Group, Effect]:
    """First speakers minus later ones, by group; q values are among the groups of one run."""
    tests: dict[Group, Paired | None] = {}
    for group, parts in groups.items():
        first, later = zip(*pairs, strict=True) if (pairs := paired_means(parts, measure)) else ((), ())
        tests[group] = paired_test(first, later, confidence=reporting.confidence) if first else None
    found: dict[Group, Effect] = {}
    for run in dict.fromkeys(group.run for group in groups):
        own = {group: test for group, test in tests.items() if group.run == run}
        q_values = benjamini_hochberg([test.p if test else float("nan") for test in own.values()])
        found |= {group: Effect(test, q) for (group, test), q in zip(own.items(), q_values, strict=True)}
    return found


FIELDS = (
    *GROUP_FIELDS,
    *(
        field
        for measure in MEASURES
        for field in (
            Field(f"{measure.name}_pairs", "pairs", "count"),
            Field(measure.name, f"Δ {measure.title}"),
            Field(f"{measure.name}_q", "q", "p"),
        )
    ),
)


def _tabulate(games: Sequence[Seen[GameFacts | None]], reporting: Reporting) -> Findings:
    groups = by_strategy(games, totals=True)
    by_measure = [effects(groups, measure, reporting) for measure in MEASURES]
    rows = tuple((*group.cells(), *(cell for found in by_measure for cell in _cells(found[group]))) for group in groups)
    sources = " and ".join(sorted({game.facts.source for game in games if game.facts} - {"none"}))
    note = (
        "First speaker minus later speakers: each pair is the mean of one seat's meetings of a game in which it spoke "
        f"first, and of its others. {100 * reporting.confidence:g} % intervals and tests are Student's, paired; q is "
        "after Benjamini and Hochberg within a column. Cost is beyond the optimum, of scheduled meetings, on the "
        f"1/2/3 scale; VPS is of the round, {sources or 'not measured'}, before the floor."
    )
    return Findings(FIELDS, rows, note)


def _cells(effect: Effect) -> tuple[Value, ...]:
    paired = effect.paired
    if paired is None:
        return (0, None, None)
    return (paired.n, Interval(paired.difference, paired.low, paired.high), effect.q)


SPEAKERS: Analysis[GameFacts | None] = Analysis(
    name="first-speaker",
    title="What it costs to speak first",
    read=game_facts,
    tabulate=_tabulate,
)
