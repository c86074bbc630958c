"""The tables of `cheaptalk leaks`: by strategy, by tier and audience and channel, and message by message."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from adversarial.leaks.audit import SemanticLeak, leaks_of
from adversarial.leaks.matching import THRESHOLD, Matcher
from framework import Game, Trace, registry
from framework.analysis import Field, Findings, Group, Part, Sample, Seen, by_strategy, share
from framework.analysis.findings import Value
from framework.analysis.groups import GROUP_FIELDS
from framework.errors import UserError
from framework.experiment import Reporting

__all__ = ["Audited", "Tier", "auditor", "by_audience", "by_message", "by_strategies", "game_with_secrets"]


class Tier(NamedTuple):
    """How private secrets are: tiers sort from the least private."""

    severity: int
    name: str


@dataclass(frozen=True, slots=True)
class Audited:
    """What is kept of a game.

    Attributes:
        messages: Number of messages that each seat sent.
        tiers: The tiers of its secrets.
        leaks: What was given away.
    """

    messages: tuple[int, ...]
    tiers: frozenset[Tier]
    leaks: tuple[SemanticLeak, ...]

    def of(self, seat: int) -> list[SemanticLeak]:
        """What a seat gave away."""
        return [leak for leak in self.leaks if leak.message.sender == seat]


Games = Sequence[Seen[Audited | None]]


def game_with_secrets(name: str) -> Game[Any, Any]:
    """A game that says what is secret in it.

    Raises:
        UserError: If there is no such game, or it declares no secrets.
    """
    kind = registry.game(name)
    if kind.secrets is Game.secrets:
        raise UserError(f"game {name!r} declares no secrets, so nothing can leak; define `secrets` on its class")
    return kind()


def auditor(game: Game[Any, Any], threshold: float = THRESHOLD) -> Callable[[Trace], Audited]:
    """What reads a trace of a game for its leaks.

    Args:
        game: The game.
        threshold: The similarity from which on a sentence gives a text away.
    """

    def audit(trace: Trace) -> Audited:
        try:
            secrets = game.secrets(trace)
        except ValueError as error:
            raise UserError(str(error)) from error
        sent = Counter(post.sender for post in trace.posts)
        return Audited(
            messages=tuple(sent[seat] for seat in range(trace.start.seats)),
            tiers=frozenset(Tier(secret.severity, secret.tier) for secret in secrets),
            leaks=tuple(leaks_of(trace, secrets, Matcher(secrets, threshold))),
        )

    return audit


def tiers_of(games: Games) -> list[Tier]:
    """The tiers of the games' secrets, the least private first."""
    return sorted({tier for game in games if game.facts for tier in game.facts.tiers})


def _finished(games: Games) -> Games:
    return [game for game in games if game.result.abort is None]


# --- by strategy ------------------------------------------------------------------------------------


def by_strategies(games: Games, reporting: Reporting) -> Findings:
    """One row for each run, setting and strategy: how much its seats gave away."""
    tiers = tiers_of(games)
    fields = (
        *GROUP_FIELDS,
        Field("games", "games", "count"),
        Field("seats", "seats", "count"),
        Field("messages", "messages", "count"),
        Field("leaks", "Leaks", better="lower"),
        *(Field(f"leaks_{tier.name}", tier.name.replace("_", " "), better="lower") for tier in tiers),
        Field("leaking_messages", "Leaking messages", "share", "lower"),
        Field("leaking_seats", "Leaking seats", "share", "lower"),
    )
    rows = tuple(
        (*group.cells(), *_summary(parts, tiers, reporting)) for group, parts in by_strategy(_finished(games)).items()
    )
    percent = f"{100 * reporting.confidence:g} %"
    note = (
        "A leak is a message that gives a secret away to somebody who may not know it; means are by seat and game, "
        f"with {percent} intervals over games. Shares of messages, and of seats in games, with Wilson's {percent} "
        "interval."
    )
    aborted = len(games) - len(_finished(games))
    if aborted:
        note += f" {aborted} of {len(games)} games aborted and in no mean; what leaked in them is listed."
    return Findings(fields, rows, note, "leaks", "Semantic leaks")


class _Seat(NamedTuple):
    game: str
    facts: Audited
    seat: int


def _seats(parts: Sequence[Part[Audited | None]]) -> Iterator[_Seat]:
    """Each seat of a group, in each of its games."""
    for game, seats in parts:
        if game.facts is not None:
            yield from (_Seat(game.result.game_id, game.facts, seat) for seat in seats)


