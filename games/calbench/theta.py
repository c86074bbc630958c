"""Sweep DSM's price of privacy theta and its largest offer set, and write the privacy-cost curve as CSV."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple, TypeVar

import typer

if TYPE_CHECKING:
    from framework.stats import Interval
    from framework.tables import Table

__all__ = ["METRICS", "Point", "points_of", "register", "theta"]

METRICS = ("coordination", "excess", "adjusted", "messages", "fairness", "vps", "vps_total")
"""What the curve has of each point."""

NumberT = TypeVar("NumberT", int, float)


class Point(NamedTuple):
    """One point of the curve.

    Attributes:
        setting: The cost setting.
        theta: Price of privacy for each offer.
        l_max: Largest offer set.
        games: Games behind it.
        values: Mean and interval of each of `METRICS`; None where there is none.
    """

    setting: str
    theta: float
    l_max: int
    games: int
    values: tuple[Interval | None, ...]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("theta")(theta)


def theta(
    thetas: Annotated[str, typer.Option("--theta", help="Prices of privacy, with commas.")] = (
        "0,0.03,0.05,0.1,0.2,0.5"
    ),
    l_max: Annotated[str, typer.Option(help="Largest offer sets, with commas.")] = "2,4,8,12",
    strategy: Annotated[str, typer.Option(help="The protocol, with other knobs as dsm:beta=0.5.")] = "dsm",
    suite: Annotated[str, typer.Option(help="The suite.")] = "canonical",
    suite_seed: Annotated[int, typer.Option(min=0, help="Seed of the suite.")] = 0,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the runs.")] = 0,
    limit: Annotated[int | None, typer.Option(min=1, help="Play only so many tasks.")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Processes that play at once.")] = 1,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the runs, continued if it is there.")] = Path(
        "runs/theta"
    ),
) -> int:
    """Play DSM over a grid of theta and L_max and write the privacy-cost curve to `DIR/theta.csv`."""
    from framework.experiment import Experiment
    from framework.specs import StrategySpec
    from framework.tables import RunResults, summarise
    from games.calbench._playing import Stopped, play_all

    base = StrategySpec.parse(strategy)
    grid = list(product(_numbers(thetas, float, "--theta"), _numbers(l_max, int, "--l-max")))
    experiments = [
        Experiment(
            game="calbench",
            suite=suite,
            suite_seed=suite_seed,
            seed=seed,
            limit=limit,
            jobs=jobs,
            strategy=base.model_copy(update={"params": {**base.params, "theta": price, "L_max": most}}),
            out=str(out / f"theta-{price:g}-L-{most}"),
        )
        for price, most in grid
    ]
    try:
        outcomes = play_all(experiments)
    except Stopped as stopped:
        return stopped.code
    found: list[Point] = []
    for (price, most), outcome in zip(grid, outcomes, strict=True):
        table = summarise([RunResults(outcome.folder.name, outcome.results)], outcome.experiment.report)
        found += points_of(table, price, most)
    found.sort(key=lambda point: point[:3])
    print(rendered(found))
    if aborted := sum(len(outcome.aborted) for outcome in outcomes):
        print(f"{aborted} games aborted and are in no mean.")
    print(written(out / "theta.csv", found))
    return 1 if aborted else 0


def _numbers(text: str, kind: Callable[[str], NumberT], option: str) -> list[NumberT]:
    from framework.errors import UserError

    try:
        found = [kind(part) for part in text.split(",")]
    except ValueError as error:
        raise UserError(f"{option} {text!r} is not a list of numbers; write for instance {option} 0,1") from error
    return list(dict.fromkeys(found))


def points_of(table: Table, theta: float, l_max: int) -> Iterator[Point]:
    """The points of the run of one pair of values, one for each setting."""
    places = {column.name: place for place, column in enumerate(table.columns)}
    for row in table.rows:
        values = [row.cells[places[name]] if name in places else None for name in METRICS]
        yield Point(row.group, theta, l_max, row.games, tuple(values))


def rendered(found: Sequence[Point]) -> str:
    """The curve as aligned text, means only."""
    from games.calbench._playing import aligned

    lines = [["setting", "theta", "L_max", "games", *METRICS]]
    for point in found:
        means = ["-" if value is None else f"{value.mean:.3f}" for value in point.values]
        lines.append([point.setting, f"{point.theta:g}", str(point.l_max), str(point.games), *means])
    return aligned(lines)


def written(path: Path, found: Sequence[Point]) -> Path:
    """Write the curve as CSV: one row a point, with the mean and the interval of each metric.

    Raises:
        UserError: If the file cannot be written.
    """
    from framework.csvfile import Row, write_rows

    rows: list[Row] = [
        ["setting", "theta", "L_max", "games", *(f"{name}{part}" for name in METRICS for part in ("", "_low", "_high"))]
    ]
    for point in found:
        values = [part for value in point.values for part in (value or (None, None, None))]
        rows.append([point.setting, point.theta, point.l_max, point.games, *values])
    return write_rows(path, rows)
