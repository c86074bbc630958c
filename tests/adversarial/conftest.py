"""What the tests of commands share."""

from __future__ import annotations

import pytest

from framework.cli import main
from tests.adversarial.commands import Argument, Cheaptalk, Said


@pytest.fixture
def cheaptalk(capsys: pytest.CaptureFixture[str]) -> Cheaptalk:
    """Run a command in this process."""

    def run(*arguments: Argument) -> Said:
        with pytest.raises(SystemExit) as exit:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return Said(int(exit.value.code or 0), out, err)

    return run
