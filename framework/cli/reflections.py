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

    by_strategy: dict[str, list[Target]] = {}
    least = 0.0 if floor is None else floor
    for _, trace, states, game in _played(runs):
        if floor is None and game.evidence is not None:
            least = game.evidence.floor
        found: list[Answer] = list(answers(trace, states))
        if found:
            for target in targets(found, trace.start.seats):
                by_strategy.setdefault(trace.start.strategies[target.seat], []).append(target)
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


def _print(by_strategy: dict[str, list[Target]], floor: float) -> None:
    from framework.stats import bootstrap_mean

    width = max(len(name) for name in by_strategy)
    print(f"{'strategy'.ljust(width)}  seats  raw VPS  calibrated  excess [95 % interval]   expected  unreadable")
    for name, found in sorted(by_strategy.items()):
        excess = bootstrap_mean([target.excess(floor) for target in found])
        refined = [target.expected for target in found if target.expected is not None]
        expected = f"{sum(refined) / len(refined):8.2f}" if refined else "       -"
        unread = sum(target.unreadable for target in found) / max(1, sum(target.answers for target in found))
        raw = sum(target.raw for target in found) / len(found)
        calibrated = sum(target.calibrated for target in found) / len(found)
        print(
            f"{name.ljust(width)}  {len(found):5d}  {raw:7.2f}  {calibrated:10.2f}  {excess.mean:6.2f} "
            f"[{excess.low:5.2f}, {excess.high:5.2f}]  {expected}  {unread:9.1%}"
        )
    print(f"Means over seats as targets, summed over observers and rounds; excess is beyond {floor:g} a game.")
