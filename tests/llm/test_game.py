"""A game with models in its seats: what is sent, what is recorded, and what no reply can break."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from autogen_agentchat.agents import AssistantAgent
from autogen_core.models import SystemMessage, UserMessage
from autogen_ext.models.replay import ReplayChatCompletionClient

from framework import Limits, Seating, Trace, play, read_trace, write_trace
from framework.testing import check_strategy
from framework.trace import AgentRegistered, BatchRejected, InvalidAction, TurnEnd
from games.calbench import CalBench, CalBenchRules, Scenario
from games.calbench.events import MeetingResolved
from games.calbench.generator import generate_scenario
from games.calbench.scenario import ScenarioParams
from protocols.events import InvalidResponse, ModelCall, ModelSeat
from protocols.imap import Imap
from protocols.llm import LlmStrategy
from protocols.transcript import Line, exchanges
from tests.llm.fakes import FakeClient, always, first_free, seats

PASS = '{"thinking": "", "actions": []}'


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return CalBench().suite("quick", 0)[0]


async def played(scenario: Scenario, client: FakeClient, **params: object) -> Trace:
    trace = await play(CalBench(), scenario, seats(scenario.num_agents, client, **params))
    assert trace.aborted is None, trace.aborted
    return trace


def lines(messages: object) -> list[Line]:
    roles = {SystemMessage: "system", UserMessage: "user"}
    return [Line(roles.get(type(m), "assistant"), m.content) for m in messages]  # type: ignore


@pytest.mark.parametrize("context", ["unbounded", "buffered:3", "tokens:1500"])
async def test_the_conversation_that_was_sent_is_exactly_what_the_trace_holds(
    scenario: Scenario, context: str, tmp_path: Path
) -> None:
    client = FakeClient(first_free)
    write_trace(tmp_path / "t.json", await played(scenario, client, context=context))
    trace = read_trace(tmp_path / "t.json")
    found = [exchange for seat in range(scenario.num_agents) for exchange in exchanges(trace, seat)]
    assert sorted(found_lines := [list(exchange.sent) for exchange in found]) == sorted(map(lines, client.calls))
    assert any(len(sent) > 3 for sent in found_lines)


async def test_one_conversation_grows_over_the_whole_game(scenario: Scenario) -> None:
    client = FakeClient(first_free)
    trace = await played(scenario, client)
    for seat in range(scenario.num_agents):
        sent = [list(exchange.sent) for exchange in exchanges(trace, seat)]
        for shorter, longer in pairwise(sent):
            assert longer[: len(shorter)] == shorter
            assert len(longer) == len(shorter) + 2
    assert max(len(call) for call in client.calls) > 10


async def test_a_buffered_context_sends_the_newest_messages_after_the_system_prompt(scenario: Scenario) -> None:
    client = FakeClient(first_free)
    await played(scenario, client, context="buffered:3")
    for call in client.calls:
        assert isinstance(call[0], SystemMessage)
        assert isinstance(call[1], UserMessage)
        assert len(call) <= 4


async def test_the_trace_names_model_pack_and_its_hash_and_holds_the_system_prompt(scenario: Scenario) -> None:
    trace = await played(scenario, FakeClient(first_free))
    pack = CalBench().prompts()
    for event in trace.of(ModelSeat):
        assert (event.model, event.pack, event.pack_hash) == ("client:FakeClient", pack.name, pack.hash)
    assert [f"You are in seat {e.seat}." in e.system_prompt for e in trace.of(AgentRegistered)] == [True] * 5


async def test_models_that_take_their_first_free_slot_play_to_the_end_by_the_rules(scenario: Scenario) -> None:
    trace = await played(scenario, FakeClient(first_free))
    assert len(list(trace.of(MeetingResolved))) == len(scenario.meetings)
    assert not list(trace.of(BatchRejected, InvalidAction, InvalidResponse))
    assert sum(event.prompt_tokens for event in trace.of(ModelCall)) > 0


@cache
def one_meeting() -> Scenario:
    return generate_scenario(ScenarioParams(num_meetings=1, participant_lists=((0, 1, 2),), density=0.5), 7)


DEEP = "[" * 100_000
HELLO = '{"type": "dm", "to": 1, "content": "hi"}'


def flood(messages: int) -> str:
    return f'{{"thinking": "", "actions": [{",".join([HELLO] * messages)}]}}'


SENDS = {
    "nothing": "",
    "null": "null",
    "prose": "I would rather not say.",
    "deep brackets": DEEP,
    "deep objects": '{"a":' * 100_000,
    "huge text": "x" * 3_000_000,
    "huge message": '{"thinking": "", "actions": [{"type": "dm", "to": 1, "content": "' + "y" * 50_000 + '"}]}',
    "5000 messages": flood(5000),
    "wrong meeting": '{"thinking": "", "actions": [{"type": "schedule", "meeting_id": 77, "slot": 1}]}',
    "slot 99": '{"thinking": "", "actions": [{"type": "schedule", "meeting_id": 1, "slot": 99}]}',
    "slot -1": '{"thinking": "", "actions": [{"type": "schedule", "meeting_id": 1, "slot": -1}]}',
    "slot as text": '{"thinking": "", "actions": [{"type": "schedule", "meeting_id": "1", "slot": "3"}]}',
    "null slot": '{"thinking": "", "actions": [{"type": "schedule", "meeting_id": 1, "slot": null}]}',
    "nobody": '{"thinking": "", "actions": [{"type": "dm", "to": 400, "content": "hi"}]}',
    "oneself": '{"thinking": "", "actions": [{"type": "dm", "to": 0, "content": "hi"}]}',
    "closed channel": '{"thinking": "", "actions": [{"type": "all_agent_groupchat", "content": "hi"}]}',
    "lone surrogate": '{"thinking": "\\ud800", "actions": [{"type": "dm", "to": 1, "content": "\\udfff"}]}',
    "raw surrogate": '{"thinking": "\ud800", "actions": []}',
    "null byte": '{"thinking": "\\u0000", "actions": [{"type": "dm", "to": 1, "content": "\\u0000"}]}',
    "huge number": '{"thinking": "", "actions": [{"type": "schedule", "meeting_id": 1, "slot": 1' + "0" * 300 + "}]}",
    "unknown action": '{"thinking": "", "actions": [{"type": "cancel", "meeting_id": 1}]}',
}


@pytest.mark.parametrize("sent", SENDS.values(), ids=SENDS.keys())
async def test_whatever_a_model_sends_the_game_goes_on_and_is_scored(sent: str, tmp_path: Path) -> None:
    table = [
        Seating("llm", LlmStrategy(from_client=FakeClient(always(sent)))),
        *(Seating("llm", LlmStrategy(from_client=FakeClient(first_free))) for _ in range(4)),
    ]
    trace = await play(CalBench(), one_meeting(), table, limits=Limits(messages=5, chars=500))
    assert trace.aborted is None, trace.aborted
    assert trace.metrics
    write_trace(tmp_path / "t.json", trace)
    assert read_trace(tmp_path / "t.json").comparable() == trace.comparable()
    assert max((len(post.content) for post in trace.posts), default=0) <= 500


async def test_an_unreadable_reply_is_answered_with_the_exact_error_once_and_then_passes(scenario: Scenario) -> None:
    client = FakeClient(always('{"thinking": "", "actions": [{"type": "schedule", "slot": 1}]}'))
    trace = await played(scenario, client)
    repairs = [call for call in trace.of(ModelCall) if call.purpose == "repair"]
    assert "Field required at actions.0.schedule.meeting_id" in repairs[0].prompt
    invalid = list(trace.of(InvalidResponse))
    assert len(invalid) == len(repairs) == len(client.calls) / 2


async def test_a_repaired_reply_counts(scenario: Scenario) -> None:
    def answer(messages: object) -> str:
        last = messages[-1].content  # type: ignore
        return PASS if "could not be read" in last else first_free(messages) if "Phase: DECISION" in last else "what?"  # type: ignore

    trace = await played(scenario, FakeClient(answer))
    assert not list(trace.of(InvalidResponse))
    assert any(call.purpose == "repair" for call in trace.of(ModelCall))


async def test_messages_beyond_the_limit_are_not_delivered_and_the_prompt_says_how_many_may_be(
    scenario: Scenario,
) -> None:
    client = FakeClient(always(flood(40)))
    game = CalBench(CalBenchRules(turns=2))
    trace = await play(game, scenario, seats(5, client), limits=Limits(messages=3, chars=100))
    assert max(len(event.actions) for event in trace.of(TurnEnd)) == 4
    assert "at most 3 messages, and a message may have at most 100 characters" in client.calls[0][0].content
    assert {event.conflict.rule for event in trace.of(InvalidAction)} >= {"too_many_messages"}
    talks = [post for post in trace.posts if post.round == 0 and post.turn == 0 and post.sender != 1]
    assert max(sum(post.sender == seat for post in talks) for seat in range(5)) <= 3


async def test_an_assistant_agent_takes_a_seat_beside_protocols(scenario: Scenario) -> None:
    client = ReplayChatCompletionClient([PASS] * 200)
    agent = AssistantAgent("helper", model_client=client, system_message="You are careful.")
    table = [Seating("agent", LlmStrategy(from_agent=agent)), *(Seating("imap", Imap()) for _ in range(4))]
    trace = await play(CalBench(), scenario, table)
    assert trace.aborted is None, trace.aborted
    calls = [call for call in trace.of(ModelCall) if call.seat == 0]
    assert calls
    sent = client.create_calls[0]["messages"]
    assert sent[0].content == "You are careful."
    assert "=== ROUND 1 START ===" in sent[1].content or "Phase" in sent[1].content
    assert "## 1. Rules" in sent[1].content


async def test_what_an_agents_provider_says_of_a_key_is_in_no_trace(
    scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-this-is-the-secret-0123456789"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    client = FakeClient(lambda messages: RuntimeError(f"Incorrect API key provided: {key}"))
    agent = AssistantAgent("helper", model_client=client)
    table = [Seating("agent", LlmStrategy(from_agent=agent)), *(Seating("imap", Imap()) for _ in range(4))]
    trace = await play(CalBench(), scenario, table)
    assert trace.aborted
    assert trace.aborted.boundary == "model"
    assert key not in trace.model_dump_json()


async def test_thinking_reaches_the_trace_and_nobody_else(scenario: Scenario) -> None:
    secret = "the heron flies at dawn"
    talk = f'{{"thinking": "{secret}", "actions": [{{"type": "dm", "to": 1, "content": "hello"}}]}}'
    clients = [FakeClient(always(talk)), *(FakeClient(first_free) for _ in range(4))]
    table = [Seating("llm", LlmStrategy(from_client=client)) for client in clients]
    trace = await play(CalBench(), scenario, table)
    assert secret in trace.model_dump_json()
    assert all(secret not in str(message.content) for c in clients[1:] for call in c.calls for message in call)


def test_a_seat_of_a_model_passes_the_conformance_kit() -> None:
    report = check_strategy(lambda: LlmStrategy(from_client=FakeClient(first_free)), CalBench(), seed=1)
    assert report.ok, report
