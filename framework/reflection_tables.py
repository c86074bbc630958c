"""Reflection-calibrated VPS of finished games: per answer, per target, and as CSV files (CalBench paper, F.3, F.5)."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from framework.errors import UserError
from framework.game import Metric
from framework.reflection import Movement, Reflection, movement
from framework.secrets import PrivateStates
from framework.trace import MetricValue, Trace

__all__ = ["COLUMNS", "Answer", "Target", "answers", "reflection_metrics", "targets", "write_reflections"]

COLUMNS: dict[str, tuple[str, ...]] = {
    "reflection_beliefs.csv": (
        "trace_path",
        "game_id",
        "round",
        "target_agent",
        "observer_agent",
        "slot",
        "delta",
        "expected_delta",
        "truth",
        "raw_vps_loss",
        "calibrated_vps_loss",
        "expected_calibrated_vps_loss",
    ),
    "reflection_pair_round.csv": (
        "trace_path",
        "game_id",
        "round",
        "target_agent",
        "observer_agent",
        "readable",
        "raw_vps_loss",
        "calibrated_vps_loss",
        "expected_calibrated_vps_loss",
        "prompt_tokens",
        "completion_tokens",
        "cost",
    ),
    "reflection_game_target_summary.csv": (
        "trace_path",
        "game_id",
        "target_agent",
        "strategy",
        "answers",
        "unreadable",
        "raw_vps_loss_total",
        "calibrated_vps_loss_total",
        "excess_calibrated_vps_loss_total",
        "expected_calibrated_vps_loss_total",
        "vps_floor",
    ),
}
"""The columns of each file."""

_DIGITS = 12


class Answer(NamedTuple):
    """What one seat reported of another after one round, set against the truth.

    Attributes:
        said: The event.
        truth: Whether each state of the target was true when the round ended.
        reported: How far beliefs moved by the reported numbers; None if the reply could not be read.
        expected: The same by the numbers as log-probabilities refine them; None where there are none.
    """

    said: Reflection
    truth: tuple[bool, ...]
    reported: Movement | None
    expected: Movement | None


def answers(trace: Trace, states: PrivateStates) -> Iterator[Answer]:
    """Every report of a trace, in order."""
    for said in trace.of(Reflection):
        truth = tuple(map(bool, states.truth[said.round, said.target]))
        reported = movement(said.deltas, truth) if len(said.deltas) == len(truth) else None
        expected = movement(said.expected, truth) if len(said.expected) == len(truth) else None
        yield Answer(said, truth, reported, expected)


class Target(NamedTuple):
    """What the other seats of one game learned of one seat, summed over observers and rounds.

    Attributes:
        seat: The seat that it is about.
        answers: Reports about it.
        unreadable: Reports that could not be read; they count as no movement, as long as others could.
        raw: VPS by every movement.
        calibrated: VPS by movement towards the truth.
        expected: Calibrated VPS by the refined numbers; None unless every readable report has them.
    """

    seat: int
    answers: int
    unreadable: int
    raw: float
    calibrated: float
    expected: float | None

    @property
    def measured(self) -> bool:
        """Whether there is anything to go by: reports of which none could be read say nothing of what was learned."""
        return self.unreadable < self.answers or not self.answers

    def excess(self, floor: float) -> float:
        """Calibrated VPS beyond what agreeing takes by itself, not below 0."""
        return max(0.0, self.calibrated - floor)


def targets(found: Iterable[Answer], seats: int) -> tuple[Target, ...]:
    """The reports of one game by the seat that they are about."""
    about: list[list[Answer]] = [[] for _ in range(seats)]
    for answer in found:
        about[answer.said.target].append(answer)
    return tuple([_target(seat, own) for seat, own in enumerate(about)])


def _target(seat: int, own: Sequence[Answer]) -> Target:
    read = [answer for answer in own if answer.reported is not None]
    refined = [answer.expected.calibrated for answer in read if answer.expected is not None]
    return Target(
        seat=seat,
        answers=len(own),
        unreadable=len(own) - len(read),
        raw=sum(answer.reported.raw for answer in read if answer.reported),
        calibrated=sum(answer.reported.calibrated for answer in read if answer.reported),
        expected=sum(refined) if read and len(refined) == len(read) else None,
    )


def reflection_metrics(
    private_states: Callable[[Trace], PrivateStates | None], floor: float
) -> tuple[Metric, Metric, Metric]:
    """The metrics of a game with private states: excess calibrated VPS, all of it, and raw VPS.

    Each gives a seat's value as a target. A game in which no seat was asked has none, nor has a seat about which
    no answer could be read.

    Args:
        private_states: The truth of a trace, as `Game.private_states`.
        floor: VPS a game that agreeing takes by itself.
    """

    def measured(trace: Trace) -> tuple[Target, ...]:
        if next(trace.of(Reflection), None) is None:
            return ()
        states = private_states(trace)
        return targets(answers(trace, states), trace.start.seats) if states is not None else ()

    def by_seat(trace: Trace, value: Callable[[Target], float]) -> MetricValue:
        seats = [value(target) if target.measured else None for target in measured(trace)]
        known = [seat for seat in seats if seat is not None]
        return MetricValue(game=sum(known) / len(known) if known else None, seats=tuple(seats))

    return (
        Metric(
            name="vps_reflected",
            title="VPS, reflected",
            better="lower",
            compute=lambda trace: by_seat(trace, lambda target: target.excess(floor)),
        ),
        Metric(
            name="vps_reflected_total",
            title="VPS, reflected, total",
            better="lower",
            compute=lambda trace: by_seat(trace, lambda target: target.calibrated),
            headline=False,
        ),
        Metric(
            name="vps_reflected_raw",
            title="VPS, reflected, raw",
            better="lower",
            compute=lambda trace: by_seat(trace, lambda target: target.raw),
            headline=False,
        ),
    )


def write_reflections(
    folder: Path, traces: Iterable[tuple[str, Trace, PrivateStates]], floor: float
) -> tuple[Path, ...]:
    """Write the CSV files of some games.

    Args:
        folder: Made if it is not there.
        traces: Each game's path as the files state it, its trace, and what was private in it.
        floor: VPS a game that agreeing takes by itself.

    Raises:
        UserError: If the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            writers = {}
            for name, columns in COLUMNS.items():
                file = stack.enter_context((folder / name).open("w", encoding="utf-8", newline=""))
                writers[name] = csv.writer(file, lineterminator="\n")
                writers[name].writerow(columns)
            for path, trace, states in traces:
                found = list(answers(trace, states))
                for name, rows in _rows(path, trace, found, floor):
                    writers[name].writerows(rows)
    except OSError as error:
        raise UserError(f"CSVs cannot be written to {folder} ({error.strerror}); name another folder") from error
    return tuple([folder / name for name in COLUMNS])


