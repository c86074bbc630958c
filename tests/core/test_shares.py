"""Metrics that are a yes or no: their mean is a share, with the interval of one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from framework.results import GameResult, Metrics, Value
from framework.stats import bootstrap_mean, wilson
from framework.tables import RunResults, summarise
from framework.testing import check_game
from framework.trace import Usage
from tests.core.toy import Proposer, Toy

MODULE = "tests.core.test_shares"


class Flagged(Toy):
    """The toy with both of its metrics declared to be a yes or no, which only the first is in these tests."""

    metrics = tuple(replace(metric, share=True) for metric in Toy.metrics)


def game(number: int, agreed: float, messages: tuple[float, ...], strategies: tuple[str, ...]) -> GameResult:
    metrics = Metrics({"agreed": Value(agreed, ()), "messages": Value(sum(messages), messages)})
    return GameResult(
        game=f"{MODULE}:Flagged",
        game_id=f"id-{number}",
        number=number,
        task=f"t{number}",
        group="g",
        repeat=0,
        seed=number,
        strategies=strategies,
        adversarial=(),
        metrics=metrics,
        abort=None,
        usage=Usage(),
        seconds=0.5,
    )


def test_a_yes_or_no_of_each_game_has_wilsons_interval():
    games = [game(number, float(number < 3), (0, 0), ("a", "a")) for number in range(10)]
    (row,) = summarise([RunResults("r", games)]).rows
    assert row.cells[0] == wilson(3, 10)


def test_a_yes_or_no_of_the_only_seat_of_a_strategy_has_wilsons_interval():
    games = [game(number, 0.0, (float(number < 4), 1.0), ("a", "b")) for number in range(10)]
    a, b = summarise([RunResults("r", games)]).rows
    assert (a.cells[1], b.cells[1]) == (wilson(4, 10), wilson(10, 10))


def test_seats_of_one_game_are_not_independent_so_games_are_drawn():
    games = [game(number, 0.0, (float(number < 4), float(number < 4)), ("a", "a")) for number in range(10)]
    (row,) = summarise([RunResults("r", games)]).rows
    values = [float(number < 4) for number in range(10) for _ in range(2)]
    assert row.cells[1] == bootstrap_mean(values, [number for number in range(10) for _ in range(2)])


def test_a_value_that_is_no_yes_or_no_is_averaged_as_a_number():
    games = [game(number, number / 10, (0, 0), ("a", "a")) for number in range(10)]
    (row,) = summarise([RunResults("r", games)]).rows
    assert row.cells[0] == bootstrap_mean([number / 10 for number in range(10)])


def test_the_conformance_kit_names_a_share_that_is_none():
    report = check_game(Flagged, strategies=Proposer)
    with pytest.raises(AssertionError, match=r"metric 'messages' is declared a share and has the value \d"):
        report.raise_if_failed()
