"""What is kept of an optimization, beside the block that came out of it."""

from __future__ import annotations

from pydantic import Field

from framework import Usage
from framework.messages import Frozen

__all__ = ["Candidate", "HeldOut", "PlayedGame", "Record"]


class PlayedGame(Frozen):
    """One game that was played with a block.

    Attributes:
        block: SHA-256 of the block.
        task: Id of the task.
        seed: Seed of the game.
        score: What it counted for.
        metrics: The weighted metrics of the game.
    """

    block: str
    task: str
    seed: int
    score: float
    metrics: dict[str, float | None] = {}


class Candidate(Frozen):
    """A block that the optimizer considered.

    Attributes:
        text: The block.
        hash: SHA-256 of the text.
        parents: Which candidates it was made from, by number.
        scores: Its score on each task that it was judged by, by the task's id: the validation tasks, or for one
            that was rejected before, the training tasks that it was tried on.
        mean: Their mean.
        rejected: Whether it did not do better than its parent in training, and so was not validated.
    """

    text: str
    hash: str
    parents: tuple[int, ...] = ()
    scores: dict[str, float] = {}
    mean: float = 0.0
    rejected: bool = False


class HeldOut(Frozen):
    """How base and best compare on tasks that played no part in the optimization.

    Attributes:
        base: The base's score on each task.
        best: The best candidate's.
        better: Whether the best is better in the mean.
    """

    base: dict[str, float] = {}
    best: dict[str, float] = {}
    better: bool = False


class Record(Frozen):
    """How a block was optimized.

    Attributes:
        base: Name and version of the block that it began with.
        game: The game.
        suite: The suite that the tasks are from.
        suite_seed: Its seed.
        seed: Seed of the optimization.
        model: The model that played.
        lm: The model that rewrote the block.
        weights: What a game counts for, by metric.
        budget: Games that the optimization might play.
        training: Ids of the tasks that it learned from.
        validation: Ids of the tasks that candidates were chosen by.
        holdout: Ids of the tasks that played no part.
        versions: Versions of the packages that matter.
        candidates: Every candidate, those that were validated first, in order; the base is the first of all.
        games: Every game that was played, in order.
        held_out: The comparison at the end.
        usage: What the model that played consumed.
        stopped: Why the search ended early; empty if it did not. Nothing was compared then.
        written: Name of the new block's file; empty if no candidate was better than the base in validation.
    """

    base: str
    game: str
    suite: str
    suite_seed: int
    seed: int
    model: str
    lm: str
    weights: dict[str, float]
    budget: int
    training: tuple[str, ...]
    validation: tuple[str, ...]
    holdout: tuple[str, ...]
    versions: dict[str, str] = {}
    candidates: tuple[Candidate, ...] = ()
    games: tuple[PlayedGame, ...] = ()
    held_out: HeldOut = HeldOut()
    usage: Usage = Field(default_factory=Usage)
    stopped: str = ""
    written: str = ""
