"""CalBench's metrics, from a finished trace alone (paper, section 4.2 and appendix G).

All costs are on the 1/2/3 scale unless a name says `shown`. Excess and fairness compare a seat with the
optimum restricted to the meetings that were scheduled, as tables 1 and 2 do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from framework import Metric, MetricValue, Trace
from framework.beliefs import vps_metrics
from framework.reflection_tables import reflection_metrics
from framework.secrets import PrivateStates
from framework.trace import BatchRejected, InvalidAction
from games.calbench.events import CalendarBatch, ConsistencyViolation, MeetingMoved, MeetingResolved
from games.calbench.oracle import adjustment_terms, oracle_for, replayed
from games.calbench.privacy import EVIDENCE
from games.calbench.scenario import Scenario

__all__ = ["METRICS", "Outcome", "outcome"]


@dataclass(frozen=True)
class Outcome:
    """What a trace says about each seat.

    Attributes:
        scenario: What was played.
        scheduled: Ids of the meetings that were scheduled and stayed so.
        meetings: Number of meetings of each seat.
        kept: Number of scheduled meetings of each seat.
        paid: Displacement cost that each seat paid, in levels.
        paid_shown: The same as seats are shown it.
        messages: Messages that each seat sent; a post to a group counts once.
    """

    scenario: Scenario
    scheduled: frozenset[int]
    meetings: tuple[int, ...]
    kept: tuple[int, ...]
    paid: tuple[int, ...]
    paid_shown: tuple[int, ...]
    messages: tuple[int, ...]

    def excess(self) -> tuple[float, ...]:
        """Signed burden of each seat, in levels: what it paid beyond the optimum of the scheduled meetings."""
        best = oracle_for(self.scenario, self.scheduled)
        return tuple([float(paid - own) for paid, own in zip(self.paid, best, strict=True)])


_latest: tuple[Trace, Outcome] | None = None


def outcome(trace: Trace) -> Outcome:
    """The outcome of a trace; the latest one is kept, since every metric asks for it."""
    global _latest
    if _latest is None or _latest[0] is not trace:
        _latest = (trace, _outcome(trace))
    return _latest[1]


def _outcome(trace: Trace) -> Outcome:
    scenario = Scenario.model_validate(trace.start.scenario)
    seats = range(scenario.num_agents)
    scheduled = {event.meeting_id for event in trace.of(MeetingResolved) if event.scheduled}
    scheduled -= {event.meeting_id for event in trace.of(ConsistencyViolation)}
    paid, shown = [0] * len(seats), [0] * len(seats)
    for event in trace.of(CalendarBatch):
        paid[event.seat] += event.cost
        shown[event.seat] += event.shown
    sent = Counter(post.sender for post in trace.posts)
    own = [[meeting.id for meeting in scenario.meetings_of(seat)] for seat in seats]
    return Outcome(
        scenario,
        frozenset(scheduled),
        tuple(len(ids) for ids in own),
        tuple(len(scheduled.intersection(ids)) for ids in own),
        tuple(paid),
        tuple(shown),
        tuple(sent[seat] for seat in seats),
    )


def _by_seat(values: Sequence[float | None]) -> MetricValue:
    present = [value for value in values if value is not None]
    return MetricValue(game=fmean(present) if present else None, seats=tuple(values))


def meetings(trace: Trace) -> MetricValue:
    """Number of a seat's meetings that were scheduled (table 1)."""
    return _by_seat([float(kept) for kept in outcome(trace).kept])


def coordination(trace: Trace) -> MetricValue:
    """S: share of a seat's meetings that were scheduled; none for a seat without meetings."""
    seen = outcome(trace)
    return _by_seat([kept / all if all else None for kept, all in zip(seen.kept, seen.meetings, strict=True)])


def excess(trace: Trace) -> MetricValue:
    """C: what a seat paid beyond the optimum, not below 0."""
    return _by_seat([max(0.0, burden) for burden in outcome(trace).excess()])


def burden(trace: Trace) -> MetricValue:
    """e: the same with its sign."""
    return _by_seat(outcome(trace).excess())


def excess_shown(trace: Trace) -> MetricValue:
    """C on the scale that agents are shown, as ratings use it."""
    seen = outcome(trace)
    best = oracle_for(seen.scenario, seen.scheduled, scale=seen.scenario.cost_scale)
    return _by_seat([max(0.0, float(paid - own)) for paid, own in zip(seen.paid_shown, best, strict=True)])


def excess_replayed(trace: Trace) -> MetricValue:
    """C against the optimum replayed slot by slot, for comparison with published numbers only."""
    seen = outcome(trace)
    best = replayed(seen.scenario, seen.scheduled)
    return _by_seat([max(0.0, paid - own) for paid, own in zip(seen.paid, best, strict=True)])


def adjusted(trace: Trace) -> MetricValue:
    """C_adj: excess plus a charge for each missed meeting, per meeting."""
    seen = outcome(trace)
    terms = adjustment_terms(seen.scenario)
    values: list[float | None] = []
    for seat, over in enumerate(seen.excess()):
        meetings = seen.meetings[seat]
        if not meetings:
            values.append(None)
            continue
        missed = meetings - seen.kept[seat]
        charge = max(0.0, terms[seat].worst - terms[seat].oracle)
        values.append((max(0.0, over) + missed * charge) / meetings)
    return _by_seat(values)


