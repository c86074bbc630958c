from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pydantic import JsonValue, ValidationError
from scipy.stats import binomtest

from framework import Round, SeatStart, Turn
from framework.errors import UserError
from games.east import CONDITIONS, PAPER, PROMPTS, Choose, East, EastObservation, EastRules, Scenario
from games.east.choices import one_of_the_words
from games.east.prompting import EastPrompts, with_article
from games.east.scenario import PromptVariant

PACK = EastPrompts()


def sight(prompt: PromptVariant = "direct", condition: int = 0, seat: int = 0) -> EastObservation:
    game = East()
    scenario = CONDITIONS[condition].scenario(PAPER[0], prompt)
    where = Turn(seat=seat, seats=2, round=Round(index=0, participants=(0, 1), speakers=(0, 1)), phase="choose")
    return game.observe(game.start(scenario), where)


def start(prompt: PromptVariant) -> SeatStart:
    facts = East().public_facts(CONDITIONS[0].scenario(PAPER[0], prompt))
    return SeatStart(game="east", seat=0, seats=2, rounds=1, facts=facts)


@pytest.mark.parametrize(
    ("condition", "seat", "parts"),
    [
        (0, 0, ["You are a bespoke tailor.", "other player is a general surgeon", "know exactly who you are", "both"]),
        (0, 1, ["You are a general surgeon.", "other player is a bespoke tailor", "know exactly who you are", "both"]),
        (1, 0, ["You are a bespoke tailor.", "other player is a general surgeon", "DO NOT know who you are", "aware"]),
        (1, 1, ["You are a general surgeon.", "You DO NOT know who the other player is", "know exactly who you are"]),
        (2, 0, ["You are a bespoke tailor.", "You DO NOT know who", "They DO NOT know who you are", "neither"]),
        (2, 1, ["You are a general surgeon.", "You DO NOT know who", "They DO NOT know who you are", "neither"]),
    ],
)
def test_prompts_give_the_papers_information_in_the_papers_order(condition: int, seat: int, parts: list[str]) -> None:
    text = PACK.message(sight(condition=condition, seat=seat), True)
    places = [text.find(part) for part in [*parts, "SAME WORD", "cannot talk", "win only if", "Words: ", '{"']]
    assert -1 not in places
    assert places == sorted(places)


def test_variants_differ_in_the_instruction_and_the_fields_only() -> None:
    direct, cot, tom = (PACK.message(sight(p), True) for p in ("direct", "standard_cot", "strategic_tom"))
    stem = direct.split("Words: ")[0]
    assert cot.startswith(stem)
    assert tom.startswith(stem)
    assert "reasoning" not in direct
    assert "step by step" in cot
    assert "what they know about you and what you know about them" in tom
    assert cot.index('"reasoning"') < cot.index('"chosen_word"')


def test_the_paper_has_no_system_prompt() -> None:
    assert PACK.system(start("direct")) == ""


def test_answers_have_the_fields_of_the_paper() -> None:
    assert list(PACK.answer_type(start("direct")).model_fields) == ["chosen_word"]
    assert list(PACK.answer_type(start("standard_cot")).model_fields) == ["reasoning", "chosen_word"]


def seated(scenario: Scenario, seat: int, game: East | None = None) -> SeatStart:
    """What a seat is told before play."""
    game = game or East()
    view, facts = game.view(game.start(scenario), seat), game.public_facts(scenario)
    return SeatStart(game="east", seat=seat, seats=2, rounds=1, facts=facts, view=view)


def shown_words(start: SeatStart) -> list[str]:
    """The words in the order of the schema."""
    words: list[str] = PACK.answer_type(start).model_json_schema()["properties"]["chosen_word"]["enum"]
    return words


@pytest.mark.parametrize("prompt", PROMPTS)
def test_a_model_that_is_held_to_a_schema_can_answer_with_the_four_words_only(prompt: PromptVariant) -> None:
    shape = PACK.answer_type(seated(CONDITIONS[0].scenario(PAPER[0], prompt), 0))
    assert list(shape.model_fields) == (["chosen_word"] if prompt == "direct" else ["reasoning", "chosen_word"])
    shape.model_validate({"reasoning": "x" * 5000, "chosen_word": "stitches"})
    with pytest.raises(ValidationError):
        shape.model_validate({"reasoning": "", "chosen_word": "needle"})


