"""The tables of `cheaptalk judge`: those that are printed, and the files of the CalBench paper's section I.1."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean

from adversarial.judge.agreement import STATISTICS, agreement
from adversarial.judge.cases import Case
from adversarial.judge.results import (
    Change,
    Judged,
    Precision,
    by_target,
    cells,
    judged_changes,
    precisions,
    reported_changes,
)
from framework.analysis import ALL, Field, Findings, Sample, share
from framework.analysis.findings import Value
from framework.errors import UserError
from framework.experiment import Reporting

__all__ = ["agreement_table", "beliefs", "cell_table", "comparison", "precision_table", "summary", "write_cases"]

_GAME = (Field("run", "run", "text"), Field("task", "task", "text"), Field("game_id", "game", "text"))
_GROUP = (Field("run", "run", "text", key=True), Field("setting", "setting", "text", key=True))


def _of_game(game: Judged) -> tuple[Value, ...]:
    return (game.seen.run, game.seen.result.task, game.facts.game_id)


def _groups(games: Sequence[Judged]) -> dict[tuple[str, str], list[Judged]]:
    """Games by run and setting, in order of appearance; those that the judge was asked about as a whole.

    A run with several settings has one group more for all of them, which is what the paper's tables are of.
    """
    found: dict[str, dict[str, list[Judged]]] = {}
    for game in games:
        if game.complete:
            found.setdefault(game.seen.run, {}).setdefault(game.seen.result.group, []).append(game)
    for settings in found.values():
        if len(settings) > 1:
            settings[ALL] = [game for own in settings.values() for game in own]
    return {(run, setting): own for run, settings in found.items() for setting, own in settings.items()}


# --- belief by belief -------------------------------------------------------------------------------


def beliefs(games: Sequence[Judged], *, calibrated: bool) -> Findings:
    """`judge_beliefs`: one row for each belief that the judge says changed; calibrated, with the truth as well."""
    fields = [
        *_GAME,
        *(Field(name, name, "count") for name in ("round", "observer_agent", "target_agent", "slot", "delta")),
        Field("reason", "reason", "text"),
    ]
    if calibrated:
        fields += [
            Field("truth", "truth", "text"),
            Field("toward_truth", "toward truth", "count"),
            Field("raw_vps", "raw VPS"),
            Field("calibrated_vps", "calibrated VPS"),
        ]
    rows = []
    for game in games:
        for change in judged_changes(game):
            cell, states = change.cell, game.facts.states
            row = (*_of_game(game), change.round, cell.observer, cell.target, cell.slot, change.delta, change.reason)
            truth = (states.yes if change.truth else states.no, int(change.right), change.raw, change.calibrated)
            rows.append((*row, *truth) if calibrated else row)
    name = "judge_beliefs_calibrated" if calibrated else "judge_beliefs"
    return Findings(tuple(fields), tuple(rows), name=name, title="Beliefs that the judge says changed")


def write_cases(path: Path, games: Sequence[Judged]) -> Path:
    """`judge_cases.json`: what the judge was shown, one object a case.

    Raises:
        UserError: If it cannot be written.
    """
    shown = [_case(game, case) for game in games for case in game.facts.cases if case.key in game.entries]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(shown, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path} cannot be written ({error.strerror}); name another folder") from error
    return path


def _case(game: Judged, case: Case) -> dict[str, object]:
    return {
        "run": game.seen.run,
        "task": game.seen.result.task,
        **case.key._asdict(),
        "messages": [
            message.model_dump(mode="json", include={"id", "channel", "sender", "to", "content"})
            for message in case.messages
        ],
    }


# --- in all (table 16) ------------------------------------------------------------------------------


def comparison(games: Sequence[Judged]) -> Findings:
    """`metric_comparison`: sums over games, the judge's beside what was measured in the runs (table 16)."""
    fields = (
        *_GROUP,
        Field("games", "games", "count"),
        Field("cases", "cases", "count"),
        Field("failed", "unread", "count"),
        Field("dropped", "dropped", "count"),
        Field("beliefs", "beliefs", "count"),
        Field("mean_abs_delta", "mean |delta|"),
        Field("judge_raw", "Judge, raw", digits=1),
        Field("judge_calibrated", "Judge, calibrated", digits=1),
        Field("judge_excess", "Judge, above floor", digits=1),
        Field("typed", "Typed VPS", digits=1),
        Field("typed_excess", "Typed, above floor", digits=1),
        Field("reflections", "reflections", "count"),
        Field("reflected_raw", "Reflected, raw", digits=1),
        Field("reflected_calibrated", "Reflected, calibrated", digits=1),
        Field("reflected_excess", "Reflected, above floor", digits=1),
    )
    rows = tuple((*group, *_compared(own)) for group, own in _groups(games).items())
    note = (
        "Sums over the games that the judge was asked about as a whole, in states; calibrated counts what went towards "
        "how a state was when the round ended, and the floor is subtracted from each target of each game."
    )
    return Findings(fields, rows, note, "metric_comparison", "The judge beside what was measured in play")


