"""A person's seat, played by a program at the other end of a pipe or of a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from framework import Trace, read_trace
from framework.trace import DecideEnd
from games.east import outcome_of

MAIN = "from framework.cli import main; main()"
COMMAND = [sys.executable, "-c", MAIN, "run", "east", "--suite", "quick", "--limit", "1"]


def run(folder: Path, typed: str, *seats: str) -> subprocess.CompletedProcess[str]:
    arguments = [part for seat in seats for part in ("--seat", seat)]
    return subprocess.run(
        [*COMMAND, "--out", str(folder), *arguments], input=typed, capture_output=True, text=True, check=False
    )


def only_trace(folder: Path) -> Trace:
    (path,) = (folder / "traces").glob("[!.]*.json")
    return read_trace(path)


def test_a_person_chooses_by_name_and_is_asked_again_after_a_slip(tmp_path: Path) -> None:
    done = run(tmp_path / "run", "needle\n9\nSTITCHES\n", "0=human", "1=normative")
    assert done.returncode == 0, done.stderr
    assert "You are: bespoke tailor" in done.stderr
    assert "The other player is: general surgeon" in done.stderr
    assert "'needle' is none of them." in done.stderr
    assert "'9' is none of them." in done.stderr
    assert outcome_of(only_trace(tmp_path / "run")).normative


def test_two_people_share_a_terminal_and_say_why(tmp_path: Path) -> None:
    human = "human:private=true,reasoning=true"
    typed = "\nstitches\nit is sewn\n\nfabric\nit is cut\n"
    done = run(tmp_path / "run", typed, f"0={human}", f"1={human}")
    assert done.returncode == 0, done.stderr
    trace = only_trace(tmp_path / "run")
    assert outcome_of(trace).words == ("stitches", "fabric")
    assert [event.thinking for event in trace.of(DecideEnd)] == ["it is sewn", "it is cut"]


def test_without_a_person_the_game_is_aborted_with_the_remedy(tmp_path: Path) -> None:
    done = run(tmp_path / "run", "", "0=human", "1=normative")
    assert done.returncode == 1
    assert "nobody is at the keyboard; a human seat needs a terminal and --jobs 1" in done.stderr


@pytest.mark.skipif(not hasattr(pty, "openpty"), reason="no pseudo-terminals here")
def test_a_person_can_choose_at_a_real_terminal(tmp_path: Path) -> None:
    keys, screen = pty.openpty()
    arguments = ["--seat", "0=human", "--seat", "1=normative", "--out", str(tmp_path / "run")]
    with subprocess.Popen([*COMMAND, *arguments], stdin=screen, stdout=screen, stderr=screen) as game:
        os.close(screen)
        shown = b""
        while b"Your choice" not in shown:
            shown += os.read(keys, 1024)
        assert b"\x1b[" not in shown  # a progress bar would draw over the question
        os.write(keys, b"stitches\n")
        while True:
            try:
                shown += os.read(keys, 1024) or b""
            except OSError:
                break
        assert game.wait(timeout=60) == 0
    os.close(keys)
    assert outcome_of(only_trace(tmp_path / "run")).words[0] == "stitches"
