"""Runs against an OpenAI-compatible provider: the command, the files that it writes, and what goes wrong."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from framework.cli import main
from framework.results import read_result
from framework.trace import GameAborted, read_trace
from protocols.models.settings import PREFIX, Settings
from tests.llm.provider import provider

KEY = "sk-this-is-the-secret-0123456789abcdef"


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in Settings.model_fields:  # so that what a command sets is taken back
        monkeypatch.setenv(PREFIX + name.upper(), "")
    monkeypatch.setenv(f"{PREFIX}BACKOFF", "0")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.chdir(tmp_path)


def first_free(body: dict[str, Any]) -> tuple[int, str]:
    last = body["messages"][-1]["content"]
    if "Phase: DECISION" not in last:
        return 200, '{"thinking": "", "actions": []}'
    meeting, slot = re.search(r"schedule: M(\d+)", last), re.search(r"Slot (\d+): \[FREE\]", last)
    assert meeting
    assert slot
    call = {"type": "schedule", "meeting_id": int(meeting[1]), "slot": int(slot[1])}
    return 200, json.dumps({"thinking": "", "actions": [call]})


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["run", "calbench", "--suite", "quick", "--limit", "2", "--out", "r", *arguments])
    return int(ended.value.code or 0)


def files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_key_appears_in_no_file_that_a_run_writes(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with provider(first_free) as server:
        assert run("--model", "openai:m", "--base-url", server.base_url, "--cache", "cache", "--reflect") == 0
    assert set(server.authorizations) == {f"Bearer {KEY}"}
    written = files(tmp_path)
    assert any(path.is_relative_to(tmp_path / "cache") for path in written)
    assert any(path.is_relative_to(tmp_path / "r") for path in written)
    for path, data in written.items():
        assert KEY.encode() not in data, path
    out = capfd.readouterr()
    assert KEY not in out.out + out.err


def test_a_key_appears_in_no_file_when_the_provider_repeats_it_in_an_error(tmp_path: Path) -> None:
    with provider(lambda body: (401, f"Incorrect API key provided: {KEY}")) as server:
        assert run("--model", "openai:m", "--base-url", server.base_url) == 1
    for path, data in files(tmp_path).items():
        assert KEY.encode() not in data, path


def test_replies_are_asked_for_by_schema_and_the_table_counts_what_they_used(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with provider(first_free) as server:
        assert run("--model", "openai:m", "--base-url", server.base_url) == 0
    form = server.requests[0]["response_format"]
    assert form["type"] == "json_schema"
    assert form["json_schema"]["schema"]["required"] == ["thinking", "actions"]
    calls = len(server.requests)
    assert f"{calls} calls, {calls * 100} + {calls * 7} tokens" in capsys.readouterr().out


def test_a_second_run_with_the_same_cache_asks_nothing_and_plays_the_same(tmp_path: Path) -> None:
    with provider(first_free) as server:
        model = ("--model", "openai:m", "--base-url", server.base_url, "--cache", "cache")
        assert run(*model) == 0
        asked = len(server.requests)
        first = {path.name: read_result(path).metrics for path in (tmp_path / "r" / "traces").iterdir()}
        assert run(*model, "--out", "again") == 0
        assert len(server.requests) == asked
    again = {path.name: read_result(path).metrics for path in (tmp_path / "again" / "traces").iterdir()}
    assert again == first


def test_a_spent_budget_stops_the_run_and_a_larger_one_resumes_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with provider(first_free) as server:
        model = ("--model", "openai:m", "--base-url", server.base_url)
        assert run(*model, "--budget", "calls=40") == 1
        said = capsys.readouterr().err
        assert "budget of 40 calls is spent" in said
        assert "--resume" in said
        assert len(server.requests) == 40
        with pytest.raises(SystemExit) as ended:
            main(["run", "r", "--resume", "--budget", "calls=1000"])
        assert ended.value.code == 0
    traces = [read_trace(path) for path in sorted((tmp_path / "r" / "traces").iterdir())]
    assert [trace.aborted for trace in traces] == [None, None]


def test_a_budget_is_not_given_to_several_processes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with provider(first_free) as server:
        assert run("--model", "openai:m", "--base-url", server.base_url, "--budget", "calls=40", "--jobs", "2") == 2
        assert server.requests == []
    assert "each of 2 processes would spend it; set jobs to 1" in capsys.readouterr().err


def test_a_provider_that_fails_aborts_the_game_at_the_boundary_model_and_resume_plays_it_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    down = True
    with provider(lambda body: (500, "oops") if down else first_free(body)) as server:
        model = ("--model", "openai:m", "--base-url", server.base_url)
        assert run(*model) == 1
        (abort,) = read_trace(sorted((tmp_path / "r" / "traces").iterdir())[0]).of(GameAborted)
        assert abort.boundary == "model"
        assert "5 tries" in abort.error
        assert "2 of 2 games aborted (2 at model)" in capsys.readouterr().out
        down = False
        with pytest.raises(SystemExit) as ended:
            main(["run", "r", "--resume"])
        assert ended.value.code == 0
