"""Small experiments with the toy game, and ways to look at what became of them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from framework.experiment import Experiment
from framework.trace import read_trace

ROOT = Path(__file__).parents[2]
TOY = "tests.core.toy:Toy"
PROPOSER = "tests.core.toy:Proposer"
PLAYERS = "tests.core.players"


def toy(out: Path | str = "", strategy: str = PROPOSER, **fields: Any) -> Experiment:
    """An experiment with the toy game."""
    return Experiment.model_validate({"game": TOY, "strategy": strategy, "out": str(out), **fields})


def manifest(folder: Path) -> list[dict[str, Any]]:
    """The lines of a run's manifest."""
    return [json.loads(line) for line in (folder / "manifest.jsonl").read_text().splitlines()]


def playings(folder: Path) -> list[dict[str, Any]]:
    """What was played, without what differs between two identical playings."""
    traces = [read_trace(path) for path in sorted((folder / "traces").glob("*.json"))]
    return [{"id": trace.game_id, **trace.comparable()} for trace in traces]


def start(*arguments: str | Path) -> subprocess.Popen[str]:
    """Start `cheaptalk` in a process of its own."""
    code = "from framework.cli import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Wait for a process; its exit code, stdout and stderr."""
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err
