"""`cheaptalk reflections`: what seats learned of each other, by what they said when they were asked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from framework.game import Game
    from framework.reflection_tables import Answer, Target
    from framework.secrets import PrivateStates
    from framework.trace import Trace

__all__ = ["reflections"]


def reflections(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of runs that were played --reflect.")],
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Write the three CSV files here.")] = None,
    floor: Annotated[float | None, typer.Option(help="VPS a game to leave out of VPS; the game's own if none.")] = None,
) -> None:
    """Print reflection-calibrated VPS by strategy, and write its CSV files."""
    from framework.errors import UserError
    from framework.reflection_tables import answers, targets, write_reflections

    by_strategy: dict[str, list[tuple[str, Target]]] = {}
    least = 0.0 if floor is None else floor
    for _, trace, states, game in _played(runs):
        if floor is None and game.evidence is not None:
            least = game.evidence.floor
        found: list[Answer] = list(answers(trace, states))
        if found:
            for target in targets(found, trace.start.seats):
                by_strategy.setdefault(trace.start.strategies[target.seat], []).append((trace.game_id, target))
    if not by_strategy:
        raise UserError("no seat was asked about its beliefs; play with --reflect and a model")
    _print(by_strategy, least)
    if out is not None:
        rows = ((path, trace, states) for path, trace, states, _ in _played(runs))
        for file in write_reflections(out, rows, least):
            print(file)


def _played(runs: list[Path]) -> Iterator[tuple[str, Trace, PrivateStates, type[Game[Any, Any]]]]:
    """The finished games of the runs in which something is private."""
    from framework import registry
    from framework.errors import UserError
    from framework.tables import trace_paths
    from framework.trace import TraceError, read_trace

    for path in [path for run in dict.fromkeys(runs) for path in trace_paths(run)]:
        try:
            trace = read_trace(path)
        except TraceError as error:
            raise UserError(str(error)) from error
        if trace.aborted:
            continue
        game = registry.game(trace.start.game)
        trace = read_trace(path)  # now that the game has declared its events
        states = game().private_states(trace)
        if states is None:
            raise UserError(f"{path}: game {trace.start.game} declares no private states; there is nothing to measure")
        yield str(path), trace, states, game


def _print(by_strategy: dict[str, list[tuple[str, Target]]], floor: float) -> None:
    width = max(len(name) for name in by_strategy)
    print(f"{'strategy'.ljust(width)}  seats  raw VPS  calibrated  excess [95 % interval]   expected  unreadable")
    for name, found in sorted(by_strategy.items()):
        targets = [target for _, target in found]
        unread = sum(target.unreadable for target in targets) / max(1, sum(target.answers for target in targets))
        measured = [(game, target) for game, target in found if target.measured]
        print(f"{name.ljust(width)}  {len(found):5d}  {_means(measured, floor)}  {unread:9.1%}")
    print(
        f"Means over seats as targets, summed over observers and rounds, with an interval over games; excess is beyond "
        f"{floor:g} a game."
    )


def _means(measured: list[tuple[str, Target]], floor: float) -> str:
    """The columns of what was reported; dashes where no answer could be read."""
    from framework.stats import bootstrap_mean

    if not measured:
        return f"{'-':>7}  {'-':>10}  {'-':>6} {'':14}  {'-':>8}"
    games, targets = zip(*measured, strict=True)
    excess = bootstrap_mean([target.excess(floor) for target in targets], games)
    refined = [target.expected for target in targets if target.expected is not None]
    expected = f"{sum(refined) / len(refined):8.2f}" if refined else f"{'-':>8}"
    raw = sum(target.raw for target in targets) / len(targets)
    calibrated = sum(target.calibrated for target in targets) / len(targets)
    interval = f"{excess.mean:6.2f} [{excess.low:5.2f}, {excess.high:5.2f}]"
    return f"{raw:7.2f}  {calibrated:10.2f}  {interval}  {expected}"
