"""Typed VPS: how far observers' beliefs about each other moved from their prior (CalBench paper, F.1 to F.4).

At the start of each round an observer believes of each slot of each other seat, with probability `p0`, that
it is available. A piece of evidence `e` of strength `alpha` moves that to `(1 - alpha) Bel + alpha e` (F.1).
The Valuations of Possible States of a pair in a round is the sum over the slots of `|Bel - p0|`, in slots
(section 3.2).

All games of a run are computed at once: updates are sorted by the belief that they move, then the first
update of every belief is applied in one step, then the second, and so on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from framework.evidence import EvidenceTable, GameEvidence, Talk, Update, declared, gather
from framework.game import Metric
from framework.trace import MetricValue, Trace

__all__ = ["PRIOR", "BeliefHistory", "Movements", "belief_at", "belief_history", "check_prior", "move", "vps_metrics"]

PRIOR = 0.5
"""The prior of the paper: an observer knows nothing of an unfamiliar calendar (F.4)."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_COLUMNS = len(Update._fields)


def check_prior(prior: float) -> float:
    """The prior, if it is one.

    Raises:
        ValueError: If it is not strictly between 0 and 1.
    """
    if not 0.0 < prior < 1.0:
        raise ValueError(f"prior {prior} is outside (0, 1); give a probability strictly between, such as {PRIOR}")
    return prior


@dataclass(frozen=True, slots=True)
class Movements:
    """All updates of some games in order, with what each did. Arrays have one entry an update.

    Attributes:
        games: The games.
        prior: The belief at the start of each round.
        game: Place of the game in `games`.
        event: Index of the event in its trace.
        round: Index of the round.
        observer: The seat whose belief moves.
        target: The seat that it is about.
        slot: The slot.
        source: Place of the rule in the table.
        evidence: What the message speaks for.
        strength: How much it counts.
        weight: What the slot weighs; 1 unless weights are asked for.
        before: The belief before the update.
        after: The belief after it.
    """

    games: tuple[GameEvidence, ...]
    prior: float
    game: Ints
    event: Ints
    round: Ints
    observer: Ints
    target: Ints
    slot: Ints
    source: Ints
    evidence: Floats
    strength: Floats
    weight: Floats
    before: Floats
    after: Floats

    @property
    def gain(self) -> Floats:
        """What each update adds to VPS, negative where it moves a belief back towards the prior.

        The gains of one belief sum to how far it has moved in the end, so that VPS is the sum of all gains
        and can be split by kind of message, pair or round.
        """
        return self.gain_from(self.prior)

    def gain_from(self, point: float) -> Floats:
        """How much further each update takes its belief from a point, times what the slot weighs."""
        gain: Floats = np.abs(self.after - point) - np.abs(self.before - point)
        gain *= self.weight
        return gain

    def by_target(self) -> Floats:
        """VPS of each seat as a target, summed over observers and rounds, before any floor.

        Returns:
            The seats of all games, one game after the other; shape (sum of seats,).
        """
        offsets = _offsets([game.seats for game in self.games])
        return total_by(offsets[self.game] + self.target, self.gain, int(offsets[-1]))


def total_by(group: Ints, values: Floats, groups: int) -> Floats:
    """The sum of the values of each group, shape (groups,)."""
    return np.bincount(group, values, groups).astype(np.float64)


def move(games: Sequence[GameEvidence], prior: float = PRIOR) -> Movements:
    """Apply every update of some games to the belief that it is about (F.1).

    Args:
        games: What was given away in each game.
        prior: The belief at the start of each round.

    Raises:
        ValueError: If the prior is not strictly between 0 and 1.
    """
    check_prior(prior)
    counts = [len(game.updates) for game in games]
    rows = [np.array(game.updates, dtype=np.float64).reshape(-1, _COLUMNS) for game in games]
    table = np.concatenate(rows) if rows else np.empty((0, _COLUMNS))
    event, round, observer, target, slot, source = table[:, :6].astype(np.int64).T
    evidence, strength = table[:, 6:].T
    game = np.repeat(np.arange(len(games)), counts)
    before, after = _beliefs(_cells(game, round, observer, target, slot), evidence, strength, prior)
    weight = _weights(games, counts, round, target, slot)
    return Movements(
        games=tuple(games),
        prior=prior,
        game=game,
        event=event,
        round=round,
        observer=observer,
        target=target,
        slot=slot,
        source=source,
        evidence=evidence,
        strength=strength,
        weight=weight,
        before=before,
        after=after,
    )


def _cells(*coordinates: Ints) -> Ints:
    """One number for each belief: updates with the same one move the same belief."""
    cell = np.zeros(len(coordinates[0]), dtype=np.int64)
    for coordinate in coordinates:
        cell = cell * (int(coordinate.max(initial=0)) + 1) + coordinate
    return cell


class _Beliefs(NamedTuple):
    before: Floats
    after: Floats


def _beliefs(cell: Ints, evidence: Floats, strength: Floats, prior: float) -> _Beliefs:
    before, after = np.full(len(cell), prior), np.empty(len(cell))
    order = np.argsort(cell, kind="stable")
    first = np.flatnonzero(np.diff(cell[order], prepend=-1))
    lengths = np.diff(first, append=len(cell))
    longest_first = np.argsort(-lengths, kind="stable")
    first, lengths = first[longest_first], lengths[longest_first]
    for step in range(int(lengths.max(initial=0))):
        still = np.searchsorted(-lengths, -step)  # the beliefs that have more than `step` updates
        now = order[first[:still] + step]
        if step:
            before[now] = after[order[first[:still] + step - 1]]
        after[now] = (1.0 - strength[now]) * before[now] + strength[now] * evidence[now]
    return _Beliefs(before, after)


