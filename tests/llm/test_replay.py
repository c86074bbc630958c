"""Replays: a game from its recorded replies, and its prompts put to another model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from autogen_agentchat.agents import AssistantAgent
from autogen_core.models import LLMMessage

from framework import Action, Game, Limits, Observation, Referee, Seating, Trace, play, write_trace
from framework.cli import main
from framework.errors import UserError
from framework.trace import AgentRegistered, Asked
from games.calbench import CalBench, CalBenchRules, Schedule
from protocols import FirstFree
from protocols.dsm import Dsm
from protocols.events import InvalidResponse, ModelCall
from protocols.imap import Imap
from protocols.llm import LlmStrategy
from protocols.models.settings import PREFIX, Settings
from protocols.replay import ask_again, open_trace, replay
from protocols.transcript import exchanges
from tests.llm.fakes import FakeClient, first_free
from tests.llm.provider import provider


def chatty(messages: Sequence[LLMMessage]) -> str:
    """Talks, is sometimes unreadable, sends one huge reply, and decides."""
    last, number = str(messages[-1].content), len(messages)
    if "could not be read" in last:
        return "still nothing"
    if "This question is a measurement" in last:
        return json.dumps([1] * 16)
    if "Phase: DECISION" in last:
        return first_free(messages)
    if number == 4:
        return "what was the question?"
    if number == 2:
        return json.dumps({"thinking": "z" * 40_000, "actions": [{"type": "dm", "to": 1, "content": "Slot 3?"}]})
    return '{"thinking": "", "actions": [{"type": "all_agent_groupchat", "content": "Slot 5?"}]}'


def record(path: Path, game: Game | None = None, **params: object) -> Trace:  # type: ignore[type-arg]
    game = game or CalBench(CalBenchRules(channels=("dm", "all_agent_groupchat"), turns=3))
    scenario = game.suite("quick", 0)[1]
    client = FakeClient(chatty)
    table = [
        Seating("llm", LlmStrategy(from_client=client, reflect=True, **params)),
        Seating("llm", LlmStrategy(from_client=client, reflect=True, **params)),
        Seating("imap", Imap()),
        Seating("dsm", Dsm()),
        Seating("nowhere:Lost", LlmStrategy(from_client=client, **params)),
    ]
    config = {"rules": game.rules.model_dump(mode="json"), "limits": {"seconds": 60, "messages": 4, "chars": 900}}
    referee = Referee(game, scenario, table, seed=5, config=config, limits=Limits(60, 4, 900))
    trace = asyncio.run(referee.play())
    assert trace.aborted is None, trace.aborted
    write_trace(path, trace)
    return trace


class Unreadable(Imap):
    """Cannot be seated."""

    @property
    def system_prompt(self) -> str:
        raise RuntimeError("no")


def test_a_game_that_was_aborted_before_all_were_seated_is_not_played_again(tmp_path: Path) -> None:
    game = CalBench()
    table = [Seating("imap", Imap()), Seating("mine", Unreadable()), *[Seating("imap", Imap())] * 3]
    trace = asyncio.run(Referee(game, game.suite("quick", 0)[1], table, seed=5).play())
    assert trace.aborted is not None
    write_trace(tmp_path / "t.json", trace)
    with pytest.raises(UserError, match="was aborted before seat 1 was taken"):
        asyncio.run(replay(open_trace(tmp_path / "t.json")))


@pytest.mark.parametrize("context", ["unbounded", "buffered:4"])
def test_a_replay_reaches_the_identical_trace_without_a_model(tmp_path: Path, context: str) -> None:
    recorded = record(tmp_path / "t.json", context=context)
    assert list(recorded.of(InvalidResponse))
    assert any(call.kept == 16_000 for call in recorded.of(ModelCall))
    again = asyncio.run(replay(open_trace(tmp_path / "t.json")))
    assert again.same_end
    assert again.same_moves
    assert again.changed == ()
    assert again.prompts == len(list(recorded.of(ModelCall)))
    assert again.trace.posts == recorded.posts
    assert again.trace.metrics == recorded.metrics
    prompts = [[event.system_prompt for event in trace.of(AgentRegistered)] for trace in (recorded, again.trace)]
    assert prompts[0] == prompts[1]


def test_a_replay_with_other_templates_says_which_prompts_differ(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(tmp_path / "t.json")
    opened = open_trace(tmp_path / "t.json")
    pack = opened.game.prompts()
    assert pack is not None
    monkeypatch.setattr(type(pack), "system", lambda self, start: "Another system prompt.")
    again = asyncio.run(replay(opened))
    assert again.same_end
    assert {number for _, number in again.changed} == {-1}


def test_a_replay_of_an_agent_gives_it_the_recorded_prompts(tmp_path: Path) -> None:
    game = CalBench()
    client = FakeClient(first_free)
    agent = AssistantAgent("helper", model_client=client, system_message=None)
    table = [Seating("llm", LlmStrategy(from_agent=agent)), *(Seating("imap", Imap()) for _ in range(4))]
    write_trace(tmp_path / "t.json", asyncio.run(Referee(game, game.suite("quick", 0)[1], table, seed=5).play()))
    opened = open_trace(tmp_path / "t.json")
    sent = [[line.text for line in exchange.sent] for exchange in exchanges(opened.trace, 0)]
    assert sent == [[message.content for message in call] for call in client.calls]
    again = asyncio.run(replay(opened))
    assert again.prompts > 0
    assert again.changed == ()
    assert [event.prompt for event in again.trace.of(Asked)] == [event.prompt for event in opened.trace.of(Asked)]


def test_the_command_says_that_the_final_state_is_identical(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record(tmp_path / "t.json")
    with pytest.raises(SystemExit) as ended:
        main(["replay", str(tmp_path / "t.json"), "--out", str(tmp_path / "again.json")])
    assert ended.value.code == 0
    assert "The final state is identical." in capsys.readouterr().out
    assert (tmp_path / "again.json").is_file()


def test_recorded_replies_that_were_tampered_with_are_other_moves(tmp_path: Path) -> None:
    record(tmp_path / "t.json")
    data = json.loads((tmp_path / "t.json").read_text())
    for event in data["events"]:
        if event["type"] == "model_call":
            event["reply"] = '{"thinking": "", "actions": []}'
    (tmp_path / "t.json").write_text(json.dumps(data))
    assert not asyncio.run(replay(open_trace(tmp_path / "t.json"))).same_moves


def test_another_model_is_put_the_recorded_prompts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recorded = record(tmp_path / "t.json")
    calls = len(list(recorded.of(ModelCall)))
    replies = tmp_path / "replies.json"
    replies.write_text(json.dumps(["nothing to read"] + ['{"thinking": "", "actions": []}'] * (calls - 1)))
    found = asyncio.run(ask_again(open_trace(tmp_path / "t.json"), f"replay:{replies}"))
    assert len(found) == calls
    assert [one.readable for one in found] == [False] + [True] * (calls - 1)
    with pytest.raises(SystemExit) as ended:
        main(["replay", str(tmp_path / "t.json"), "--model", f"replay:{replies}", "--out", str(tmp_path / "o.jsonl")])
    assert ended.value.code == 0
    assert f"{calls} prompts put to" in capsys.readouterr().out
    assert len((tmp_path / "o.jsonl").read_text().splitlines()) == calls


def test_another_model_is_held_to_the_same_schema_and_sampled_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in Settings.model_fields:
        monkeypatch.setenv(PREFIX + name.upper(), "")
    record(tmp_path / "t.json", temperature=0.5, max_tokens=99)
    with provider(lambda body: (200, '{"thinking": "", "actions": []}')) as asked:
        found = asyncio.run(ask_again(open_trace(tmp_path / "t.json"), "m", base_url=asked.base_url))
    assert len(found) == len(asked.requests) > 0
    for body in asked.requests:
        assert (body["temperature"], body["max_tokens"]) == (0.5, 99)
        assert '"thinking"' in json.dumps(body["response_format"])


def test_replies_before_a_failure_are_kept_and_the_failure_is_no_success(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in Settings.model_fields:
        monkeypatch.setenv(PREFIX + name.upper(), "")
    trace = record(tmp_path / "t.json")
    prompts = len(list(trace.of(ModelCall)))
    out = tmp_path / "new" / "replies.jsonl"
    with (
        provider(lambda body: (200, "no") if len(asked.requests) <= 3 else (401, "revoked")) as asked,
        pytest.raises(SystemExit) as ended,
    ):
        main(["replay", str(tmp_path / "t.json"), "--model", "m", "--base-url", asked.base_url, "--out", str(out)])
    assert ended.value.code == 1
    assert [json.loads(line)["reply"] for line in out.read_text().splitlines()] == ["no"] * 3
    assert f"{prompts - 3} of {prompts} prompts have no reply" in capsys.readouterr().err


def test_a_model_that_cannot_be_asked_writes_over_no_earlier_replies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    record(tmp_path / "t.json")
    out = tmp_path / "replies.jsonl"
    out.write_text("{}\n")
    with pytest.raises(SystemExit) as ended:
        main(["replay", str(tmp_path / "t.json"), "--model", "openai:m", "--out", str(out)])
    assert ended.value.code == 2
    assert out.read_text() == "{}\n"


@pytest.mark.parametrize("model", [(), ("--model", "replay:passes.json")])
def test_an_out_that_cannot_be_written_is_said_in_one_sentence(
    model: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("passes.json").write_text('["{}"]')
    record(Path("t.json"))
    with pytest.raises(SystemExit) as ended:
        main(["replay", "t.json", "--out", "passes.json/x", *model])
    assert ended.value.code == 2
    assert "--out passes.json/x cannot be written" in capsys.readouterr().err


def test_every_game_of_a_run_is_played_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "traces").mkdir()
    for name in ("0000-a.json", "0001-b.json"):
        record(tmp_path / "traces" / name)
    with pytest.raises(SystemExit) as ended:
        main(["replay", str(tmp_path)])
    assert ended.value.code == 0
    said = capsys.readouterr().out
    assert said.index("0000-a.json:\n") < said.index("0001-b.json:\n")
    assert said.count("The final state is identical.") == 2
    with pytest.raises(SystemExit) as ended:
        main(["replay", str(tmp_path), "--out", str(tmp_path / "again.json")])
    assert ended.value.code == 2
    assert "is for one game, and 2 are named" in capsys.readouterr().err


class GivesUp(FirstFree):
    """Takes what is not there, and nothing else when that is refused."""

    async def act(self, observation: Observation) -> Sequence[Action]:
        return [Schedule(meeting_id=observation.round.index, slot=99)] if observation.phase == "decision" else ()


def test_a_strategy_that_is_not_to_be_had_moves_as_recorded_also_where_it_gave_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    game = CalBench(CalBenchRules(channels=("dm",), turns=2))
    table = [Seating("nowhere:GivesUp", GivesUp()) for _ in range(5)]
    write_trace(tmp_path / "t.json", asyncio.run(play(game, game.suite("quick", 0)[0], table)))
    with pytest.raises(SystemExit) as ended:
        main(["replay", str(tmp_path / "t.json")])
    said = capsys.readouterr().out
    assert said == "Every move is identical.\nThe final state is identical.\n"
    assert ended.value.code == 0


def test_what_is_not_a_trace_is_said_in_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.json").write_text("{}")
    with pytest.raises(SystemExit) as ended:
        main(["replay", str(tmp_path / "t.json")])
    assert ended.value.code == 2
    assert "cannot be read or has no beginning" in capsys.readouterr().err
