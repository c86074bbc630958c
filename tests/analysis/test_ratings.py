"""Ratings: the update by hand, margins, who is rated, and that the same traces give the same numbers."""

from __future__ import annotations

import csv
import math
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.analysis.rating import history_table, is_reference, rate, reference_table, standings_table
from framework.errors import UserError
from framework.experiment import Experiment
from framework.game import Metric
from framework.ratings import BASE, SPREAD, START, Ladder, Rated, Rating, scores_of
from framework.results import GameResult
from framework.runner import run
from framework.specs import StrategySpec
from framework.tables import RunResults, read_run
from framework.trace import MetricValue
from games.calbench import CalBench
from tests.analysis.conftest import Cheaptalk
from tests.analysis.rows import aborted, row
from tests.core.runs import PLAYERS
from tests.core.toy import Toy

SIGMA, BETA, TAU = 25 / 3, 25 / 6, 25 / 300


class Race(Toy):
    """A game that rates speed, where more is better, and cost, where less is."""

    metrics = tuple(
        Metric(name=name, title=name, better=better, compute=lambda trace: MetricValue())
        for name, better in (("speed", "higher"), ("cost", "lower"), ("asked", "lower"))
    )
    rated = (
        Rated(name="speed", title="Speed", metrics=("speed",), margin=2.0),
        Rated(name="cost", title="Cost", metrics=("asked", "cost"), margin=5.0),
    )


def race(number: int, strategies: tuple[str, ...] = ("a", "b"), **metrics: tuple[float | None, ...]) -> GameResult:
    return row(number, strategies, metrics)


# --- the update -------------------------------------------------------------------------------------


def test_the_first_game_of_two_is_that_of_a_hand_computation():
    # Algorithm 4 of Weng and Lin for two equal players. c^2 = 2 (sigma^2 + tau^2) + 2 beta^2; each wins with p = 1/2.
    # The winner: omega = 1 - p = 1/2; the loser: omega = -p + (1 - 1) = -1/2; delta = p (1 - p) = 1/4 for both.
    grown = SIGMA**2 + TAU**2
    c = math.sqrt(2 * grown + 2 * BETA**2)
    step = grown / c * 0.5
    shrunk = math.sqrt(grown * (1 - math.sqrt(grown) / c * grown / c**2 * 0.25))
    ladder = Ladder(Race)
    won, lost = ladder.add(race(0, speed=(3.0, 1.0)))
    assert (won.player, won.score, won.before) == ("a", 3.0, START)
    assert won.after == pytest.approx((25 + step, shrunk))
    assert lost.after == pytest.approx((25 - step, shrunk))
    # Nothing is known of costs yet, so they count as those of an unknown player, whose ordinal is 0.
    assert ladder.mmr("a") == pytest.approx(1000 + 40 * (25 + step - 3 * shrunk) / 2)
    assert ladder.mmr("nobody") == pytest.approx(1000)
    assert (BASE, SPREAD) == (1000, 40)


def test_less_cost_is_better_and_equal_scores_are_a_draw():
    ladder = Ladder(Race)
    ladder.add(race(0, cost=(1.0, 9.0)))
    assert ladder.rating("cost", "a").mu > 25 > ladder.rating("cost", "b").mu
    even = Ladder(Race)
    even.add(race(0, cost=(4.0, 4.0)))
    assert even.rating("cost", "a") == even.rating("cost", "b")
    assert even.rating("cost", "a").mu == pytest.approx(25)


def after(scores: tuple[float, float], known: tuple[float, float] = (30.0, 20.0)) -> tuple[Rating, Rating]:
    ladder = Ladder(Race, {"speed": {"a": Rating(known[0], 5.0), "b": Rating(known[1], 5.0)}})
    ladder.add(race(0, speed=scores))
    return ladder.rating("speed", "a"), ladder.rating("speed", "b")


def slow_update(scores: tuple[float, float], mu: tuple[float, float], margin: float) -> tuple[float, float]:
    """Two players, the first the better one: Plackett-Luce with the margin factor of OpenSkill, term by term."""
    gap = abs(scores[0] - scores[1])
    factor = math.log1p(gap / margin) if gap > margin else 1.0
    grown = 5.0**2 + TAU**2
    c = math.sqrt(2 * grown + 2 * BETA**2)
    apart = (mu[0] - mu[1]) * (factor - 1.0)
    # What a player is taken to be worth moves against the difference for the better, and likewise for the worse.
    worth = (mu[0] - apart, mu[1] + (mu[0] - mu[1]) * (factor - 1.0))
    one, two = (math.exp(value / c) for value in worth)
    lost = two / (one + two)
    return mu[0] + grown / c * (1 - one / (one + two)), mu[1] - grown / c * lost


