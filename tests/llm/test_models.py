"""Models: how they are named, keyed, retried, cached and paid for."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest
from autogen_core.models import UserMessage
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from framework import ModelFailure, Usage
from framework.errors import UserError
from framework.strategy import BudgetSpent
from protocols.models import Ask, Budget, Completion, Model, ModelSpec, Settings, Tokens, model_of, open_model
from protocols.models.budget import Ledger
from protocols.models.cache import ReplyCache
from protocols.models.clients import make_client
from protocols.models.prices import Price, price_of, read_prices
from protocols.models.schema import short_schema, strict_schema
from protocols.models.settings import PREFIX
from tests.llm.fakes import FakeClient, always

QUICK = Settings(backoff=0.0)


def ask(text: str = "hello", **fields: object) -> Ask:
    return Ask((UserMessage(content=text, source="user"),), **fields)  # type: ignore[arg-type]


class Failing(Exception):
    """What a provider's client raises: an HTTP status, and perhaps a time to wait."""

    def __init__(self, status: int | None = None) -> None:
        super().__init__(f"status {status}")
        if status is not None:
            self.status_code = status


class TestSpecs:
    @pytest.mark.parametrize(
        ("text", "provider", "model"),
        [
            ("openai:gpt-5-mini", "openai", "gpt-5-mini"),
            ("anthropic:claude-sonnet-4-5", "anthropic", "claude-sonnet-4-5"),
            ("ollama:llama3.2:1b", "ollama", "llama3.2:1b"),
            ("local", "local", "gemma-3-270m-q4_k_m"),
        ],
    )
    def test_a_short_text_names_provider_and_model(self, text: str, provider: str, model: str) -> None:
        spec = ModelSpec.parse(text)
        assert (spec.provider, spec.model, spec.label) == (provider, model, text)

    @pytest.mark.parametrize("text", ["local", "ollama:llama3.2", "ollama:"])
    def test_an_address_is_not_passed_over(self, text: str) -> None:
        with pytest.raises(UserError, match="base_url goes with an openai model"):
            ModelSpec.parse(text, base_url="http://127.0.0.1:9/v1")

    @pytest.mark.parametrize("text", ["", "gpt-5", "foo:bar", "openai:", "local:other", "client:x"])
    def test_a_text_that_names_no_model_is_a_mistake_of_the_user(self, text: str) -> None:
        with pytest.raises(UserError, match="model"):
            ModelSpec.parse(text)

    def test_any_name_goes_with_a_base_url(self) -> None:
        spec = ModelSpec.parse("my-model", base_url="http://127.0.0.1:9/v1")
        assert (spec.provider, spec.model) == ("openai", "my-model")
        spec.check()
        make_client(spec, 5.0)

    def test_a_component_config_becomes_a_spec(self, tmp_path: Path) -> None:
        path = tmp_path / "m.yaml"
        path.write_text(
            "provider: autogen_ext.models.openai.OpenAIChatCompletionClient\n"
            "config: {model: gpt-4.1-mini, temperature: 0.3}\n"
        )
        spec = ModelSpec.parse(str(path))
        assert (spec.label, spec.options) == ("openai:gpt-4.1-mini", {"temperature": 0.3})

    @pytest.mark.parametrize(
        "text",
        [
            "provider: os.system\nconfig: {model: x}",
            "provider: autogen_ext.models.cache.ChatCompletionCache\nconfig: {client: {}}",
            "provider: OpenAIChatCompletionClient\nconfig: {model: x, api_key: sk-abcdefghijklmnopqrst}",
            "provider: OpenAIChatCompletionClient\nconfig: {model: x, default_headers: {X-Thing: abc}}",
            "provider: OpenAIChatCompletionClient\nconfig: {model: x, base_url: 'http://me:secret@host/v1'}",
            "provider: OllamaChatCompletionClient\nconfig: {model: x, headers: {X-Thing: abc}}",
            "provider: OpenAIChatCompletionClient\nconfig: {model: x, base_url: 'http://host/v1?api_key=abcdefghij'}",
            "provider: OpenAIChatCompletionClient\nconfig: {model: x, model: y}",
            "provider: OpenAIChatCompletionClient\nconfig: &a {model: x, stop: *a}",
            "provider: OpenAIChatCompletionClient\nconfig: {}",
            "provider: OpenAIChatCompletionClient\nconfig: {model: [x]}",
            "provider: OpenAIChatCompletionClient\nconfig: {model: x, seed: 2020-01-01}",
            "- a list",
            "provider: [",
            "",
        ],
    )
    def test_a_config_that_loads_other_code_or_holds_a_secret_is_refused(self, text: str, tmp_path: Path) -> None:
        path = tmp_path / "m.yaml"
        path.write_text(text)
        with pytest.raises(UserError) as refused:
            ModelSpec.parse(str(path))
        assert "abcdefghij" not in str(refused.value)

    @pytest.mark.parametrize(
        ("setting", "said"),
        [
            ("temprature: 0.2", "did you mean 'temperature'"),
            ("temperature: hot", "'temperature' is 'hot'"),
            ("model_info: {vision: false}", "'model_info.function_calling' is missing"),
        ],
    )
    def test_a_setting_that_the_client_does_not_take_is_refused(self, setting: str, said: str, tmp_path: Path) -> None:
        path = tmp_path / "m.yaml"
        path.write_text(
            f"provider: OpenAIChatCompletionClient\nconfig: {{model: m, base_url: 'http://127.0.0.1:9', {setting}}}"
        )
        with pytest.raises(UserError, match=said):
            ModelSpec.parse(str(path)).check()

    @pytest.mark.parametrize("text", [None, "{}", "[", "[" * 100_000])
    def test_a_file_that_holds_no_replies_is_said_before_play(self, text: str | None, tmp_path: Path) -> None:
        path = tmp_path / "r.json"
        if text is not None:
            path.write_text(text)
        with pytest.raises(UserError, match="JSON list of replies"):
            ModelSpec.parse(f"replay:{path}").check()

    @pytest.mark.parametrize("key", ["sk-two\nlines", "sk-trailing ", "sk-\u00fcnicode", "sk-\r"])
    def test_a_key_that_can_be_none_is_said_before_play(self, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", key)
        with pytest.raises(UserError, match="OPENAI_API_KEY holds what no key does") as refused:
            ModelSpec.parse("openai:gpt-5-mini").check()
        assert key not in str(refused.value)

    def test_a_config_may_hold_the_replies_themselves(self, tmp_path: Path) -> None:
        path = tmp_path / "m.yaml"
        path.write_text("provider: ReplayChatCompletionClient\nconfig: {chat_completions: [one]}")
        spec = ModelSpec.parse(str(path))
        spec.check()
        make_client(spec, 1.0)

    def test_an_address_goes_with_a_short_name_only(self) -> None:
        with pytest.raises(UserError, match="base_url goes with a model's short name"):
            ModelSpec.parse("m.yaml", base_url="http://127.0.0.1:9/v1")
        with pytest.raises(UserError, match="base_url 'localhost:9' is no address"):
            ModelSpec.parse("openai:m", base_url="localhost:9")

    @pytest.mark.parametrize("url", ["https://host/v1?key=abc", "http://me:secret@host/v1", "https://user:p4ss@host"])
    def test_an_address_with_a_password_is_refused(self, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
        with pytest.raises(UserError, match="base_url looks like a secret"):
            ModelSpec.parse("openai:m", base_url=url)
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        with pytest.raises(UserError, match="OPENAI_BASE_URL looks like a secret"):
            ModelSpec.parse("openai:m")

    def test_retries_of_anthropics_client_are_ours(self, monkeypatch: pytest.MonkeyPatch) -> None:
        pytest.importorskip("anthropic", reason="the extra `anthropic` is not installed")
        monkeypatch.setenv("ANTHROPIC_API_KEY", "x")
        client = make_client(ModelSpec.parse("anthropic:claude-haiku-4-5"), 5.0)
        assert client._client.max_retries == 0  # type: ignore[attr-defined]

    @pytest.mark.parametrize(
        ("variable", "text"),
        [
            ("OPENAI_BASE_URL", "openai:gpt-5-mini"),
            ("ANTHROPIC_BASE_URL", "anthropic:claude-haiku-4-5"),
            ("OLLAMA_HOST", "ollama:llama3.2"),
        ],
    )
    def test_an_address_from_the_environment_is_part_of_the_configuration(
        self, variable: str, text: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        usual = ModelSpec.parse(text)
        monkeypatch.setenv(variable, "http://127.0.0.1:9/v1")
        other = ModelSpec.parse(text)
        assert other.base_url == "http://127.0.0.1:9/v1"
        assert ask().key(other) != ask().key(usual)

    def test_a_missing_key_is_said_by_the_name_of_its_variable(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        with pytest.raises(UserError, match="OPENAI_API_KEY is not set"):
            ModelSpec.parse("openai:gpt-5-mini").check()
        monkeypatch.setenv("MY_KEY", "x")
        ModelSpec.parse("openai:gpt-5-mini", key_env="MY_KEY").check()


class TestRetries:
    async def test_a_passing_failure_is_retried_in_sight_of_the_user(self, caplog: pytest.LogCaptureFixture) -> None:
        left = [Failing(429), Failing(503), TimeoutError()]
        client = FakeClient(lambda messages: left.pop(0) if left else "done")
        with caplog.at_level(logging.WARNING, "cheaptalk.models"):
            reply = await model_of(client, QUICK).complete(ask())
        assert (reply.text, reply.tries) == ("done", 4)
        assert [f"retry {n} of 4" in record.getMessage() for n, record in enumerate(caplog.records, 1)] == [True] * 3

    async def test_a_provider_that_stays_down_is_a_model_failure(self) -> None:
        client = FakeClient(lambda messages: Failing(503))
        with pytest.raises(ModelFailure, match="5 tries"):
            await model_of(client, QUICK).complete(ask())
        assert len(client.calls) == 5

    @pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
    async def test_a_lasting_failure_is_not_retried(self, status: int) -> None:
        client = FakeClient(lambda messages: Failing(status))
        with pytest.raises(ModelFailure, match=f"status {status}"):
            await model_of(client, QUICK).complete(ask())
        assert len(client.calls) == 1

    async def test_a_conversation_that_has_outgrown_the_model_is_said_with_the_remedy(self) -> None:
        said = Failing(400)
        said.args = ("This model's maximum context length is 8192 tokens",)
        with pytest.raises(ModelFailure, match=r"8192 tokens; send less .* context=tokens:N"):
            await model_of(FakeClient(lambda messages: said), QUICK).complete(ask())

    async def test_a_call_that_hangs_is_given_up_after_its_time(self) -> None:
        settings = Settings(timeout=0.02, retries=1, backoff=0.0)
        with pytest.raises(ModelFailure, match=r"no reply within 0.02 s \(2 tries\)"):
            await model_of(FakeClient(always("late"), delay=60), settings).complete(ask())

    async def test_cancelling_a_call_is_not_a_failure_of_the_model(self) -> None:
        task = asyncio.create_task(model_of(FakeClient(always("late"), delay=60), QUICK).complete(ask()))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    async def test_no_more_calls_are_in_flight_than_allowed(self) -> None:
        client = FakeClient(always("x"), delay=0.005)
        model = model_of(client, Settings(concurrency=3))
        await asyncio.gather(*(model.complete(ask(str(n))) for n in range(12)))
        assert client.most_in_flight == 3


def cached(client: FakeClient, spec: ModelSpec, folder: Path) -> Model:
    settings = Settings(cache=folder)
    return Model(spec, client, settings, Ledger(Budget()), asyncio.Semaphore(1))


class TestCache:
    async def test_a_repeated_request_is_answered_from_disk_and_costs_nothing(self, tmp_path: Path) -> None:
        client = FakeClient(always("one"))
        spec = ModelSpec.parse("openai:gpt-5-mini")
        first = await cached(client, spec, tmp_path).complete(ask())
        model = cached(client, spec, tmp_path)
        again = await model.complete(ask())
        assert (first.cached, again.cached, again.text, len(client.calls)) == (False, True, "one", 1)
        assert model.usage(again) == Usage(cost=0.0)
        unpriced = cached(client, ModelSpec.parse("m", base_url="http://127.0.0.1:9/v1"), tmp_path)
        assert unpriced.usage(again) == Usage(cost=None)

    @pytest.mark.parametrize(
        "other",
        [
            ModelSpec.parse("openai:gpt-5"),
            ModelSpec.parse("azure:gpt-5-mini"),
            ModelSpec.parse("openai:gpt-5-mini", base_url="http://127.0.0.1:1/v1"),
            ModelSpec.parse("openai:gpt-5-mini").model_copy(update={"options": {"temperature": 0.1}}),
            ModelSpec.parse("openai:gpt-5-mini", key_env="OTHER"),
        ],
    )
    async def test_two_model_configurations_never_share_an_answer(self, other: ModelSpec, tmp_path: Path) -> None:
        await cached(FakeClient(always("one")), ModelSpec.parse("openai:gpt-5-mini"), tmp_path).complete(ask())
        reply = await cached(FakeClient(always("two")), other, tmp_path).complete(ask())
        assert (reply.text, reply.cached) == ("two", False)

    @pytest.mark.parametrize(
        "other",
        [
            ask("hello!"),
            ask(temperature=0.5),
            ask(max_tokens=5),
            ask(sample="1"),
            ask(logprobs=3),
            ask(schema=Budget),
        ],
    )
    def test_every_part_of_a_request_is_part_of_its_key(self, other: Ask) -> None:
        spec = ModelSpec.parse("openai:gpt-5-mini")
        assert other.key(spec) != ask().key(spec)
        assert ask().key(spec) == ask().key(spec)

    def test_a_file_of_replies_that_has_changed_is_another_configuration(self, tmp_path: Path) -> None:
        replies = tmp_path / "r.json"
        replies.write_text('["one"]')
        spec = ModelSpec.parse(f"replay:{replies}")
        first = ask().key(spec)
        replies.write_text('["two"]')
        assert ask().key(spec) != first

    def test_a_torn_file_is_a_miss(self, tmp_path: Path) -> None:
        cache = ReplyCache(tmp_path)
        cache.put("ab" * 32, "m", Completion(text="x"))
        (file,) = tmp_path.rglob("*.json")
        file.write_bytes(file.read_bytes()[:-9])
        assert cache.get("ab" * 32) is None


class TestBudget:
    async def test_a_spent_budget_stops_before_the_next_call(self) -> None:
        client = FakeClient(always("x"))
        model = Model(ModelSpec.parse("replay:x"), client, QUICK, Ledger(Budget(calls=2)), asyncio.Semaphore(1))
        await model.complete(ask())
        await model.complete(ask())
        with pytest.raises(BudgetSpent, match="budget of 2 calls is spent"):
            await model.complete(ask())
        assert len(client.calls) == 2

    async def test_calls_that_wait_for_their_turn_are_not_made_when_the_budget_ends(self) -> None:
        client = FakeClient(always("x"), delay=0.001)
        model = Model(ModelSpec.parse("replay:x"), client, QUICK, Ledger(Budget(calls=2)), asyncio.Semaphore(1))
        ends = await asyncio.gather(*(model.complete(ask(str(n))) for n in range(9)), return_exceptions=True)
        assert [type(end) for end in ends] == [Completion] * 2 + [BudgetSpent] * 7
        assert len(client.calls) == 2

    @given(st.lists(st.tuples(st.integers(0, 10**5), st.integers(0, 10**5)), max_size=20), st.floats(0.001, 10))
    def test_dollars_are_prompt_and_completion_tokens_at_their_own_prices(
        self, calls: list[tuple[int, int]], limit: float
    ) -> None:
        ledger, price = Ledger(Budget(dollars=limit)), Price(input=2.0, output=8.0)
        for prompt, completion in calls:
            ledger.spend(Tokens(prompt=prompt, completion=completion), price)
        expected = sum(2e-6 * prompt + 8e-6 * completion for prompt, completion in calls)
        assert ledger.dollars == pytest.approx(expected)
        if ledger.dollars >= limit:
            with pytest.raises(BudgetSpent):
                ledger.check()

    async def test_dollars_cannot_be_budgeted_without_a_price(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "x")
        with pytest.raises(UserError, match="price is not known"):
            open_model(ModelSpec.parse("openai:unheard-of"), Settings(dollars=1.0))

    def test_a_users_prices_take_the_place_of_ours(self, tmp_path: Path) -> None:
        path = tmp_path / "prices.yaml"
        path.write_text("openai:gpt-5-mini: {input: 1, output: 2}\n")
        assert price_of(ModelSpec.parse("openai:gpt-5-mini"), path) == Price(input=1, output=2)
        assert price_of(ModelSpec.parse("local"), path) == Price(input=0, output=0)
        bad = tmp_path / "bad.yaml"
        for text, said in (
            ("openai:gpt-5-mini: cheap", "is not a price"),
            ("m: {input: .inf, output: 1}", "'m.input' is not a price"),
            ("m: {input: 1, output: 2}\nm: {input: 2, output: 2}", "'m' is there twice"),
            ("[]", "not a table of prices"),
        ):
            bad.write_text(text)
            read_prices.cache_clear()
            with pytest.raises(UserError, match=said):
                price_of(ModelSpec.parse("openai:gpt-5-mini"), bad)


class TestSettings:
    def test_settings_come_from_the_environment(self) -> None:
        settings = Settings.from_environment(
            {f"{PREFIX}TOKENS": "5000", f"{PREFIX}CACHE": "c", f"{PREFIX}DOLLARS": "2"}
        )
        assert settings.budget == Budget(tokens=5000, dollars=2.0)
        assert settings.cache == Path("c")

    def test_an_unfit_value_is_said_with_its_variable(self) -> None:
        with pytest.raises(UserError, match=f"{PREFIX}RETRIES"):
            Settings.from_environment({f"{PREFIX}RETRIES": "many"})


class Inner(BaseModel):
    title: str
    note: str = ""


class Outer(BaseModel):
    parts: list[Inner]
    default: int = 3


class TestSchemas:
    def test_a_strict_schema_requires_every_property_and_allows_no_other(self) -> None:
        schema = strict_schema(Outer)
        assert schema["required"] == ["parts", "default"]
        assert schema["$defs"]["Inner"]["required"] == ["title", "note"]
        assert schema["additionalProperties"] is schema["$defs"]["Inner"]["additionalProperties"] is False
        assert "default" not in schema["properties"]["default"]

    def test_a_short_schema_bounds_texts_and_lists(self) -> None:
        schema = short_schema(Outer, 9, 2)
        assert schema["properties"]["parts"]["maxItems"] == 2
        assert schema["$defs"]["Inner"]["properties"]["title"]["maxLength"] == 9
