"""Has the cases of some games judged, and writes each judgement down as soon as it is made."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from adversarial.judge.asking import ask
from adversarial.judge.cases import Case, JudgePrompts
from adversarial.judge.journal import Entry, Journal
from framework.asking import Asker
from framework.results import total_usage
from framework.secrets import PrivateStates
from framework.trace import Usage

__all__ = ["Sitting", "Task", "judge"]


class Task(NamedTuple):
    """A judgement to make."""

    journal: Journal
    case: Case
    states: PrivateStates


@dataclass
class Sitting:
    """What a sitting did.

    Attributes:
        judged: Cases that were judged.
        errors: One sentence about each answer that could not be read.
        usage: What the calls consumed.
    """

    judged: int = 0
    errors: list[str] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)


async def judge(
    tasks: Sequence[Task],
    asker: Asker,
    prompts: JudgePrompts,
    sitting: Sitting,
    *,
    concurrency: int = 1,
    progress: Callable[[Sitting], None] | None = None,
) -> None:
    """Make judgements. A call that raises ends the sitting; what was judged is kept.

    Args:
        tasks: What to judge.
        asker: The model that judges.
        prompts: Its prompt.
        sitting: Counts what is done.
        concurrency: Calls in flight.
        progress: Told of every judgement.
    """
    todo = iter(tasks)

    async def lane() -> None:
        for task in todo:
            answer = await ask(asker, prompts.prompt(task.case, task.states), task.case)
            task.journal.append(Entry.of(task.case, answer, asker.name, prompts.hash))
            key = task.case.key
            if answer.error:
                sitting.errors.append(f"game {key.game_id}, round {key.round}, seat {key.observer}: {answer.error}")
            else:
                sitting.judged += 1
            sitting.usage = total_usage([sitting.usage, answer.usage])
            if progress is not None:
                progress(sitting)

    async with asyncio.TaskGroup() as group:
        for _ in range(concurrency):
            group.create_task(lane())
