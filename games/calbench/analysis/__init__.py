"""What `cheaptalk report` and `cheaptalk plot` ask of CalBench's runs (paper, section 4 and appendix G)."""

from __future__ import annotations

from typing import Any

from framework.analysis import Analysis
from games.calbench.analysis.burden import BURDEN
from games.calbench.analysis.completion import COMPLETION
from games.calbench.analysis.disclosure import DISCLOSURE
from games.calbench.analysis.repair import REPAIR
from games.calbench.analysis.speakers import SPEAKERS
from games.calbench.analysis.talk import TALK_BY_MEETING, TALK_BY_ROLE

__all__ = ["ANALYSES"]

ANALYSES: tuple[Analysis[Any], ...] = (
    COMPLETION,
    SPEAKERS,
    TALK_BY_MEETING,
    TALK_BY_ROLE,
    REPAIR,
    BURDEN,
    DISCLOSURE,
)
"""In the order in which the paper comes to them."""
