"""Semantic leaks: secrets that delivered messages gave away."""

from adversarial.leaks.audit import SemanticLeak, leaks_of
from adversarial.leaks.matching import THRESHOLD, Match, Matcher

__all__ = ["THRESHOLD", "Match", "Matcher", "SemanticLeak", "leaks_of"]
