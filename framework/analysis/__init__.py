"""From the traces of runs to tables and figures: what a game declares, and what the commands make of it."""

from framework.analysis.declared import Analysis, Drawing
from framework.analysis.findings import Field, Findings, Value
from framework.analysis.gather import Gathered, Seen, gather_runs
from framework.analysis.groups import ALL, Group, Part, by_strategy
from framework.analysis.samples import Sample, share

__all__ = [
    "ALL",
    "Analysis",
    "Drawing",
    "Field",
    "Findings",
    "Gathered",
    "Group",
    "Part",
    "Sample",
    "Seen",
    "Value",
    "by_strategy",
    "gather_runs",
    "share",
]
