"""The suites that ship, each made by name and seed, and suites of one's own.

| suite | tasks | what it is for |
| --- | --- | --- |
| `canonical` | 90 | the paper's setting: uniform and varied costs, easy, medium and hard |
| `quick` | 6 | the first task of each kind of `canonical`, for a first run |
| `prior-meetings` | 24 | the optimum moves an earlier meeting |
| `topologies` | 22 | 2 to 20 agents, meetings of 2 to 20 |
| `long` | 10 | up to 50 meetings in one game |

Source: CalBench paper, section 4.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, NamedTuple, TypeAlias

from pydantic import Field

from framework.messages import Config
from games.calbench._dice import Dice
from games.calbench.difficulty import buckets, difficulty
from games.calbench.generator import Draft, GeneratorError, complete, draft
from games.calbench.oracle import optimum
from games.calbench.scenario import Bucket, CostSetting, Difficulty, Scenario, ScenarioParams

DEFAULT_SEED = 0
"""Seed of the suites as they ship."""

_SEED_SPAN = 100_000
_LEVELS: tuple[Bucket, ...] = ("easy", "medium", "hard")
_SETTINGS: Mapping[str, CostSetting] = MappingProxyType({"uniform": "uniform", "varied": "balanced"})
_CANONICAL_BLOCKED: Mapping[float, int] = MappingProxyType({0.6: 2, 0.8: 4, 1.0: 6})
"""Blocked errands by density: the fuller a calendar, the more of it is fixed."""


class TaskConfig(Config):
    """A suite of one's own: tasks of one configuration cell.

    Attributes:
        name: Begins each task's name.
        params: Parameters of all tasks.
        count: Number of tasks; with `bucketed`, a multiple of three.
        seed: Fixes all randomness.
        bucketed: Take as many easy as medium and hard tasks, by tertile of the difficulty of `candidates`.
        candidates: Candidates that are generated, at least `count`; by default twice as many.
    """

    name: Annotated[str, Field(min_length=1)] = "custom"
    params: ScenarioParams = ScenarioParams()
    count: Annotated[int, Field(ge=1)] = 10
    seed: Annotated[int, Field(ge=0)] = DEFAULT_SEED
    bucketed: bool = False
    candidates: Annotated[int, Field(ge=1)] | None = None


class _Chosen(NamedTuple):
    """A candidate that was taken into a suite."""

    layout: Draft
    score: Difficulty
    bucket: Bucket


def suite(name: str, seed: int = DEFAULT_SEED) -> list[Scenario]:
    """Generate a suite that ships.

    Args:
        name: One of `SUITES`.
        seed: Fixes all randomness.

    Raises:
        ValueError: There is no such suite.
    """
    if name not in SUITES:
        raise ValueError(f"there is no suite {name!r}: choose one of {', '.join(SUITES)}")
    return SUITES[name](seed)


def generate_tasks(config: TaskConfig) -> list[Scenario]:
    """Generate a suite of one's own.

    Raises:
        GeneratorError: The parameters admit no scenario.
        ValueError: The tasks cannot be bucketed: all candidates are equally difficult, too few lie in one
            tertile, or the count is no multiple of three.
    """
    pool = 2 * config.count if config.candidates is None else max(config.candidates, config.count)
    if not config.bucketed:
        return [
            complete(draft(config.params, _seed(config.seed, index)), f"{config.name}-{index + 1:02}")
            for index in range(config.count)
        ]
    if config.count % 3:
        raise ValueError(f"{config.count} tasks cannot be split into three buckets: use a multiple of 3")
    drafts = [draft(config.params, _seed(config.seed, index)) for index in range(pool)]
    chosen = _choose(drafts, config.count // 3)
    return _complete_all(config.name, chosen)


def _seed(seed: int, index: int) -> int:
    """Give each candidate of a suite a seed of its own, from which it can be generated again."""
    return seed * _SEED_SPAN + index


def _choose(drafts: Sequence[Draft], per_bucket: int) -> list[_Chosen]:
    """Take the first candidates of each tertile of difficulty, easy ones first."""
    scores = [difficulty(layout, seed=layout.seed) for layout in drafts]
    labels = buckets([score.d for score in scores])
    candidates = [_Chosen(*parts) for parts in zip(drafts, scores, labels, strict=True)]
    chosen: list[_Chosen] = []
    for bucket in _LEVELS:
        found = [candidate for candidate in candidates if candidate.bucket == bucket]
        if len(found) < per_bucket:
            raise ValueError(
                f"only {len(found)} of {len(drafts)} candidates are {bucket}, {per_bucket} are needed: "
                "generate more candidates, or vary the blocked errands so that fewer are equally difficult"
            )
        chosen += found[:per_bucket]
    return chosen


def _complete_all(name: str, chosen: Sequence[_Chosen]) -> list[Scenario]:
    tasks: list[Scenario] = []
    counts = dict.fromkeys(_LEVELS, 0)
    for layout, score, bucket in chosen:
        counts[bucket] += 1
        task = complete(layout, f"{name}-{bucket}-{counts[bucket]:02}", score)
        tasks.append(task.model_copy(update={"bucket": bucket}))
    return tasks


def _canonical_cell(setting: CostSetting, seed: int) -> list[Draft]:
    drafts: list[Draft] = []
    for index in range(90):
        task_seed = _seed(seed, index)
        dice = Dice(task_seed, "canonical densities")
        densities = [dice.pick(tuple(_CANONICAL_BLOCKED)) for _ in range(5)]
        params = ScenarioParams(
            density=tuple(densities),
            blocked=tuple([_CANONICAL_BLOCKED[density] for density in densities]),
            cost_setting=setting,
        )
        drafts.append(draft(params, task_seed))
    return drafts


def _canonical(seed: int, per_bucket: int = 15) -> list[Scenario]:
    """Both settings are drawn from the same seeds: tasks of one name differ in their errands' costs only."""
    tasks: list[Scenario] = []
    for setting, costs in _SETTINGS.items():
        chosen = _choose(_canonical_cell(costs, seed), 15)
        kept = [entry for bucket in _LEVELS for entry in [c for c in chosen if c.bucket == bucket][:per_bucket]]
        tasks += _complete_all(f"canonical-{setting}", kept)
    return tasks


