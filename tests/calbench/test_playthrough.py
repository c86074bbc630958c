"""Games of CalBench as people read them: golden texts, one for each way of playing.

Regenerate them with `python -m tests.calbench.test_playthrough` and read the diff.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from framework import Seating, Strategy, Trace, play
from framework.playthrough import playthrough
from games.calbench import CalBench, Scenario
from games.calbench.generator import generate_scenario
from games.calbench.scenario import ScenarioParams
from protocols import DsmWelfare, FirstFree, Imap, SdMap, SdMapCareful, Silent

GOLDEN = Path(__file__).parent / "golden"
CROWDED = ScenarioParams(
    num_agents=4,
    num_slots=8,
    num_meetings=3,
    subset_size=3,
    density=0.9,
    blocked=1,
    cost_setting="varied",
    num_prior_meetings=4,
    prior_subset_size=2,
)
"""Few slots, most of them held: something has to give way, and earlier meetings may."""

TABLES: dict[str, Sequence[Callable[[], Strategy]]] = {
    "imap": [Imap] * 4,
    "sd-map": [SdMap] * 4,
    "sd-map-careful": [SdMapCareful] * 4,
    "dsm-welfare": [DsmWelfare] * 4,
    "mixed": [FirstFree, Imap, Silent, DsmWelfare],
}


def task() -> Scenario:
    return generate_scenario(CROWDED, 17, "crowded")


def played(table: str) -> Trace:
    seating = [Seating(make.__name__, make()) for make in TABLES[table]]
    config = {"task": "crowded", "group": task().setting}
    return asyncio.run(play(CalBench(), task(), seating, seed=1, config=config))


@pytest.mark.parametrize("table", TABLES)
def test_the_golden_playthrough_is_what_is_played(table: str) -> None:
    assert playthrough(played(table)) == (GOLDEN / f"{table}.txt").read_text(encoding="utf-8")


if __name__ == "__main__":
    for name in TABLES:
        (GOLDEN / f"{name}.txt").write_text(playthrough(played(name)), encoding="utf-8")
