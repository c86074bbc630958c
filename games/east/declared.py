"""What `cheaptalk report` and `cheaptalk plot` ask of EAST's runs (paper, section 3.1, figures 2 and 6)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from framework.analysis import Analysis, Drawing, Field, Findings, Seen, Value, share
from framework.experiment import Reporting
from games.east.outcome import CHANCE
from games.east.results import Played, played
from games.east.tables import cells, crossplay

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["ANALYSES", "DRAWINGS"]

Games = Sequence[Seen[Played]]


def _by_run(games: Games) -> dict[str, list[Played]]:
    found: dict[str, list[Played]] = {}
    for game in games:
        if game.facts is not None:  # an abort before the first event
            found.setdefault(game.run, []).append(replace(game.facts, run=game.run))
    return found


def _all(games: Games) -> list[Played]:
    return [game for own in _by_run(games).values() for game in own]


_RATES = (
    Field("run", "run", "text", key=True),
    Field("strategy", "strategy", "text"),
    Field("condition", "condition", "text"),
    Field("prompt", "prompt", "text"),
    Field("games", "games", "count"),
    Field("match", "Match", "share", "higher"),
    Field("normative", "Normative", "share", "higher"),
    Field("accidental", "Accidental", "share"),
    Field("invalid", "Invalid", "share", "lower"),
)


def _rates(games: Games, reporting: Reporting) -> Findings:
    def rows() -> Iterator[tuple[Value, ...]]:
        for run, own in _by_run(games).items():
            for cell in cells(own):
                counts = (cell.matches, cell.normative, cell.accidental, cell.invalid)
                shares = (share(count, cell.games, reporting) for count in counts)
                yield (run, cell.pairing, cell.condition, cell.prompt, cell.games, *shares)

    note = (
        f"Over games, with Wilson's {100 * reporting.confidence:g} % intervals. Seats that choose at random match in "
        f"{CHANCE:.0%}; a match is normative on the word on which rational seats would meet, and otherwise accidental."
    )
    return Findings(_RATES, tuple(rows()), note)


_CROSSPLAY = (
    Field("run", "run", "text", key=True),
    Field("seat_0", "seat 0", "text"),
    Field("seat_1", "seat 1", "text"),
    Field("condition", "condition", "text"),
    Field("games", "games", "count"),
    Field("normative", "Normative", "share", "higher"),
    Field("match", "Match", "share", "higher"),
)


def _crossplay(games: Games, reporting: Reporting) -> Findings:
    def rows() -> Iterator[tuple[Value, ...]]:
        for run, own in _by_run(games).items():
            for rate in crossplay(own):
                shares = (share(count, rate.games, reporting) for count in (rate.normative, rate.matches))
                yield (run, rate.seat_0, rate.seat_1, rate.condition, rate.games, *shares)

    pairings = {game.strategies for game in _all(games)}
    note = f"Over games, with Wilson's {100 * reporting.confidence:g} % intervals."
    return Findings(_CROSSPLAY, tuple(rows()) if len(pairings) > 1 else (), note)


def _coordination_figure(games: Games, reporting: Reporting) -> Figure | None:
    from games.east.figures import coordination_rates

    return coordination_rates(_all(games)) if games else None


def _pairs_figure(games: Games, reporting: Reporting) -> Figure | None:
    from games.east.figures import choice_pairs

    return choice_pairs(_all(games)) if games else None


def _crossplay_figure(games: Games, reporting: Reporting) -> Figure | None:
    from games.east.figures import crossplay_matrix

    found = _all(games)
    return crossplay_matrix(found) if len({game.strategies for game in found}) > 1 else None


ANALYSES: tuple[Analysis[Any], ...] = (
    Analysis(name="rates", title="Coordination by condition and prompt", read=played, tabulate=_rates),
    Analysis(name="crossplay", title="Pairings of strategies", read=played, tabulate=_crossplay),
)

DRAWINGS: tuple[Drawing[Any], ...] = (
    Drawing(name="coordination", title="Coordination and its modes", read=played, draw=_coordination_figure),
    Drawing(name="choice_pairs", title="Pairs of choices", read=played, draw=_pairs_figure),
    Drawing(name="crossplay", title="The cross-play matrix", read=played, draw=_crossplay_figure),
)
