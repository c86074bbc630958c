"""Seats of EAST that a language model plays, by a client that says what it is told to say."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from autogen_core.models import CreateResult, RequestUsage
from autogen_ext.models.replay import ReplayChatCompletionClient

from framework import Trace
from framework.trace import BatchRejected, DecideStart
from games.east import CONDITIONS, PAPER, outcome_of
from games.east.annotation.task import reasonings
from games.east.prompting import EastPrompts
from protocols.events import InvalidResponse, ModelCall, ModelSeat
from protocols.llm import LlmStrategy
from tests.east.playing import Says, play_one

DIRECT = CONDITIONS[0].scenario(PAPER[0])
STEPWISE = CONDITIONS[1].scenario(PAPER[0], "standard_cot")
STITCHES = '{"chosen_word": "stitches"}'


def said(text: str, thought: str | None = None) -> CreateResult:
    usage = RequestUsage(prompt_tokens=10, completion_tokens=5)
    return CreateResult(finish_reason="stop", content=text, usage=usage, cached=False, thought=thought)


def seat(replies: Sequence[str | CreateResult]) -> LlmStrategy:
    return LlmStrategy(from_client=ReplayChatCompletionClient(list(replies)))


def thoughts(trace: Trace) -> list[str]:
    """What an annotator is given of seat 0."""
    return [reasoning.text for reasoning in reasonings(trace) if reasoning.seat == 0]


def test_two_models_play_by_the_same_layer_as_in_any_game() -> None:
    trace = play_one(DIRECT, seat([STITCHES]), seat(["```json\n" + STITCHES + "\n```"]))
    assert outcome_of(trace).normative
    assert [call.seat for call in trace.of(ModelCall)] == [0, 1]


def test_a_word_that_is_not_offered_may_be_mended_once_by_a_model() -> None:
    trace = play_one(DIRECT, seat(['{"chosen_word": "needle"}', STITCHES]), Says("stitches"))
    assert outcome_of(trace).normative
    (rejected,) = trace.of(BatchRejected)
    assert rejected.conflict.rule == "invalid_choice"
    assert "choose one of" in [event.prompt for event in trace.of(DecideStart) if event.seat == 0][1]


def test_a_second_word_that_is_not_offered_is_final() -> None:
    trace = play_one(DIRECT, seat(['{"chosen_word": "needle"}'] * 4), Says("stitches"))
    assert outcome_of(trace).convergence == "invalid"
    assert len(list(trace.of(ModelCall))) == 2


@pytest.mark.parametrize(
    "noise", ["", "stitches", "[]", "{}", '{"chosen_word": null}', '{"chosen_word": ["stitches"]}', "\ud800"]
)
def test_noise_is_an_invalid_choice_and_never_a_crash(noise: str) -> None:
    trace = play_one(DIRECT, seat([noise] * 8), Says("stitches"))
    outcome = outcome_of(trace)
    assert outcome.convergence == "invalid"
    assert outcome.words == (None, "stitches")
    assert any(trace.of(InvalidResponse))
    assert [call.purpose for call in trace.of(ModelCall)] == ["move", "repair"]


def test_reasoning_that_a_provider_hands_over_apart_is_annotated() -> None:
    trace = play_one(DIRECT, seat([said(STITCHES, "They know me, so we share stitches.")]), Says("stitches"))
    assert thoughts(trace) == ["They know me, so we share stitches."]


def test_a_think_block_in_the_text_is_annotated() -> None:
    trace = play_one(DIRECT, seat([f"<think>They know me.</think>\n{STITCHES}"]), Says("stitches"))
    assert outcome_of(trace).normative
    assert thoughts(trace) == ["They know me."]


def test_what_a_model_thought_comes_before_the_reasons_that_it_gives() -> None:
    answer = '{"reasoning": "We share it.", "chosen_word": "stitches"}'
    trace = play_one(STEPWISE, seat([said(answer, "Hm.")]), Says("stitches"))
    assert thoughts(trace) == ["Hm.\n\nWe share it."]


def test_an_answer_without_reasons_leaves_nothing_to_annotate() -> None:
    assert thoughts(play_one(DIRECT, seat([STITCHES]), Says("stitches"))) == []


def test_every_trace_names_the_prompts_of_the_game_and_a_model_seat_its_own() -> None:
    pack = EastPrompts()
    for trace in (
        play_one(DIRECT, Says("stitches"), Says("fabric")),
        play_one(DIRECT, seat([STITCHES]), Says("x", "y")),
    ):
        facts = trace.start.facts
        assert (facts["prompt_pack"], facts["prompt_pack_hash"]) == (pack.name, pack.hash)
    (event,) = trace.of(ModelSeat)
    assert (event.pack, event.pack_hash) == (pack.name, pack.hash)
