"""The state of a CalBench game: everyone's calendar, what is booked, and what has been paid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from games.calbench.calendars import Calendar
from games.calbench.labels import Assignment, assign
from games.calbench.scenario import Meeting, Scenario

__all__ = ["Booking", "State"]


@dataclass(frozen=True, slots=True)
class Booking:
    """A meeting that counts as scheduled.

    Attributes:
        participants: Its seats, ascending.
        slot: Where all of them have it.
    """

    participants: tuple[int, ...]
    slot: int


@dataclass(frozen=True)
class State:
    """An immutable state; every phase returns a new one.

    Attributes:
        scenario: What is played.
        calendars: Each seat's calendar.
        labels: Which private label belongs to which appointment.
        texts: What each seat may read about its own slots, by seat and slot.
        paid: Displacement cost that each seat has paid so far, in levels.
        paid_shown: The same on the scale that seats are shown.
        bookings: The meetings that count as scheduled, by id, prior ones included.
        lost: Ids of meetings that were scheduled once and have become inconsistent.
        unresolved: Ids of meetings that were never scheduled though their round is over.
        round: Index of the current round; -1 before the first.
        views: Calendars that have been rendered, by seat; no part of what the state is.
    """

    scenario: Scenario
    calendars: tuple[Calendar, ...]
    labels: Assignment
    texts: tuple[tuple[str | None, ...], ...]
    paid: tuple[int, ...]
    paid_shown: tuple[int, ...]
    bookings: Mapping[int, Booking]
    lost: tuple[int, ...] = ()
    unresolved: tuple[int, ...] = ()
    round: int = -1
    views: dict[int, str] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, scenario: Scenario) -> State:
        """The state before the first round."""
        nothing = (0,) * scenario.num_agents
        priors = {prior.id: Booking(prior.participants, prior.slot) for prior in scenario.prior_meetings}
        labels = assign(scenario)
        texts = tuple([labels.texts(seat, calendar) for seat, calendar in enumerate(scenario.calendars)])
        return cls(scenario, scenario.calendars, labels, texts, nothing, nothing, priors)

    @cached_property
    def meeting(self) -> Meeting:
        """The meeting of the current round."""
        return self.scenario.meetings[self.round]

    def with_batch(self, seat: int, calendar: Calendar, cost: int, shown: int) -> State:
        """The state after a batch of one seat took effect."""
        return replace(
            self,
            calendars=(*self.calendars[:seat], calendar, *self.calendars[seat + 1 :]),
            views={other: view for other, view in self.views.items() if other != seat},
            texts=(*self.texts[:seat], self.labels.texts(seat, calendar), *self.texts[seat + 1 :]),
            paid=(*self.paid[:seat], self.paid[seat] + cost, *self.paid[seat + 1 :]),
            paid_shown=(*self.paid_shown[:seat], self.paid_shown[seat] + shown, *self.paid_shown[seat + 1 :]),
        )

    def view(self, seat: int) -> str:
        """A seat's calendar as text, at the costs that it is shown."""
        if seat not in self.views:
            self.views[seat] = self.calendars[seat].render(scale=self.scenario.cost_scale)
        return self.views[seat]

    def with_calendar(self, seat: int, calendar: Calendar) -> State:
        """The state with another calendar of one seat, at no cost."""
        return self.with_batch(seat, calendar, 0, 0)
