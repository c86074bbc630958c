"""What `cheaptalk report` and `cheaptalk plot` ask of CalBench's runs (paper, section 4 and appendix G)."""

from __future__ import annotations

from typing import Any

from framework.analysis import Analysis, Drawing
from games.calbench.analysis import behaviour, figures
from games.calbench.analysis.burden import BURDEN
from games.calbench.analysis.completion import COMPLETION
from games.calbench.analysis.disclosure import DISCLOSURE
from games.calbench.analysis.repair import REPAIR
from games.calbench.analysis.speakers import SPEAKERS
from games.calbench.analysis.talk import TALK_BY_MEETING, TALK_BY_ROLE

__all__ = ["ANALYSES", "DRAWINGS"]

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

DRAWINGS: tuple[Drawing[Any], ...] = (
    figures.PRIVACY_COST,
    figures.MESSAGES_COST,
    figures.FAIRNESS,
    behaviour.FIRST_SPEAKER,
    behaviour.TALK_BY_MEETING,
    behaviour.TALK_BY_ROLE,
    behaviour.PRIOR_MOVED,
)
"""Figures 2 to 4 and 6 to 9."""
