"""A seat never sees what its condition keeps from it, in any cell of the design."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from framework import Round, Turn
from games.east import BEYOND, CONDITIONS, PAPER, PROMPTS, East, EastObservation, Scenario

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


def seen(scenario: Scenario, seat: int) -> list[str]:
    """All that reaches a seat, as text."""
    game = East()
    sight = observation(scenario, seat)
    return [
        sight.model_dump_json(),
        sight.describe(),
        repr(sight),
        game.view(game.start(scenario), seat),
        str(game.public_facts(scenario)),
    ]


@given(cells, st.sampled_from([0, 1]))
def test_a_blind_seat_never_sees_the_partners_persona(scenario: Scenario, seat: int) -> None:
    partner, own = scenario.vignette.personas[1 - seat], scenario.vignette.personas[seat]
    texts = seen(scenario, seat)
    assert all(own in text for text in (texts[0], texts[1], texts[3]))
    if hidden(scenario, seat):
        assert not any(partner in text for text in texts)


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