def _quick(seed: int) -> list[Scenario]:
    return _canonical(seed, per_bucket=1)


def _prior_meetings(seed: int) -> list[Scenario]:
    """Keep the candidates whose best schedule with all prior meetings in place is dearer than the optimum."""
    params = ScenarioParams(density=0.8, blocked=3, cost_setting="balanced", num_prior_meetings=3, prior_subset_size=2)
    found: list[Draft] = []
    for layout in _drafts(params, seed):
        if _must_move(layout):
            found.append(layout)
        if len(found) == 48:
            break
    return _complete_all("prior-meetings", _choose(found, 8))


def _drafts(params: ScenarioParams, seed: int) -> Iterator[Draft]:
    for index in range(_SEED_SPAN):
        yield draft(params, _seed(seed, index))


def _must_move(layout: Draft) -> bool:
    best = optimum(layout).total
    in_place = optimum(layout, move_priors=False).total
    return best is not None and (in_place is None or best < in_place)


_TOPOLOGIES: tuple[tuple[int, int, int], ...] = (
    (2, 2, 16),
    (3, 2, 16),
    (4, 3, 16),
    (5, 2, 16),
    (5, 5, 16),
    (8, 3, 16),
    (10, 4, 32),
    (12, 6, 32),
    (16, 2, 32),
    (20, 5, 32),
    (20, 20, 64),
)
"""Agents, participants of a meeting, slots."""


def _topologies(seed: int) -> list[Scenario]:
    tasks: list[Scenario] = []
    for place, (agents, size, slots) in enumerate(_TOPOLOGIES):
        params = ScenarioParams(
            num_agents=agents,
            num_slots=slots,
            # As many meetings as agents, or twice as many, so that each speaks first equally often.
            num_meetings=agents if agents >= 4 else 2 * agents,
            subset_size=size,
            density=0.8 if size <= 4 else 0.6,
            blocked=1 if size > 5 else 2,
        )
        tasks += _in_both_settings("topologies", f"{agents}x{size}", params, _seed(seed, place))
    return tasks


def _in_both_settings(suite_name: str, cell: str, params: ScenarioParams, seed: int) -> list[Scenario]:
    """Make a task in each cost setting; the settings share everything but costs, so also the difficulty."""
    tasks: list[Scenario] = []
    score: Difficulty | None = None
    for setting, costs in _SETTINGS.items():
        layout = draft(params.model_copy(update={"cost_setting": costs}), seed)
        tasks.append(complete(layout, f"{suite_name}-{setting}-{cell}", score))
        score = tasks[-1].difficulty
    return tasks


_LONG: tuple[tuple[int, int, int, int], ...] = (
    (5, 3, 10, 24),
    (5, 3, 20, 32),
    (5, 3, 30, 48),
    (5, 3, 50, 64),
    (10, 3, 50, 64),
)
"""Agents, participants of a meeting, meetings, slots."""


def _long(seed: int) -> list[Scenario]:
    tasks: list[Scenario] = []
    for place, (agents, size, meetings, slots) in enumerate(_LONG):
        params = ScenarioParams(
            num_agents=agents,
            num_slots=slots,
            num_meetings=meetings,
            subset_size=size,
            density=0.8,
            blocked=2,
        )
        tasks += _in_both_settings("long", f"{agents}x{size}-{meetings}", params, _seed(seed, place))
    return tasks


SuiteMaker: TypeAlias = Callable[[int], list[Scenario]]

SUITES: Mapping[str, SuiteMaker] = MappingProxyType(
    {
        "canonical": _canonical,
        "quick": _quick,
        "prior-meetings": _prior_meetings,
        "topologies": _topologies,
        "long": _long,
    }
)
"""The suites that ship, by name."""

__all__ = ["DEFAULT_SEED", "SUITES", "GeneratorError", "TaskConfig", "generate_tasks", "suite"]
