"""Rewrites a prompt block with DSPy's GEPA, by what games that are played with it come to.

GEPA plays some training tasks with a block, shows a language model what went wrong, lets it rewrite the
block, and keeps candidates that do better on the validation tasks. At the end the best candidate and the
block that it began with play tasks that had no part in this.

Source: Agrawal et al., GEPA: Reflective Prompt Evolution Can Outperform Reinforcement Learning (2025).
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import dspy
from pydantic import BaseModel

from dspy_variants.playing import Player
from dspy_variants.proposing import Proposer
from dspy_variants.record import Candidate, HeldOut, Record
from dspy_variants.scoring import Weights, check_weights
from dspy_variants.variants import Variant, write_variant
from framework import Game, Strategy
from framework.errors import UserError

__all__ = ["Optimized", "Tasks", "optimize"]


class Tasks(NamedTuple):
    """The tasks of an optimization, by what they are for. No task is in two parts."""

    training: Sequence[BaseModel]
    validation: Sequence[BaseModel]
    holdout: Sequence[BaseModel]


class Optimized(NamedTuple):
    """What came out.

    Attributes:
        variant: The new version; None if no candidate was better than the base in validation, or the search stopped.
        record: How it came about.
    """

    variant: Variant | None
    record: Record


class _Program(dspy.Module):  # type: ignore[misc]
    """A program whose one instruction is the block, and whose run is a game."""

    def __init__(self, block: str, player: Player) -> None:
        super().__init__()
        self.block = dspy.Predict(dspy.Signature("task -> result", block))
        self.player = player

    def forward(self, task: str) -> Any:
        value, said = self.player(self.block.signature.instructions, task)
        prediction = dspy.Prediction(result=said, score=value)
        if dspy.settings.trace is not None:  # the game stands for the call that GEPA looks for
            dspy.settings.trace.append((self.block, {"task": task}, prediction))
        return prediction


def _metric(gold: Any, pred: Any, trace: Any = None, pred_name: Any = None, pred_trace: Any = None) -> Any:
    return dspy.Prediction(score=pred.score, feedback=pred.result)


def optimize(
    game: Game[Any, Any],
    base: Variant,
    tasks: Tasks,
    seat: Callable[[str], Strategy[Any]],
    lm: Any,
    *,
    weights: Weights,
    games: int,
    seed: int = 0,
    threads: int = 1,
    suite: str = "",
    suite_seed: int = 0,
    model: str = "",
) -> Optimized:
    """Look for a better version of a block.

    Args:
        game: The game.
        base: The block to begin with.
        tasks: What it is played on.
        seat: Makes the strategy of one seat, from the text of a block.
        lm: Any DSPy language model, which rewrites blocks.
        weights: What a game counts for, by metric.
        games: About how many games the search may play; the comparison at the end is played besides.
        seed: Seed of the search and of the games.
        threads: Games that are played at once.
        suite: The suite that the tasks are from, for the record.
        suite_seed: Its seed, for the record.
        model: The model that plays, for the record.

    Raises:
        UserError: If the weights do not fit, or there are too few tasks or games. A model that fails or a budget
            that is spent stops the search; the record says why, and holds what was played.
    """
    check_weights(weights, game.metrics)
    ids = _checked_ids(game, tasks, games)
    scenarios = {game.task_id(task): task for part in tasks for task in part}
    player = Player(game, scenarios, seat, weights, seed)
    proposer = Proposer(lambda: player.failure)
    found = _search(base, player, proposer, ids, lm, games, seed, threads)
    best = max(range(len(found)), key=lambda number: (found[number].mean, -number))
    failed = player.failure or proposer.failure
    held_out = HeldOut() if failed else _compare(player, base.text, found[best].text, ids[2])
    stopped = failed or player.failure
    validated = [] if stopped else found  # with games that were not played, a mean says nothing
    record = Record(
        base=base.label,
        game=game.name,
        seed=seed,
        weights=dict(weights),
        budget=games,
        training=tuple(ids[0]),
        validation=tuple(ids[1]),
        holdout=tuple(ids[2]),
        versions={package: version(package) for package in ("dspy", "gepa")},
        candidates=(*validated, *_others(player, {candidate.hash for candidate in validated}, rejected=not stopped)),
        held_out=HeldOut() if stopped else held_out,
        games=tuple(player.games),
        usage=player.usage,
        suite=suite,
        suite_seed=suite_seed,
        model=model,
        lm=str(getattr(lm, "model", "")),
        stopped=stopped,
    )
    return Optimized(None if stopped else _next_version(base, found[best].text.strip()), record)


def _checked_ids(game: Game[Any, Any], tasks: Tasks, games: int) -> list[list[str]]:
    ids = [[game.task_id(task) for task in part] for part in tasks]
    if not all(ids):
        raise UserError("training, validation and holdout need at least one task each; give more tasks")
    if games < 2 * len(ids[1]):
        raise UserError(f"{games} games are too few for {len(ids[1])} validation tasks; allow at least twice as many")
    return ids


def _next_version(base: Variant, text: str) -> Variant | None:
    """The block as a new version; None if it is the base itself."""
    if text == base.text.strip():
        return None
    return base.model_copy(update={"text": text, "version": base.version + 1, "made": "optimized"})


def _search(
    base: Variant,
    player: Player,
    proposer: Proposer,
    ids: Sequence[Sequence[str]],
    lm: Any,
    games: int,
    seed: int,
    threads: int,
) -> list[Candidate]:
    """Every candidate that GEPA scored on the validation tasks, the base first."""
    training, validation = ([dspy.Example(task=task).with_inputs("task") for task in part] for part in ids[:2])
    optimizer = dspy.GEPA(
        metric=_metric,
        max_metric_calls=games,
        reflection_minibatch_size=min(3, len(training)),
        reflection_lm=lm,
        instruction_proposer=proposer,
        num_threads=threads,
        track_stats=True,
        use_merge=False,
        seed=seed,
    )
    logging.getLogger("dspy").setLevel(logging.WARNING)
    program = optimizer.compile(_Program(base.text, player), trainset=training, valset=validation)
    details = program.detailed_results
    return [
        _candidate(details.candidates[number].block.signature.instructions, parents, scores, ids[1])
        for number, (parents, scores) in enumerate(zip(details.parents, details.val_subscores, strict=True))
    ]


def _candidate(text: str, parents: Sequence[int | None], scores: Any, tasks: Sequence[str]) -> Candidate:
    values = scores if isinstance(scores, dict) else dict(enumerate(scores))
    by_task = {tasks[int(number)]: float(value) for number, value in values.items()}
    return Candidate(
        text=text,
        hash=hashlib.sha256(text.encode()).hexdigest(),
        parents=tuple([parent for parent in parents if parent is not None]),
        scores=by_task,
        mean=sum(by_task.values()) / len(by_task) if by_task else 0.0,
    )


def _others(player: Player, validated: set[str], *, rejected: bool) -> list[Candidate]:
    """The candidates that were not validated, in the order in which they were first played."""
    found = []
    for block, text in player.blocks.items():
        scores = {game.task: game.score for game in player.games if game.block == block}
        if block not in validated:
            mean = sum(scores.values()) / len(scores)
            found.append(Candidate(text=text, hash=block, scores=scores, mean=mean, rejected=rejected))
    return found


def _compare(player: Player, base: str, best: str, tasks: Sequence[str]) -> HeldOut:
    before = {task: player(base, task).value for task in tasks}
    if best == base:
        return HeldOut(base=before, best=before)
    after = {task: player(best, task).value for task in tasks}
    return HeldOut(base=before, best=after, better=sum(after.values()) > sum(before.values()))


def keep(folder: Path, found: Optimized) -> tuple[Path | None, Path]:
    """Write the new version, if there is one, and the record beside it. What is there already stays as it is.

    Returns:
        The block's file, or None, and the record's.

    Raises:
        UserError: If the folder cannot be written.
    """
    variant, record = found
    if variant is not None:
        while (folder / variant.filename).exists():  # of an earlier search
            variant = variant.model_copy(update={"version": variant.version + 1})
    stem = variant.filename.removesuffix(".md") if variant else f"{record.base.replace('@', '.v')}.{_outcome(record)}"
    names = (f"{stem}.record.json", *(f"{stem}-{number}.record.json" for number in range(2, 10_000)))
    beside = folder / next(name for name in names if not (folder / name).exists())
    path = None
    if variant is not None:
        path = write_variant(folder, variant.model_copy(update={"record": beside.name}))
        record = record.model_copy(update={"written": path.name})
    try:
        folder.mkdir(parents=True, exist_ok=True)
        beside.write_text(record.model_dump_json(indent=1), encoding="utf-8")
    except OSError as error:
        raise UserError(f"{beside} cannot be written ({error.strerror}); name another folder") from error
    return path, beside


def _outcome(record: Record) -> str:
    return "stopped" if record.stopped else "kept"
