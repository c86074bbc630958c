"""What CalBench's commands share: play several experiments one after the other, and print aligned text."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from framework.experiment import Experiment
from framework.runner import Outcome, RunStopped, run

__all__ = ["Stopped", "aligned", "play_all"]


class Stopped(Exception):
    """A run ended early; its sentence has been said.

    Attributes:
        code: The exit code.
    """

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def play_all(experiments: Sequence[Experiment]) -> list[Outcome]:
    """Play experiments in order, each in its own folder; what a folder holds already is not played again.

    Raises:
        UserError: If a strategy does not take its parameters, and then nothing is played; or if an experiment
            does not fit, or its folder belongs to another one.
        Stopped: If a run ended early.
    """
    for spec in dict.fromkeys(experiment.strategy for experiment in experiments if experiment.strategy):
        spec.build()
    outcomes = []
    for experiment in experiments:
        print(f"cheaptalk: {experiment.out}", file=sys.stderr)
        try:
            outcomes.append(run(experiment, resume=True))
        except RunStopped as stopped:
            print(f"cheaptalk: {stopped}", file=sys.stderr)
            raise Stopped(130 if stopped.interrupted else 1) from stopped
    return outcomes


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Rows of equal length as text, each column as wide as its widest cell."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)