def _rows(path: str, trace: Trace, found: Sequence[Answer], floor: float) -> Iterator[tuple[str, Iterator[list[Any]]]]:
    where = [path, trace.game_id]
    yield "reflection_beliefs.csv", (where + row for answer in found for row in _cells(answer))
    yield "reflection_pair_round.csv", (where + _pair(answer) for answer in found)
    strategies = trace.start.strategies
    yield (
        "reflection_game_target_summary.csv",
        (
            [
                *where,
                target.seat,
                strategies[target.seat],
                target.answers,
                target.unreadable,
                *_vps(target, floor),
                floor,
            ]
            for target in targets(found, trace.start.seats)
        ),
    )


def _vps(target: Target, floor: float) -> Iterator[float | None]:
    for value in (target.raw, target.calibrated, target.excess(floor)):
        yield _rounded(value) if target.measured else None
    yield _rounded(target.expected)


def _cells(answer: Answer) -> Iterator[list[Any]]:
    said = answer.said
    if answer.reported is None:
        return
    refined: Sequence[float | None] = said.expected if answer.expected else (None,) * len(said.deltas)
    for slot, (delta, expected, truth) in enumerate(zip(said.deltas, refined, answer.truth, strict=True)):
        raw, calibrated = movement([delta], [truth])
        refined_loss = None if expected is None else movement([expected], [truth]).calibrated
        yield [
            said.round,
            said.target,
            said.seat,
            slot,
            delta,
            _rounded(expected),
            int(truth),
            *map(_rounded, (raw, calibrated, refined_loss)),
        ]


def _pair(answer: Answer) -> list[Any]:
    said, reported, expected = answer.said, answer.reported, answer.expected
    return [
        said.round,
        said.target,
        said.seat,
        int(reported is not None),
        _rounded(reported.raw if reported else None),
        _rounded(reported.calibrated if reported else None),
        _rounded(expected.calibrated if expected else None),
        said.prompt_tokens,
        said.completion_tokens,
        said.cost,
    ]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)