@given(st.floats(0, 200), st.floats(0, 100))
def test_a_gap_beyond_the_margin_counts_by_its_logarithm(better: float, worse: float):
    if better <= worse:
        return
    one, two = after((better, worse))
    assert (one.mu, two.mu) == pytest.approx(slow_update((better, worse), (30.0, 20.0), 2.0))


def test_gaps_within_the_margin_are_all_alike_and_larger_ones_differ():
    assert after((2.0, 1.0)) == after((1.5, 1.0)) == after((3.0, 1.0))
    assert after((50.0, 1.0)) != after((10.0, 1.0)) != after((2.0, 1.0))


# --- who is rated -----------------------------------------------------------------------------------


def test_a_player_in_several_seats_counts_once_with_its_mean():
    game = race(0, ("b", "a", "b", "b"), speed=(1.0, 4.0, None, 3.0))
    assert scores_of(game, "speed") == {"b": 2.0, "a": 4.0}
    one, two = Ladder(Race), Ladder(Race)
    one.add(game)
    two.add(race(0, speed=(4.0, 2.0)))
    assert one.ratings == two.ratings


def test_a_player_has_no_score_where_a_seat_of_it_lacks_one_that_all_must_have():
    game = race(0, ("b", "a", "b", "b"), speed=(1.0, 4.0, None, 3.0))
    assert scores_of(game, "speed", complete=True) == {"a": 4.0}


def test_seats_do_not_matter():
    one, two = Ladder(Race), Ladder(Race)
    one.add(race(0, ("a", "b", "c"), speed=(1.0, 2.0, 5.0), cost=(7.0, 1.0, 1.0)))
    two.add(race(0, ("c", "b", "a"), speed=(5.0, 2.0, 1.0), cost=(1.0, 1.0, 7.0)))
    assert one.ratings == two.ratings


def test_self_play_aborted_games_and_games_without_scores_rate_nobody():
    ladder = Ladder(Race)
    assert ladder.add(race(0, ("a", "a"), speed=(1.0, 2.0))) == []
    assert ladder.add(aborted(1)) == []
    assert ladder.add(race(2, speed=(1.0, None))) == []
    assert ladder.add(race(3, ("a", "ref"), speed=(1.0, 2.0)), competes=lambda player: player != "ref") == []
    assert ladder.ratings == {"speed": {}, "cost": {}}


def test_who_does_not_compete_is_as_if_it_had_not_been_there():
    one, two = Ladder(Race), Ladder(Race)
    one.add(race(0, ("a", "b", "ref"), speed=(1.0, 2.0, 99.0)), competes=lambda player: player != "ref")
    two.add(race(0, speed=(1.0, 2.0)))
    assert one.ratings == two.ratings


def test_the_metric_that_most_competitors_have_counts_and_of_equals_the_first():
    ladder = Ladder(Race)
    (change, *_) = ladder.add(race(0, ("a", "b", "c"), asked=(1.0, None, None), cost=(3.0, 2.0, 1.0)))
    assert change.metric == "cost"
    (change, *_) = ladder.add(race(1, asked=(1.0, 2.0), cost=(3.0, 2.0)))
    assert change.metric == "asked"


def test_an_adversarial_player_is_another_than_a_cooperative_one_of_its_name():
    game = row(0, ("a", "a"), {"speed": (1.0, 2.0)}, adversarial=(1,))
    assert set(scores_of(game, "speed")) == {"a", "a (adversarial)"}


def test_protocols_are_references_and_other_players_are_not():
    assert [is_reference(name) for name in ("imap", "dsm:theta=0.5", "sd-map")] == [True] * 3
    assert [is_reference(name) for name in ("llm:model=local", "silent", "mine.py:Player", "gone")] == [False] * 4


# --- from runs --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five players in turn in every seat, two of them protocols."""
    path = tmp_path_factory.mktemp("runs") / "mixed"
    names = ("dsm", "dsm-private", "tests.analysis.players:Chatty", "silent", "first-free")
    seats = {seat: StrategySpec.parse(name) for seat, name in enumerate(names)}
    run(Experiment(game="calbench", suite="canonical", limit=10, seats=seats, rotate=True, out=str(path)))
    return path


