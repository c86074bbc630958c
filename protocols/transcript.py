"""Reads from a trace what was said to a model, message by message."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from framework import Trace
from framework.trace import AgentRegistered, Asked
from protocols.events import ModelCall

__all__ = ["Exchange", "Line", "exchanges"]


class Line(NamedTuple):
    """One message of a conversation."""

    role: Literal["system", "user", "assistant"]
    text: str


class Exchange(NamedTuple):
    """One call: what was sent, and what came back.

    Attributes:
        call: The call as the trace holds it.
        sent: The messages exactly as they were sent, the system prompt first.
    """

    call: ModelCall
    sent: Sequence[Line]


def exchanges(trace: Trace, seat: int) -> Iterator[Exchange]:
    """The calls of one seat's model, in order. A seat without a model has none.

    An agent is told the rules with its first prompt; what it has of its own besides is not in the trace.
    """
    system: list[Line] = []
    thread: list[Line] = []
    prompt = ""
    for event in trace.events:
        if isinstance(event, AgentRegistered) and event.seat == seat:
            system = [Line("system", event.system_prompt)] if event.system_prompt else []
        elif isinstance(event, Asked) and event.seat == seat:
            prompt = event.prompt
            if system and prompt.startswith(f"{system[0].text}\n\n"):
                system = []
        elif isinstance(event, ModelCall) and event.seat == seat:
            thread.append(Line("user", prompt if event.purpose == "move" else event.prompt))
            kept = thread if event.sent is None else [thread[number] for number in event.sent]
            yield Exchange(event, [*system, *kept])
            thread.append(Line("assistant", event.reply[: event.kept]))
