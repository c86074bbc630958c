"""Runs against an OpenAI-compatible provider: the command, the files that it writes, and what goes wrong."""

from __future__ import annotations

import asyncio
import gc
import json
import re
import threading
import weakref
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from autogen_core.models import UserMessage

from framework.cli import main
from framework.reflection import Reflection
from framework.results import read_result
from framework.strategy import ModelFailure
from framework.trace import GameAborted, read_trace
from protocols.models import Ask, Model, ModelSpec, open_model
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


def finished() -> int:
    return sum(read_trace(path).aborted is None for path in Path("r/traces").iterdir())


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


def test_a_key_appears_in_no_file_when_the_provider_repeats_it_in_its_replies(tmp_path: Path) -> None:
    said = json.dumps({"thinking": f"I was sent {KEY}", "actions": []})
    with provider(lambda body: (200, said)) as server:
        assert run("--model", "openai:m", "--base-url", server.base_url, "--cache", "cache") == 0
    written = files(tmp_path)
    assert any(b"I was sent [key]" in data for path, data in written.items() if "cache" in path.parts)
    for path, data in written.items():
        assert KEY.encode() not in data, path


async def test_no_half_of_a_key_is_left_where_a_long_error_is_cut() -> None:
    with provider(lambda body: (401, body["messages"][0]["content"] + KEY)) as server:
        model = open_model(ModelSpec.parse("openai:m", base_url=server.base_url))
        for ahead in range(240, 300, 5):
            with pytest.raises(ModelFailure) as said:
                await model.complete(Ask((UserMessage(content="x" * ahead, source="user"),)))
            assert KEY[:12] not in str(said.value)


def test_a_server_that_lacks_log_probabilities_is_asked_without_them(caplog: pytest.LogCaptureFixture) -> None:
    def answer(body: dict[str, Any]) -> tuple[int, str]:
        if "logprobs" in body:
            return 400, "Unsupported parameter: 'logprobs' is not supported with this model."
        if "This question is a measurement" in body["messages"][-1]["content"]:
            return 200, json.dumps([1] * 16)
        return first_free(body)

    with provider(answer) as server:
        assert run("--model", "openai:m", "--base-url", server.base_url, "--reflect") == 0
    assert "openai:m gives no log-probabilities" in caplog.text
    reports = list(read_trace(next(Path("r/traces").iterdir())).of(Reflection))
    assert {report.deltas for report in reports} == {(1,) * 16}


