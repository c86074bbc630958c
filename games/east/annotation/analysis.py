"""What annotations say about play: strategies of reasoning, incoherence, fallacies, and which occur together.

Source: EAST paper, sections 3.2 and 3.3, figures 3 to 5.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from framework.errors import UserError
from framework.trace import TraceError, read_trace
from games.east.annotation.labels import FALLACIES, Fallacies, Level, TomLabels
from games.east.annotation.sidecar import FallaciesLabelled, Labelled, Sidecar, TomLabelled
from games.east.results import Played, played, trace_files

__all__ = [
    "FallacyShare",
    "Judged",
    "Labelling",
    "ReasoningShare",
    "annotators_of",
    "cooccurrence",
    "fallacy_shares",
    "read_labels",
    "reasoning_shares",
]


@dataclass(frozen=True, slots=True)
class Judged:
    """One seat's reasoning as one annotator judged it; the latest judgement counts.

    Attributes:
        trace: The game's file, which tells it from any other.
        game: The game.
        seat: The seat.
        annotator: Who judged.
        tom: The Theory-of-Mind labels, if any.
        fallacies: The fallacies, if they were judged.
    """

    trace: Path
    game: Played
    seat: int
    annotator: str
    tom: TomLabels | None
    fallacies: Fallacies | None


@dataclass(frozen=True, slots=True)
class Labelling:
    """The annotations of runs.

    Attributes:
        games: All games of the runs, annotated or not.
        judged: What was judged.
    """

    games: tuple[Played, ...]
    judged: tuple[Judged, ...]

    def by(self, annotator: str) -> Labelling:
        """The same with the judgements of one annotator only."""
        return Labelling(self.games, tuple(judged for judged in self.judged if judged.annotator == annotator))


def read_labels(runs: Iterable[Path]) -> Labelling:
    """The annotations of runs' folders.

    Raises:
        UserError: If a run holds no traces, or a file cannot be read.
    """
    games, judged = list[Played](), list[Judged]()
    for run in runs:
        for path in trace_files(run):
            try:
                game = played(read_trace(path), run.resolve().name)
            except TraceError as error:
                raise UserError(str(error)) from error
            games.append(game)
            judged += _judged(path, game, Sidecar(path).read())
    return Labelling(tuple(games), tuple(judged))


def _judged(trace: Path, game: Played, events: Sequence[Labelled]) -> list[Judged]:
    tom = {(e.annotator, e.seat): e.labels for e in events if isinstance(e, TomLabelled)}
    fallacies = {(e.annotator, e.seat): e.labels for e in events if isinstance(e, FallaciesLabelled)}
    keys = sorted(tom.keys() | fallacies.keys())
    return [Judged(trace, game, seat, who, tom.get((who, seat)), fallacies.get((who, seat))) for who, seat in keys]


def annotators_of(labelling: Labelling) -> list[str]:
    """Who judged, busiest first."""
    counts = Counter(judged.annotator for judged in labelling.judged)
    return sorted(counts, key=lambda name: (-counts[name], name))


@dataclass(frozen=True, slots=True)
class ReasoningShare:
    """How seats reasoned in games with a normative match.

    Attributes:
        strategy: The strategy of the seats.
        condition: The condition.
        prompt: The prompt variant.
        n: Seats whose reasoning was judged.
        levels: How many reached each level at most.
        incoherent: How many of those with ToM reasoning do not fit what they were told.
    """

    strategy: str
    condition: str
    prompt: str
    n: int
    levels: Counter[Level]
    incoherent: int

    @property
    def with_tom(self) -> int:
        """Seats with ToM reasoning: those of level 1 and 2."""
        return self.levels[1] + self.levels[2]


def reasoning_shares(labelling: Labelling) -> list[ReasoningShare]:
    """By strategy, condition and prompt, over seats of games that ended on the target (paper, figure 3).

    Places in which games were played but none of them ended on the target are there with `n` 0.
    """
    games = [game for game in labelling.games if game.outcome is not None]
    places = dict.fromkeys((s, game.condition, game.prompt) for game in games for s in game.strategies)
    found = []
    for strategy, condition, prompt in places:
        labels = [
            judged.tom
            for judged in labelling.judged
            if judged.tom is not None
            and judged.game.outcome is not None
            and judged.game.outcome.normative
            and (judged.game.strategies[judged.seat], judged.game.condition, judged.game.prompt)
            == (strategy, condition, prompt)
        ]
        levels = Counter(label.highest_level_achieved for label in labels)
        incoherent = sum(label.information_coherence == "FALSE" for label in labels)
        found.append(ReasoningShare(strategy, condition, prompt, len(labels), levels, incoherent))
    return found


@dataclass(frozen=True, slots=True)
class FallacyShare:
    """How many of the judged seats in games without coordination commit a fallacy."""

    condition: str
    fallacy: str
    n: int
    count: int


def _missed(labelling: Labelling, condition: str | None = None) -> list[Fallacies]:
    return [
        judged.fallacies
        for judged in labelling.judged
        if judged.fallacies is not None
        and judged.game.outcome is not None
        and not judged.game.outcome.match
        and condition in (None, judged.game.condition)
    ]


def fallacy_shares(labelling: Labelling) -> list[FallacyShare]:
    """By condition and fallacy, over seats of games without coordination (paper, figure 4)."""
    found = []
    conditions = dict.fromkeys(game.condition for game in labelling.games)
    for condition, fallacy in product(conditions, FALLACIES):
        labels = _missed(labelling, condition)
        found.append(FallacyShare(condition, fallacy, len(labels), sum(fallacy in label.present for label in labels)))
    return found


def cooccurrence(labelling: Labelling) -> NDArray[np.int64]:
    """How often two fallacies occur in the same reasoning of a game without coordination (paper, figure 5).

    Returns:
        A symmetric matrix of shape `(11, 11)` in the order of `FALLACIES`; the diagonal counts each alone.
    """
    rows = [[name in label.present for name in FALLACIES] for label in _missed(labelling)]
    present = np.array(rows, dtype=np.int64).reshape(-1, len(FALLACIES))
    return present.T @ present
