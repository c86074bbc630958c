"""The judgements of a run, as they were made: one line each, only ever appended, and gone on with later."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from pydantic import ValidationError

from adversarial.judge.asking import Belief, Kept
from adversarial.judge.cases import Case, CaseKey
from framework.asking import Answer
from framework.journal import append_line, read_lines
from framework.messages import Frozen
from framework.trace import Usage

__all__ = ["Entry", "Journal"]


class Entry(Frozen):
    """One judgement.

    Attributes:
        game_id: The game.
        round: Index of the round.
        observer: The seat that was delivered the messages.
        posts: Ids of the messages that the judge was shown.
        judge: Name of the judge.
        prompts: SHA-256 of its prompt's templates.
        beliefs: The beliefs that changed.
        dropped: Entries of the answer about no seat, slot or change that there is.
        reply: What it answered.
        error: Why that could not be read; the next sitting asks anew.
        usage: What it consumed.
    """

    game_id: str
    round: int
    observer: int
    posts: tuple[int, ...]
    judge: str
    prompts: str
    beliefs: tuple[Belief, ...] = ()
    dropped: int = 0
    reply: str = ""
    error: str = ""
    usage: Usage = Usage()

    @classmethod
    def of(cls, case: Case, answer: Answer[Kept], judge: str, prompts: str) -> Entry:
        """The entry of an answer."""
        kept = answer.value or Kept()
        return cls(
            game_id=case.key.game_id,
            round=case.key.round,
            observer=case.key.observer,
            posts=tuple(message.id for message in case.messages),
            judge=judge,
            prompts=prompts,
            beliefs=kept.beliefs,
            dropped=kept.dropped,
            reply=answer.reply,
            error=answer.error,
            usage=answer.usage,
        )

    @property
    def key(self) -> CaseKey:
        """The case that it is about."""
        return CaseKey(self.game_id, self.round, self.observer)


class Journal:
    """The judgements of one run by one judge.

    Args:
        path: The file; its folder is made when something is written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self, judge: str, prompts: str) -> dict[CaseKey, Entry]:
        """The latest entry of each case by this judge with this prompt; a torn line is skipped.

        Raises:
            UserError: If the file cannot be read.
        """
        entries = (
            entry for entry in _entries(read_lines(self.path)) if (entry.judge, entry.prompts) == (judge, prompts)
        )
        return {entry.key: entry for entry in entries}

    def append(self, entry: Entry) -> None:
        """Add a line, synced.

        Raises:
            UserError: If the file cannot be written.
        """
        append_line(self.path, entry.model_dump_json())


def _entries(lines: Iterable[str]) -> Iterator[Entry]:
    for line in lines:
        try:
            yield Entry.model_validate_json(line)
        except ValidationError:
            continue
