from __future__ import annotations

from pathlib import Path

import pytest

from framework import Round, Turn
from games.east import CONDITIONS, PAPER, East, EastObservation, EastRules
from games.east.prompting import PromptPack, read_choice, reply_schema, with_article
from games.east.scenario import PromptVariant
from tests.east.playing import Says, play_one

SYMMETRIC, ASYMMETRIC, ZERO = CONDITIONS
PACK = PromptPack.load("plain")


def sight(prompt: PromptVariant = "direct", condition: int = 0, seat: int = 0) -> EastObservation:
    game = East()
    scenario = CONDITIONS[condition].scenario(PAPER[0], prompt)
    where = Turn(seat=seat, seats=2, round=Round(index=0, participants=(0, 1), speakers=(0, 1)), phase="choose")
    return game.observe(game.start(scenario), where)


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
    text = PACK.user(sight(condition=condition, seat=seat))
    places = [text.find(part) for part in [*parts, "SAME WORD", "cannot talk", "win only if", "Words: ", '{"']]
    assert -1 not in places
    assert places == sorted(places)


def test_variants_differ_in_the_instruction_and_the_fields_only() -> None:
    direct, cot, tom = (PACK.user(sight(p)) for p in ("direct", "standard_cot", "strategic_tom"))
    stem = direct.split("Words: ")[0]
    assert cot.startswith(stem)
    assert tom.startswith(stem)
    assert "reasoning" not in direct
    assert "step by step" in cot
    assert "what they know about you and what you know about them" in tom
    assert cot.index('"reasoning"') < cot.index('"chosen_word"')


def test_schemas_ask_for_the_fields_of_the_paper() -> None:
    assert list(reply_schema(sight("direct")).model_fields) == ["chosen_word"]
    assert list(reply_schema(sight("strategic_tom")).model_fields) == ["reasoning", "chosen_word"]


@pytest.mark.parametrize(
    "text",
    [
        '{"reasoning": "both sew", "chosen_word": "stitches"}',
        'Sure!\n```json\n{"reasoning": "both sew", "chosen_word": "stitches"}\n```',
        'I think {so}. {"reasoning": "both sew", "chosen_word": "stitches", "confidence": 1} Bye',
    ],
)
def test_a_choice_is_found_in_a_reply(text: str) -> None:
    choice = read_choice(sight("standard_cot"), text)
    assert (choice.chosen_word, choice.reasoning) == ("stitches", "both sew")


@pytest.mark.parametrize("text", ["", "stitches", '{"word": "stitches"}', '{"chosen_word": 3}', '{"chosen_word": "st'])
def test_a_reply_without_a_choice_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(ValueError, match="no JSON object with the text field chosen_word"):
        read_choice(sight(), text)


def test_a_pack_of_ones_own_is_taken_by_its_path_and_told_apart_by_its_hash(tmp_path: Path) -> None:
    pack = tmp_path / "mine"
    pack.mkdir()
    for name in ("system.j2", "repair.j2"):
        (pack / name).write_text("")
    (pack / "user.j2").write_text("{{ knowledge.own }}: {{ words | join('/') }}")
    mine = PromptPack.load(str(pack))
    assert mine.name == "mine"
    assert mine.user(sight()) == "bespoke tailor: " + "/".join(sight().words)
    before = mine.sha256
    (pack / "user.j2").write_text("{{ knowledge.own }}")
    assert PromptPack.load(str(pack)).sha256 not in (before, PACK.sha256)


def test_a_pack_that_lacks_a_template_is_refused(tmp_path: Path) -> None:
    (tmp_path / "user.j2").write_text("")
    with pytest.raises(ValueError, match=r"has no system.j2; add the file"):
        PromptPack.load(str(tmp_path))


def test_an_unknown_pack_is_refused() -> None:
    with pytest.raises(ValueError, match="prompt pack 'fancy' is unknown; use one of plain, or a folder's path"):
        PromptPack.load("fancy")


def test_a_faulty_template_is_named_with_its_line(tmp_path: Path) -> None:
    for name in PromptPack.REQUIRED:
        (tmp_path / name).write_text("")
    (tmp_path / "user.j2").write_text("fine\n{% if %}")
    with pytest.raises(ValueError, match=r"user.j2 line 2"):
        PromptPack.load(str(tmp_path)).check()
    PACK.check()


def test_a_template_cannot_reach_into_the_interpreter(tmp_path: Path) -> None:
    for name in PromptPack.REQUIRED:
        (tmp_path / name).write_text("")
    (tmp_path / "user.j2").write_text("{{ words.__class__.__mro__ }}")
    with pytest.raises(Exception, match="unsafe"):
        PromptPack.load(str(tmp_path)).user(sight())


def test_every_trace_names_the_pack_and_its_hash() -> None:
    facts = play_one(SYMMETRIC.scenario(PAPER[0]), Says("fabric"), Says("fabric")).start.facts
    assert facts["prompt_pack"] == "plain"
    assert facts["prompt_pack_sha256"] == PACK.sha256
    assert EastRules().prompt_pack.sha256 == PACK.sha256


@pytest.mark.parametrize(("noun", "text"), [("dentist", "a dentist"), ("architect", "an architect")])
def test_articles(noun: str, text: str) -> None:
    assert with_article(noun) == text
