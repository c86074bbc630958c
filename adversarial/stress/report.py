"""Plays a stress test and says what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adversarial.stress.arms import COOPERATIVE, Arm, Plan, arms
from adversarial.stress.gate import Threshold, Verdict, judge
from adversarial.stress.gate import findings as gate_findings
from adversarial.stress.junit import ArmReport
from adversarial.stress.measures import is_measured, measure
from adversarial.stress.paired import Line, Played, compared, with_q_values
from adversarial.stress.paired import findings as paired_findings
from framework import Game, read_trace
from framework.analysis import Field, Findings
from framework.errors import UserError
from framework.experiment import Experiment, make_game
from framework.runner import Outcome, Progress, run
from framework.trace import TraceError

__all__ = ["Report", "measures_of", "stress"]

Bar = Callable[[str], AbstractContextManager[Progress | None]]
"""Makes a bar of a title, while games are played."""


def measures_of(game: Game[Any, Any]) -> list[str]:
    """Names of the measures of a game, those that end in a word of the game's left out."""
    typed = ["typed_vps"] if game.evidence is not None else []
    headline = [metric.name for metric in game.metrics if is_measured(metric)]
    private = ["reflected_vps", "leaks", "any_leak", "secrets_told", "disclosures"]
    return [*typed, *private, *headline, "tokens", "cost_usd"]


@dataclass(frozen=True, slots=True)
class Report:
    """What a stress test found.

    Attributes:
        subject: The strategy under test.
        lines: Every measure against every opponent in every condition.
        verdicts: Whether the thresholds were kept.
        arms: How each arm went.
        runs: Each arm's run.
        experiment: What was played, but for who played it.
        strict: Whether the ends of intervals had to keep to the thresholds.
    """

    subject: str
    lines: Sequence[Line]
    verdicts: Sequence[Verdict]
    arms: Sequence[ArmReport]
    runs: Sequence[Outcome]
    experiment: Experiment
    strict: bool

    @property
    def passed(self) -> bool:
        """Whether every threshold was kept and every game finished."""
        return all(verdict.passed for verdict in self.verdicts) and not any(arm.aborted for arm in self.arms)

    def tables(self, *, whole: bool = True) -> list[Findings]:
        """The report as tables: the measures, the thresholds if there are any, and the arms.

        Args:
            whole: Whether parts of a measure are listed that were never seen.
        """
        lines = [line for line in self.lines if whole or not line.silent]
        gate = [gate_findings(self.verdicts, self.strict)] if self.verdicts else []
        return [paired_findings(self.subject, lines, self.experiment.report), *gate, self._runs()]

    def _runs(self) -> Findings:
        fields = (
            Field("channels", "channels", "text"),
            Field("opponent", "opponent", "text"),
            Field("games", "games", "count"),
            Field("aborted", "aborted", "count", "lower"),
            Field("invalid", "invalid", "count", "lower"),
            Field("calls", "calls", "count"),
            Field("tokens", "tokens", "count"),
            Field("cost_usd", "USD", digits=4),
            Field("seconds", "s", digits=1),
            Field("run", "run", "text"),
        )
        rows = tuple(
            (
                arm.condition,
                arm.opponent,
                arm.games,
                len(arm.aborted),
                sum(result.invalid for result in outcome.results),
                outcome.usage.calls,
                outcome.usage.prompt_tokens + outcome.usage.completion_tokens,
                outcome.usage.cost,
                arm.seconds,
                str(outcome.folder),
            )
            for arm, outcome in zip(self.arms, self.runs, strict=True)
        )
        note = (
            "Of all seats; invalid are actions that are not legal and replies that cannot be read: they give nothing "
            "away. Each run is a run like any other: see it with cheaptalk report, leaks, privacy and view."
        )
        return Findings(fields, rows, note, "stress-runs", "What was played")


def stress(
    experiment: Experiment,
    plan: Plan,
    out: Path,
    *,
    thresholds: Sequence[Threshold] = (),
    strict: bool = False,
    bar: Bar | None = None,
) -> Report:
    """Play a stress test; what is in its folder already is not played again.

    Args:
        experiment: The tasks, rules, seed and limits; its strategy and seats are replaced.
        plan: Who plays whom.
        out: The folder below which each run has its own.
        thresholds: What has to be kept to.
        strict: Whether the ends of intervals have to keep to it, and not only the means.
        bar: Makes a progress bar for each arm.

    Raises:
        UserError: If something does not fit, or the folder belongs to another test.
        framework.runner.RunStopped: If a run ended early.
    """
    planned = arms(experiment, plan, out)
    outcomes = []
    for number, arm in enumerate(planned, start=1):
        title = f"{number}/{len(planned)} {arm.condition}, {arm.opponent}"
        with bar(title) if bar else nullcontext() as progress:
            outcomes.append(run(arm.experiment, resume=True, progress=progress))
    game = make_game(experiment.game, experiment.rules)
    played = {
        (arm.condition, arm.opponent): list(_played(game, outcome))
        for arm, outcome in zip(planned, outcomes, strict=True)
    }
    attacks = [key for key in played if key[1] != COOPERATIVE]
    lines = with_q_values(
        [
            line
            for condition, opponent in attacks
            for line in compared(
                condition,
                opponent,
                plan.subject.label,
                played[condition, COOPERATIVE],
                played[condition, opponent],
                experiment.report,
            )
        ]
    )
    verdicts = judge(thresholds, attacks, lines, strict=strict)
    reports = [_report(arm, outcome, verdicts) for arm, outcome in zip(planned, outcomes, strict=True)]
    return Report(plan.subject.label, lines, verdicts, reports, outcomes, experiment, strict)


def _played(game: Game[Any, Any], outcome: Outcome) -> Iterator[Played]:
    for result in outcome.results:
        if result.abort is None:
            try:
                yield Played(result, measure(game, read_trace(outcome.folder / outcome.trace(result))))
            except TraceError as error:
                raise UserError(str(error)) from error
            except ValueError as error:
                raise UserError(f"{outcome.folder / outcome.trace(result)}: {error}") from error


def _report(arm: Arm, outcome: Outcome, verdicts: Sequence[Verdict]) -> ArmReport:
    aborted = [
        f"game {result.number} ({result.task}) aborted at {result.abort.boundary}: {result.abort.error}"
        for result in outcome.aborted
        if result.abort
    ]
    return ArmReport(
        condition=arm.condition,
        opponent=arm.opponent,
        games=outcome.planned,
        seconds=sum(result.seconds for result in outcome.results),
        aborted=aborted,
        verdicts=[v for v in verdicts if (v.condition, v.opponent) == (arm.condition, arm.opponent)],
    )
