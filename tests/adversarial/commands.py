"""Commands, run in this process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple


class Said(NamedTuple):
    """What a command did."""

    code: int
    out: str
    err: str


Cheaptalk = Callable[..., Said]
"""Runs a command with some arguments."""

Argument = str | Path
