"""Small runs for the pages to show, and the events of one game."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from framework.experiment import Experiment
from framework.runner import run
from tests.core.runs import PROPOSER, TOY
from tests.pages.hostile import POISON

HOSTILE = "tests.pages.hostile:Hostile"
FOLDER = '<img src=x onerror="window.pwned=1">'


def play(out: Path, **fields: Any) -> Path:
    """Play an experiment into a folder."""
    run(Experiment.model_validate({**fields, "out": str(out)}))
    return out


def toy(out: Path, **fields: Any) -> Path:
    """A run of the toy game."""
    return play(out, **{"game": TOY, "strategy": PROPOSER, **fields})


def hostile(root: Path) -> Path:
    """A run with poison in everything, in a folder that has a poisonous name too. One of its games aborts."""
    strategy = {"name": "tests.pages.hostile:Venom", "params": {"poison": POISON}}
    spitting = {"name": "tests.pages.hostile:Spitting"}
    toy(root / FOLDER, game=HOSTILE, strategy=strategy)
    toy(root / "spit", game=HOSTILE, strategy=strategy, seats={1: spitting}, limit=1)
    return root / FOLDER
