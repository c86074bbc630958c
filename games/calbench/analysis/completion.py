"""Regret of the seats that got all their meetings (paper, G.1 and table 11)."""

from __future__ import annotations

from collections.abc import Sequence

from framework.analysis import Analysis, Field, Findings, Sample, Seen, by_strategy, share
from framework.analysis.groups import GROUP_FIELDS
from framework.experiment import Reporting
from games.calbench.analysis.facts import GameFacts, game_facts

__all__ = ["COMPLETION"]

FIELDS = (
    *GROUP_FIELDS,
    Field("seats", "seats", "count"),
    Field("complete", "complete", "count"),
    Field("completion", "Completion", "share", "higher"),
    Field("excess", "Excess/mtg", "number", "lower"),
    Field("regret", "With regret", "share", "lower"),
    Field("excess_of_regret", "Excess/mtg of these", "number", "lower"),
)


def _tabulate(games: Sequence[Seen[GameFacts | None]], reporting: Reporting) -> Findings:
    rows = []
    for group, parts in by_strategy(games, totals=True).items():
        seats, regretful = 0, 0
        excess, of_regret = Sample(), Sample()
        for game, own in parts:
            completed, paid = game.result.metrics["completed"].seats, game.result.metrics["excess"].seats
            for seat in own:
                seats += completed[seat] is not None
                over = paid[seat]
                if not completed[seat] or over is None or game.facts is None:
                    continue
                a_meeting = over / game.facts.kept[seat]
                excess.add(game.result.game_id, [a_meeting])
                if over > 0:
                    regretful += 1
                    of_regret.add(game.result.game_id, [a_meeting])
        rows.append(
            (
                *group.cells(),
                seats,
                len(excess),
                share(len(excess), seats, reporting),
                excess.mean(reporting),
                share(regretful, len(excess), reporting),
                of_regret.mean(reporting),
            )
        )
    percent = f"{100 * reporting.confidence:g} %"
    note = (
        "Seats that got all their meetings. Excess is what a seat paid beyond the optimum for each of its meetings, on "
        f"the 1/2/3 scale. Shares with Wilson's {percent} interval over seats, means with one over games."
    )
    return Findings(FIELDS, tuple(rows), note)


COMPLETION: Analysis[GameFacts | None] = Analysis(
    name="completion",
    title="Completion-conditioned regret",
    read=game_facts,
    tabulate=_tabulate,
)
