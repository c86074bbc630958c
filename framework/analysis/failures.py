"""What went wrong, by kind: games that were not finished, actions and batches that the rules refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from framework.analysis.declared import Analysis
from framework.analysis.findings import Field, Findings
from framework.analysis.gather import Seen
from framework.analysis.groups import GROUP_FIELDS, Group, by_strategy
from framework.analysis.samples import share
from framework.experiment import Reporting
from framework.trace import BatchRejected, BatchRolledBack, InvalidAction, SeatEvent, Trace, UnknownEvent

__all__ = ["FAILURES"]

NO_SEAT = -1


class Fault(NamedTuple):
    """What went wrong at a seat.

    Attributes:
        seat: The seat, `NO_SEAT` if it belongs to none.
        kind: What happened.
        rule: The rule that was broken, or the boundary at which the game was aborted.
    """

    seat: int
    kind: str
    rule: str


def faults(trace: Trace) -> Counter[Fault]:
    """The faults of a game, by how often they occurred."""
    return Counter(_faults(trace))


def _faults(trace: Trace) -> Iterator[Fault]:
    for event in trace.events:
        match event:
            case InvalidAction():
                yield Fault(event.seat, "invalid action", event.conflict.rule)
            case BatchRejected():
                yield Fault(event.seat, "rejected batch", event.conflict.rule)
            case BatchRolledBack():
                yield Fault(event.seat, "batch undone", "another seat failed")
            case SeatEvent() | UnknownEvent() if event.type.startswith("invalid_"):
                # A strategy's own event, for instance a reply that could not be read.
                yield Fault(int(getattr(event, "seat", NO_SEAT)), event.type.replace("_", " "), "")


FIELDS = (
    *GROUP_FIELDS,
    Field("kind", "what", "text"),
    Field("rule", "rule or boundary", "text"),
    Field("count", "count", "count"),
    Field("games", "games", "count"),
    Field("share", "games with it", "share", "lower"),
)


class _Line(NamedTuple):
    group: Group
    kind: str
    rule: str


def _tabulate(games: Sequence[Seen[Counter[Fault] | None]], reporting: Reporting) -> Findings:
    counts: Counter[_Line] = Counter()
    affected: Counter[_Line] = Counter()
    groups = by_strategy(games)
    for group, parts in groups.items():
        for game, seats in parts:
            found = Counter[_Line]()
            for fault, count in (game.facts or Counter()).items():
                if fault.seat in seats:
                    found[_Line(group, fault.kind, fault.rule)] += count
            counts += found
            affected.update(set(found))
    for game in games:
        if abort := game.result.abort:
            line = _Line(_at_fault(game, abort.seat), "game aborted", abort.boundary)
            counts[line] += 1
            affected[line] += 1
    size = {group: len(parts) for group, parts in groups.items()}
    order = {group: place for place, group in enumerate(groups)}
    rows = tuple(
        (
            *line.group.cells(),
            line.kind,
            line.rule,
            counts[line],
            n,
            share(affected[line], n, reporting),
        )
        for line in sorted(counts, key=lambda line: (order.get(line.group, len(order)), line))
        if (n := size.get(line.group) or sum(game.run == line.group.run for game in games))
    )
    note = f"Share of the games in which the strategy plays, with Wilson's {100 * reporting.confidence:g} % interval."
    return Findings(FIELDS, rows, note)


def _at_fault(game: Seen[Counter[Fault] | None], seat: int | None) -> Group:
    result = game.result
    if seat is None or not 0 <= seat < result.seats:
        return Group(game.run, result.group, "(no seat)")
    return Group(game.run, result.group, result.strategies[seat], seat in result.adversarial)


FAILURES: Analysis[Counter[Fault] | None] = Analysis(
    name="failures",
    title="What went wrong, by kind",
    read=faults,
    tabulate=_tabulate,
    aborted=True,
)
