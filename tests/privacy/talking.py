"""Traces written by hand: who said what to whom, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

from framework.evidence import EvidenceTable, Heard, Rule
from framework.messages import Round
from framework.trace import Event, GameStart, MessageSent, RoundStart, Trace

NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Line(NamedTuple):
    """One message: its content is JSON unless it is text."""

    round: int
    sender: int
    readers: tuple[int, ...]
    content: dict[str, Any] | str


class Told(Heard):
    """How likely some slots are available."""

    kind: Literal["told"] = "told"
    slots: tuple[int, ...]
    beliefs: tuple[float, ...]


class Hinted(Heard):
    """The same, said softly."""

    kind: Literal["hinted"] = "hinted"
    slots: tuple[int, ...]
    beliefs: tuple[float, ...]


class Asked(Heard):
    """Which slots the sender wants to hear of."""

    kind: Literal["asked"] = "asked"
    slots: tuple[int, ...]


class Answered(Heard):
    """Whether each slot that was asked for is available."""

    kind: Literal["answered"] = "answered"
    yes: tuple[bool, ...]


TABLE = EvidenceTable(
    slots=lambda start: int(str(start.facts["slots"])),
    rules=(
        Rule(message=Told, slots=lambda said, _: said.slots, evidence=lambda said, _: said.beliefs),
        Rule(message=Hinted, slots=lambda said, _: said.slots, evidence=lambda said, _: said.beliefs, strength=0.3),
        Rule(message=Asked),
        Rule(
            message=Answered,
            answers=Asked,
            slots=lambda said, asked: asked.slots,
            evidence=lambda said, _: [float(yes) for yes in said.yes],
        ),
    ),
)


def trace_of(
    lines: Sequence[Line],
    *,
    seats: int = 3,
    slots: int = 4,
    groups: Sequence[tuple[int, ...]] | None = None,
    strategies: Sequence[str] | None = None,
    game: str = "test",
) -> Trace:
    """A trace with one event a message, and one more at the start of the game and of each round."""
    groups = groups or [tuple(range(seats))] * (1 + max((line.round for line in lines), default=0))
    events: list[Event] = [
        GameStart(
            game=game,
            seed=0,
            seats=seats,
            rounds=len(groups),
            channels=("dm",),
            strategies=tuple(strategies or ["talker"] * seats),
            facts={"slots": slots, "num_slots": slots},
        )
    ]
    for index, group in enumerate(groups):
        events.append(RoundStart(round=Round(index=index, participants=group, speakers=group)))
        events += [_message(len(events), line) for line in lines if line.round == index]
    return Trace(game_id="g", events=tuple(events), started_at=NOW, ended_at=NOW)


def _message(id: int, line: Line) -> MessageSent:
    content = line.content if isinstance(line.content, str) else json.dumps(line.content)
    return MessageSent(
        id=id,
        round=line.round,
        phase="talk",
        turn=0,
        channel="dm",
        sender=line.sender,
        to=line.readers[0],
        readers=line.readers,
        content=content,
        chars=len(content),
    )
