"""What DSM says. The kinds are those of the CalBench paper, D.3 and table 10."""

from __future__ import annotations

from typing import Literal

from pydantic import NonNegativeInt

from framework.messages import Frozen
from protocols.typed import Payload

__all__ = ["Decision", "Displacement", "Message", "Plan", "Proposals", "Scores"]


class Displacement(Frozen):
    """An earlier agreement that would move, and to which option."""

    agreement: int
    option: int


class Plan(Frozen):
    """An offer as one recipient sees it.

    Attributes:
        id: Number of the plan, unique within the agreement.
        option: The option for the agreement; None where a recipient that is no party of it need not know.
        displacements: What would move of that which the recipient is a party of.
    """

    id: int
    option: int | None
    displacements: tuple[Displacement, ...] = ()


class Proposals(Payload):
    """The initiator makes its next offers."""

    kind: Literal["proposals"] = "proposals"
    plans: tuple[Plan, ...]


class Scores(Payload):
    """A satisfaction level for each plan, by id, and the points that the responder pays for them."""

    kind: Literal["scores"] = "scores"
    scores: dict[int, int]
    points: NonNegativeInt


class Decision(Payload):
    """The chosen plan and its option, as the proposals gave them, and the reader's reward; or no plan."""

    kind: Literal["decision"] = "decision"
    plan: int | None
    option: int | None
    reward: NonNegativeInt = 0


Message = Proposals | Scores | Decision