@pytest.mark.parametrize("taken", ["json_object", None])
def test_a_server_that_cannot_be_held_to_a_schema_is_asked_for_what_it_has(
    taken: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    both = Barrier(2)  # two games are refused the first form before either has heard of it

    def answer(body: dict[str, Any]) -> tuple[int, str]:
        form = body.get("response_format", {}).get("type")
        if form == "json_schema":
            both.wait(10)
        return (400, "This response_format type is unavailable now") if form not in (None, taken) else first_free(body)

    with provider(answer) as server:
        assert run("--model", "openai:m", "--base-url", server.base_url, "--concurrency", "2") == 0
    assert "does not take the reply format json_schema" in caplog.text
    assert server.requests[-1].get("response_format") == (taken and {"type": taken})


@pytest.mark.parametrize(
    "body",
    [
        b"<html>busy</html>",
        b'{"choices": [',
        b"[" * 100_000,
        b"null",
        b"{}",
        b'{"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices": []}',
    ],
)
def test_a_reply_that_is_no_chat_completion_is_asked_for_again_and_fails_at_the_boundary_model(
    body: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    broken = [body, body]
    with provider(lambda asked: (200, broken.pop()) if broken else first_free(asked)) as server:
        assert run("--model", "openai:m", "--base-url", server.base_url) == 0
        assert "the reply is not a chat completion" in caplog.text
        broken[:] = [body] * 1000
        assert run("--model", "openai:m", "--base-url", server.base_url, "--out", "again") == 1
    (abort,) = read_trace(sorted(Path("again/traces").iterdir())[0]).of(GameAborted)
    assert abort.boundary == "model"
    assert "5 tries" in abort.error


def test_a_move_whose_time_ends_while_a_model_is_asked_fails_at_the_boundary_model_and_is_played_again(
    capsys: pytest.CaptureFixture[str],
) -> None:
    awake = threading.Event()

    def answer(body: dict[str, Any]) -> tuple[int, str]:
        awake.wait(60)
        return first_free(body)

    with provider(answer) as server:
        model = ("--model", "openai:m", "--base-url", server.base_url)
        assert run(*model, "--limit", "1", "--seconds", "3") == 1
        assert "1 of 1 games aborted (1 at model)" in capsys.readouterr().out
        awake.set()
        with pytest.raises(SystemExit) as ended:
            main(["run", "r", "--resume"])
        assert ended.value.code == 0


def test_nothing_that_a_model_or_its_provider_writes_commands_the_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    clear = "\x1b[2J"

    def answer(body: dict[str, Any]) -> tuple[int, str]:
        told = re.search(r"You are in seat (\d)", body["messages"][0]["content"])
        assert told
        send = {"type": "dm", "to": (int(told[1]) + 1) % 5, "content": f"{clear}Slot 4?"}
        return (401, f"{clear}revoked") if len(server.requests) > 5 else (200, json.dumps({"actions": [send]}))

    with provider(answer) as server:
        assert run("--model", "openai:m", "--base-url", server.base_url, "--limit", "1") == 1
        with pytest.raises(SystemExit):
            main(["show", str(next(Path("r/traces").iterdir())), "--full"])
    out = capfd.readouterr()
    assert "Slot 4?" in out.out
    assert "revoked" in out.err
    assert "\x1b" not in out.out + out.err


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
            main(["run", "r", "--resume", "--budget", "calls=40"])
        assert ended.value.code == 1
        assert len(server.requests) == 40
        assert f"{finished()} of 2 games are kept" in capsys.readouterr().err
        with pytest.raises(SystemExit) as ended:
            main(["run", "r", "--resume", "--budget", "calls=1000"])
        assert ended.value.code == 0
    traces = [read_trace(path) for path in sorted((tmp_path / "r" / "traces").iterdir())]
    assert [trace.aborted for trace in traces] == [None, None]


def test_a_server_that_counts_backwards_gives_no_budget_back() -> None:
    reply = '{"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices": [{"index": 0, '
    reply += '"finish_reason": "stop", "message": {"role": "assistant", "content": "no"}}], '
    reply += '"usage": {"prompt_tokens": -5, "completion_tokens": 6, "total_tokens": 1}}'
    with provider(lambda body: (200, reply.encode())) as server:
        assert run("--model", "openai:m", "--base-url", server.base_url, "--budget", "tokens=60") == 1
        assert len(server.requests) == 10


def test_processes_that_play_at_once_share_one_budget() -> None:
    with provider(first_free) as server:
        model = ("--model", "openai:m", "--base-url", server.base_url)
        assert run(*model, "--jobs", "2", "--out", "before") == 0  # what starts processes then knows of no budget
        server.requests.clear()
        assert run(*model, "--repeats", "3", "--jobs", "2", "--concurrency", "1", "--budget", "calls=40") == 1
    assert 40 <= len(server.requests) <= 41  # one process may be in the middle of a call


@pytest.mark.parametrize(
    "arguments",
    [
        ("arena", "calbench", "--suite", "quick", "--games", "1", "--pool", "imap", "--pool"),
        (
            "stress",
            "calbench",
            "--suite",
            "quick",
            "--limit",
            "1",
            "--channels",
            "dm",
            "--strategy",
            "imap",
            "--opponent",
        ),
    ],
    ids=["arena", "stress"],
)
def test_what_any_player_spends_is_written_down_for_later_sittings(arguments: tuple[str, ...]) -> None:
    with provider(first_free) as server, pytest.raises(SystemExit):
        main([*arguments, f"llm:model=openai:m,base_url={server.base_url}", "--out", "r"])
    assert len(server.requests) == len(Path("r/spent.jsonl").read_text().splitlines()) > 0


@pytest.mark.parametrize(
    "budget", ["", "calls", "calls=", "calls=5,", "calls=0", "calls=1e3", "calls=5,calls=6", "x=1"]
)
def test_a_budget_that_would_not_be_kept_is_refused(budget: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--model", "openai:m", "--base-url", "http://127.0.0.1:9/v1", "--budget", budget) == 2
    assert "--budget" in capsys.readouterr().err
    assert not Path("r").exists()


@pytest.mark.parametrize(
    "option", [("--cache", "file"), ("--cache", ""), ("--prices", "none.yaml"), ("--prices", ""), ("--base-url", "")]
)
def test_a_file_that_cannot_be_used_is_said_before_play(
    option: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("file").write_text("")
    assert run("--model", "openai:m", "--base-url", "http://127.0.0.1:9/v1", *option) == 2
    assert option[0].removeprefix("--") in capsys.readouterr().err
    assert not Path("r").exists()


def test_a_server_that_is_not_there_is_said_with_its_address(capsys: pytest.CaptureFixture[str]) -> None:
    with provider(first_free) as server:
        gone = server.base_url
    assert run("--model", "openai:m", "--base-url", gone) == 1
    assert f"Connection error at {gone} (" in capsys.readouterr().err


@pytest.mark.parametrize("status", [401, 402])
def test_a_key_that_is_refused_stops_the_run_and_the_right_one_resumes_it(
    status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    refused = True
    with provider(lambda body: (status, "no") if refused else first_free(body)) as server:
        assert run("--model", "openai:m", "--base-url", server.base_url) == 1
        assert len(server.requests) == 1
        assert "0 of 2 games are kept and 2 are left" in capsys.readouterr().err
        refused = False
        with pytest.raises(SystemExit) as ended:
            main(["run", "r", "--resume"])
        assert ended.value.code == 0


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
        said = capsys.readouterr()
        assert "2 of 2 games aborted (2 at model)" in said.out
        assert "2 can be played again once that is mended: cheaptalk run r --resume" in said.err
        down = False
        with pytest.raises(SystemExit) as ended:
            main(["run", "r", "--resume"])
        assert ended.value.code == 0


def test_servers_of_ones_own_do_not_wait_for_each_other() -> None:
    both = Barrier(2)

    def answer(body: dict[str, Any]) -> tuple[int, str]:
        both.wait(10)
        return 200, "{}"

    async def ask_each(*addresses: str) -> list[str]:
        models = [open_model(ModelSpec.parse("m", base_url=address), Settings(concurrency=1)) for address in addresses]
        request = Ask((UserMessage(content="?", source="user"),))
        return [reply.text for reply in await asyncio.gather(*(model.complete(request) for model in models))]

    with provider(answer) as one, provider(answer) as two:
        assert asyncio.run(ask_each(one.base_url, two.base_url)) == ["{}", "{}"]


def test_nothing_is_left_of_the_models_of_a_loop_that_is_over() -> None:
    async def play(base_url: str) -> weakref.ref[Model]:
        model = open_model(ModelSpec.parse("openai:m", base_url=base_url), Settings(concurrency=1))
        asked = Ask((UserMessage(content="hello", source="user"),))
        await asyncio.gather(*(model.complete(asked) for _ in range(3)))
        return weakref.ref(model)

    with provider(lambda body: (200, "hello")) as server:
        left = asyncio.run(play(server.base_url))
    gc.collect()
    assert left() is None