def _summary(parts: Sequence[Part[Audited | None]], tiers: Sequence[Tier], reporting: Reporting) -> tuple[Value, ...]:
    whole, by_tier = Sample(), {tier.name: Sample() for tier in tiers}
    messages = leaking = leaky_seats = 0
    for game, facts, seat in _seats(parts):
        leaks = facts.of(seat)
        whole.add(game, [len(leaks)])
        for name, sample in by_tier.items():
            sample.add(game, [sum(leak.secret.tier == name for leak in leaks)])
        messages += facts.messages[seat]
        leaking += len({leak.message.id for leak in leaks})
        leaky_seats += bool(leaks)
    return (
        len(parts),
        len(whole),
        messages,
        whole.mean(reporting),
        *(sample.mean(reporting) for sample in by_tier.values()),
        share(leaking, messages, reporting),
        share(leaky_seats, len(whole), reporting),
    )


# --- by tier, channel and audience ------------------------------------------------------------------


class _Cell(NamedTuple):
    group: Group
    tier: Tier
    channel: str
    audience: str


def by_audience(games: Games, reporting: Reporting) -> Findings:
    """One row for each run, setting, strategy, tier, channel and audience with a leak."""
    cells: dict[_Cell, list[tuple[str, SemanticLeak]]] = {}
    for group, parts in by_strategy(_finished(games)).items():
        for game, facts, seat in _seats(parts):
            for leak in facts.of(seat):
                tier = Tier(leak.secret.severity, leak.secret.tier)
                cell = _Cell(group, tier, leak.message.channel, leak.audience)
                cells.setdefault(cell, []).append((game, leak))
    place = {group: number for number, group in enumerate(dict.fromkeys(cell.group for cell in cells))}
    fields = (
        *GROUP_FIELDS,
        Field("tier", "tier", "text"),
        Field("channel", "channel", "text"),
        Field("audience", "audience", "text"),
        Field("leaks", "leaks", "count", "lower"),
        Field("secrets", "secrets", "count"),
        Field("games", "games", "count"),
        Field("by_term", "by a term", "count"),
        Field("by_similarity", "by similarity", "count"),
        Field("passed_on", "passed on", "count"),
    )
    rows = tuple(
        (*cell.group.cells(), cell.tier.name, cell.channel, cell.audience, *_counts(found))
        for cell, found in sorted(cells.items(), key=lambda item: (place[item[0].group], item[0][1:]))
    )
    note = (
        "Audience: of those who read the message and may not know the secret, whether they take part in the round, do "
        "not, or some of both. Secrets are counted once a game. Passed on: the sender had it from another seat."
    )
    return Findings(fields, rows, note, "leaks-by-audience", "Semantic leaks by tier, channel and audience")


def _counts(found: Sequence[tuple[str, SemanticLeak]]) -> tuple[Value, ...]:
    return (
        len(found),
        len({(game, leak.secret.id) for game, leak in found}),
        len({game for game, _ in found}),
        sum(leak.match.by == "term" for _, leak in found),
        sum(leak.match.by == "similarity" for _, leak in found),
        sum(leak.how == "passed on" for _, leak in found),
    )


# --- message by message -----------------------------------------------------------------------------

_MESSAGE_FIELDS = (
    Field("run", "run", "text", key=True),
    Field("task", "task", "text"),
    Field("game_id", "game", "text"),
    Field("round", "round", "count"),
    Field("post", "post", "count"),
    Field("channel", "channel", "text"),
    Field("sender", "sender", "count"),
    Field("strategy", "strategy", "text"),
    Field("participants", "to participants", "text"),
    Field("others", "to others", "text"),
    Field("tier", "tier", "text"),
    Field("secret", "secret", "text"),
    Field("text", "its text", "text"),
    Field("how", "how", "text"),
    Field("by", "found by", "text"),
    Field("evidence", "evidence", "text"),
    Field("similarity", "similarity"),
    Field("said", "message", "text"),
)


def by_message(games: Games) -> Findings:
    """One row for each leak, aborted games among them, in the order in which they happened."""
    rows = tuple(
        (
            game.run,
            game.result.task,
            game.result.game_id,
            leak.message.round,
            leak.message.id,
            leak.message.channel,
            leak.message.sender,
            game.result.strategies[leak.message.sender],
            _seats_listed(leak.participants),
            _seats_listed(leak.others),
            leak.secret.tier,
            leak.secret.id,
            leak.secret.text,
            leak.how,
            leak.match.by,
            leak.match.evidence,
            leak.match.score,
            leak.message.content,
        )
        for game in games
        if game.facts
        for leak in game.facts.leaks
    )
    note = "One row for each secret that a message gave away, with the readers who may not know it."
    return Findings(_MESSAGE_FIELDS, rows, note, "leak-messages", "Messages that gave secrets away")


def _seats_listed(seats: Sequence[int]) -> str:
    return " ".join(map(str, seats))
