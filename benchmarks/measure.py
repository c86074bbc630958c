"""What is measured, and the limit of each figure."""

from __future__ import annotations

import asyncio
import logging
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from autogen_core import AgentId, BaseAgent, MessageContext, SingleThreadedAgentRuntime, TopicId, TypeSubscription

from framework import Post, Seating, Trace, play
from framework._jobs import keep, long_lived, play_job
from framework._loop import run_here
from framework.experiment import Experiment, Setup
from framework.registry import strategy
from framework.runner import plan, run
from framework.specs import StrategySpec
from games.calbench import CalBench, Scenario
from games.calbench.generator import complete, draft
from games.calbench.oracle import optimum
from games.calbench.scenario import ScenarioParams

__all__ = ["MEASURES", "Row"]


@dataclass(frozen=True)
class Row:
    """One figure.

    Attributes:
        name: What was measured.
        value: The figure.
        unit: Its unit.
        limit: What it may be at most; None where there is no limit.
    """

    name: str
    value: float
    unit: str
    limit: float | None = None

    @property
    def holds(self) -> bool:
        """Whether the figure is within its limit."""
        return self.limit is None or self.value < self.limit

    @property
    def bound(self) -> str:
        """The limit as text."""
        return "" if self.limit is None else f"< {self.limit:g}"


def _seconds(task: Callable[[], object], repeats: int = 5) -> float:
    """Median wall time of a task, after one call that is not counted."""
    task()
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        task()
        times.append(time.perf_counter() - began)
    return median(times)


async def _play(task: Scenario, name: str) -> Trace:
    kind = strategy(name)
    return await play(CalBench(), task, [Seating(name, kind()) for _ in range(task.num_agents)])


def _milliseconds(name: str) -> float:
    """Milliseconds a game in one process, from its job to its trace on disk, as a run plays it."""
    with tempfile.TemporaryDirectory() as folder:
        experiment = Experiment(game="calbench", suite="canonical", strategy=StrategySpec(name=name))
        setup = Setup.of(experiment)
        (Path(folder) / "traces").mkdir()
        jobs = plan(setup, Path(folder))

        async def all_of_them() -> float:
            began = time.perf_counter()
            for job in jobs:
                keep(job, await play_job(job, setup.game))
            return (time.perf_counter() - began) / len(jobs) * 1e3

        with long_lived():
            return min(run_here(all_of_them()) for _ in range(5))


def games() -> list[Row]:
    """Milliseconds a game of each reference protocol in one process, with its trace; the best of five rounds."""
    limits = {"imap": 8, "sd-map": 12, "dsm-welfare": 12, "dsm-private": 12}
    return [
        Row(f"{name}: one game, with its trace", _milliseconds(name), "ms", limit) for name, limit in limits.items()
    ]


def runs() -> list[Row]:
    """Games a second of a whole run, from the command's point of view."""
    rows = []
    for jobs in (1, 2):
        with tempfile.TemporaryDirectory() as folder:
            experiment = Experiment(
                game="calbench",
                suite="canonical",
                strategy=StrategySpec(name="imap"),
                repeats=8,
                jobs=jobs,
                out=f"{folder}/run",
            )
            began = time.perf_counter()
            outcome = run(experiment)
            rows.append(
                Row(
                    f"a run of {outcome.planned} games, --jobs {jobs}",
                    outcome.planned / (time.perf_counter() - began),
                    "games/s",
                )
            )
    return rows


class _Listener(BaseAgent):
    def __init__(self) -> None:
        super().__init__("listens")

    async def on_message_impl(self, message: object, ctx: MessageContext) -> object:
        return message if ctx.is_rpc else None


async def _bare(posts: int) -> float:
    """Messages a second that a bare AutoGen runtime delivers to one subscriber each."""
    runtime = SingleThreadedAgentRuntime()
    for seat in range(5):
        await runtime.register_agent_instance(_Listener(), AgentId("seat", str(seat)))
    await runtime.add_subscription(TypeSubscription("dm", "seat"))
    runtime.start()
    post = Post(id=0, channel="dm", sender=0, to=1, round=0, content="x" * 100)
    began = time.perf_counter()
    for index in range(posts):
        await runtime.publish_message(post, TopicId("dm", str(index % 5)))
    await runtime.stop_when_idle()
    return posts / (time.perf_counter() - began)


async def _ours(posts: int) -> float:
    from framework.channels import DirectMessage
    from framework.runtime import Switchboard

    board = Switchboard()
    await board.open([_Listener() for _ in range(5)])
    channel = DirectMessage()
    began = time.perf_counter()
    for index in range(posts):
        post = Post(id=index, channel="dm", sender=(index + 1) % 5, to=index % 5, round=0, content="x" * 100)
        await board.publish(post, channel, (index % 5,))
    await board.ask(0, post)
    rate = posts / (time.perf_counter() - began)
    await board.close()
    return rate


