from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from framework import Action, Trace, read_trace, write_trace
from framework.testing import check_game, check_strategy
from framework.trace import BatchRejected
from games.east import (
    BEYOND,
    CONDITIONS,
    PAPER,
    Choose,
    Condition,
    East,
    EastObservation,
    EastOutcome,
    Scenario,
    outcome_of,
)
from games.east.outcome import score_choices
from protocols.focal import Egocentric, LevelK, Normative, Uniform
from tests.east.playing import Says, play_one

TAILOR = CONDITIONS[0].scenario(PAPER[0])


@pytest.mark.parametrize("condition", [*CONDITIONS, *BEYOND], ids=lambda c: c.name)
def test_east_conforms(condition: Condition) -> None:
    check_game(East(), condition.scenario(PAPER[0]), Normative).raise_if_failed()


@pytest.mark.parametrize("strategy", [Uniform, Egocentric, Normative, LevelK])
def test_focal_strategies_conform(strategy: type) -> None:
    check_strategy(strategy, East()).raise_if_failed()


def test_two_seats_that_say_the_same_word_match() -> None:
    outcome = outcome_of(play_one(TAILOR, Says("fabric"), Says("fabric")))
    assert outcome.match
    assert not outcome.normative
    assert outcome.convergence == "persona_1"
    assert outcome.roles == ("persona_1", "persona_1")


def test_a_match_on_the_target_is_normative() -> None:
    outcome = outcome_of(play_one(TAILOR, Says("stitches"), Says("stitches")))
    assert outcome.normative
    assert outcome.convergence == "shared"


def test_different_words_are_a_mismatch_with_the_ordered_pair_of_roles() -> None:
    outcome = outcome_of(play_one(TAILOR, Says("scalpel"), Says("bicycle")))
    assert not outcome.match
    assert outcome.convergence == "mismatch"
    assert outcome.roles == ("persona_2", "unrelated")


def test_case_and_space_around_a_word_do_not_matter() -> None:
    assert outcome_of(play_one(TAILOR, Says(" Stitches\n"), Says("STITCHES"))).normative


def test_a_word_that_is_not_offered_may_be_mended_once() -> None:
    trace = play_one(TAILOR, Says("needle", "stitches"), Says("stitches"))
    assert outcome_of(trace).normative
    (rejected,) = trace.of(BatchRejected)
    assert rejected.conflict.rule == "invalid_choice"
    assert rejected.conflict.message.startswith("'needle' is not one of the words; choose one of ")
    assert trace.metrics["invalid_choice"].game == 0.0


def test_a_second_word_that_is_not_offered_scores_as_no_coordination_and_is_counted_apart() -> None:
    trace = play_one(TAILOR, Says("needle", "thread"), Says("stitches"))
    outcome = outcome_of(trace)
    assert outcome.words == (None, "stitches")
    assert outcome.convergence == "invalid"
    assert not outcome.match
    assert trace.metrics["invalid_choice"].seats == (1.0, 0.0)
    assert trace.metrics["match"].game == 0.0


def test_two_choices_at_once_are_refused() -> None:
    class Hedges(Says):
        async def act(self, observation: EastObservation) -> Sequence[Action]:
            return [Choose(chosen_word="stitches"), Choose(chosen_word="fabric")]

    trace = play_one(TAILOR, Hedges("stitches"), Says("stitches"))
    (rejected,) = trace.of(BatchRejected)
    assert rejected.conflict.message == "Choose one word; this batch holds 2 choices."
    assert outcome_of(trace).normative


def test_a_seat_that_passes_is_not_asked_again() -> None:
    trace = play_one(TAILOR, Says(None, "stitches"), Says("stitches"))
    assert outcome_of(trace).words == (None, "stitches")
    assert list(trace.of(BatchRejected)) == []


def test_two_seats_that_say_nothing_valid_do_not_match() -> None:
    outcome = outcome_of(play_one(TAILOR, Says(None), Says(None)))
    assert not outcome.match
    assert not outcome.normative
    assert outcome.convergence == "invalid"


def test_metrics_are_the_same_for_a_trace_that_was_read_back(tmp_path: Path) -> None:
    trace = play_one(TAILOR, Says("fabric"), Says("fabric"))
    write_trace(tmp_path / "game.json", trace)
    back = read_trace(tmp_path / "game.json")
    assert East().score(back) == trace.metrics
    assert trace.metrics["accidental"].game == 1.0
    assert isinstance(outcome_of(back), EastOutcome)
    assert Scenario.model_validate(back.start.scenario) == TAILOR


def test_a_game_that_is_not_east_has_no_outcome() -> None:
    trace = play_one(TAILOR, Says("fabric"), Says("fabric"))
    with pytest.raises(ValueError, match="has no east_outcome event"):
        outcome_of(Trace(game_id="x", started_at=trace.started_at, ended_at=trace.ended_at))


def test_outcomes_agree_with_the_plain_definition_for_every_pair_of_words() -> None:
    for condition in CONDITIONS:
        scenario = condition.scenario(PAPER[3])
        for one in (*scenario.vignette.words.all, None):
            for two in (*scenario.vignette.words.all, None):
                outcome = score_choices(scenario, (one, two))
                assert outcome.match == (one is not None and one == two)
                assert outcome.normative == (outcome.match and one == scenario.vignette.words.of(condition.target))
                if outcome.match:
                    assert scenario.vignette.words.of(outcome.convergence) == one  # type: ignore[arg-type]
                else:
                    assert outcome.convergence == ("invalid" if None in (one, two) else "mismatch")
