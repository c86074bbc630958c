"""The games of one or more runs, as rows for tables and figures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from framework.errors import UserError
from framework.trace import Trace, TraceError, read_trace
from games.east.outcome import EastOutcome, outcome_of
from games.east.scenario import Scenario

__all__ = [
    "Played",
    "conditions_of",
    "played",
    "prompts_of",
    "read_runs",
    "scenario_of",
    "strategies_of",
    "trace_files",
]


@dataclass(frozen=True, slots=True)
class Played:
    """One game.

    Attributes:
        run: Name of the run's folder.
        task: Id of the scenario.
        strategies: What sat in seats 0 and 1.
        vignette: Id of the vignette.
        condition: The epistemic condition.
        prompt: The prompt variant.
        outcome: How it ended; None if it was aborted.
    """

    run: str
    task: str
    strategies: tuple[str, str]
    vignette: str
    condition: str
    prompt: str
    outcome: EastOutcome | None

    @property
    def pairing(self) -> str:
        """The strategy in self-play, `one x two` in cross-play."""
        one, two = self.strategies
        return one if one == two else f"{one} x {two}"


def trace_files(run: Path) -> list[Path]:
    """The traces of a run's folder, in order.

    Raises:
        UserError: If there are none.
    """
    files = sorted((run / "traces").glob("[!.]*.json")) if run.is_dir() else []
    if not files:
        raise UserError(f"{run} holds no traces; name the folder of a run, such as runs/<name>")
    return files


def scenario_of(trace: Trace) -> Scenario:
    """What was played.

    Raises:
        TraceError: If the trace is not one of EAST.
    """
    start = trace.start
    try:
        return Scenario.model_validate(start.scenario)
    except ValueError as error:
        raise TraceError(f"game {trace.game_id} is of {start.game}, not of EAST") from error


def played(trace: Trace, run: str = "") -> Played:
    """The row of a trace.

    Raises:
        TraceError: If it is not one of EAST.
    """
    scenario = scenario_of(trace)
    one, two = trace.start.strategies
    return Played(
        run=run,
        task=scenario.id,
        strategies=(one, two),
        vignette=scenario.vignette.id,
        condition=scenario.condition,
        prompt=scenario.prompt,
        outcome=None if trace.aborted else outcome_of(trace),
    )


def read_runs(runs: Iterable[Path]) -> list[Played]:
    """The games of runs' folders.

    Raises:
        UserError: If a folder holds no traces, or one cannot be read.
    """
    games = []
    for run in runs:
        for path in trace_files(run):
            try:
                games.append(played(read_trace(path), run.resolve().name))
            except TraceError as error:
                raise UserError(str(error)) from error
    return games


def conditions_of(games: Sequence[Played]) -> list[str]:
    """The conditions that occur, in order of appearance."""
    return list(dict.fromkeys(game.condition for game in games))


def prompts_of(games: Sequence[Played]) -> list[str]:
    """The prompt variants that occur, in order of appearance."""
    return list(dict.fromkeys(game.prompt for game in games))


def strategies_of(games: Sequence[Played]) -> list[str]:
    """The pairings, best normative rate first, as the paper sorts its models."""

    def rate(pairing: str) -> float:
        outcomes = [game.outcome for game in games if game.pairing == pairing and game.outcome]
        return sum(outcome.normative for outcome in outcomes) / max(1, len(outcomes))

    return sorted(dict.fromkeys(game.pairing for game in games), key=lambda p: (-rate(p), p))
