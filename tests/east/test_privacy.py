"""A seat never sees what its condition keeps from it, in any cell of the design."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from framework import Action, Conflict, Observation, Round, SeatStart, Turn
from games.east import BEYOND, CONDITIONS, PAPER, PROMPTS, Choose, East, EastObservation, Scenario
from games.east.choices import one_of_the_words
from games.east.prompting import EastPrompts
from protocols.focal import Normative
from protocols.llm import LlmStrategy
from tests.east.playing import play_one
from tests.llm.fakes import FakeClient

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


class Watches(Normative):
    """Writes down all that it is handed from the first to the last call."""

    def __init__(self) -> None:
        super().__init__()
        self.handed: list[str] = []

    async def start_game(self, start: SeatStart) -> None:
        self.handed.append(start.model_dump_json())

    async def start_round(self, observation: Observation) -> None:
        self._see(observation)

    async def act(self, observation: Observation) -> Sequence[Action]:
        self._see(observation)
        return [Choose(chosen_word="needle")]

    async def retry(self, observation: Observation, conflict: Conflict) -> Sequence[Action] | None:
        self._see(observation)
        self.handed.append(conflict.model_dump_json())
        return await super().act(observation)

    async def end_round(self, observation: Observation) -> None:
        self._see(observation)

    def _see(self, observation: Observation) -> None:
        self.handed += [observation.model_dump_json(), repr(observation.focal and observation.focal.knowledge)]


def test_in_every_cell_play_hands_nothing_to_a_blind_seat_that_names_its_partner() -> None:
    blind = 0
    for vignette, condition in product(PAPER, (*CONDITIONS, *BEYOND)):
        scenario = condition.scenario(vignette, seed=2)
        watchers = (Watches(), Watches())
        play_one(scenario, *watchers)
        for seat, watcher in enumerate(watchers):
            assert any(vignette.personas[seat] in text for text in watcher.handed)
            if hidden(scenario, seat):
                blind += 1
                assert not any(vignette.personas[1 - seat] in text for text in watcher.handed), scenario.id
    assert blind >= 10 * (0 + 1 + 2 + 1)


def test_in_every_cell_no_message_to_a_blind_model_names_its_partner() -> None:
    blind = 0
    for vignette, condition, prompt in product(PAPER, (*CONDITIONS, *BEYOND), PROMPTS):
        scenario = condition.scenario(vignette, prompt, seed=3)
        clients = [FakeClient(lambda messages: '{"chosen_word": "needle"}') for _ in range(2)]
        play_one(scenario, *(LlmStrategy(from_client=client) for client in clients))
        for seat, client in enumerate(clients):
            said = str([[message.content for message in call] for call in client.calls]) + str(client.arguments)
            assert vignette.personas[seat] in said
            if hidden(scenario, seat):
                blind += 1
                assert vignette.personas[1 - seat] not in said, scenario.id
    assert blind >= 10 * 3 * (0 + 1 + 2 + 1)


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
