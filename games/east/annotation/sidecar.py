"""Annotations as events in a file beside the trace: `<trace>.labels.jsonl`. The trace itself is never touched.

Lines are only ever appended. A line that a killed process left torn is skipped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import ValidationError

from framework.journal import append_line, read_lines
from framework.trace import Event, Usage
from games.east.annotation.labels import Fallacies, TomLabels

__all__ = ["AnnotationFailed", "FallaciesLabelled", "Kind", "Labelled", "Sidecar", "TomLabelled"]

Kind: TypeAlias = Literal["tom", "fallacies"]
"""Which of the two annotators."""


class Labelled(Event):
    """A seat's reasoning was judged.

    Attributes:
        game_id: The game.
        seat: The seat whose reasoning it is.
        annotator: Who judged: a model's name, or a person's.
        prompts: SHA-256 of the annotator's prompts; empty for a person.
        usage: What it consumed.
    """

    game_id: str
    seat: int
    annotator: str
    prompts: str = ""
    usage: Usage | None = None


class TomLabelled(Labelled):
    """The Theory-of-Mind level of a seat's reasoning."""

    type: Literal["tom_labelled"] = "tom_labelled"
    labels: TomLabels


class FallaciesLabelled(Labelled):
    """The fallacies in a seat's reasoning."""

    type: Literal["fallacies_labelled"] = "fallacies_labelled"
    labels: Fallacies


class AnnotationFailed(Labelled):
    """An annotator gave no answer that fits the schema, also when asked again; the next sitting asks anew.

    Attributes:
        kind: Which annotator.
        error: What was wrong, in one sentence.
        reply: What it answered.
    """

    type: Literal["annotation_failed"] = "annotation_failed"
    kind: Kind
    error: str
    reply: str = ""


class Sidecar:
    """The annotations of one game.

    Args:
        trace: The trace's file.
    """

    def __init__(self, trace: Path) -> None:
        self.path = trace.with_name(f"{trace.stem}.labels.jsonl")

    def read(self) -> list[Labelled]:
        """All annotations, in order; none if there is no file.

        Raises:
            UserError: If the file cannot be read.
        """
        return list(_events(read_lines(self.path)))

    def done(self, kind: Kind, seat: int, annotator: str) -> bool:
        """Whether this annotator has judged this seat."""
        wanted = TomLabelled if kind == "tom" else FallaciesLabelled
        return any(isinstance(e, wanted) and (e.seat, e.annotator) == (seat, annotator) for e in self.read())

    def append(self, event: Labelled) -> None:
        """Add a line, synced.

        Raises:
            UserError: If the file cannot be written.
        """
        append_line(self.path, event.model_dump_json())


def _events(lines: Iterable[str]) -> Iterator[Labelled]:
    for line in lines:
        for kind in (TomLabelled, FallaciesLabelled, AnnotationFailed):
            try:
                yield kind.model_validate_json(line)
            except ValidationError:
                continue
            break
