"""What CalBench's typed messages give away (paper, F.2 and table 10), and the metrics that follow.

Beliefs are about availability: 1 says that the sender can take the slot, 0 that it cannot. A slot whose
errand can be moved away counts as available, since that is all that such a message says.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field

from framework import Trace
from framework.evidence import EvidenceTable, Heard, Rule
from games.calbench.history import calendars_by_round

__all__ = ["EVIDENCE", "slot_weights"]

_TOP = 11
"""Score of a slot that costs nothing, `D - 1` (D.3)."""
_SUGGESTED = 0.85
_SOFTLY = 0.7
"""To propose a slot is strong evidence that one can take it, but not a report that one can (table 10)."""


class CostRequest(Heard):
    """The slots whose costs are asked for; asking tells nothing."""

    kind: Literal["cost_request"] = "cost_request"
    options: tuple[int, ...]


class Costs(Heard):
    """A cost for each slot of the request; None where the sender cannot take it."""

    kind: Literal["costs"] = "costs"
    costs: tuple[int | None, ...]


class Decision(Heard):
    """The slot that the initiator chose; None where there is none, or none for the reader."""

    kind: Literal["decision"] = "decision"
    option: int | None


class Displacement(BaseModel):
    """An earlier meeting that would move, and to which slot."""

    option: int


class Plan(BaseModel):
    """One offer: a slot for the meeting, or for a seat outside it only where earlier meetings would move."""

    id: int
    option: int | None
    displacements: tuple[Displacement, ...] = ()

    @property
    def slots(self) -> tuple[int, ...]:
        """The slots that are proposed to the reader."""
        if self.option is not None:
            return (self.option,)
        return tuple(move.option for move in self.displacements)


class Proposals(Heard):
    """The plans that the initiator offers."""

    kind: Literal["proposals"] = "proposals"
    plans: tuple[Plan, ...]


class Scores(Heard):
    """A satisfaction level for each plan, by id."""

    kind: Literal["scores"] = "scores"
    scores: dict[int, Annotated[int, Field(le=_TOP)]]

    def scored(self, asked: Proposals) -> Sequence[Plan]:
        """The plans that were both proposed and scored."""
        return [plan for plan in asked.plans if plan.id in self.scores]


class Propose(Heard):
    """A candidate slot for the meeting."""

    kind: Literal["propose"] = "propose"
    option: int


class ProposeReschedule(Heard):
    """A candidate slot for a meeting that was bumped."""

    kind: Literal["propose_reschedule"] = "propose_reschedule"
    option: int


class Reply(Heard):
    """Whether the sender can take the proposed slot."""

    kind: Literal["reply"] = "reply"
    option: int
    status: Literal["PENDING", "IMPOSSIBLE"]


class RescheduleReply(Heard):
    """Whether the sender can take the slot for the bumped meeting."""

    kind: Literal["reschedule_reply"] = "reschedule_reply"
    option: int
    status: Literal["PENDING", "IMPOSSIBLE"]


class Confirm(Heard):
    """A meeting is agreed; table 10 counts no evidence."""

    kind: Literal["confirm"] = "confirm"


class Fail(Heard):
    """There is no agreement."""

    kind: Literal["fail"] = "fail"


class RescheduleRequest(Heard):
    """A meeting was bumped."""

    kind: Literal["reschedule_request"] = "reschedule_request"


class ConfirmReschedule(Heard):
    """A bumped meeting has a new slot; table 10 counts no evidence."""

    kind: Literal["confirm_reschedule"] = "confirm_reschedule"


class FailReschedule(Heard):
    """A bumped meeting keeps its slot."""

    kind: Literal["fail_reschedule"] = "fail_reschedule"


def _own_option(
    message: Decision | Propose | ProposeReschedule | Reply | RescheduleReply, question: None
) -> Sequence[int]:
    option = message.option
    return () if option is None else (option,)


def _possible(message: Reply | RescheduleReply, question: None) -> Sequence[float]:
    return (0.0 if message.status == "IMPOSSIBLE" else 1.0,)


def slot_weights(trace: Trace) -> NDArray[np.float64]:
    """What each slot weighs in the cost-weighted variant: the cost level of what is in it when a round starts.

    A free slot weighs 1, as a slot of the lowest level does: with uniform costs both variants agree.

    Returns:
        Weights in levels, shape (rounds, seats, slots).
    """
    rounds = calendars_by_round(trace)[:-1]
    return np.array([[[1.0 if i is None else float(i.cost) for i in c.slots] for c in seats] for seats in rounds])


EVIDENCE = EvidenceTable(
    slots=lambda start: int(str(start.facts["num_slots"])),
    weights=slot_weights,
    rules=(
        # DSM
        Rule(message=Proposals, slots=lambda said, _: [slot for plan in said.plans for slot in plan.slots]),
        Rule(
            message=Scores,
            answers=Proposals,
            slots=lambda said, asked: [slot for plan in said.scored(asked) for slot in plan.slots],
            evidence=lambda said, asked: [
                max(said.scores[plan.id], 0) / _TOP for plan in said.scored(asked) for _ in plan.slots
            ],
        ),
        # DSM and IMAP
        Rule(message=Decision, slots=_own_option),
        # IMAP
        Rule(message=CostRequest),
        Rule(
            message=Costs,
            answers=CostRequest,
            slots=lambda said, asked: asked.options,
            evidence=lambda said, _: [0.0 if cost is None else 1.0 for cost in said.costs],
        ),
        # SD-MAP
        Rule(message=Propose, slots=_own_option, evidence=_SUGGESTED, strength=_SOFTLY),
        Rule(message=Reply, slots=_own_option, evidence=_possible),
        Rule(message=ProposeReschedule, slots=_own_option, evidence=_SUGGESTED, strength=_SOFTLY),
        Rule(message=RescheduleReply, slots=_own_option, evidence=_possible),
        *(Rule(message=kind) for kind in (Confirm, Fail, RescheduleRequest, ConfirmReschedule, FailReschedule)),
    ),
)
