"""`cheaptalk generate calbench`: suites and settings become files of tasks that a run plays."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from framework.cli import main
from games.calbench.taskfile import read_tasks

SETTINGS = """
name: mine
count: 3
seed: 4
params:
  num_agents: 4
  density: [0.5, 0.6, 0.7, 0.8]
  blocked: 2
  cost_setting: balanced
"""


def cheaptalk(*arguments: str | Path) -> int:
    with pytest.raises(SystemExit) as exit:
        main([str(argument) for argument in arguments])
    return int(exit.value.code or 0)


def test_settings_become_tasks_that_a_run_plays(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(SETTINGS)
    assert cheaptalk("generate", "calbench", "--config", tmp_path / "mine.yaml", "--out", tmp_path / "mine.jsonl") == 0
    tasks = read_tasks(tmp_path / "mine.jsonl")
    assert [task.task_id for task in tasks] == ["mine-01", "mine-02", "mine-03"]
    assert {task.params.agent_densities for task in tasks} == {(0.5, 0.6, 0.7, 0.8)}
    assert cheaptalk("run", "calbench", "--tasks", tmp_path / "mine.jsonl", "--out", tmp_path / "run") == 0


def test_the_seed_of_the_command_line_takes_the_place_of_the_files(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(SETTINGS)
    (tmp_path / "other.yaml").write_text(SETTINGS.replace("seed: 4", "seed: 9"))
    for config, seed, out in (("mine", ("--seed", "9"), "a"), ("other", (), "b"), ("mine", (), "c")):
        file = tmp_path / f"{out}.jsonl"
        assert cheaptalk("generate", "calbench", "--config", tmp_path / f"{config}.yaml", *seed, "--out", file) == 0
    a, b, c = ((tmp_path / f"{name}.jsonl").read_bytes() for name in "abc")
    assert a == b != c


@pytest.mark.parametrize("source", [("--suite", "quick"), ("--config", "mine.yaml")])
def test_the_same_seed_gives_the_same_file_in_another_process(tmp_path: Path, source: tuple[str, str]) -> None:
    (tmp_path / "mine.yaml").write_text(SETTINGS)
    code = "from framework.cli import main; main()"
    files = []
    for salt in ("1", "2"):
        command = [sys.executable, "-c", code, "generate", "calbench", *source, "--out", f"{salt}.jsonl"]
        subprocess.run(command, cwd=tmp_path, env={**os.environ, "PYTHONHASHSEED": salt}, check=True)
        files.append((tmp_path / f"{salt}.jsonl").read_bytes())
    assert files[0] == files[1]
    assert all(json.loads(line)["task_id"] for line in files[0].splitlines())


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("cuont: 3", "generator of calbench: 'cuont' is not a known key; did you mean 'count'?"),
        ("num_agents: 6", "'num_agents' is one of the params; write it below the key 'params'"),
        ("params: {num_agnts: 3}", "'params.num_agnts' is not a known key; did you mean 'num_agents'?"),
        ("params: {num_agents: 2}", "subset_size is 3 but there are 2 agents: use at most 2"),
        ("params: {density: 1.5}", "'params.density"),
        ("params: {density: [0.5]}", "density has 1 values for 5 agents: give one number or 5"),
        ("params: {num_meetings: 16, blocked: 10}", "agent 0 has"),
        ("count: 6\nbucketed: true", "all 12 candidates have difficulty 1, so easy, medium and hard"),
        ("count: 3\ncount: 4", "the key 'count' is there twice"),
        ("count: true", "'count' is true; write a number"),
        ("- 1", "a generator's settings are a mapping"),
    ],
)
def test_faulty_settings_are_said_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], settings: str, said: str
) -> None:
    (tmp_path / "bad.yaml").write_text(settings)
    assert cheaptalk("generate", "calbench", "--config", tmp_path / "bad.yaml", "--out", tmp_path / "x.jsonl") == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1
    assert not (tmp_path / "x.jsonl").exists()
