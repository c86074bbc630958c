from __future__ import annotations

import csv
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.csvfile import write_rows
from framework.errors import UserError
from games.east import CONDITIONS, PAPER, PROMPTS, Scenario
from games.east.csvs import write_tables
from games.east.figures import choice_pairs, coordination_rates, crossplay_matrix, draw_behaviour
from games.east.outcome import score_choices
from games.east.results import Played, played, read_runs, strategies_of
from games.east.tables import ALL, cells, crossplay, pairs, share
from tests.east.playing import Says, play_one

SCENARIOS = [c.scenario(v, p) for c in CONDITIONS for v in PAPER[:2] for p in PROMPTS[:2]]


def row(scenario: Scenario, one: str | None, two: str | None, strategies: tuple[str, str] = ("a", "a")) -> Played:
    """A game in which the words of these roles were chosen; None for a word that was not offered."""
    words = tuple(None if role is None else scenario.vignette.words.of(role) for role in (one, two))  # type: ignore[arg-type]
    outcome = score_choices(scenario, words)  # type: ignore[arg-type]
    vignette = scenario.vignette.id
    return Played("run", scenario.id, strategies, vignette, scenario.condition, scenario.prompt, outcome)


def aborted(scenario: Scenario) -> Played:
    vignette = scenario.vignette.id
    return Played("run", scenario.id, ("a", "a"), vignette, scenario.condition, scenario.prompt, None)


SYMMETRIC = CONDITIONS[0].scenario(PAPER[0])
FEW = [
    row(SYMMETRIC, "shared", "shared"),
    row(SYMMETRIC, "persona_1", "persona_1"),
    row(SYMMETRIC, "persona_1", "persona_2"),
    row(SYMMETRIC, None, "shared"),
    aborted(SYMMETRIC),
]

roles = st.sampled_from(["persona_1", "persona_2", "shared", "unrelated", None])
games = st.lists(
    st.one_of(
        st.builds(row, st.sampled_from(SCENARIOS), roles, roles, st.sampled_from([("a", "a"), ("a", "b")])),
        st.builds(aborted, st.sampled_from(SCENARIOS)),
    ),
    min_size=1,
    max_size=40,
)


def test_a_cell_by_hand() -> None:
    first, total = cells(FEW)
    assert (first.condition, first.prompt, first.games, first.aborted) == ("symmetric", "direct", 4, 1)
    assert (first.matches, first.normative, first.accidental, first.invalid) == (2, 1, 1, 1)
    assert (total.condition, total.prompt, total.games) == (ALL, ALL, 4)


def test_a_share_of_two_in_four_by_hand() -> None:
    z = 1.959964
    middle, half = 0.5, z / (1 + z * z / 4) * math.sqrt(0.25 / 4 + z * z / 64)
    assert share(2, 4) == pytest.approx((0.5, middle - half, middle + half), abs=1e-6)
    assert all(math.isnan(value) for value in share(0, 0))


@given(games)
def test_cells_agree_with_counting_game_by_game(some: list[Played]) -> None:
    for cell in cells(some):
        mine = [
            g
            for g in some
            if (cell.pairing == ("a" if g.strategies == ("a", "a") else "a x b"))
            and (cell.condition == ALL or g.condition == cell.condition)
            and (cell.prompt == ALL or g.prompt == cell.prompt)
        ]
        assert cell.games + cell.aborted == len(mine)
        ended = [g.outcome for g in mine if g.outcome]
        assert cell.matches == len([o for o in ended if o.match])
        assert cell.normative == len([o for o in ended if o.normative])
        assert cell.invalid == len([o for o in ended if None in o.roles])


@given(games)
def test_every_finished_game_is_in_one_pair_and_one_rate(some: list[Played]) -> None:
    finished = sum(g.outcome is not None for g in some)
    assert sum(pair.count for pair in pairs(some)) == finished
    assert sum(rate.games for rate in crossplay(some) if rate.condition == ALL) == finished


def test_pairs_keep_the_order_of_the_seats() -> None:
    found = {(p.seat_0, p.seat_1): p.count for p in pairs(FEW)}
    assert found[("persona_1", "persona_2")] == 1
    assert ("persona_2", "persona_1") not in found
    assert found[(None, "shared")] == 1