def messages() -> list[Row]:
    """Published direct messages a second, beside a bare AutoGen runtime with its defaults, queue and spans."""
    ours = median(asyncio.run(_ours(3000)) for _ in range(3))
    bare = median(asyncio.run(_bare(3000)) for _ in range(3))
    return [
        Row("published messages", ours, "messages/s"),
        Row("published messages, bare autogen-core", bare, "messages/s"),
    ]


def candidates() -> list[Row]:
    """Milliseconds for a generated candidate with its oracle and difficulty."""
    params = ScenarioParams(density=(0.6, 0.8, 1.0, 0.8, 0.6), blocked=(2, 4, 6, 4, 2), cost_setting="balanced")
    seeds = iter(range(10_000))

    def go() -> None:
        for _ in range(20):
            complete(draft(params, next(seeds)))

    return [Row("a generated candidate with oracle and difficulty", _seconds(go) / 20 * 1e3, "ms", 10)]


SIZES = ((5, 16, 12, 3), (5, 32, 20, 3), (5, 64, 20, 5), (20, 64, 20, 20), (50, 64, 20, 50))
"""Agents, slots, meetings and participants of the oracle's measurements."""


def oracles() -> list[Row]:
    """Milliseconds for the optimum of large scenarios, with its lexicographic tie-break; the worst of three seeds."""
    rows = []
    for agents, slots, meetings, participants in SIZES:
        density = max(0.1, min(0.8, 1 - (meetings * participants / agents + 1) / slots))
        params = ScenarioParams(
            num_agents=agents,
            num_slots=slots,
            num_meetings=meetings,
            subset_size=participants,
            density=density,
            cost_setting="balanced",
        )
        drafts = [draft(params, seed) for seed in range(3)]
        worst = max(_seconds(lambda layout=layout: optimum(layout), 1) for layout in drafts)
        rows.append(Row(f"oracle at {agents}/{slots}/{meetings}/{participants}", worst * 1e3, "ms", 1000))
    return rows


_LARGE = """
import asyncio, resource, time
from benchmarks.measure import _play
from games.calbench.generator import generate_scenario
from games.calbench.scenario import ScenarioParams
params = ScenarioParams(
    num_agents=100, num_slots=500, num_meetings=200, subset_size=10, density=0.8, cost_setting="balanced"
)
task = generate_scenario(params, 1, effort=1.0)
began = time.perf_counter()
trace = asyncio.run(_play(task, "imap"))
assert trace.aborted is None, trace.aborted
print(time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def large() -> list[Row]:
    """One game of 100 seats, 500 slots and 200 meetings of 10, in a process of its own."""
    done = subprocess.run([sys.executable, "-c", _LARGE], capture_output=True, text=True, check=True)
    seconds, megabytes = map(float, done.stdout.split())
    return [
        Row("one game of 100 seats, 500 slots, 200 meetings of 10", seconds, "s", 60),
        Row("its memory", megabytes, "MB", 2048),
    ]


def memory() -> list[Row]:
    """Growth of a process's memory from its 200th to its 2,200th game."""
    tasks = CalBench().suite("quick", 0)

    def peak() -> float:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    async def some(count: int) -> None:
        for index in range(count):
            await _play(tasks[index % len(tasks)], "imap")

    asyncio.run(some(200))
    before = peak()
    asyncio.run(some(2000))
    return [Row("memory gained over 2,000 games", peak() - before, "MB", 10)]


def traces() -> list[Row]:
    """Bytes of the traces of `quick`."""
    with tempfile.TemporaryDirectory() as folder:
        run(Experiment(game="calbench", suite="quick", strategy=StrategySpec(name="imap"), out=f"{folder}/run"))
        sizes = [path.stat().st_size for path in Path(folder).glob("run/traces/*.json")]
    return [Row("the largest trace of quick", max(sizes) / 1000, "kB", 80)]


def command() -> list[Row]:
    """Seconds for `cheaptalk --help`."""
    program = Path(sys.executable).with_name("cheaptalk")
    return [
        Row("cheaptalk --help", _seconds(lambda: subprocess.run([program, "--help"], capture_output=True)), "s", 0.4)
    ]


MEASURES: Mapping[str, Callable[[], list[Row]]] = {
    measure.__name__: measure
    for measure in (games, runs, messages, candidates, oracles, large, memory, traces, command)
}

logging.getLogger("autogen_core").setLevel(logging.CRITICAL)
