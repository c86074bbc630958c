"""What these tests share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from framework.cli import main


class Said(NamedTuple):
    """What a command did."""

    code: int
    out: str
    err: str


Cheaptalk = Callable[..., Said]


@pytest.fixture
def cheaptalk(capsys: pytest.CaptureFixture[str]) -> Cheaptalk:
    """Run a command in this process."""

    def call(*arguments: str | Path) -> Said:
        with pytest.raises(SystemExit) as exit:
            main([str(argument) for argument in arguments])
        return Said(int(exit.value.code or 0), *capsys.readouterr())

    return call