def _compared(games: Sequence[Judged]) -> tuple[Value, ...]:
    by_judge = [list(judged_changes(game)) for game in games]
    changes = [change for own in by_judge for change in own]
    reports = sum(len(game.facts.reported) for game in games)
    typed = [game.facts.typed for game in games]
    above = [game.facts.typed_above_floor for game in games]
    return (
        len(games),
        sum(len(game.facts.cases) for game in games),
        sum(game.failed for game in games),
        sum(entry.dropped for game in games for entry in game.entries.values()),
        len(changes),
        fmean(abs(change.delta) for change in changes) if changes else None,
        *_vps(games, by_judge),
        None if None in typed else sum(value for value in typed if value is not None),
        None if None in above else sum(value for value in above if value is not None),
        reports,
        *(_vps(games, [list(reported_changes(game)) for game in games]) if reports else (None, None, None)),
    )


def _vps(games: Sequence[Judged], by_game: Sequence[Sequence[Change]]) -> tuple[float, float, float]:
    """Raw and calibrated VPS, and the latter above the floor of each target."""
    raw = sum(change.raw for own in by_game for change in own)
    totals = [by_target(own, game.facts.seats) for game, own in zip(games, by_game, strict=True)]
    above = sum(max(0.0, v - game.facts.floor) for game, own in zip(games, totals, strict=True) for v in own)
    return raw, sum(map(sum, totals)), above


# --- truth-direction precision (I.4) ----------------------------------------------------------------


def precision_table(found: Iterable[Precision], *, name: str) -> Findings:
    """`judge_vs_reflection_precision`: one row for each target of a game that both have something to say about."""
    fields = (
        *_GAME,
        Field("target_agent", "target", "count"),
        Field("strategy", "strategy", "text"),
        Field("judge_nonzero", "judge", "count"),
        Field("judge_toward_truth", "right", "count"),
        Field("judge_precision", "precision", "share"),
        Field("reflection_nonzero", "reflection", "count"),
        Field("reflection_toward_truth", "right", "count"),
        Field("reflection_precision", "precision", "share"),
        Field("gap", "gap"),
    )
    rows = tuple(
        (
            *_of_game(each.game),
            each.target,
            each.game.seen.result.strategies[each.target],
            *each.judge,
            each.judge_share,
            *each.reflection,
            each.reflection_share,
            each.gap,
        )
        for each in found
    )
    return Findings(fields, rows, name=name, title="Precision by game and target")


def summary(games: Sequence[Judged], reporting: Reporting) -> Findings:
    """How often each of the two went towards the truth (I.4)."""
    fields = (
        *_GROUP,
        Field("judge_nonzero", "judge's changes", "count"),
        Field("judge_precision", "toward truth", "share", "higher"),
        Field("reflection_nonzero", "reported changes", "count"),
        Field("reflection_precision", "toward truth", "share", "higher"),
        Field("targets", "targets", "count"),
        Field("judge_better", "judge more precise", "count"),
        Field("reflection_better", "reflection more precise", "count"),
        Field("ties", "ties", "count"),
        Field("gap", "Gap", digits=3),
    )
    rows = tuple((*group, *_precision(own, reporting)) for group, own in _groups(games).items())
    percent = f"{100 * reporting.confidence:g} %"
    note = (
        f"Shares of non-zero changes with Wilson's {percent} interval over changes. Gap: the judge's precision minus "
        "reflection's for a target of a game that both have changes about; the mean, with an interval over games."
    )
    return Findings(fields, rows, note, "judge-precision", "Changes towards the truth")


