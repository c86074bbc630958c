"""Optimizing a prompt block: what counts, what is searched, and what is recorded."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from autogen_core.models import LLMMessage
from hypothesis import given
from hypothesis import strategies as st

from dspy_variants import Variant, load_variant
from dspy_variants.proposing import read_block
from dspy_variants.scoring import check_weights, feedback, score
from dspy_variants.seat import VariantStrategy
from framework import MetricValue, Trace, play
from framework.cli import main
from framework.errors import UserError
from games.calbench import CalBench
from tests.llm.fakes import FakeClient, always, first_free, seats

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
dspy = pytest.importorskip("dspy", reason="the extra `dspy` is not installed")

METRICS = CalBench.metrics
BASE = Variant(name="base", version=1, game="calbench", made="authored", text="Do as you like.")


@pytest.fixture(scope="module")
def trace() -> Trace:
    scenario = CalBench().suite("quick", 0)[0]
    return asyncio.run(play(CalBench(), scenario, seats(5, FakeClient(always("what?")))))


def with_metrics(trace: Trace, **values: float | None) -> Trace:
    return trace.model_copy(update={"metrics": {name: MetricValue(game=value) for name, value in values.items()}})


class TestScore:
    def test_it_is_the_weighted_mean_in_which_costs_count_as_far_as_was_coordinated(self, trace: Trace) -> None:
        played = with_metrics(trace, coordination=0.5, excess=1.0, vps=3.0)
        weights = {"coordination": 2.0, "excess": 1.0, "vps": 1.0}
        assert score(played, METRICS, weights) == pytest.approx((2 * 0.5 + 0.5 * 0.5 + 0.25 * 0.5) / 4)

    def test_a_metric_that_the_game_has_not_is_left_out(self, trace: Trace) -> None:
        played = with_metrics(trace, coordination=0.5, vps=None)
        assert score(played, METRICS, {"coordination": 1.0, "vps": 1.0, "excess": 1.0}) == 0.5

    def test_who_schedules_nothing_scores_nothing(self, trace: Trace) -> None:
        assert score(trace, METRICS, {"coordination": 1.0, "excess": 0.5}) == 0.0

    @given(st.floats(0, 1), st.floats(0, 50), st.floats(0.1, 5), st.floats(0.1, 5))
    def test_it_is_between_0_and_1_and_more_coordination_is_never_worse(
        self, coordination: float, excess: float, one: float, two: float
    ) -> None:
        weights = {"coordination": one, "excess": two}
        empty = Trace.model_construct(metrics={}, events=())
        found = score(with_metrics(empty, coordination=coordination, excess=excess), METRICS, weights)
        more = score(with_metrics(empty, coordination=min(1, coordination + 0.1), excess=excess), METRICS, weights)
        assert 0 <= found <= more + 1e-12 <= 1 + 2e-12

    @pytest.mark.parametrize("weights", [{"nothing": 1.0}, {"burden": 1.0}, {"excess": -1.0}, {"excess": 0.0}])
    def test_weights_that_cannot_be_used_are_a_mistake_of_the_user(self, weights: dict[str, float]) -> None:
        with pytest.raises(UserError):
            check_weights(weights, METRICS)

    def test_feedback_says_what_went_wrong(self, trace: Trace) -> None:
        said = feedback(trace, {"coordination": 1.0})
        assert "coordination: 0.000" in said
        assert "Expected exactly 1 schedule action, got 0." in said
        assert "replies could not be read: it holds no JSON object" in said


def obedient(messages: Sequence[LLMMessage]) -> str:
    """Decides only if the system prompt holds the magic word."""
    return first_free(messages) if "SESAME" in str(messages[0].content) else '{"thinking": "", "actions": []}'


def seat(text: str) -> VariantStrategy:
    block = BASE.model_copy(update={"text": text})
    return VariantStrategy(from_client=FakeClient(obedient), variant="x", block=block)


def rewriting(text: str) -> Any:
    """A language model that answers every request for a better block with `text`."""

    class Rewriter(dspy.BaseLM):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(model="rewriter")
            self.asked: list[str] = []

        def __call__(self, prompt: Any = None, messages: Any = None, **_: Any) -> list[str]:
            self.asked.append(messages[-1]["content"])
            return [text]

    return Rewriter()


def optimized(lm: Any, games: int = 20) -> Any:
    from dspy_variants.optimizing import Tasks, optimize

    game = CalBench()
    tasks = game.suite("quick", 0)
    parts = Tasks(tasks[:2], tasks[2:4], tasks[4:])
    return optimize(game, BASE, parts, seat, lm, weights={"rejected": 1.0}, games=games, seed=3)


def test_a_better_block_is_found_compared_on_held_out_tasks_and_written_with_its_record(tmp_path: Path) -> None:
    from dspy_variants.optimizing import keep

    found = optimized(rewriting("Say SESAME and decide."))
    path, beside = keep(tmp_path, found)
    assert path is not None
    variant = load_variant(str(path))
    assert (variant.label, variant.made, variant.record) == ("base@2", "optimized", beside.name)
    assert "SESAME" in variant.text
    record = json.loads(beside.read_text())
    assert record["held_out"]["better"] is True
    assert set(record["held_out"]["base"]) == set(record["holdout"])
    assert not set(record["holdout"]) & {*record["training"], *record["validation"]}
    assert next(candidate["text"] for candidate in record["candidates"]) == BASE.text
    assert record["candidates"][-1]["mean"] == 1.0
    assert record["usage"]["calls"] > 0
    seeds = {(game["task"], game["seed"]) for game in record["games"]}
    assert len(seeds) == len({game["task"] for game in record["games"]})
    assert record["games"][0]["seed"] != record["games"][-1]["seed"]


def test_the_rewriting_model_is_shown_the_block_and_what_the_games_came_to() -> None:
    lm = rewriting("Say SESAME and decide.")
    optimized(lm)
    assert "<block>\nDo as you like.\n</block>" in lm.asked[0]
    assert "Expected exactly 1 schedule action, got 0." in lm.asked[0]


@pytest.mark.parametrize(
    ("reply", "block"),
    [
        ("Be brief.", "Be brief."),
        ("Sure:\n```markdown\nBe brief.\n```\nDone.", "Be brief."),
        ("<block>\nBe brief.\n</block>", "Be brief."),
        ("  \n", "old"),
    ],
)
def test_the_block_is_taken_out_of_a_reply(reply: str, block: str) -> None:
    assert read_block(reply, "old") == block
    assert len(read_block("word\n" * 5000, "old")) <= 4000


def test_the_search_keeps_to_its_budget_of_games(tmp_path: Path) -> None:
    from dspy_variants.optimizing import keep

    found = optimized(rewriting("Nothing new."), games=8)
    searched = [game for game in found.record.games if game.task not in found.record.holdout]
    assert len(searched) <= 8 + 4  # the last step may finish what it began
    path, beside = keep(tmp_path, found)
    assert path is None
    rejected = [one for one in json.loads(beside.read_text())["candidates"] if one["rejected"]]
    assert [one["text"] for one in rejected] == ["Nothing new."]
    assert set(rejected[0]["scores"]) <= set(found.record.training)


def test_too_few_games_are_refused_before_any_is_played() -> None:
    with pytest.raises(UserError, match="3 games are too few"):
        optimized(rewriting("x"), games=3)


def test_an_aborted_game_stops_the_search_and_is_no_score(tmp_path: Path) -> None:
    from dspy_variants.optimizing import Tasks, keep, optimize

    game, tasks = CalBench(), CalBench().suite("quick", 0)
    parts = Tasks(tasks[:2], tasks[2:4], tasks[4:])
    left = [60]

    def answer(messages: Sequence[LLMMessage]) -> str | Exception:
        left[0] -= 1
        return first_free(messages) if left[0] > 0 else RuntimeError("the provider is down")

    def failing(text: str) -> VariantStrategy:
        return VariantStrategy(from_client=FakeClient(answer), variant="x", block=BASE)

    lm = rewriting("x")
    found = optimize(game, BASE, parts, failing, lm, weights={"coordination": 1.0}, games=8)
    assert "the provider is down" in found.record.stopped
    assert lm.asked == []
    assert found.record.held_out.base == {}
    assert len(found.record.games) == 1
    assert [list(one.scores) for one in found.record.candidates] == [[found.record.games[0].task]]
    path, beside = keep(tmp_path, found)
    assert path is None
    assert json.loads(beside.read_text())["games"] != []


def test_a_model_that_cannot_rewrite_is_no_result() -> None:
    class Broken(dspy.BaseLM):  # type: ignore[misc]
        def __call__(self, prompt: Any = None, messages: Any = None, **_: Any) -> list[str]:
            raise RuntimeError("no such model")

    found = optimized(Broken(model="broken"))
    assert found.variant is None
    assert "the model that rewrites: RuntimeError: no such model" in found.record.stopped


def test_an_earlier_result_in_the_same_folder_stays_as_it_is(tmp_path: Path) -> None:
    from dspy_variants.optimizing import keep

    found = optimized(rewriting("Say SESAME and decide."))
    none = optimized(rewriting("Nothing new."), games=8)
    names = [path.name for result in (found, found, none, none) for path in keep(tmp_path, result) if path]
    assert len({*names}) == 6
    assert load_variant(str(tmp_path / "base.v3.md")).record == "base.v3.record.json"


@pytest.mark.parametrize("weight", ["coordination=abc", "coordination=nan", "coordination=.inf", "coordination=true"])
def test_a_weight_that_is_no_number_is_refused_before_play(
    weight: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("r.json").write_text("[]")
    arguments = ["optimize", "calbench", "--suite", "canonical", "--variant", "settle-early", "--model"]
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "replay:r.json", "--lm", "openai/x", "--weight", weight])
    assert ended.value.code == 2
    assert "coordination" in capsys.readouterr().err
