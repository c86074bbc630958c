"""Who says how much: messages by place in the stream of meetings and by role (paper, G.3, figures 7 and 8)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from framework.analysis import Analysis, Field, Findings, Part, Sample, Seen, by_strategy
from framework.analysis.groups import GROUP_FIELDS
from framework.experiment import Reporting
from games.calbench.analysis.facts import AgentMeeting, GameFacts, game_facts

__all__ = ["FIRST", "LATER", "TALK_BY_MEETING", "TALK_BY_ROLE", "index", "messages_by", "role"]

KeyT = TypeVar("KeyT", int, str)

FIRST, LATER = "first", "later"
"""The roles of figure 8: second and third speakers are taken together."""


def role(meeting: AgentMeeting) -> str:
    """Whether the seat spoke first."""
    return FIRST if meeting.first else LATER


def index(meeting: AgentMeeting) -> int:
    """The 1-based place of the meeting in the stream."""
    return meeting.index + 1


def messages_by(parts: Sequence[Part[GameFacts | None]], key: Callable[[AgentMeeting], KeyT]) -> dict[KeyT, Sample]:
    """Messages that a participant sent in a round, by a property of the meeting, in ascending order of it."""
    found: dict[KeyT, Sample] = {}
    for game, seats in parts:
        for meeting in game.facts.meetings if game.facts else ():
            if meeting.seat in seats:
                found.setdefault(key(meeting), Sample()).add(game.result.game_id, [meeting.messages])
    return dict(sorted(found.items()))


_NOTE = "Messages that a participant sent in the round of a meeting; n counts participants and meetings. Means with"


def _note(reporting: Reporting) -> str:
    return f"{_NOTE} {100 * reporting.confidence:g} % intervals over games."


def _by_meeting(games: Sequence[Seen[GameFacts | None]], reporting: Reporting) -> Findings:
    fields = (
        *GROUP_FIELDS,
        Field("meeting", "meeting", "count"),
        Field("n", "n", "count"),
        Field("messages", "Messages"),
    )
    rows = []
    for group, parts in by_strategy(games).items():
        for place, sample in messages_by(parts, index).items():
            rows.append((*group.cells(), place, len(sample), sample.mean(reporting)))
    return Findings(fields, tuple(rows), _note(reporting))


def _by_role(games: Sequence[Seen[GameFacts | None]], reporting: Reporting) -> Findings:
    fields = (
        *GROUP_FIELDS,
        *(
            field
            for name in (FIRST, LATER)
            for field in (Field(f"{name}_n", "n", "count"), Field(name, f"{name.capitalize()} speakers"))
        ),
    )
    rows = []
    for group, parts in by_strategy(games).items():
        found = messages_by(parts, role)
        samples = [found.get(name, Sample()) for name in (FIRST, LATER)]
        rows.append((*group.cells(), *(cell for each in samples for cell in (len(each), each.mean(reporting)))))
    return Findings(fields, tuple(rows), _note(reporting))


TALK_BY_MEETING: Analysis[GameFacts | None] = Analysis(
    name="talk-by-meeting",
    title="Messages by place in the stream of meetings",
    read=game_facts,
    tabulate=_by_meeting,
)

TALK_BY_ROLE: Analysis[GameFacts | None] = Analysis(
    name="talk-by-role",
    title="Messages by who speaks first",
    read=game_facts,
    tabulate=_by_role,
)
