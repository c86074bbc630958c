"""What CalBench's tables and figures keep of a game: one entry for each meeting of each seat."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Literal, TypeAlias

from framework import Trace
from games.calbench.analysis.given_away import given_away
from games.calbench.events import CalendarBatch
from games.calbench.metrics import outcome
from games.calbench.oracle import oracle_for

__all__ = ["AgentMeeting", "GameFacts", "Source", "game_facts"]

Source: TypeAlias = Literal["typed", "reflected", "none"]
"""Where VPS comes from: typed messages, what models say of their beliefs, or nowhere."""


@dataclass(frozen=True, slots=True)
class AgentMeeting:
    """A meeting as one of its participants saw it: the unit of appendix G.2.

    Attributes:
        seat: The participant.
        index: 0-based place of the meeting in the stream.
        first: Whether the seat spoke first.
        scheduled: Whether the meeting was scheduled and stayed so.
        messages: Messages that the seat sent in the round.
        excess: What the seat paid in the round beyond its share of the optimum, in levels and with its sign;
            None if the meeting was not scheduled.
        vps: What the seat gave away in the round, in slots; None if it was not measured.
    """

    seat: int
    index: int
    first: bool
    scheduled: bool
    messages: int
    excess: float | None
    vps: float | None


@dataclass(frozen=True, slots=True)
class GameFacts:
    """What is kept of a game.

    Attributes:
        meetings: By round, then by seat.
        kept: Number of scheduled meetings of each seat.
        source: Where VPS comes from.
    """

    meetings: tuple[AgentMeeting, ...]
    kept: tuple[int, ...]
    source: Source

    def of(self, seat: int) -> tuple[AgentMeeting, ...]:
        """The meetings of one seat, in order."""
        return tuple(meeting for meeting in self.meetings if meeting.seat == seat)


def game_facts(trace: Trace) -> GameFacts | None:
    """The facts of a finished game; None of an aborted one."""
    if trace.aborted:
        return None
    seen = outcome(trace)
    paid: dict[tuple[int, int], int] = defaultdict(int)
    for event in trace.of(CalendarBatch):
        paid[event.round, event.seat] += event.cost
    sent = Counter((post.round, post.sender) for post in trace.posts)
    source, vps = given_away(trace)
    meetings = []
    for index, meeting in enumerate(seen.scenario.meetings):
        scheduled = meeting.id in seen.scheduled
        best = oracle_for(seen.scenario, [meeting.id])
        for seat in meeting.participants:
            meetings.append(
                AgentMeeting(
                    seat=seat,
                    index=index,
                    first=meeting.speaker_order[0] == seat,
                    scheduled=scheduled,
                    messages=sent[index, seat],
                    excess=float(paid[index, seat] - best[seat]) if scheduled else None,
                    vps=vps[index][seat],
                )
            )
    return GameFacts(tuple(meetings), seen.kept, source)
