"""How long EAST's 90 games take without a model."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from statistics import median

from benchmarks.measure import Row
from framework.experiment import Experiment
from framework.runner import run
from framework.specs import StrategySpec

__all__ = ["east"]


def _seconds(strategy: str, folder: Path) -> float:
    """Wall time of a whole run, its traces on disk included."""
    experiment = Experiment(game="east", strategy=StrategySpec.parse(strategy), out=str(folder))
    began = time.perf_counter()
    outcome = run(experiment)
    spent = time.perf_counter() - began
    assert len(outcome.results) == 90, outcome.results
    assert not outcome.aborted, outcome.aborted
    return spent


def east() -> list[Row]:
    """The suite `paper` by strategies without a model, played and written."""
    rows = []
    for strategy in ("normative", "level-k:k=3"):
        with tempfile.TemporaryDirectory() as place:
            _seconds(strategy, Path(place) / "first")
            spent = median(_seconds(strategy, Path(place) / str(number)) for number in range(3))
        rows.append(Row(f"90 games of EAST, {strategy}", spent, "s", 2.0))
    return rows
