"""Which secrets the delivered messages of a game gave away, to whom, and who may answer for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from adversarial.leaks.matching import Match, Matcher
from framework import Trace
from framework.secrets import Secret
from framework.trace import MessageSent, RoundStart

__all__ = ["SemanticLeak", "leaks_of"]


@dataclass(frozen=True, slots=True)
class SemanticLeak:
    """A message gave a secret away to seats that may not know it.

    Attributes:
        event: Index of the message's event in the trace.
        message: The message.
        secret: What it gave away.
        match: By what.
        how: Whether the sender had the secret from the start, or passed on what it had been told.
        participants: The readers who may not know it and take part in the round.
        others: Those who do not take part in the round.
    """

    event: int
    message: MessageSent
    secret: Secret
    match: Match
    how: Literal["told", "passed on"]
    participants: tuple[int, ...]
    others: tuple[int, ...]

    @property
    def audience(self) -> Literal["participants", "others", "both"]:
        """Who read it of those who may not know it: participants of the round, others, or both."""
        if not self.others:
            return "participants"
        return "both" if self.participants else "others"


def leaks_of(trace: Trace, secrets: Sequence[Secret], matcher: Matcher) -> list[SemanticLeak]:
    """The leaks of a game, in order of the messages.

    A message leaks a secret if it gives it away, its sender knows the secret, and a reader may not know it. Seats
    know what is theirs and what a message before gave away to them. A seat that does not know a secret cannot
    leak it: a word that it happens to use counts for nothing.

    Args:
        trace: The game.
        secrets: Its secrets.
        matcher: What finds them, made of the same secrets.
    """
    return list(_leaks(trace, secrets, matcher))


def _leaks(trace: Trace, secrets: Sequence[Secret], matcher: Matcher) -> Iterator[SemanticLeak]:
    knows = [set(secret.owners) for secret in secrets]
    inside: tuple[int, ...] = ()
    for place, event in enumerate(trace.events):
        if isinstance(event, RoundStart):
            inside = event.round.participants
        elif isinstance(event, MessageSent):
            for match in matcher.matches(event.content):
                secret = secrets[match.secret]
                if event.sender not in knows[match.secret]:
                    continue
                strangers = [seat for seat in event.readers if seat not in secret.may_know]
                knows[match.secret].update(event.readers)
                if strangers:
                    yield SemanticLeak(
                        event=place,
                        message=event,
                        secret=secret,
                        match=match,
                        how="told" if event.sender in secret.owners else "passed on",
                        participants=tuple(seat for seat in strangers if seat in inside),
                        others=tuple(seat for seat in strangers if seat not in inside),
                    )
