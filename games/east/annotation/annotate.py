"""Annotates the reasoning in runs, and goes on where an earlier sitting stopped."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from framework.asking import Answer, Asker, ask_for
from framework.errors import UserError
from framework.trace import TraceError, read_trace
from games.east.annotation.labels import Fallacies, Labels, TomLabels
from games.east.annotation.prompts import SCHEMAS, AnnotationPrompts
from games.east.annotation.sidecar import AnnotationFailed, FallaciesLabelled, Kind, Labelled, Sidecar, TomLabelled
from games.east.annotation.task import Reasoning, reasonings
from games.east.results import trace_files

__all__ = ["Done", "Task", "annotate", "pending"]


class Task(NamedTuple):
    """One judgement to make."""

    sidecar: Sidecar
    kind: Kind
    reasoning: Reasoning


@dataclass
class Done:
    """What a sitting did.

    Attributes:
        counts: How many judgements were made or failed, and why seats had none to make.
        errors: One sentence about each failure.
    """

    counts: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)


def pending(
    runs: Iterable[Path], annotator: str, kinds: Sequence[Kind], done: Done, *, every_game: bool = False
) -> list[Task]:
    """The judgements that are still to be made.

    Fallacies are looked for in games without a match, as in the paper, unless `every_game` says otherwise.

    Raises:
        UserError: If a run holds no traces, or one cannot be read.
    """
    tasks = []
    for path in (path for run in runs for path in trace_files(run)):
        try:
            trace = read_trace(path)
            found = list(reasonings(trace))
        except (TraceError, ValueError) as error:
            raise UserError(f"trace {path}: {error}") from error
        done.counts["without reasoning"] += 2 - len(found)
        sidecar = Sidecar(path)
        for reasoning in found:
            for kind in kinds:
                if kind == "fallacies" and reasoning.outcome.match and not every_game:
                    continue
                if sidecar.done(kind, reasoning.seat, annotator):
                    done.counts["made before"] += 1
                else:
                    tasks.append(Task(sidecar, kind, reasoning))
    return tasks


async def annotate(
    tasks: Sequence[Task],
    asker: Asker,
    done: Done,
    *,
    annotator: str = "",
    prompts: AnnotationPrompts | None = None,
    concurrency: int = 1,
    progress: Callable[[Done], None] | None = None,
) -> None:
    """Make judgements, and write each down as soon as it is made.

    A call that raises ends the sitting; what was written is kept.

    Args:
        tasks: What to judge.
        asker: The model that judges.
        done: Counts what is done.
        annotator: Whose labels they are; empty for the model's own name.
        prompts: The annotators' prompts.
        concurrency: Calls in flight.
        progress: Told of every judgement.
    """
    pack, gate = prompts or AnnotationPrompts(), asyncio.Semaphore(concurrency)

    async def judge(task: Task) -> None:
        async with gate:
            schema = SCHEMAS[task.kind]
            prompt = pack.prompt(task.kind, task.reasoning)
            answer: Answer[Labels] = await ask_for(asker, prompt, schema, schema.model_validate)
        where = f"game {task.reasoning.game_id} seat {task.reasoning.seat}"
        task.sidecar.append(_event(task, answer, annotator or asker.name, pack.hash))
        if answer.error:
            done.errors.append(f"{where}: {task.kind}: {answer.error}")
        done.counts["failed" if answer.error else task.kind] += 1
        if progress is not None:
            progress(done)

    async with asyncio.TaskGroup() as group:
        for task in tasks:
            group.create_task(judge(task))


def _event(task: Task, answer: Answer[Labels], annotator: str, prompts: str) -> Labelled:
    game_id, seat, usage, labels = task.reasoning.game_id, task.reasoning.seat, answer.usage, answer.value
    if isinstance(labels, TomLabels):
        return TomLabelled(game_id=game_id, seat=seat, annotator=annotator, prompts=prompts, usage=usage, labels=labels)
    if isinstance(labels, Fallacies):
        return FallaciesLabelled(
            game_id=game_id, seat=seat, annotator=annotator, prompts=prompts, usage=usage, labels=labels
        )
    return AnnotationFailed(
        game_id=game_id,
        seat=seat,
        annotator=annotator,
        prompts=prompts,
        usage=usage,
        kind=task.kind,
        error=answer.error,
        reply=answer.reply,
    )
