"""How the cost of agreeing is shared out (paper, section 4.2)."""

from __future__ import annotations

from collections.abc import Sequence

from framework.analysis import Analysis, Field, Findings, Sample, Seen, by_strategy
from framework.analysis.groups import GROUP_FIELDS
from framework.experiment import Reporting
from games.calbench.analysis.facts import GameFacts, game_facts

__all__ = ["BURDEN"]

_BY_SEAT = ("fairness", "burden")
_BY_GAME = ("gini", "least_burden", "most_burden")

FIELDS = (
    *GROUP_FIELDS,
    Field("games", "games", "count"),
    Field("seats", "seats", "count"),
    Field("fairness", "Fairness", better="lower"),
    Field("burden", "Burden"),
    Field("gini", "Gini", better="lower"),
    Field("least_burden", "Least of a game"),
    Field("most_burden", "Most of a game", better="lower"),
)


def _tabulate(games: Sequence[Seen[GameFacts | None]], reporting: Reporting) -> Findings:
    rows = []
    for group, parts in by_strategy(games).items():
        samples = {name: Sample() for name in (*_BY_SEAT, *_BY_GAME)}
        for part in parts:
            result = part.game.result
            for name in _BY_SEAT:
                samples[name].add(result.game_id, part.values(name))
            for name in _BY_GAME:
                value = result.metrics[name].game
                samples[name].add(result.game_id, [] if value is None else [value])
        means = (sample.mean(reporting) for sample in samples.values())
        rows.append((*group.cells(), len(parts), len(samples["burden"]), *means))
    note = (
        "Burden is what a seat paid beyond the optimum of the scheduled meetings, with its sign, on the 1/2/3 scale; "
        "fairness how far it lies from the mean of its game. Gini is of what the seats of a game paid, least and most "
        f"are of their burdens. Means with {100 * reporting.confidence:g} % intervals over games."
    )
    return Findings(FIELDS, tuple(rows), note)


BURDEN: Analysis[GameFacts | None] = Analysis(
    name="burden",
    title="How the burden is shared",
    read=game_facts,
    tabulate=_tabulate,
)
