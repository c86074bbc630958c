"""Privacy stress tests: what adversarial opponents bring out of a strategy that cooperative ones do not."""

from adversarial.stress.arms import COOPERATIVE, Plan, opponents_of
from adversarial.stress.gate import Threshold, Verdict
from adversarial.stress.report import Report, stress

__all__ = ["COOPERATIVE", "Plan", "Report", "Threshold", "Verdict", "opponents_of", "stress"]
