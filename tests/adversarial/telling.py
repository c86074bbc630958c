"""Games of CalBench in which seats say what a test tells them to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from framework import Action, Event, Observation, Seating, Send, Strategy, Trace, play, write_trace
from games.calbench import CalBench, CalBenchRules, Scenario


class Teller(Strategy[Observation]):
    """Says one text after another, one a turn, and decides as it is told."""

    def __init__(
        self,
        texts: Sequence[str] = (),
        *,
        channel: str = "dm",
        to: int | None = None,
        decide: Callable[[Any], Sequence[Action]] | None = None,
    ) -> None:
        super().__init__()
        self._left = list(texts)
        self._channel, self._to, self._decide = channel, to, decide

    async def act(self, observation: Observation) -> Sequence[Action]:
        if observation.turn.channels:
            return (Send(channel=self._channel, to=self._to, content=self._left.pop(0)),) if self._left else ()
        return self._decide(observation) if self._decide and observation.phase == "decision" else ()


def told(
    task: Scenario, texts: Mapping[int, Sequence[str]], channel: str = "all_agent_groupchat", turns: int = 20
) -> Trace:
    """A game in which some seats say some texts, one a turn, on one channel that addresses nobody."""
    seats = [Seating("teller", Teller(texts.get(seat, ()), channel=channel)) for seat in range(task.num_agents)]
    trace = asyncio.run(play(CalBench(CalBenchRules(channels=(channel,), turns=turns)), task, seats))
    assert trace.aborted is None, trace.aborted
    return trace


def with_events(trace: Trace, events: Sequence[Event]) -> Trace:
    """The same game with other events."""
    fields = {name: getattr(trace, name) for name in Trace.model_fields}
    return Trace.model_validate({**fields, "events": tuple(events)})


def saved(folder: Path, *traces: Trace) -> Path:
    """A run that holds some games."""
    (folder / "traces").mkdir(parents=True)
    for number, trace in enumerate(traces):
        config = {"game": "calbench", "group": "varied", "task": f"task-{number}", "number": number}
        write_trace(folder / "traces" / f"{number:04}.json", trace.model_copy(update={"config": config}))
    return folder