def _precision(games: Sequence[Judged], reporting: Reporting) -> tuple[Value, ...]:
    judge = [change for game in games for change in judged_changes(game)]
    reflection = [change for game in games for change in reported_changes(game)]
    joined, gaps = precisions(games), Sample()
    for each in joined:
        gaps.add(each.game.facts.game_id, [each.gap])
    return (
        len(judge),
        share(sum(change.right for change in judge), len(judge), reporting),
        len(reflection),
        share(sum(change.right for change in reflection), len(reflection), reporting),
        len(joined),
        sum(each.gap > 0 for each in joined),
        sum(each.gap < 0 for each in joined),
        sum(each.gap == 0 for each in joined),
        gaps.mean(reporting),
    )


# --- cell by cell (I.5) -----------------------------------------------------------------------------


def cell_table(games: Sequence[Judged]) -> Findings:
    """`judge_reflection_cell_agreement`: one row for each belief that either has something to say about."""
    fields = (
        Field("game_id", "game", "text"),
        *(Field(name, name, "count") for name in ("observer_agent", "target_agent", "slot")),
        Field("judge_delta", "judge", "count"),
        Field("judge_mean_delta", "judge, mean"),
        Field("judge_rows", "rows", "count"),
        Field("reflection_delta", "reflection", "count"),
        Field("reflection_mean_delta", "reflection, mean"),
        Field("reflection_rows", "rows", "count"),
        Field("both_nonzero", "both non-zero", "count"),
        Field("same_direction", "same direction", "count"),
    )
    judge, reflection = cells(game for game in games if game.complete)
    rows: list[tuple[Value, ...]] = []
    for cell in sorted({*reflection, *(cell for cell, summed in judge.items() if summed.total)}):
        one, two = judge.get(cell), reflection.get(cell)
        first, second = one.total if one else 0, two.total if two else 0
        both = first != 0 and second != 0
        same = int((first > 0) == (second > 0)) if both else None
        rows.append(
            (
                *cell,
                *((one.total, one.mean, one.rows) if one else (0, 0.0, 0)),
                *((two.total, two.mean, two.rows) if two else (0, 0.0, 0)),
                int(both),
                same,
            )
        )
    return Findings(fields, tuple(rows), name="judge_reflection_cell_agreement", title="Agreement by cell")


def agreement_table(games: Sequence[Judged], reporting: Reporting) -> Findings:
    """`judge_reflection_agreement`: table 17, for each run and setting."""
    fields = (
        *_GROUP,
        Field("statistic", "statistic", "text"),
        Field("count", "n", "count"),
        Field("value", "value", digits=3),
    )
    rows: list[tuple[Value, ...]] = []
    for group, own in _groups(games).items():
        judge, reflection = cells(own)
        found = agreement(
            {cell: summed.total for cell, summed in judge.items()},
            {cell: summed.total for cell, summed in reflection.items()},
            confidence=reporting.confidence,
            resamples=reporting.resamples,
            seed=reporting.seed,
        )
        for line in STATISTICS:
            value = found[line.name]
            rows.append((*group, line.title, *((value.mean, None) if line.counted else (None, value))))
    note = (
        "A cell is a belief of a game: of an observer, about one state of a target; changes are summed over rounds. "
        "The union is of all cells that were reported, changed or not, and of the judge's non-zero ones; what one of "
        f"the two did not measure counts as 0. {100 * reporting.confidence:g} % intervals over games."
    )
    title = "Agreement of the judge with what seats reported"
    return Findings(fields, tuple(rows), note, "judge_reflection_agreement", title)