def _weights(games: Sequence[GameEvidence], counts: Sequence[int], round: Ints, target: Ints, slot: Ints) -> Floats:
    weight = np.ones(len(round))
    offsets = _offsets(counts)
    for number, game in enumerate(games):
        if game.weights is not None:
            own = slice(int(offsets[number]), int(offsets[number + 1]))
            weight[own] = game.weights[round[own], target[own], slot[own]]
    return weight


def _offsets(sizes: Sequence[int]) -> Ints:
    """Where each of several stretches begins when they lie one after the other, and where the last one ends."""
    return np.cumsum([0, *sizes], dtype=np.int64)


@dataclass(frozen=True, slots=True)
class BeliefHistory:
    """What one observer believed of one target, each time that it changed.

    Attributes:
        event: Index of each event after which the belief was a new one, ascending; the first is the start
            of the first round. Shape (K,).
        round: The round of each. Shape (K,).
        belief: The belief that each slot is available. Shape (K, T).
    """

    event: Ints
    round: Ints
    belief: Floats

    def at(self, event_index: int) -> Floats:
        """The belief after an event; the prior before the first round. Shape (T,)."""
        place = int(np.searchsorted(self.event, event_index, side="right")) - 1
        belief: Floats = self.belief[max(place, 0)]
        return belief.copy()


def belief_history(
    trace: Trace, observer: int, target: int, *, table: EvidenceTable | None = None, prior: float = PRIOR
) -> BeliefHistory:
    """How a belief moved over a game.

    Args:
        trace: The game.
        observer: The seat that believes.
        target: The seat that it is about.
        table: How the game's messages move beliefs; None takes what the trace's game declares.
        prior: The belief at the start of each round.

    Raises:
        ValueError: If there is no such seat, the two are one, or the prior is not strictly between 0 and 1.
    """
    check_prior(prior)
    talk = Talk.of(trace)
    for name, seat in (("observer", observer), ("target", target)):
        if not 0 <= seat < talk.start.seats:
            raise ValueError(f"{name} {seat} is not a seat; the seats are 0 to {talk.start.seats - 1}")
    if observer == target:
        raise ValueError(f"seat {observer} has no belief about itself; name two different seats")
    game = gather(talk, table or declared(talk.game))
    moved = move([game], prior)
    own = np.flatnonzero((moved.observer == observer) & (moved.target == target))
    now = np.full(game.slots, prior)
    states = {event: (round, now) for round, event in enumerate(talk.starts)}
    last = -1
    for row in own:
        round = int(moved.round[row])
        now = now.copy() if round == last else np.full(game.slots, prior)
        now[moved.slot[row]], last = moved.after[row], round
        states[int(moved.event[row])] = (round, now)
    events = sorted(states)
    return BeliefHistory(
        np.array(events, dtype=np.int64),
        np.array([states[event][0] for event in events], dtype=np.int64),
        np.array([states[event][1] for event in events]).reshape(-1, game.slots),
    )


def belief_at(
    trace: Trace,
    observer: int,
    target: int,
    event_index: int,
    *,
    table: EvidenceTable | None = None,
    prior: float = PRIOR,
) -> Floats:
    """What `observer` believed of each slot of `target` after an event.

    Args:
        trace: The game.
        observer: The seat that believes.
        target: The seat that it is about.
        event_index: Index of an event in the trace.
        table: How the game's messages move beliefs; None takes what the trace's game declares.
        prior: The belief at the start of each round.

    Returns:
        The belief that each slot is available; shape (T,).

    Raises:
        ValueError: As `belief_history`.
    """
    return belief_history(trace, observer, target, table=table, prior=prior).at(event_index)


def vps_metrics(table: EvidenceTable) -> tuple[Metric, Metric]:
    """The metrics `vps` and `vps_total` of a game that declares an evidence table.

    Both give each seat's VPS as a target, summed over observers and rounds, at the paper's prior: `vps` what
    exceeds the table's floor, as tables report it, and `vps_total` all of it. A seat that said something the
    table cannot read has none: what it gave away is not known from typed messages. Nor has its strategy, in tables
    and ratings: a mean over the seats that kept silent would praise it for what cannot be read.
    """
    latest: list[tuple[Trace, tuple[float | None, ...]]] = []

    def totals(trace: Trace) -> tuple[float | None, ...]:
        if not latest or latest[0][0] is not trace:
            game = gather(Talk.of(trace), table)
            seen = [
                None if unread else float(v) for v, unread in zip(move([game]).by_target(), game.unread, strict=True)
            ]
            latest[:] = [(trace, tuple(seen))]
        return latest[0][1]

    def total(trace: Trace) -> MetricValue:
        return _by_seat(totals(trace))

    def above_floor(trace: Trace) -> MetricValue:
        return _by_seat([None if v is None else max(0.0, v - table.floor) for v in totals(trace)])

    return (
        Metric(name="vps", title="VPS", better="lower", compute=above_floor, complete=True),
        Metric(name="vps_total", title="VPS, total", better="lower", compute=total, headline=False, complete=True),
    )


def _by_seat(values: Sequence[float | None]) -> MetricValue:
    known = [value for value in values if value is not None]
    return MetricValue(game=sum(known) / len(known) if known else None, seats=tuple(values))
