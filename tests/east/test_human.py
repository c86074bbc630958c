"""A person's seat, played by a program at the other end of a pipe or of a terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import subprocess
import sys
import termios
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import yaml

from framework import Trace, read_trace
from framework.trace import DecideEnd
from games.east import Scenario, outcome_of

MAIN = "from framework.cli import main; main()"
COMMAND = [sys.executable, "-c", MAIN, "run", "east", "--suite", "quick"]


def run(
    folder: Path, typed: str, *seats: str, limit: int = 1, options: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    arguments = [part for seat in seats for part in ("--seat", seat)]
    return subprocess.run(
        [*COMMAND, "--limit", str(limit), "--out", str(folder), *arguments, *options],
        input=typed,
        capture_output=True,
        text=True,
        check=False,
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


def test_without_a_person_the_run_stops_at_once_and_can_be_gone_on_with(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    done = run(folder, "stitches\n", "0=human", "1=normative", limit=3)
    assert done.returncode == 1
    assert "nobody is at the keyboard; play at a terminal, and add --resume to go on" in done.stderr
    assert "Traceback" not in done.stderr
    assert len(list((folder / "traces").glob("[!.]*.json"))) == 2
    again = subprocess.run(
        [sys.executable, "-c", MAIN, "run", str(folder), "--resume"],
        input="drill\nscalpel\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert again.returncode == 0, again.stderr
    words = [outcome_of(read_trace(path)).words[0] for path in sorted((folder / "traces").glob("[!.]*.json"))]
    assert words == ["stitches", "drill", "scalpel"]


def test_a_person_plays_one_game_at_a_time_without_a_time_limit(tmp_path: Path) -> None:
    options = ["--jobs", "2", "--concurrency", "2"]
    done = run(tmp_path / "run", "stitches\ndrill\n", "0=human", "1=normative", limit=2, options=options)
    assert done.returncode == 0, done.stderr
    assert done.stderr.index("You are: construction worker") > done.stderr.index("Your choice")
    assert yaml.safe_load((tmp_path / "run" / "config.yaml").read_text())["limits"]["seconds"] is None
    kept = run(tmp_path / "kept", "stitches\n", "0=human", "1=normative", options=["--seconds", "9"])
    assert kept.returncode == 0, kept.stderr
    assert yaml.safe_load((tmp_path / "kept" / "config.yaml").read_text())["limits"]["seconds"] == 9


class Terminal:
    """A command at a terminal of its own, with a person who reads the screen."""

    def __init__(self, folder: Path) -> None:
        self._keys, screen = pty.openpty()
        arguments = ["--limit", "2", "--seat", "0=human", "--seat", "1=normative", "--out", str(folder)]
        self.game = subprocess.Popen(
            [*COMMAND, *arguments], stdin=screen, stdout=screen, stderr=screen, preexec_fn=_own_terminal
        )
        os.close(screen)
        self.shown = b""

    def read_to(self, text: bytes) -> None:
        """Read on until this is shown."""
        before = len(self.shown)
        while text not in self.shown[before:]:
            self.shown += os.read(self._keys, 1024)

    def read_all(self) -> None:
        """Read until the command ends."""
        while True:
            try:
                more = os.read(self._keys, 1024)
            except OSError:
                return
            if not more:
                return
            self.shown += more

    def type(self, text: bytes) -> None:
        os.write(self._keys, text)

    def close(self) -> None:
        self.game.kill()
        self.game.wait()
        os.close(self._keys)


def _own_terminal() -> None:
    """Let keys such as Ctrl-C reach this process."""
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    made = Terminal(tmp_path / "run")
    yield made
    made.close()


def test_a_person_can_choose_at_a_real_terminal(terminal: Terminal, tmp_path: Path) -> None:
    terminal.read_to(b"Your choice")
    assert b"\x1b[" not in terminal.shown  # a progress bar would draw over the question
    terminal.type(b"stitches\n")
    terminal.read_to(b"Your choice")
    terminal.type(b"2\n")
    terminal.read_all()
    assert terminal.game.wait(timeout=60) == 0
    first, second = sorted((tmp_path / "run" / "traces").glob("[!.]*.json"))
    assert outcome_of(read_trace(first)).words[0] == "stitches"
    trace = read_trace(second)
    assert outcome_of(trace).words[0] == Scenario.model_validate(trace.start.scenario).orders[0][1]


def test_ctrl_c_ends_the_run_without_another_key_and_keeps_what_was_played(terminal: Terminal) -> None:
    terminal.read_to(b"Your choice")
    terminal.type(b"stitches\n")
    terminal.read_to(b"Your choice")
    terminal.type(b"\x03")
    terminal.read_all()
    assert terminal.game.wait(timeout=60) == 130
    assert b"interrupted: 1 of 2 games are kept and 1 are left" in terminal.shown
    assert b"Traceback" not in terminal.shown


def test_ctrl_d_stops_the_run_with_one_sentence(terminal: Terminal) -> None:
    terminal.read_to(b"Your choice")
    terminal.type(b"\x04")
    terminal.read_all()
    assert terminal.game.wait(timeout=60) == 1
    assert b"nobody is at the keyboard" in terminal.shown
    assert terminal.shown.count(b"Your choice") == 1
