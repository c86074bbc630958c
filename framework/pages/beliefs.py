"""The belief view: every movement of every belief of a game, from which the page rebuilds any moment."""

from __future__ import annotations

from framework.beliefs import PRIOR, move
from framework.evidence import EvidenceTable, Talk, gather
from framework.messages import Frozen
from framework.trace import Trace

__all__ = ["BeliefPage", "belief_page"]


class BeliefPage(Frozen):
    """All updates of a game in order, column by column; see `framework.beliefs.Movements`.

    Attributes:
        prior: The belief at the start of each round.
        slots: Number of slots.
        floor: VPS that a game costs each target at the least; it is subtracted from a target's total.
        sources: The kinds of message that move beliefs.
        event: Index of the event of each update.
        round: Index of its round.
        observer: The seat whose belief moves.
        target: The seat that it is about.
        slot: The slot.
        source: Place in `sources`.
        after: The belief after the update.
    """

    prior: float
    slots: int
    floor: float
    sources: tuple[str, ...]
    event: tuple[int, ...]
    round: tuple[int, ...]
    observer: tuple[int, ...]
    target: tuple[int, ...]
    slot: tuple[int, ...]
    source: tuple[int, ...]
    after: tuple[float, ...]


def belief_page(trace: Trace, table: EvidenceTable, prior: float = PRIOR) -> BeliefPage:
    """The belief view of a game with an evidence table."""
    game = gather(Talk.of(trace), table)
    moved = move([game], prior)
    return BeliefPage(
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