def test_strategies_are_listed_best_first() -> None:
    some = [row(SYMMETRIC, "shared", "shared", ("z", "z")), row(SYMMETRIC, "shared", "persona_1", ("a", "a"))]
    assert strategies_of(some) == ["z", "a"]


def test_csvs_hold_the_games_and_the_rates(tmp_path: Path) -> None:
    write_tables(tmp_path, FEW)
    with (tmp_path / "rates.csv").open() as file:
        rates = list(csv.DictReader(file))
    assert rates[0]["match"] == "0.5"
    assert rates[0]["chance"] == "0.25"
    assert (rates[0]["n_shared"], rates[0]["n_mismatch"], rates[0]["n_invalid"]) == ("1", "1", "1")
    with (tmp_path / "games.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [r["convergence"] for r in rows] == ["shared", "persona_1", "mismatch", "invalid", ""]
    assert rows[4]["aborted"] == "1"


def test_a_csv_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot be written"):
        write_rows(tmp_path / "file" / "x.csv", [["a"]])


def test_runs_are_read_from_their_traces(tmp_path: Path) -> None:
    from framework import write_trace

    (tmp_path / "traces").mkdir()
    trace = play_one(SYMMETRIC, Says("stitches"), Says("stitches"))
    write_trace(tmp_path / "traces" / "0.json", trace)
    (game,) = read_runs([tmp_path])
    assert game.pairing == "one x two"
    assert game.outcome == played(trace).outcome


def test_a_folder_without_traces_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no traces; name the folder of a run"):
        read_runs([tmp_path])


@pytest.fixture(scope="module")
def many() -> list[Played]:
    found = []
    for number, scenario in enumerate(SCENARIOS):
        for strategies in (("a", "a"), ("a", "b"), ("b", "a"), ("b", "b")):
            word = ("shared", "unrelated", "persona_2", None)[number % 4]
            found.append(row(scenario, word, "shared" if number % 3 else word, strategies))
    return found


def test_coordination_bars_are_as_long_as_their_shares(many: list[Played]) -> None:
    figure = coordination_rates(many)
    by_place = {(c.pairing, c.condition, c.prompt): c for c in cells(many)}
    assert len(figure.axes) == 6
    for number, axes in enumerate(figure.axes):
        prompt, condition = PROMPTS[number // 3], CONDITIONS[number % 3].name
        drawn = {}
        for bar in axes.patches:
            place = round(bar.get_y() + bar.get_height() / 2)
            drawn[place] = drawn.get(place, 0.0) + bar.get_width()
        for place, pairing in enumerate(strategies_of(many)):
            cell = by_place[pairing, condition, prompt]
            assert drawn[place] == pytest.approx(cell.matches / cell.games)


def test_choice_pairs_show_every_finished_game(many: list[Played]) -> None:
    figure = choice_pairs(many)
    assert "n = " in figure.get_suptitle()
    shown = sum(int(text.get_text()) for axes in figure.axes for text in axes.texts)
    assert shown == len(many)


def test_the_crossplay_matrix_has_seat_0_in_its_rows() -> None:
    some = [row(SYMMETRIC, "shared", "shared", ("a", "b")), row(SYMMETRIC, "shared", "unrelated", ("b", "a"))]
    axes = crossplay_matrix(some).axes[0]
    shown = {(text.get_position()[1], text.get_position()[0]): text.get_text() for text in axes.texts}
    assert shown == {(0, 1): "100", (1, 0): "0"}


def test_figures_are_saved_as_svg_and_png(many: list[Played], tmp_path: Path) -> None:
    paths = draw_behaviour(tmp_path, many)
    assert {path.name for path in paths} == {
        f"{name}.{kind}" for name in ("coordination", "choice_pairs", "crossplay") for kind in ("svg", "png")
    }
    assert all(path.stat().st_size > 5000 for path in paths)
    again = draw_behaviour(tmp_path / "again", many)
    assert (tmp_path / "coordination.svg").read_bytes() == again[0].read_bytes()