def test_without_the_constraint_any_text_can_be_the_word() -> None:
    free = East(EastRules(constrain=False))
    shape = PACK.answer_type(seated(CONDITIONS[0].scenario(PAPER[0]), 0, free))
    shape.model_validate({"chosen_word": "needle"})


def test_the_constraint_changes_nothing_that_a_model_reads_in_its_prompt() -> None:
    scenario = CONDITIONS[1].scenario(PAPER[0], "standard_cot")
    where = Turn(seat=1, seats=2, round=Round(index=0, participants=(0, 1), speakers=(0, 1)), phase="choose")
    said = {
        PACK.message(game.observe(game.start(scenario), where), True)
        for game in (East(), East(EastRules(constrain=False)))
    }
    assert len(said) == 1


def test_no_place_in_a_schema_is_one_on_which_two_seats_could_meet() -> None:
    met = {"first": 0, "last": 0, "by name": 0}
    scenarios = [s for seed in range(4) for s in East().suite("paper", seed)]
    for scenario in scenarios:
        one, two = (shown_words(seated(scenario, seat)) for seat in (0, 1))
        assert sorted(one) == sorted(two) == sorted(scenario.vignette.words.all)
        met["first"] += one[0] == two[0]
        met["last"] += one[-1] == two[-1]
        met["by name"] += one == sorted(one)
    chance = {"first": 1 / 4, "last": 1 / 4, "by name": 1 / 24}
    for place, count in met.items():
        assert binomtest(count, len(scenarios), chance[place]).pvalue > 0.001, place


def test_a_word_order_in_a_schema_is_the_same_each_time() -> None:
    scenario = CONDITIONS[0].scenario(PAPER[0])
    assert shown_words(seated(scenario, 0)) == shown_words(seated(scenario, 0))


def test_an_answer_becomes_a_choice_and_its_reasoning_goes_to_the_trace() -> None:
    move = PACK.read({"reasoning": "both sew", "chosen_word": "stitches", "confidence": 1})
    assert move == ("both sew", (Choose(chosen_word="stitches"),))
    assert PACK.read({"chosen_word": "a"}) == ("", (Choose(chosen_word="a"),))
    assert PACK.read({"chosen_word": "a", "reasoning": ["one", "two"]}).thinking == '["one", "two"]'


@pytest.mark.parametrize("data", [{}, {"word": "stitches"}, {"chosen_word": 3}, "stitches", None])
def test_what_is_no_answer_is_refused(data: JsonValue) -> None:
    with pytest.raises(ValidationError):
        PACK.read(data)


def test_an_invalid_choice_is_answered_with_the_words() -> None:
    scenario = CONDITIONS[0].scenario(PAPER[0])
    conflict = one_of_the_words(East().start(scenario), 0, (Choose(chosen_word="needle"),))
    text = PACK.message(sight(), False, conflict)
    assert "'needle' is not one of the words" in text
    assert all(word in text for word in PAPER[0].words.all)


def test_a_folder_of_ones_own_takes_the_place_of_the_shipped_one(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    shutil.copytree(EastPrompts.default, mine)
    assert PACK.using(mine).hash == PACK.hash
    (mine / "user.j2").write_text("{{ a(knowledge.own) }}: {{ words | join('/') }}")
    pack = PACK.using(mine)
    assert (pack.name, PACK.name) == ("mine", "plain")
    assert pack.hash != PACK.hash
    assert pack.message(sight(), True) == "a bespoke tailor: " + "/".join(sight().words)


def test_a_folder_that_lacks_a_template_is_refused(tmp_path: Path) -> None:
    shutil.copytree(EastPrompts.default, tmp_path / "mine")
    (tmp_path / "mine" / "knowledge.j2").unlink()
    with pytest.raises(UserError, match=r"there is no knowledge.j2"):
        PACK.using(tmp_path / "mine")


@pytest.mark.parametrize(("noun", "text"), [("dentist", "a dentist"), ("architect", "an architect")])
def test_articles(noun: str, text: str) -> None:
    assert with_article(noun) == text
