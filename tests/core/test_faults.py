"""Runs that are killed, interrupted, shut out or left without room: nothing finished is lost."""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from framework.errors import UserError
from framework.results import read_result, total_usage
from framework.runner import run
from tests.core.runs import PLAYERS, ROOT, TOY, finish, manifest, playings, start, toy

GAMES = 200
STRATEGY = f"{PLAYERS}:Counting"


def flags(folder: Path, *more: str) -> list[str]:
    """A run of many small games."""
    return ["run", TOY, "--strategy", STRATEGY, "--repeats", str(GAMES // 2), "--out", str(folder), *more]


def traces(folder: Path) -> list[Path]:
    """The traces that are in place."""
    return sorted((folder / "traces").glob("[!.]*.json"))


def wait_for(folder: Path, count: int, process: subprocess.Popen[str]) -> None:
    """Until so many traces are in place, or the process has ended."""
    while process.poll() is None and (not folder.exists() or len(traces(folder)) < count):
        time.sleep(0.002)


def assert_whole(folder: Path, undisturbed: Path) -> None:
    """Every game once, none lost, and totals as in the undisturbed run."""
    lines = manifest(folder)
    assert len(lines) == len({line["game_id"] for line in lines}) == GAMES
    assert playings(folder) == playings(undisturbed)
    assert total(folder) == total(undisturbed)
    assert not list((folder / "traces").glob(".*"))


def total(folder: Path) -> tuple[int, int, float | None]:
    """Usage by the manifest."""
    from framework._runfolder import ManifestLine

    usage = total_usage(ManifestLine.model_validate(line).usage for line in manifest(folder))
    return usage.prompt_tokens, usage.calls, usage.cost


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("undisturbed") / "run"
    outcome = run(toy(folder, strategy=STRATEGY, repeats=GAMES // 2))
    assert outcome.usage.calls == total(folder)[1] > 0
    return folder


def test_a_run_killed_at_ten_random_moments_resumes_to_the_undisturbed_one(tmp_path: Path, undisturbed: Path):
    folder = tmp_path / "run"
    rng = random.Random(20)
    moments = sorted(rng.sample(range(1, GAMES - 10), 10))
    for moment in moments:
        process = start(*flags(folder, "--resume"))
        wait_for(folder, moment, process)
        time.sleep(rng.random() * 0.005)
        process.send_signal(signal.SIGKILL)
        code, _, err = finish(process)
        assert code == -signal.SIGKILL, err
        assert len(traces(folder)) < GAMES
    code, out, err = finish(start(*flags(folder, "--resume")))
    assert code == 0, err
    assert f"{GAMES}" in out
    assert_whole(folder, undisturbed)


def test_a_killed_pool_leaves_no_processes_and_resumes(tmp_path: Path, undisturbed: Path):
    folder = tmp_path / "run"
    process = start(*flags(folder, "--jobs", "2"))
    wait_for(folder, 20, process)
    children = descendants(process.pid)
    assert len(children) >= 2
    process.send_signal(signal.SIGKILL)
    finish(process)
    deadline = time.monotonic() + 20
    while alive := [pid for pid in children if is_running(pid)]:
        assert time.monotonic() < deadline, f"{alive} outlive the run"
        time.sleep(0.02)
    code, _, err = finish(start(*flags(folder, "--jobs", "2", "--resume")))
    assert code == 0, err
    assert_whole(folder, undisturbed)


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_stops_cleanly_and_says_how_to_go_on(tmp_path: Path, undisturbed: Path, jobs: str):
    folder = tmp_path / "run"
    process = start(*flags(folder, "--jobs", jobs))
    wait_for(folder, 20, process)
    process.send_signal(signal.SIGINT)
    code, out, err = finish(process)
    assert code == 130
    assert out == ""
    assert err.startswith("cheaptalk: interrupted: ")
    assert err.endswith(f"go on with: cheaptalk run {folder} --resume\n")
    assert "Traceback" not in err
    kept = len(manifest(folder))
    assert f"{kept} of {GAMES} games are kept and {GAMES - kept} are left" in err
    code, _, err = finish(start("run", folder, "--resume"))
    assert code == 0, err
    assert_whole(folder, undisturbed)


def test_ctrl_c_reaches_a_run_that_a_notebook_started(tmp_path: Path):
    folder = tmp_path / "run"
    code = f"""
import asyncio
from framework.runner import RunStopped, run
from tests.core.runs import toy

async def cell():
    try:
        run(toy({str(folder)!r}, strategy="{PLAYERS}:Hanging"))
    except RunStopped as stopped:
        print(stopped.interrupted, stopped)

asyncio.new_event_loop().run_until_complete(cell())
"""
    process = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    wait_until_claimed(folder)
    time.sleep(0.5)  # so that the first move is asked for
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert out.startswith("True interrupted: 0 of 2 games are kept and 2 are left")


def test_a_second_process_is_refused_while_the_first_plays_and_a_dead_one_blocks_nobody(tmp_path: Path):
    folder = tmp_path / "run"
    hanging = ["run", TOY, "--strategy", f"{PLAYERS}:Hanging", "--out", str(folder)]
    first = start(*hanging)
    wait_until_claimed(folder)
    code, _, err = finish(start(*hanging, "--resume"))
    assert code == 2
    assert err == (
        f"cheaptalk: run folder {folder} is in use by process {first.pid}; wait for it to end, or give another --out\n"
    )
    first.send_signal(signal.SIGKILL)
    finish(first)
    code, _, err = finish(start(*hanging, "--resume", "--seconds", "0.1"))
    assert code == 2
    assert "limits.seconds is 600.0 there and 0.1 here" in err


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_player_that_cannot_be_cancelled_does_not_keep_the_run_from_ending(tmp_path: Path, jobs: str):
    folder = tmp_path / "run"
    options = ("--strategy", f"{PLAYERS}:Stubborn", "--seconds", "0.1", "--jobs", jobs, "--out", folder)
    code, out, err = finish(start("run", TOY, *options))
    assert code == 1
    assert "2 of 2 games aborted (2 at strategy)" in out
    assert len(manifest(folder)) == 2
    assert "did not stop when its 0.1 s were over" in err.splitlines()[0]


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_player_that_forks_leaves_one_record_of_each_game(tmp_path: Path, jobs: str):
    folder = tmp_path / "run"
    code, _, _ = finish(start("run", TOY, "--strategy", f"{PLAYERS}:Forking", "--jobs", jobs, "--out", folder))
    assert code == 0
    run(toy(tmp_path / "plain"))
    assert [line["number"] for line in sorted(manifest(folder), key=lambda line: line["number"])] == [0, 1]
    forked, plain = playings(folder), playings(tmp_path / "plain")
    assert [game["final_state"] for game in forked] == [game["final_state"] for game in plain]


def test_a_game_that_is_aborted_with_posts_on_their_way_is_told_in_one_sentence(tmp_path: Path):
    options = ("--strategy", f"{PLAYERS}:Refusing", "--limit", "1", "--out", tmp_path / "run")
    code, _, err = finish(start("run", TOY, *options))
    assert code == 1
    assert err.startswith("cheaptalk: game 0 (toy-0) aborted at strategy: seat 1 (Refusing): raised ZeroDivisionError")
    assert err.count("\n") == 1


def wait_until_claimed(folder: Path) -> None:
    deadline = time.monotonic() + 60
    while not (folder / "manifest.jsonl").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_folder_that_cannot_be_made_is_said_before_a_game_is_played(tmp_path: Path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UserError, match=r"run folder .*file/run cannot be written \(Not a directory\); give another"):
        run(toy(tmp_path / "file" / "run"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_is_said_before_a_game_is_played(tmp_path: Path):
    (tmp_path / "run" / "traces").mkdir(parents=True)
    (tmp_path / "run").chmod(0o555)
    with pytest.raises(UserError, match=r"cannot be written \(Permission denied\)"):
        run(toy(tmp_path / "run"))


def test_too_little_room_is_said_before_a_game_is_played(tmp_path: Path):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, limits[1]))
    try:
        with pytest.raises(UserError, match=r"run folder .* cannot be written \(File too large\)"):
            run(toy(tmp_path / "run"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert traces(tmp_path / "run") == []
    assert run(toy(tmp_path / "run"), resume=True).aborted == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", disk], capture_output=True)
    if mounted.returncode:
        pytest.skip("a file system of its own may not be mounted here")
    yield disk
    subprocess.run(["umount", disk], check=True)


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_full_disk_keeps_what_is_finished_and_says_how_to_go_on(small_disk: Path, undisturbed: Path, jobs: str):
    folder = small_disk / "run"
    code, out, err = finish(start(*flags(folder, "--jobs", jobs)))
    assert code == 1
    assert out == ""
    assert err.startswith(f"cheaptalk: {folder} cannot be written (No space left on device): ")
    assert err.endswith(f"go on with: cheaptalk run {folder} --resume\n")
    kept = manifest(folder)
    assert 0 < len(kept) < GAMES
    for line in kept:
        assert read_result(folder / line["trace"]).game_id == line["game_id"]
    subprocess.run(["mount", "-o", "remount,size=40m", small_disk], check=True)
    code, _, err = finish(start("run", folder, "--resume", "--jobs", jobs))
    assert code == 0, err
    assert_whole(folder, undisturbed)


def test_a_disk_without_room_is_said_before_a_game_is_played(small_disk: Path):
    (small_disk / "film").write_bytes(b"0" * 500_000)
    with pytest.raises(UserError, match=r"cannot be written \(No space left on device\); free some space"):
        run(toy(small_disk / "run"))
    assert traces(small_disk / "run") == []


@pytest.mark.parametrize("made", [False, True])
def test_a_read_only_disk_is_said_before_a_game_is_played(small_disk: Path, made: bool):
    if made:
        run(toy(small_disk / "run"))
        traces(small_disk / "run")[0].unlink()
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    with pytest.raises(UserError, match=r"run folder .* cannot be written \(Read-only file system\)"):
        run(toy(small_disk / "run"), resume=True)


def descendants(pid: int) -> list[int]:
    """Processes below a process."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            found += [int(child), *descendants(int(child))]
    return found


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
