"""A seat never sees what its condition keeps from it, in any cell of the design."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from framework import Round, SeatStart, Turn
from games.east import BEYOND, CONDITIONS, PAPER, PROMPTS, Choose, East, EastObservation, Scenario
from games.east.choices import one_of_the_words
from games.east.prompting import EastPrompts

cells = st.builds(
    lambda condition, vignette, prompt, seed: condition.scenario(vignette, prompt, seed),
    st.sampled_from([*CONDITIONS, *BEYOND]),
    st.sampled_from(PAPER),
    st.sampled_from(PROMPTS),
    st.integers(0, 2**32),
)


def observation(scenario: Scenario, seat: int) -> EastObservation:
    game = East()
    where = Turn(seat=seat, seats=2, round=Round(index=0, participants=(0, 1), speakers=(0, 1)), phase="choose")
    return game.observe(game.start(scenario), where)


def hidden(scenario: Scenario, seat: int) -> bool:
    """Whether the seat has not been told the partner's persona, or has been told another."""
    return scenario.knowledge[seat].partner != scenario.vignette.personas[1 - seat]


PACK = EastPrompts()


def prompts(scenario: Scenario, seat: int) -> list[str]:
    """All that a model in this seat is told."""
    sight = observation(scenario, seat)
    start = SeatStart(game="east", seat=seat, seats=2, rounds=1, facts=East().public_facts(scenario))
    conflict = one_of_the_words(East().start(scenario), seat, (Choose(chosen_word="needle"),))
    return [PACK.message(sight, True), PACK.message(sight, False, conflict), PACK.system(start), str(start.facts)]


def seen(scenario: Scenario, seat: int) -> list[str]:
    """All that reaches a seat, as text."""
    game = East()
    sight = observation(scenario, seat)
    return [
        *prompts(scenario, seat),
        sight.model_dump_json(),
        sight.describe(),
        repr(sight),
        game.view(game.start(scenario), seat),
    ]


@given(cells, st.sampled_from([0, 1]))
def test_a_blind_seat_never_sees_the_partners_persona(scenario: Scenario, seat: int) -> None:
    partner, own = scenario.vignette.personas[1 - seat], scenario.vignette.personas[seat]
    texts = seen(scenario, seat)
    assert sum(own in text for text in texts) == 4
    if hidden(scenario, seat):
        assert not any(partner in text for text in texts)


def test_in_every_cell_of_the_design_the_blind_stay_blind() -> None:
    blind = 0
    for vignette, condition, prompt, seat in product(PAPER, (*CONDITIONS, *BEYOND), PROMPTS, (0, 1)):
        scenario = condition.scenario(vignette, prompt, seed=1)
        if hidden(scenario, seat):
            blind += 1
            assert not any(vignette.personas[1 - seat] in text for text in seen(scenario, seat)), scenario.id
    assert blind >= 10 * 3 * (0 + 1 + 2 + 1)


@given(cells, st.sampled_from([0, 1]))
def test_a_seat_that_was_told_is_told_in_its_prompt(scenario: Scenario, seat: int) -> None:
    told = scenario.knowledge[seat].partner
    assert told is None or f"other player is a {told}." in prompts(scenario, seat)[0]


@given(cells, cells, st.sampled_from([0, 1]))
def test_a_prompt_depends_on_what_the_seat_knows_and_on_nothing_else(one: Scenario, two: Scenario, seat: int) -> None:
    same = two.model_copy(
        update={
            "knowledge": (two.knowledge[0], one.knowledge[1]) if seat else (one.knowledge[0], two.knowledge[1]),
            "orders": (one.orders[seat], one.orders[seat]),
            "prompt": one.prompt,
        }
    )
    assert prompts(same, seat) == prompts(one, seat)


def test_the_blind_seats_are_those_of_the_conditions() -> None:
    blind = {c.name: tuple(hidden(c.scenario(PAPER[0]), seat) for seat in (0, 1)) for c in CONDITIONS}
    assert blind == {"symmetric": (False, False), "asymmetric": (False, True), "zero_knowledge": (True, True)}


@given(cells, st.sampled_from([0, 1]))
def test_no_sight_names_a_role_or_the_condition(scenario: Scenario, seat: int) -> None:
    for text in seen(scenario, seat):
        assert scenario.condition not in text
        assert not any(hint in text for hint in ("persona_1", "persona_2", "shared", "unrelated", "target"))


@given(cells, st.sampled_from([0, 1]))
def test_words_come_in_the_seats_own_order(scenario: Scenario, seat: int) -> None:
    assert observation(scenario, seat).words == scenario.orders[seat]
    assert f"Words: {', '.join(scenario.orders[seat])}" in prompts(scenario, seat)[0]