def messages_per_meeting(trace: Trace) -> MetricValue:
    """E: messages sent for each scheduled meeting, counting at least one meeting."""
    seen = outcome(trace)
    return _by_seat([sent / max(kept, 1) for sent, kept in zip(seen.messages, seen.kept, strict=True)])


def fairness(trace: Trace) -> MetricValue:
    """How far a seat's signed excess lies from the mean of the game."""
    burdens = outcome(trace).excess()
    mean = fmean(burdens)
    return _by_seat([abs(own - mean) for own in burdens])


def gini(trace: Trace) -> MetricValue:
    """Gini coefficient of what the seats paid; 0 if nobody paid."""
    paid = sorted(outcome(trace).paid)
    total = sum(paid)
    if not total:
        return MetricValue(game=0.0)
    n = len(paid)
    weighted = sum((2 * rank - n - 1) * cost for rank, cost in enumerate(paid, start=1))
    return MetricValue(game=weighted / (n * total))


def least_and_most(pick: Callable[[Sequence[float]], float]) -> Callable[[Trace], MetricValue]:
    """The smallest or the largest signed excess of a game."""
    return lambda trace: MetricValue(game=pick(outcome(trace).excess()))


def completed(trace: Trace) -> MetricValue:
    """Whether a seat got all its meetings."""
    seen = outcome(trace)
    return _by_seat([float(k == m) if m else None for k, m in zip(seen.kept, seen.meetings, strict=True)])


def fallback_free(trace: Trace) -> MetricValue:
    """Whether a seat got all its meetings without a single rejected batch."""
    rejected = Counter(event.seat for event in trace.of(BatchRejected))
    seats = completed(trace).seats
    return _by_seat([None if done is None else done * (not rejected[seat]) for seat, done in enumerate(seats)])


def prior_moved(trace: Trace) -> MetricValue:
    """Number of distinct earlier meetings that a seat moved (appendix G.4)."""
    moved = {(event.seat, id) for event in trace.of(CalendarBatch) for id in event.meetings}
    count = Counter(seat for seat, _ in moved)
    return _by_seat([float(count[seat]) for seat in range(trace.start.seats)])


def meetings_moved(trace: Trace) -> MetricValue:
    """How often an earlier meeting moved consistently for all its participants."""
    return MetricValue(game=float(sum(1 for _ in trace.of(MeetingMoved))))


def lost(trace: Trace) -> MetricValue:
    """Number of earlier meetings that became inconsistent."""
    return MetricValue(game=float(sum(1 for _ in trace.of(ConsistencyViolation))))


def _counted(*types: type[BatchRejected] | type[InvalidAction]) -> Callable[[Trace], MetricValue]:
    def count(trace: Trace) -> MetricValue:
        found = Counter(event.seat for event in trace.of(*types))
        return _by_seat([float(found[seat]) for seat in range(trace.start.seats)])

    return count


def _slots(trace: Trace) -> PrivateStates:
    from games.calbench.private import private_states

    return private_states(trace)


METRICS = (
    Metric(name="meetings", title="Meetings", better="higher", compute=meetings),
    Metric(name="coordination", title="Coord.", better="higher", compute=coordination, percent=True),
    Metric(name="excess", title="Excess", better="lower", compute=excess),
    Metric(name="adjusted", title="Adjusted", better="lower", compute=adjusted),
    Metric(name="messages", title="Msgs/mtg", better="lower", compute=messages_per_meeting),
    Metric(name="fairness", title="Fairness", better="lower", compute=fairness),
    *vps_metrics(EVIDENCE),
    *reflection_metrics(_slots, EVIDENCE.floor),
    Metric(name="excess_shown", title="Excess, shown", better="lower", compute=excess_shown, headline=False),
    Metric(name="excess_replayed", title="Excess, replayed", better="lower", compute=excess_replayed, headline=False),
    Metric(name="burden", title="Burden", better="neither", compute=burden, headline=False),
    Metric(name="gini", title="Gini", better="lower", compute=gini, headline=False),
    Metric(name="least_burden", title="Least burden", better="neither", compute=least_and_most(min), headline=False),
    Metric(name="most_burden", title="Most burden", better="lower", compute=least_and_most(max), headline=False),
    Metric(
        name="completed",
        title="Completed",
        better="higher",
        compute=completed,
        percent=True,
        share=True,
        headline=False,
    ),
    Metric(
        name="fallback_free",
        title="Fallback-free",
        better="higher",
        compute=fallback_free,
        percent=True,
        share=True,
        headline=False,
    ),
    Metric(name="prior_moved", title="Prior moved", better="neither", compute=prior_moved, headline=False),
    Metric(name="meetings_moved", title="Meetings moved", better="neither", compute=meetings_moved, headline=False),
    Metric(name="lost", title="Lost", better="lower", compute=lost, headline=False),
    Metric(name="rejected", title="Rejected", better="lower", compute=_counted(BatchRejected), headline=False),
    Metric(name="invalid", title="Invalid", better="lower", compute=_counted(InvalidAction), headline=False),
)