def test_references_are_listed_apart_by_raw_scores_and_rate_nobody(folder: Path):
    found = rate([read_run(folder)])
    assert {s.player for s in found.standings} == {"silent", "first-free", "tests.analysis.players:Chatty"}
    assert {step.change.player for step in found.history} == {s.player for s in found.standings}
    assert [s.mmr for s in found.references] == [None, None]
    scores = [tuple(score.mean if score else math.inf for score in s.scores) for s in found.references]
    assert scores == sorted(scores, key=lambda each: (-each[0], each[1], each[2]))
    table = reference_table(found)
    assert [row[1] for row in table.rows] == [s.player for s in found.references]


def test_rating_the_same_traces_again_gives_the_same_numbers(folder: Path):
    one = rate([read_run(folder)], competes=lambda player: True)
    assert rate([read_run(folder)], competes=lambda player: True) == one
    other = rate([read_run(folder)._replace(results=read_run(folder).results[::-1])], competes=lambda player: True)
    assert other.standings != one.standings


def test_the_order_of_rating_is_that_of_the_runs_and_of_their_games(folder: Path):
    results = read_run(folder).results
    runs = [RunResults("late", results[5:]), RunResults("early", results[:5])]
    found = rate(runs, competes=lambda player: True)
    order = list(dict.fromkeys((step.order, step.run, step.number) for step in found.history))
    expected = [(i, "late" if i < 5 else "early", (i + 5) % 10) for i in range(10)]
    assert order == [each for each in expected if each in order]
    assert len(order) > 5


def test_history_leads_to_the_standings(folder: Path):
    found = rate([read_run(folder)], competes=lambda player: True)
    for standing in found.standings:
        own = [step for step in found.history if step.change.player == standing.player]
        for place, rated in enumerate(found.rated):
            steps = [step.change for step in own if step.change.rated == rated.name]
            assert len(steps) == standing.rated[place]
            for earlier, later in pairwise(steps):
                assert later.before == earlier.after
            assert (steps[-1].after if steps else START) == standing.ratings[place]
        ordinals = [rating.mu - 3 * rating.sigma for rating in standing.ratings]
        assert standing.mmr == pytest.approx(1000 + 40 * sum(ordinals) / 3)
        assert own[-1].mmr == pytest.approx(standing.mmr)
    assert [s.mmr for s in found.standings] == sorted((s.mmr or 0 for s in found.standings), reverse=True)
    assert len(history_table(found).rows) == len(found.history)


def test_calbench_rates_by_the_margins_of_the_paper():
    assert [(rated.name, rated.margin) for rated in CalBench.rated] == [
        ("coordination", 0.2),
        ("excess", 10.0),
        ("privacy", 5.0),
    ]
    assert CalBench.rated[1].metrics == ("excess_shown",)


def test_a_game_that_rates_nobody_is_said():
    with pytest.raises(UserError, match="declares nothing to rate players by"):
        rate([RunResults("r", [row(0, game="east")])])


def test_runs_without_two_competitors_are_said_to_rate_nobody():
    found = rate([RunResults("r", [row(0, ("a", "a"), {"coordination": (1.0, 1.0)})])])
    assert [(s.player, s.mmr) for s in found.standings] == [("a", 1000.0)]
    assert "so nobody is rated yet" in standings_table(found).note


def test_the_command_prints_and_writes_ratings(folder: Path, tmp_path: Path, cheaptalk: Cheaptalk):
    said = cheaptalk("rate", folder, "--csv", tmp_path)
    assert said.code == 0
    assert said.out.index("Ratings") < said.out.index("Points of reference")
    with (tmp_path / "history.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    found = rate([read_run(folder)])
    assert [float(line["mmr"]) for line in rows] == [step.mmr for step in found.history]
    everyone = cheaptalk("rate", folder, "--references").out
    assert "Points of reference" not in everyone
    assert "dsm-private" in everyone


def test_runs_without_a_finished_game_are_said_to_rate_nobody(tmp_path: Path, cheaptalk: Cheaptalk):
    run(Experiment(game="calbench", limit=1, strategy=StrategySpec(name=f"{PLAYERS}:Raising"), out=str(tmp_path / "r")))
    said = cheaptalk("rate", tmp_path / "r")
    assert (said.code, said.out) == (0, "")
    assert said.err == "cheaptalk: no game was finished, so nobody is rated\n"
