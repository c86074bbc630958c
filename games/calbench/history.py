"""What was on the calendars when: replayed from a trace."""

from __future__ import annotations

from dataclasses import replace

from framework import Trace
from framework.trace import RoundStart
from games.calbench.batches import apply_batch
from games.calbench.calendars import Calendar
from games.calbench.events import CalendarBatch, MeetingResolved
from games.calbench.scenario import Scenario
from games.calbench.state import State

__all__ = ["calendars_by_round"]


def calendars_by_round(trace: Trace) -> tuple[tuple[Calendar, ...], ...]:
    """Each seat's calendar at the start of each round, and as the last entry how they ended."""
    state = State.of(Scenario.model_validate(trace.start.scenario))
    found: list[tuple[Calendar, ...]] = []
    for event in trace.events:
        if isinstance(event, RoundStart):
            found.append(state.calendars)
            state = replace(state, round=event.round.index)
        elif isinstance(event, CalendarBatch):
            state = state.with_calendar(event.seat, apply_batch(state, event.seat, event.actions).calendar)
        elif isinstance(event, MeetingResolved) and not event.scheduled:
            for seat in event.participants:
                state = state.with_calendar(seat, state.calendars[seat].remove(event.meeting_id))
    return (*found, state.calendars)
