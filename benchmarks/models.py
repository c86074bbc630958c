"""How much the harness adds to the time that models take: many games in one process, a model of known latency."""

from __future__ import annotations

import asyncio
import json
import re
import tempfile
import time
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

from autogen_core.models import ChatCompletionClient, CreateResult, LLMMessage, ModelInfo, RequestUsage

from benchmarks.measure import Row
from framework.experiment import Experiment
from framework.runner import run
from protocols.llm import LlmStrategy
from protocols.models.settings import PREFIX

__all__ = ["SlowSeat", "models"]

GAMES, TASKS, LATENCY, CONCURRENCY = 500, 5, 0.2, 50
_MEETING, _FREE = re.compile(r"Meeting to schedule: M(\d+)"), re.compile(r"Slot (\d+): \[FREE\]")


class SlowModel(ChatCompletionClient):
    """Answers by a simple rule, a known time after it was asked."""

    component_type = "model"
    component_config_schema: Any = None

    def __init__(self) -> None:
        self.calls = 0
        self._usage = RequestUsage(prompt_tokens=1000, completion_tokens=50)
        self._info = ModelInfo(
            vision=False, function_calling=False, json_output=False, structured_output=False, family="unknown"
        )

    async def create(self, messages: Sequence[LLMMessage], **_: Any) -> CreateResult:
        self.calls += 1
        await asyncio.sleep(LATENCY)
        return CreateResult(finish_reason="stop", content=_answer(messages), usage=self._usage, cached=False)

    async def create_stream(self, messages: Sequence[LLMMessage], **_: Any) -> AsyncGenerator[str | CreateResult, None]:
        yield await self.create(messages)

    async def close(self) -> None:
        return None

    def actual_usage(self) -> RequestUsage:
        return self._usage

    total_usage = actual_usage

    def count_tokens(self, messages: Sequence[LLMMessage], **_: Any) -> int:
        return 0

    remaining_tokens = count_tokens

    @property
    def capabilities(self) -> Any:
        return self._info

    @property
    def model_info(self) -> ModelInfo:
        return self._info


def _answer(messages: Sequence[LLMMessage]) -> str:
    """Greets one participant at the start of a round, and takes the first free slot in the decision."""
    last = str(messages[-1].content)
    actions: list[dict[str, Any]] = []
    meeting, free = _MEETING.search(last), _FREE.search(last)
    if "Phase: DECISION" in last and meeting and free:
        actions.append({"type": "schedule", "meeting_id": int(meeting[1]), "slot": int(free[1])})
    return json.dumps({"thinking": "A free slot costs nothing.", "actions": actions})


MODEL = SlowModel()


class SlowSeat(LlmStrategy):
    """A seat of the slow model; all seats share it."""

    def __init__(self, params: Any = None, **values: Any) -> None:
        super().__init__(params, from_client=MODEL, **values)


def models() -> list[Row]:
    """Play many games at once with a model of known latency, and compare with the ideal time."""
    import os

    os.environ[f"{PREFIX}CONCURRENCY"] = str(CONCURRENCY)
    with tempfile.TemporaryDirectory() as folder:
        experiment = Experiment.model_validate(
            {
                "game": "calbench",
                "suite": "quick",
                "strategy": "benchmarks.models:SlowSeat",
                "limit": TASKS,
                "repeats": GAMES // TASKS,
                "concurrency": CONCURRENCY,
                "out": str(Path(folder) / "run"),
            }
        )
        began = time.perf_counter()
        outcome = run(experiment)
        took = time.perf_counter() - began
    games = len(outcome.results)
    ideal = outcome.usage.calls * LATENCY / CONCURRENCY
    return [
        Row("LLM games in one process", games, "games"),
        Row("calls of the model", outcome.usage.calls, "calls"),
        Row("ideal time", ideal, "s"),
        Row("time over ideal", took / ideal, "x", 1.15),
    ]
