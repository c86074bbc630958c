"""The envelope of a reply, `{"thinking": ..., "actions": [...]}`, and the five actions in it (paper, A.5)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, reduce
from operator import or_
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue, create_model

from framework import Action, Send
from framework.reading import NO_TRUTH
from games.calbench.actions import Reschedule, Schedule

__all__ = ["Envelope", "envelope", "read_envelope"]


Number: TypeAlias = Annotated[int, NO_TRUTH]


class _Call(BaseModel):
    """A tool call as a model writes it: what it adds besides the fields is let pass."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Dm(_Call):
    """A private message to one seat."""

    type: Literal["dm"]
    to: Number
    content: str

    def action(self) -> Action:
        return Send(channel=self.type, to=self.to, content=self.content)


class ParticipantGroupchat(_Call):
    """A message to the participants of the meeting."""

    type: Literal["participant_groupchat"]
    content: str

    def action(self) -> Action:
        return Send(channel=self.type, content=self.content)


class AllAgentGroupchat(_Call):
    """A message to every seat."""

    type: Literal["all_agent_groupchat"]
    content: str

    def action(self) -> Action:
        return Send(channel=self.type, content=self.content)


class ScheduleCall(_Call):
    """Put the round's meeting into a slot."""

    type: Literal["schedule"]
    meeting_id: Number
    slot: Number

    def action(self) -> Action:
        return Schedule(meeting_id=self.meeting_id, slot=self.slot)


class RescheduleCall(_Call):
    """Move an errand or a copy of a meeting."""

    type: Literal["reschedule"]
    item_id: Number
    from_slot: Number
    to_slot: Number
    justification: str = ""

    def action(self) -> Action:
        return Reschedule(
            item_id=self.item_id,
            from_slot=self.from_slot,
            to_slot=self.to_slot,
            justification=self.justification,
        )


AnyCall: TypeAlias = Dm | ParticipantGroupchat | AllAgentGroupchat | ScheduleCall | RescheduleCall
_TALK: dict[str, type[_Call]] = {
    "dm": Dm,
    "participant_groupchat": ParticipantGroupchat,
    "all_agent_groupchat": AllAgentGroupchat,
}


class Envelope(BaseModel):
    """A reply.

    Attributes:
        thinking: The model's reasoning; it goes to the trace only.
        actions: The tool calls, in order; empty to pass.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    thinking: str = ""
    actions: tuple[Annotated[AnyCall, Field(discriminator="type")], ...]


def read_envelope(data: JsonValue) -> Envelope:
    """A reply from JSON. A bare list is taken for its actions; actions of closed channels are read as well.

    Raises:
        pydantic.ValidationError: If it is not an envelope.
    """
    if isinstance(data, list):
        data = {"actions": data}
    return Envelope.model_validate(data)


@cache
def envelope(channels: Sequence[str]) -> type[BaseModel]:
    """The envelope with the actions that a game with these channels has, for a model's schema."""
    calls: list[Any] = [_TALK[name] for name in channels if name in _TALK]
    action: Any = reduce(or_, (*calls, ScheduleCall, RescheduleCall))
    return create_model("Reply", thinking=(str, ...), actions=(list[action], ...))
