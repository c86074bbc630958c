"""The belief view: every movement of every belief of a game, from which the page rebuilds any moment."""

from __future__ import annotations

from framework.beliefs import PRIOR, move
from framework.evidence import EvidenceTable, Talk, gather
from framework.messages import Frozen
from framework.reflection import MOST, Reflection
from framework.trace import Trace

__all__ = ["BeliefPage", "reflected_beliefs", "typed_beliefs"]


class BeliefPage(Frozen):
    """Movements of beliefs in order, column by column.

    Attributes:
        title: Where they come from.
        prior: The belief at the start of each round.
        slots: Number of slots.
        unit: What a movement from the prior by 1 counts in VPS.
        floor: VPS that a game costs each target at the least; it is subtracted from a target's total.
        sources: What moves beliefs, such as kinds of message.
        event: Index of the event of each movement.
        round: Index of its round.
        observer: The seat whose belief moves.
        target: The seat that it is about.
        slot: The slot.
        source: Place in `sources`.
        after: The belief that the slot is available, after the movement.
    """

    title: str
    prior: float
    slots: int
    unit: float = 1.0
    floor: float = 0.0
    sources: tuple[str, ...]
    event: tuple[int, ...]
    round: tuple[int, ...]
    observer: tuple[int, ...]
    target: tuple[int, ...]
    slot: tuple[int, ...]
    source: tuple[int, ...]
    after: tuple[float, ...]


def typed_beliefs(trace: Trace, table: EvidenceTable, prior: float = PRIOR) -> BeliefPage | None:
    """What typed messages did to beliefs; see `framework.beliefs`.

    Returns:
        The movements; None if there are none, as in a game of prose.
    """
    game = gather(Talk.of(trace), table)
    if not game.updates:
        return None
    moved = move([game], prior)
    return BeliefPage(
        title="typed messages",
        prior=prior,
        slots=game.slots,
        floor=table.floor,
        sources=table.sources,
        event=tuple(moved.event.tolist()),
        round=tuple(moved.round.tolist()),
        observer=tuple(moved.observer.tolist()),
        target=tuple(moved.target.tolist()),
        slot=tuple(moved.slot.tolist()),
        source=tuple(moved.source.tolist()),
        after=tuple(round(value, 6) for value in moved.after.tolist()),
    )


def reflected_beliefs(trace: Trace) -> BeliefPage | None:
    """What seats said of their own beliefs after each round; see `framework.reflection`.

    A reported change of 3 counts as one slot, where typed messages move a belief by a half at most.

    Returns:
        The changes as they were reported, also those away from the truth; None if no seat was asked.
    """
    said = [(place, event) for place, event in enumerate(trace.events) if isinstance(event, Reflection)]
    moved = [(place, event, slot, d) for place, event in said for slot, d in enumerate(event.deltas) if d]
    if not moved:
        return None
    return BeliefPage(
        title="reflection",
        prior=PRIOR,
        slots=max(len(event.deltas) for _, event in said),
        unit=1.0 / PRIOR,
        sources=("reflection",),
        event=tuple(place for place, *_ in moved),
        round=tuple(event.round for _, event, *_ in moved),
        observer=tuple(event.seat for _, event, *_ in moved),
        target=tuple(event.target for _, event, *_ in moved),
        slot=tuple(slot for *_, slot, _ in moved),
        source=(0,) * len(moved),
        after=tuple(round(PRIOR - PRIOR * d / MOST, 6) for *_, d in moved),
    )
