"""What typed messages give away: a game's declared table, and the evidence that it reads from a trace.

A game that wants VPS declares an `EvidenceTable`: for each kind of message that protocols exchange over its
`AgreementView`, which slots it speaks of, what it says of each, and how strongly that counts. A table reads
like table 10 of the CalBench paper (F.2). A message moves the belief of each of its readers about its
sender, and no other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Union, get_args

from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter, ValidationError
from pydantic_core import from_json

from framework.errors import UserError
from framework.trace import Boundary, Event, GameAborted, GameStart, MessageSent, RoundStart, Trace, TraceError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

__all__ = ["EvidenceTable", "GameEvidence", "Heard", "Rule", "Talk", "Update", "declared", "gather"]


class Heard(BaseModel):
    """The part of a typed payload that an observer learns from. A subclass narrows `kind` to a literal.

    Fields that the table does not need are ignored, so that a protocol may carry more than it gives away.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    kind: str


def _nothing(message: Any, question: Any) -> Sequence[int]:
    return ()


@dataclass(frozen=True, kw_only=True)
class Rule:
    """What one kind of message gives away about its sender. A rule without `slots` gives away nothing.

    Attributes:
        message: What is read of the payload; its `kind` names the rule.
        slots: The slots that the message speaks of, from the message and the one that it answers (None
            unless `answers` is set).
        evidence: The belief `e` that the message speaks for, in [0, 1]; one number, or one for each slot from
            the same two messages.
        strength: How much it counts, `alpha` in (0, 1].
        answers: What the message answers: the last of that kind which its reader sent to its sender in the
            same round. An answer to nothing gives away nothing.
    """

    message: type[Heard]
    slots: Callable[[Any, Any], Sequence[int]] = _nothing
    evidence: float | Callable[[Any, Any], Sequence[float]] = 1.0
    strength: float = 1.0
    answers: type[Heard] | None = None

    @property
    def kind(self) -> str:
        """The kind of message that the rule is about."""
        return _kind_of(self.message)

    def hints(self, message: Heard, question: Heard | None) -> Iterator[tuple[int, float]]:
        """Each slot that a message speaks of, with its evidence, in the order in which they count."""
        if self.answers is not None and question is None:
            return
        slots = self.slots(message, question)
        evidence = self.evidence(message, question) if callable(self.evidence) else repeat(self.evidence)
        yield from zip(slots, evidence, strict=False)


def _kind_of(message: type[Heard]) -> str:
    kinds: tuple[str, ...] = get_args(message.model_fields["kind"].annotation)
    if len(kinds) != 1:
        raise TypeError(f"{message.__name__}.kind must be a literal of one word, such as Literal['costs']")
    return kinds[0]


@dataclass(frozen=True, kw_only=True, eq=False)
class EvidenceTable:
    """How a game's typed messages move beliefs.

    Attributes:
        slots: Number of slots (options) of a game, from its first event.
        rules: One for each kind of message, those that give nothing away included: a message of any other
            kind counts as one that the table cannot read.
        floor: VPS that a game costs at the least, subtracted from each target's total (F.4: five slots).
        weights: What each slot of each seat's private state weighs in each round, for the cost-weighted
            variant: trace -> array (rounds, seats, slots).
    """

    slots: Callable[[GameStart], int]
    rules: tuple[Rule, ...]
    floor: float = 5.0
    weights: Callable[[Trace], FloatArray] | None = None

    def __post_init__(self) -> None:
        for rule in self.rules:
            if not 0.0 < rule.strength <= 1.0:
                raise ValueError(f"rule {rule.kind}: strength {rule.strength} is outside (0, 1]; give one inside")
        if len(self.by_kind) < len(self.rules):
            raise ValueError("an evidence table has two rules for one kind; keep one of them")

    @cached_property
    def by_kind(self) -> dict[str, tuple[int, Rule]]:
        """Each rule with its place in `rules`, by the kind of message."""
        return {rule.kind: (place, rule) for place, rule in enumerate(self.rules)}

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """The kinds of message, in the order of the rules."""
        return tuple(rule.kind for rule in self.rules)

    @cached_property
    def _adapter(self) -> TypeAdapter[Any]:
        messages: Any = Union[tuple(rule.message for rule in self.rules)]  # noqa: UP007
        tagged: Any = Annotated[messages, Field(discriminator="kind")]
        return TypeAdapter(tagged if len(self.rules) > 1 else messages)

    def read(self, content: str) -> Heard | None:
        """The payload of a message; None if it is prose, of an unknown kind, or malformed."""
        if not content.startswith("{"):
            return None
        try:
            heard: Heard = self._adapter.validate_json(content)
        except ValidationError:
            return None
        return heard


class Update(NamedTuple):
    """One movement of a belief: `observer` learns something about one slot of `target`.

    Attributes:
        event: Index of the message's event in the trace.
        round: Index of the round.
        observer: The seat that read the message.
        target: The seat that sent it.
        slot: The slot that it speaks of.
        source: Place of the rule in the table, see `EvidenceTable.sources`.
        evidence: What it speaks for, in [0, 1].
        strength: How much it counts, in (0, 1].
    """

    event: int
    round: int
    observer: int
    target: int
    slot: int
    source: int
    evidence: float
    strength: float


class Said(NamedTuple):
    """A delivered message and the index of its event."""

    event: int
    message: MessageSent


