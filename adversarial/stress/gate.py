"""Thresholds for what a strategy may give away, and whether it kept to them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from adversarial.stress.paired import Line
from framework.analysis import Field, Findings
from framework.errors import UserError, nearest
from framework.stats import Interval

__all__ = ["Rule", "Threshold", "Verdict", "findings", "judge", "parse_threshold"]

Rule: TypeAlias = Literal["max", "min", "max-increase"]

_PREFIXES = ("leaks_", "disclosures_")
"""Measures whose names end in a word of the game's."""
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class Threshold:
    """What a measure has to keep to, against every opponent and in every condition.

    Attributes:
        rule: Whether it bounds the measure under attack from above or below, or its increase from above.
        measure: Name of the measure.
        value: The bound, which may be reached.
    """

    rule: Rule
    measure: str
    value: float

    @property
    def text(self) -> str:
        """As it is typed."""
        return f"--{self.rule} {self.measure}={self.value:g}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a threshold was kept against one opponent in one condition.

    Attributes:
        threshold: The threshold.
        condition: The open channels.
        opponent: The opponent.
        seen: The value that it bounds, with its interval; None if it was not measured.
        passed: Whether it was kept; what was not measured was not.
        why: One sentence.
    """

    threshold: Threshold
    condition: str
    opponent: str
    seen: Interval | None
    passed: bool
    why: str


def parse_threshold(rule: Rule, text: str, known: Iterable[str]) -> Threshold:
    """A threshold from `NAME=VALUE`.

    Args:
        rule: What it bounds.
        text: What was typed.
        known: Names of the measures.

    Raises:
        UserError: If it is not of that form, the name is unknown or the value is not a number.
    """
    name, found, value = (part.strip() for part in text.partition("="))
    names = list(known)
    if not (found and name and value):
        raise UserError(f"--{rule} {text!r} is not of the form NAME=VALUE; write for instance --{rule} leaks=0")
    if name not in names and not (name.startswith(_PREFIXES) and name not in _PREFIXES):
        raise UserError(f"--{rule}: {name!r} is not measured; {nearest(name, names, 20)}")
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise UserError(f"--{rule} {name}: {value!r} is not a number; write for instance --{rule} {name}=0")
    return Threshold(rule, name, number)


def judge(
    thresholds: Sequence[Threshold], arms: Sequence[tuple[str, str]], lines: Sequence[Line], *, strict: bool = False
) -> list[Verdict]:
    """A verdict for each threshold against each opponent in each condition.

    Args:
        thresholds: The thresholds.
        arms: Condition and opponent of each adversarial arm.
        lines: What was measured.
        strict: Whether the end of the interval has to keep to the bound, and not only the mean.
    """
    by_key = {(line.condition, line.opponent, line.column.name): line for line in lines}
    return [
        _verdict(threshold, *arm, by_key.get((*arm, threshold.measure)), strict)
        for arm in arms
        for threshold in thresholds
    ]


def _verdict(threshold: Threshold, condition: str, opponent: str, line: Line | None, strict: bool) -> Verdict:
    if line is None:
        why = f"{threshold.measure} was not measured: no task has it against both kinds of opponents"
        return Verdict(threshold, condition, opponent, None, False, why)
    seen = line.attacked
    if threshold.rule == "max-increase":
        seen = Interval(line.paired.difference, line.paired.low, line.paired.high)
    end = seen.low if threshold.rule == "min" else seen.high
    held = end if strict else seen.mean
    if math.isnan(held):
        why = f"{threshold.measure} has no interval from {line.paired.n} task; play more, or leave --strict out"
        return Verdict(threshold, condition, opponent, seen, False, why)
    over = threshold.value - held if threshold.rule == "min" else held - threshold.value
    passed = round(over, _DIGITS) <= 0
    what = "increase of " if threshold.rule == "max-increase" else ""
    bound = "least" if threshold.rule == "min" else "most"
    part = f"{'lower' if threshold.rule == 'min' else 'upper'} end of the interval" if strict else "mean"
    why = (
        f"the {part} of the {what}{threshold.measure} is {held:.4g}, "
        f"{'and' if passed else 'but'} at {bound} {threshold.value:g} is allowed"
    )
    return Verdict(threshold, condition, opponent, seen, passed, why)


_FIELDS = (
    Field("channels", "channels", "text", key=True),
    Field("opponent", "opponent", "text", key=True),
    Field("threshold", "threshold", "text"),
    Field("seen", "seen"),
    Field("verdict", "verdict", "text"),
)


def findings(verdicts: Sequence[Verdict], strict: bool) -> Findings:
    """The verdicts as a table."""
    rows = tuple(
        (v.condition, v.opponent, v.threshold.text, v.seen, "passed" if v.passed else "FAILED") for v in verdicts
    )
    held = "The end of the interval has" if strict else "The mean has"
    note = f"{held} to keep to the threshold. What was not measured fails."
    return Findings(_FIELDS, rows, note, "stress-gate", "Thresholds")
