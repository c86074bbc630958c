"""Who speaks prose has no typed VPS, and does not get a good one by those of its seats that kept silent."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from framework import Action, Observation, Send, Strategy
from framework.analysis import by_strategy, gather_runs
from framework.analysis.compare import compare
from framework.analysis.rating import rate
from framework.experiment import Experiment, Reporting
from framework.runner import run
from framework.tables import read_run, summarise
from games.calbench.analysis.figures import PRIVACY_COST, mean_of


class Chatty(Strategy[Observation]):
    """The lowest seat of each round says something in plain words; seats that are the lowest of none keep silent."""

    async def act(self, observation: Observation) -> Sequence[Action]:
        if not observation.turn.channels or observation.turn.sweep or observation.seat > min(observation.others):
            return ()
        return [Send(channel="dm", to=other, content="I am free on Monday.") for other in observation.others]


CHATTY = f"{__name__}:{Chatty.__name__}"


def test_it_is_in_no_table_comparison_or_rating(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("chatty", "silent")]
    for folder, strategy in zip(folders, (CHATTY, "silent"), strict=True):
        run(Experiment.model_validate({"game": "calbench", "suite": "quick", "strategy": strategy, "out": str(folder)}))
    runs = [read_run(folder) for folder in folders]
    by_seat = {value for result in runs[0].results for value in result.metrics["vps"].seats}
    assert by_seat == {None, 0.0}, "some of its seats have said nothing"

    table = summarise(runs)
    place = [column.name for column in table.columns].index("vps")
    cells = {row.strategy: row.cells[place] for row in table.rows}
    assert cells[CHATTY] is None
    assert cells["silent"] == (0.0, 0.0, 0.0)
    assert "vps" not in [column.name for column in summarise(runs[:1]).columns if column.headline]

    compared = [row[2] for row in compare(*folders, metrics=["vps", "messages"]).rows]
    assert compared
    assert "VPS" not in str(compared)

    (privacy,) = [n for n, rated in enumerate(rate(runs).rated) if rated.name == "privacy"]
    scores = {standing.player: standing.scores[privacy] for standing in rate(runs).standings}
    assert scores[CHATTY] is None

    for folder, expected in zip(folders, (None, 0.0), strict=True):
        games = gather_runs([folder], [PRIVACY_COST.read]).seen(PRIVACY_COST.read)
        for parts in by_strategy(games).values():
            vps = mean_of(parts, "vps", Reporting())
            assert (vps and vps.mean) == expected
            assert mean_of(parts, "messages", Reporting()) is not None
