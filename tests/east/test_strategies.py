from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from framework import ANYONE, FocalView, Knowledge, Strategy
from games.east import BEYOND, CONDITIONS, PAPER, Choose, Condition, East, EastRules, outcome_of
from games.east.association import association
from protocols.focal import Egocentric, LevelK, Normative, Uniform
from tests.east.playing import play_all


def outcomes(condition: Condition, one: Callable[[], Strategy], two: Callable[[], Strategy] | None = None) -> set[str]:
    """The ways in which the ten vignettes end in a condition."""
    return {outcome_of(t).convergence for t in play_all([condition.scenario(v) for v in PAPER], one, two)}


def choose(word: str) -> tuple[Choose, ...]:
    return (Choose(chosen_word=word),)


SYMMETRIC, ASYMMETRIC, ZERO = CONDITIONS
FALSE_BELIEF, NOISY = BEYOND


def level(k: int) -> Callable[[], LevelK]:
    return lambda: LevelK(k=k)


def test_normative_seats_coordinate_on_the_target_in_all_ninety_games() -> None:
    traces = play_all(East().suite("paper", 0), Normative)
    assert sum(outcome_of(trace).normative for trace in traces) == 90


@given(st.integers(0, 2**32))
def test_normative_seats_coordinate_whatever_the_word_orders(seed: int) -> None:
    game = East(EastRules(prompt_variants=("direct",)))
    for scenario in game.suite("paper", seed):
        picks = {
            Normative().pick(FocalView(order, knowledge, ("dentist",), association("table"), choose))
            for order, knowledge in zip(scenario.orders, scenario.knowledge, strict=True)
        }
        assert picks == {scenario.vignette.words.of(scenario.target)}


def test_egocentric_seats_never_coordinate_when_both_know() -> None:
    assert outcomes(SYMMETRIC, Egocentric) == {"mismatch"}


def test_uniform_seats_match_in_a_quarter_of_games() -> None:
    game = East(EastRules(prompt_variants=("direct",)))
    results = [
        outcome_of(t).match for seed in range(20) for t in play_all(game.suite("paper", seed), Uniform, seed=seed)
    ]
    interval = binomtest(sum(results), len(results)).proportion_ci(method="wilson", confidence_level=0.99)
    assert len(results) == 600
    assert interval.low < 0.25 < interval.high


def test_level_0_is_egocentric() -> None:
    scenarios = East().suite("paper", 1)
    ego, zero = play_all(scenarios, Egocentric), play_all(scenarios, level(0))
    assert [outcome_of(t).words for t in ego] == [outcome_of(t).words for t in zero]


def test_level_1_meets_an_egocentric_partner_whom_it_knows() -> None:
    assert outcomes(ASYMMETRIC, level(1), Egocentric) == {"persona_2"}
    assert outcomes(SYMMETRIC, Egocentric, level(1)) == {"persona_1"}


def test_level_2_relies_on_a_level_1_partner_who_knows_it() -> None:
    assert outcomes(ASYMMETRIC, level(1), level(2)) == {"persona_2"}


@pytest.mark.parametrize("k", [1, 2, 3])
def test_no_level_of_self_play_finds_the_shared_word(k: int) -> None:
    assert outcomes(SYMMETRIC, level(k)) == {"mismatch"}


def test_strangers_who_average_over_personas_meet_on_the_everyday_word() -> None:
    assert outcomes(ZERO, level(1)) == {"unrelated"}


def test_normative_seats_act_on_the_false_belief_that_both_know_of() -> None:
    assert outcomes(FALSE_BELIEF, Normative) == {"persona_1"}


def test_normative_seats_meet_on_the_shared_word_where_noise_misled_nobody() -> None:
    scenarios = [NOISY.scenario(v, seed=seed) for v in PAPER for seed in range(5)]
    honest = [s for s in scenarios if not any(s.misled)]
    assert len(honest) > 10
    assert all(outcome_of(t).normative for t in play_all(honest, Normative))


class Strengths:
    """A table by hand."""

    def __init__(self, **rows: tuple[float, ...]) -> None:
        self.rows = rows

    def strength(self, identity: str, option: str) -> float:
        return self.rows[identity]["abcd".index(option)]


def view(knowledge: Knowledge, association: Strengths, order: str = "abcd") -> FocalView:
    return FocalView(tuple(order), knowledge, ("p", "q"), association, choose)


HAND = Strengths(p=(0.9, 0.1, 0.6, 0.2), q=(0.1, 0.8, 0.5, 0.2), anyone=(0.2, 0.2, 0.2, 0.7))


@pytest.mark.parametrize(
    ("knowledge", "choice"),
    [
        (Knowledge(own="p", partner="q", partner_takes_me_for="p"), "c"),
        (Knowledge(own="p", partner="q"), "b"),
        (Knowledge(own="p", partner_takes_me_for="p"), "a"),
        (Knowledge(own="p"), "d"),
        (Knowledge(own="p", partner="p", partner_takes_me_for="p"), "a"),
        (Knowledge(own="q", partner="p", partner_takes_me_for="p"), "a"),
    ],
)
def test_normative_choices_by_hand(knowledge: Knowledge, choice: str) -> None:
    assert Normative().pick(view(knowledge, HAND)) == choice


def test_level_k_choices_by_hand() -> None:
    knows = Knowledge(own="p", partner="q")
    assert [LevelK(k=k).pick(view(knows, HAND)) for k in range(4)] == ["a", "b", "a", "b"]


def test_a_partner_is_simulated_with_what_it_would_know() -> None:
    mine = Knowledge(own="p", partner="q")
    theirs = mine.of_partner("q")
    assert theirs == Knowledge(own="q", partner=None, partner_takes_me_for="q")
    assert theirs.of_partner("p") == Knowledge(own="p", partner="q", partner_takes_me_for=None)


@given(st.permutations("abcd"), st.sampled_from([0.3, 0.5]))
def test_the_order_of_the_options_never_decides_a_tie(order: list[str], strength: float) -> None:
    flat = Strengths(p=(strength,) * 4, q=(strength,) * 4, anyone=(strength,) * 4)
    knowledge = Knowledge(own="p", partner="q", partner_takes_me_for="p")
    for strategy in (Egocentric(), Normative(), LevelK(k=1), LevelK(k=2)):
        assert strategy.pick(view(knowledge, flat, "".join(order))) == "a"


def test_the_table_knows_every_word_for_anyone() -> None:
    table = association("table")
    assert all(table.strength(ANYONE, word) > 0 for v in PAPER for word in v.words.all)
    assert table.strength("dentist", "bicycle") == 0.5 * table.strength(ANYONE, "bicycle")
    assert table.strength("dentist", "CAVITY") == 0.95
