"""What SD-MAP says: the same four steps for the agreement of the round and for one that is repaired.

The kinds are those of the CalBench paper, D.2 and table 10.
"""

from __future__ import annotations

from typing import Literal

from protocols.typed import Payload

__all__ = [
    "Answer",
    "Confirm",
    "Confirmation",
    "ConfirmReschedule",
    "Fail",
    "FailReschedule",
    "Failure",
    "Message",
    "Proposal",
    "Propose",
    "ProposeReschedule",
    "Repair",
    "Reply",
    "RescheduleReply",
    "RescheduleRequest",
    "Status",
]

Status = Literal["PENDING", "IMPOSSIBLE"]


class Proposal(Payload):
    """The initiator asks whether an option is feasible."""

    option: int


class Answer(Payload):
    """A party says whether it is, and nothing more."""

    option: int
    status: Status


class Confirmation(Payload):
    """The initiator announces that everyone can: the option is agreed."""

    option: int


class Failure(Payload):
    """The initiator announces that no candidate is left."""


class Propose(Proposal):
    """For the agreement of the round."""

    kind: Literal["propose"] = "propose"


class Reply(Answer):
    """For the agreement of the round."""

    kind: Literal["reply"] = "reply"


class Confirm(Confirmation):
    """For the agreement of the round."""

    kind: Literal["confirm"] = "confirm"


class Fail(Failure):
    """For the agreement of the round, which stays without one."""

    kind: Literal["fail"] = "fail"


class RescheduleRequest(Payload):
    """A party has bumped this earlier agreement, and asks its initiator for another option."""

    kind: Literal["reschedule_request"] = "reschedule_request"


class ProposeReschedule(Proposal):
    """For an earlier agreement."""

    kind: Literal["propose_reschedule"] = "propose_reschedule"


class RescheduleReply(Answer):
    """For an earlier agreement."""

    kind: Literal["reschedule_reply"] = "reschedule_reply"


class ConfirmReschedule(Confirmation):
    """For an earlier agreement, which moves there."""

    kind: Literal["confirm_reschedule"] = "confirm_reschedule"


class FailReschedule(Failure):
    """For an earlier agreement, which falls back to the option that it had."""

    kind: Literal["fail_reschedule"] = "fail_reschedule"


Repair = RescheduleRequest | ProposeReschedule | RescheduleReply | ConfirmReschedule | FailReschedule
Message = Propose | Reply | Confirm | Fail | Repair