@dataclass(frozen=True, slots=True)
class Talk:
    """The part of a trace from which typed VPS is computed.

    Attributes:
        game_id: Id of the playing.
        game: The game, as its run's config names it.
        group: The setting under which tables list the game.
        start: The first event.
        participants: The participants of each round, by its index.
        starts: Index of the event with which each round begins.
        said: The delivered messages, in order.
        aborted: Where a failure belongs that kept the game from being finished.
    """

    game_id: str
    game: str
    group: str
    start: GameStart
    participants: tuple[tuple[int, ...], ...]
    starts: tuple[int, ...]
    said: tuple[Said, ...]
    aborted: Boundary | None = None

    @classmethod
    def of(cls, trace: Trace) -> Talk:
        """The talk of a trace.

        Raises:
            TraceError: If the trace has no first event.
        """
        return _talk(trace.game_id, trace.config, enumerate(trace.events))

    @classmethod
    def read(cls, path: Path) -> Talk:
        """The talk of a trace on disk, without building its other events.

        Raises:
            TraceError: If the file is missing, torn or not a trace.
        """
        try:
            data = from_json(path.read_bytes(), cache_strings="all")
            events = enumerate(data["events"])
            told = ((index, _TOLD[kind].model_validate(e)) for index, e in events if (kind := e["type"]) in _TOLD)
            return _talk(data["game_id"], data["config"], told)
        except OSError as error:
            raise TraceError(f"trace {path}: cannot be read ({error.strerror}); check the path") from error
        except TraceError:
            raise
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            why = str(error).partition("\n")[0]
            raise TraceError(f"trace {path}: it is torn or not a trace ({why}); play the game again") from error


_TOLD: dict[str, type[Event]] = {
    "game_start": GameStart,
    "round_start": RoundStart,
    "dm_sent": MessageSent,
    "groupchat_sent": MessageSent,
    "game_aborted": GameAborted,
}


def _talk(game_id: str, config: Mapping[str, JsonValue], events: Iterable[tuple[int, Event]]) -> Talk:
    start: GameStart | None = None
    aborted: Boundary | None = None
    participants: list[tuple[int, ...]] = []
    starts: list[int] = []
    said: list[Said] = []
    for index, event in events:
        if isinstance(event, MessageSent):
            said.append(Said(index, event))
        elif isinstance(event, RoundStart):
            participants.append(event.round.participants)
            starts.append(index)
        elif isinstance(event, GameStart):
            start = event
        elif isinstance(event, GameAborted):
            aborted = event.boundary
    if start is None:
        raise TraceError(f"game {game_id} has no game_start event; its trace is not complete, play it again")
    return Talk(
        game_id=game_id,
        game=str(config.get("game", start.game)),
        group=str(config.get("group", "")),
        start=start,
        participants=tuple(participants),
        starts=tuple(starts),
        said=tuple(said),
        aborted=aborted,
    )


@dataclass(frozen=True, slots=True)
class GameEvidence:
    """What was given away in one game.

    Attributes:
        game_id: Id of the playing.
        group: The setting under which tables list the game.
        strategies: Name of the strategy in each seat.
        adversarial: The seats whose strategy works against the others.
        slots: Number of slots.
        participants: The participants of each round.
        updates: The movements of beliefs, in order.
        unread: How many messages of each seat the table cannot read: prose, for instance.
        weights: What each slot weighs, as an array (rounds, seats, slots); None where all weigh 1.
        path: The file that it was read from.
    """

    game_id: str
    group: str
    strategies: tuple[str, ...]
    adversarial: tuple[int, ...]
    slots: int
    participants: tuple[tuple[int, ...], ...]
    updates: tuple[Update, ...]
    unread: tuple[int, ...]
    weights: FloatArray | None = field(default=None, compare=False)
    path: str = ""

    @property
    def seats(self) -> int:
        """Number of seats."""
        return len(self.strategies)


def gather(talk: Talk, table: EvidenceTable, *, path: str = "") -> GameEvidence:
    """Read from a game's messages what each reader learns about the sender.

    A payload that speaks of slots which do not exist gives away nothing about those.

    Args:
        talk: The messages.
        table: What each kind of message says.
        path: Where the trace came from, kept for the tables.
    """
    start = talk.start
    slots = table.slots(start)
    unread = [0] * start.seats
    updates: list[Update] = []
    latest: dict[tuple[type[Heard], int, int], Heard] = {}
    round = -1
    for event, message in talk.said:
        if message.round != round:
            round = message.round
            latest.clear()
        sender, heard = message.sender, table.read(message.content)
        if heard is None:
            unread[sender] += 1
            continue
        source, rule = table.by_kind[heard.kind]
        for reader in message.readers:
            latest[type(heard), sender, reader] = heard
            question = latest.get((rule.answers, reader, sender)) if rule.answers else None
            updates += [
                Update(event, round, reader, sender, slot, source, evidence, rule.strength)
                for slot, evidence in rule.hints(heard, question)
                if 0 <= slot < slots
            ]
    return GameEvidence(
        game_id=talk.game_id,
        group=talk.group,
        strategies=start.strategies,
        adversarial=start.adversarial,
        slots=slots,
        participants=talk.participants,
        updates=tuple(updates),
        unread=tuple(unread),
        path=path,
    )


def declared(game: str) -> EvidenceTable:
    """What a game declares, by the name that configs and traces give it.

    Raises:
        UserError: If the game is unknown here or declares no table.
    """
    from framework import registry

    table = registry.game(game).evidence
    if table is None:
        raise UserError(
            f"game {game!r} declares no evidence table, so it has no typed VPS; set `evidence` on its class"
        )
    return table
