"""How often seats move meetings that were already scheduled (paper, G.4 and figure 9)."""

from __future__ import annotations

from collections.abc import Sequence

from framework.analysis import Analysis, Field, Findings, Sample, Seen, by_strategy, share
from framework.analysis.groups import GROUP_FIELDS
from framework.experiment import Reporting
from games.calbench.analysis.facts import GameFacts, game_facts

__all__ = ["REPAIR"]

FIELDS = (
    *GROUP_FIELDS,
    Field("games", "games", "count"),
    Field("seats", "seats", "count"),
    Field("prior_moved", "Moved by a seat"),
    Field("seats_that_moved", "Seats that moved one", "share"),
    Field("meetings_moved", "Moved in a game"),
    Field("lost", "Lost in a game", better="lower"),
)


def _tabulate(games: Sequence[Seen[GameFacts | None]], reporting: Reporting) -> Findings:
    rows = []
    for group, parts in by_strategy(games).items():
        moved, together, lost = Sample(), Sample(), Sample()
        for part in parts:
            result = part.game.result
            moved.add(result.game_id, part.values("prior_moved"))
            for sample, name in ((together, "meetings_moved"), (lost, "lost")):
                value = result.metrics[name].game
                sample.add(result.game_id, [] if value is None else [value])
        some = sum(value > 0 for value in moved.values)
        rows.append(
            (
                *group.cells(),
                len(parts),
                len(moved),
                moved.mean(reporting),
                share(some, len(moved), reporting),
                together.mean(reporting),
                lost.mean(reporting),
            )
        )
    percent = f"{100 * reporting.confidence:g} %"
    note = (
        "Distinct earlier meetings that a seat moved in a game; meetings of a game that all their participants moved "
        "to one slot; and meetings that were lost because they did not. Means with "
        f"{percent} intervals over games, shares with Wilson's over seats."
    )
    return Findings(FIELDS, tuple(rows), note)


REPAIR: Analysis[GameFacts | None] = Analysis(
    name="prior-meetings",
    title="Earlier meetings that were moved",
    read=game_facts,
    tabulate=_tabulate,
)
