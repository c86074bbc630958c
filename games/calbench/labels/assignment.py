"""Which label belongs to which appointment of a scenario.

Labels are dealt from the bank by the scenario's seed, once for the whole game; a scenario's file does not
hold them. No two appointments of a game share one until the bank is used up, and no two of one calendar do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from games.calbench._dice import Dice
from games.calbench.calendars import Calendar, Errand, Item
from games.calbench.labels.bank import Bank, Kind, Label, bank
from games.calbench.scenario import Scenario

__all__ = ["Assignment", "assign"]


@dataclass(frozen=True)
class Assignment:
    """The labels of one scenario. It is the harness's own: a seat is handed single texts only.

    Attributes:
        bank: Where the labels come from.
        errands: The label of each errand, by seat and `errand_id`.
        meetings: The label of each meeting, prior ones included, by id.
    """

    bank: Bank
    errands: tuple[Mapping[int, Label], ...]
    meetings: Mapping[int, Label]

    def of(self, seat: int, item: Item) -> Label | None:
        """The label that a seat may read on an item: its own errand's, or that of a meeting it takes part in."""
        if isinstance(item, Errand):
            return self.errands[seat].get(item.errand_id)
        return self.meetings.get(item.meeting_id) if seat in item.participants else None

    def texts(self, seat: int, calendar: Calendar) -> tuple[str | None, ...]:
        """The texts that a seat may read on its own calendar, by slot."""
        labels = [None if item is None else self.of(seat, item) for item in calendar.slots]
        return tuple([None if label is None else label.text for label in labels])

    def record(self) -> dict[str, JsonValue]:
        """What the trace states: the bank, and the id of the label of each appointment."""
        return {
            "bank": self.bank.version,
            "hash": self.bank.hash,
            "errands": [{str(id): label.id for id, label in own.items()} for own in self.errands],
            "meetings": {str(id): label.id for id, label in self.meetings.items()},
        }


_latest: tuple[Scenario, Assignment] | None = None


def assign(scenario: Scenario) -> Assignment:
    """Deal the labels of a scenario; the same scenario is always dealt the same, and the latest deal is kept."""
    global _latest
    if _latest is None or _latest[0] is not scenario:
        _latest = (scenario, _deal_all(scenario))
    return _latest[1]


def _deal_all(scenario: Scenario) -> Assignment:
    meetings = _deal(scenario.seed, "meeting")
    errands = _deal(scenario.seed, "errand")
    ids = [*(meeting.id for meeting in scenario.meetings), *(prior.id for prior in scenario.prior_meetings)]
    return Assignment(
        bank=bank(),
        errands=tuple([_of_calendar(calendar, errands) for calendar in scenario.calendars]),
        meetings={id: next(meetings) for id in ids},
    )


def _of_calendar(calendar: Calendar, labels: Iterator[Label]) -> dict[int, Label]:
    ids = sorted(item.errand_id for item in calendar.slots if isinstance(item, Errand))
    own: dict[int, Label] = {}
    spare = len(bank().of("errand"))
    for id in ids:
        label = next(labels)
        while len(own) < spare and any(label is other for other in own.values()):
            label = next(labels)
        own[id] = label
    return own


def _deal(seed: int, kind: Kind) -> Iterator[Label]:
    """All labels of a kind in random order, then all again in another order, without end."""
    dice = Dice(seed, f"labels/{bank().version}/{kind}")
    while True:
        yield from dice.shuffled(bank().of(kind))
