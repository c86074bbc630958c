"""Pages that people look at: runs, the leaderboard, and every game step by step, live or as static files.

A game's author needs the pieces of a `PageModel`, which are here. `framework.pages.runs` opens run folders,
`framework.pages.site` writes static files and `framework.pages.server` serves the same pages.
"""

from framework.pages.model import (
    Card,
    Cell,
    CellChange,
    CellKind,
    Fact,
    Grid,
    Label,
    PageModel,
    Sheet,
    Tally,
    TallyChange,
    Tone,
    diff,
)

__all__ = [
    "Card",
    "Cell",
    "CellChange",
    "CellKind",
    "Fact",
    "Grid",
    "Label",
    "PageModel",
    "Sheet",
    "Tally",
    "TallyChange",
    "Tone",
    "diff",
]
