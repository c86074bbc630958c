"""What was said in a game, what was ignored, and a seat that says what it is told to."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

from framework import Action, Observation, Send, Strategy, Trace
from framework.trace import BatchRejected, InvalidAction, Note


def said(trace: Trace) -> list[dict[str, object]]:
    """All payloads, with who sent what to whom in which round."""
    return [
        {"round": post.round, "sender": post.sender, "to": post.to, **json.loads(post.content)} for post in trace.posts
    ]


def kinds(trace: Trace, round: int) -> Counter[object]:
    return Counter(payload["kind"] for payload in said(trace) if payload["round"] == round)


def at_fault(trace: Trace) -> set[int]:
    """The seats whose messages or batches were refused; a batch of nothing is nothing submitted."""
    refused = {event.seat for event in trace.of(BatchRejected) if event.actions}
    return refused | {event.seat for event in trace.of(InvalidAction)}


class Heckler(Strategy[Observation]):
    """Sends what it is told to, at every turn of talk."""

    def __init__(self, contents: Sequence[str]) -> None:
        super().__init__()
        self.contents = contents

    async def act(self, observation: Observation) -> Sequence[Action]:
        if not observation.turn.channels or observation.turn.sweep > 3:
            return ()
        everyone = [seat for seat in observation.turn.reachable if seat != observation.seat]
        return [Send(channel="dm", to=seat, content=content) for seat in everyone for content in self.contents]


def notes(trace: Trace) -> list[str]:
    return [str(note.data["why"]) for note in trace.of(Note) if note.kind == "ignored_message"]
