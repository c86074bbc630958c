"""A sample of messages for an annotator, and what the annotator's answers say of the patterns (paper, table 13)."""

from __future__ import annotations

import csv
import random
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from framework import Trace
from framework.analysis import Field, Findings, Seen
from framework.errors import UserError
from framework.stats import Interval, wilson
from games.calbench.analysis.disclosure import prose
from games.calbench.analysis.phrases import LABELS, labels_of

__all__ = ["Judged", "Line", "Prose", "draw", "prose_messages", "read_sheet", "validation", "write_sheet"]

_COLUMNS = ("label", "definition", "message", "shows", "run", "game_id", "post")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for the beginning of a formula."""
_ANSWERS = {"yes": True, "y": True, "1": True, "true": True, "no": False, "n": False, "0": False, "false": False}


class Prose(NamedTuple):
    """A message in prose.

    Attributes:
        post: Its id in the game.
        text: What it says.
    """

    post: int
    text: str


class Line(NamedTuple):
    """A line of a sheet: a message to judge for one label."""

    label: str
    message: str
    run: str
    game_id: str
    post: int


class Judged(NamedTuple):
    """A line that was filled in."""

    label: str
    message: str
    shows: bool


def prose_messages(trace: Trace) -> tuple[Prose, ...]:
    """The messages of a game that are not payloads of a protocol."""
    return tuple(Prose(post.id, post.content) for post in prose(trace))


def draw(games: Sequence[Seen[tuple[Prose, ...] | None]], each: int, seed: int) -> list[Line]:
    """As many messages with as without each label, fewer where there are fewer; each text once a label.

    Raises:
        UserError: If there is no message in prose.
    """
    texts: dict[str, Line] = {}
    for game in games:
        for message in game.facts or ():
            texts.setdefault(message.text, Line("", message.text, game.run, game.result.game_id, message.post))
    if not texts:
        raise UserError("these games have no messages in prose; name runs in which language models play")
    rng = random.Random(seed)
    drawn: list[Line] = []
    for label in LABELS:
        found: dict[bool, list[Line]] = {True: [], False: []}
        for text, line in texts.items():
            found[label.name in labels_of(text)].append(line._replace(label=label.name))
        both = [line for lines in found.values() for line in rng.sample(lines, min(each, len(lines)))]
        rng.shuffle(both)
        drawn += both
    return drawn


def write_sheet(path: Path, lines: Sequence[Line]) -> None:
    """Write a sheet to fill in. A text that a spreadsheet would run as a formula is quoted.

    Raises:
        UserError: If the file cannot be written, or there is one.
    """
    definitions = {label.name: label.definition for label in LABELS}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(_COLUMNS)
            for label, message, run, game_id, post in lines:
                text = f"'{message}" if message.startswith(_FORMULA) else message
                writer.writerow([label, definitions[label], text, "", run, game_id, post])
    except FileExistsError as error:
        raise UserError(f"{path} is there already and may hold answers; give another --out") from error
    except OSError as error:
        raise UserError(f"{path} cannot be written ({error.strerror}); give another --out") from error


def read_sheet(path: Path) -> list[Judged]:
    """The lines of a sheet that were filled in.

    Raises:
        UserError: If the file cannot be read, is no sheet, or has an answer that is neither yes nor no.
    """
    known = {label.name for label in LABELS}
    judged = []
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            for number, row in enumerate(csv.DictReader(file), start=2):
                if not {"label", "message", "shows"} <= row.keys() or row["label"] not in known:
                    raise UserError(f"{path} line {number} is not of a sheet; make one: cheaptalk disclosures sheet")
                answer = (row["shows"] or "").strip().lower()
                if answer and answer not in _ANSWERS:
                    raise UserError(f"{path} line {number}: shows is {answer!r:.40}; write yes or no")
                if answer:
                    text = row["message"] or ""
                    message = text[1:] if text.startswith("'") and text[1:].startswith(_FORMULA) else text
                    judged.append(Judged(row["label"], message, _ANSWERS[answer]))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path} cannot be read ({error}); check the path") from error
    if not judged:
        raise UserError(f"{path}: no line is filled in; write yes or no into the column shows")
    return judged


FIELDS = (
    Field("label", "label", "text"),
    Field("judged", "judged", "count"),
    Field("found", "found", "count"),
    Field("precision", "Precision", "number", "higher"),
    Field("recall", "Recall", "number", "higher"),
)


def validation(judged: Sequence[Judged]) -> Findings:
    """Precision and recall of each label's patterns on a sheet, with Wilson's intervals.

    Recall is of the sample, which holds as many messages with as without a label: it is not that of all
    messages, where those without are the many (G.5 reports it in the same way).
    """
    rows = []
    for label in LABELS:
        own = [(label.name in labels_of(line.message), line.shows) for line in judged if line.label == label.name]
        if not own:
            continue
        hits = sum(found and shows for found, shows in own)
        found, present = (sum(line[place] for line in own) for place in (0, 1))
        rows.append((label.title, len(own), found, _share(hits, found), _share(hits, present)))
    note = "Wilson's 95 % intervals. Recall is of the sample, which is balanced between found and not found."
    return Findings(FIELDS, tuple(rows), note, "validation", "Patterns of the disclosure audit against a reader")


def _share(count: int, n: int) -> Interval | None:
    return wilson(count, n) if n else None
