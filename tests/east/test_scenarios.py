from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from games.east import BEYOND, CONDITIONS, PAPER, PROMPTS, ROLES, Condition, East, EastRules, Scenario, Words
from games.east.conditions import PERSONAS

CELLS = [(v, c, p) for v in PAPER for c in (*CONDITIONS, *BEYOND) for p in PROMPTS]
cells = st.sampled_from(CELLS)


def test_the_paper_suite_has_ninety_different_games() -> None:
    scenarios = East().suite("paper", 0)
    assert len(scenarios) == 90
    assert len({s.id for s in scenarios}) == 90
    assert {s.condition for s in scenarios} == {"symmetric", "asymmetric", "zero_knowledge"}


def test_the_vignettes_are_those_of_table_1() -> None:
    assert len(PAPER) == 10
    tailor, *_, pianist = PAPER
    assert tailor.personas == ("bespoke tailor", "general surgeon")
    assert tailor.words.all == ("fabric", "scalpel", "stitches", "bicycle")
    assert pianist.words.all == ("sonata", "Python", "keyboard", "umbrella")
    assert len(PERSONAS) == 17


def test_targets_are_the_papers() -> None:
    assert {c.name: c.target for c in CONDITIONS} == {
        "symmetric": "shared",
        "asymmetric": "persona_2",
        "zero_knowledge": "unrelated",
    }


@given(cells, st.integers(0, 2**32))
def test_a_scenario_survives_json(cell: tuple[object, Condition, object], seed: int) -> None:
    vignette, condition, prompt = cell
    scenario = condition.scenario(vignette, prompt, seed)  # type: ignore[arg-type]
    assert Scenario.model_validate_json(scenario.model_dump_json()) == scenario


def test_word_orders_come_from_the_seed_and_differ_by_seat_and_game() -> None:
    game = East()
    assert game.suite("paper", 3) == game.suite("paper", 3)
    assert game.suite("paper", 3) != game.suite("paper", 4)
    first = [s.orders for s in game.suite("paper", 3)]
    assert len(set(first)) > 60
    assert any(one != two for one, two in first)


def test_no_place_in_the_list_gives_a_role_away() -> None:
    counts = dict.fromkeys([(place, role) for place in range(4) for role in ROLES], 0)
    games = 0
    for seed in range(40):
        for scenario in East().suite("paper", seed):
            for order in scenario.orders:
                games += 1
                for place, word in enumerate(order):
                    counts[place, scenario.vignette.words.role(word)] += 1
    expected = games / 4
    deviation = (games * 0.25 * 0.75) ** 0.5
    assert all(abs(count - expected) < 5 * deviation for count in counts.values())


def test_rules_narrow_a_suite_to_conditions_and_prompts() -> None:
    game = East(EastRules(conditions=("asymmetric",), prompt_variants=("direct", "strategic_tom")))
    scenarios = game.suite("paper", 0)
    assert len(scenarios) == 20
    assert {(s.condition, s.prompt) for s in scenarios} == {("asymmetric", "direct"), ("asymmetric", "strategic_tom")}


def test_a_narrowed_suite_deals_the_same_word_orders_as_the_whole() -> None:
    whole = {s.id: s for s in East().suite("paper", 5)}
    assert all(whole[s.id] == s for s in East(EastRules(conditions=("symmetric",))).suite("paper", 5))


def test_an_unknown_condition_is_named_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"condition 'symetric' is unknown to east; use some of symmetric, asymm"):
        East(EastRules(conditions=("symetric",))).suite("paper", 0)


def test_words_that_differ_by_case_only_are_refused() -> None:
    with pytest.raises(ValidationError, match="must differ"):
        Words(persona_1="Python", persona_2="python", shared="keyboard", unrelated="umbrella")


def test_a_scenario_that_misstates_a_seats_own_persona_is_refused() -> None:
    data = json.loads(CONDITIONS[0].scenario(PAPER[0]).model_dump_json())
    data["knowledge"][1]["own"] = "dentist"
    with pytest.raises(ValidationError, match="seat 1 must know its own persona, 'general surgeon'"):
        Scenario.model_validate(data)


def test_tasks_are_read_from_a_file_and_a_faulty_line_is_named(tmp_path: Path) -> None:
    scenarios = East().suite("quick", 0)
    path = tmp_path / "tasks.jsonl"
    East().write_tasks(path, scenarios)
    assert East().read_tasks(path) == scenarios
    path.write_text(scenarios[0].model_dump_json() + "\n{}\n")
    with pytest.raises(ValueError, match=r"tasks.jsonl line 2: Field required at vignette"):
        East().read_tasks(path)


@pytest.mark.parametrize("condition", CONDITIONS, ids=lambda c: c.name)
def test_nobody_is_misled_in_the_papers_conditions(condition: Condition) -> None:
    assert not any(any(condition.scenario(v, seed=s).misled) for v in PAPER for s in range(5))


def test_false_belief_misleads_seat_0_only_and_seat_1_knows_of_it() -> None:
    scenario = BEYOND[0].scenario(PAPER[0])
    assert scenario.misled == (True, False)
    assert scenario.knowledge[0].partner == "bespoke tailor"
    assert scenario.knowledge[1].partner_takes_me_for == "bespoke tailor"
    assert not scenario.knowledge[1].partner_knows_mine


def test_noisy_disclosures_are_wrong_a_quarter_of_the_time() -> None:
    wrong = [misled for seed in range(200) for v in PAPER for misled in BEYOND[1].scenario(v, seed=seed).misled]
    deviation = (len(wrong) * 0.25 * 0.75) ** 0.5
    assert abs(sum(wrong) - 0.25 * len(wrong)) < 5 * deviation


def test_a_perturbed_scenario_leaves_the_other_seats_view_alone() -> None:
    rng = random.Random(1)
    changed = 0
    for condition in (*CONDITIONS, *BEYOND):
        for seat in (0, 1):
            scenario = condition.scenario(PAPER[0])
            other = East().perturb(scenario, seat, rng)
            assert other.knowledge[1 - seat] == scenario.knowledge[1 - seat]
            assert other.orders[1 - seat] == scenario.orders[1 - seat]
            assert Scenario.model_validate_json(other.model_dump_json()) == other
            changed += other.vignette.personas[seat] != scenario.vignette.personas[seat]
    assert changed >= 3
