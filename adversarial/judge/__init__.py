"""The external judge: a model reads what a seat was delivered, and says what a reader would have learnt."""

from adversarial.judge.agreement import Cell, agreement, statistics_of
from adversarial.judge.cases import Case, CaseKey, JudgePrompts, cases_of
from adversarial.judge.judging import Sitting, Task, judge
from adversarial.judge.runs import Bench

__all__ = [
    "Bench",
    "Case",
    "CaseKey",
    "Cell",
    "JudgePrompts",
    "Sitting",
    "Task",
    "agreement",
    "cases_of",
    "judge",
    "statistics_of",
]
