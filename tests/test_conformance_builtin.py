"""What ships passes the kit that third parties run on theirs.

Games and strategies are taken from the entry points, so that whatever is registered there is checked: in
CalBench, unless it is listed here with another game, or with the reason why the kit cannot play it.
"""

from __future__ import annotations

import pytest

from framework import registry
from framework.testing import check_game, check_strategy
from games.calbench import CalBench

ELSEWHERE = dict.fromkeys(("egocentric", "level-k", "normative", "uniform"), "east")
"""Strategies that play another game than CalBench."""

GOOD_PLAY = {"calbench": "imap", "east": "level-k"}
"""The strategy that plays each game well, so that valid batches are met as well."""

CANNOT = {
    **dict.fromkeys(("llm", "dspy", "nosy-highpressure", "redteam"), "asks a model"),
    "human": "asks a person",
}
"""Strategies that the kit cannot play, and why."""


def names(group: str) -> list[str]:
    return [entry.name for entry in registry.entries(group) if entry.package == "cheaptalk"]


def test_what_is_listed_is_registered_and_every_game_has_somebody_who_plays_it_well():
    assert {*ELSEWHERE, *CANNOT} <= set(names(registry.STRATEGIES))
    assert set(names(registry.GAMES)) == set(GOOD_PLAY)


@pytest.mark.parametrize("name", names(registry.GAMES))
def test_a_game_that_ships_keeps_its_promises(name: str):
    check_game(registry.game(name), strategies=registry.strategy(GOOD_PLAY[name])).raise_if_failed()


@pytest.mark.parametrize("name", [name for name in names(registry.STRATEGIES) if name not in CANNOT])
def test_a_strategy_that_ships_keeps_its_promises(name: str):
    check_strategy(registry.strategy(name), registry.game(ELSEWHERE.get(name, "calbench"))).raise_if_failed()


def test_a_calendar_does_not_show_in_what_others_are_first_handed():
    report = check_game(CalBench)
    (secrets,) = [check for check in report.checks if check.name.startswith("secrets do not show")]
    assert (secrets.passed, secrets.detail) == (True, "")
