"""Two runs, paired by task."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

import pytest
from scipy import stats as scipy_stats

from framework.analysis import Findings
from framework.analysis.compare import Sides, compare
from framework.analysis.text import plain
from framework.errors import UserError
from framework.experiment import Experiment
from framework.results import GameResult
from framework.runner import run
from framework.specs import StrategySpec
from framework.stats import Interval, benjamini_hochberg, paired_test
from framework.tables import read_run
from tests.analysis.conftest import Cheaptalk
from tests.core.runs import PLAYERS, toy

METRICS = ["coordination", "excess", "messages", "gini"]


def played(out: Path, strategy: str, **fields: object) -> Path:
    """A run of CalBench."""
    settings = {"game": "calbench", "strategy": strategy, "out": str(out), **fields}
    run(Experiment.model_validate(settings))
    return out


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """SD-MAP once, and two DSMs together, twice each task and in turn in each seat."""
    root = tmp_path_factory.mktemp("runs")
    seats = {1: StrategySpec.parse("dsm-private")}
    return (
        played(root / "sd-map", "sd-map", suite="quick"),
        played(root / "dsm", "dsm-welfare", suite="quick", repeats=2, rotate=True, seats=seats),
    )


def value(result: GameResult, metric: str, strategy: str = "") -> float | None:
    found = result.metrics[metric]
    if not strategy or not found.seats:
        return found.game
    own = [v for v, name in zip(found.seats, result.strategies, strict=True) if name == strategy and v is not None]
    return fmean(own)


def by_task(results: Sequence[GameResult], metric: str, setting: str, strategy: str = "") -> dict[str, float]:
    tasks: dict[str, list[float]] = {}
    for result in results:
        if result.group == setting and (found := value(result, metric, strategy)) is not None:
            tasks.setdefault(result.task, []).append(found)
    return {task: fmean(values) for task, values in tasks.items()}


def lines(table: Findings) -> list[dict[str, object]]:
    return [dict(zip((field.name for field in table.fields), row, strict=True)) for row in table.rows]


@pytest.mark.parametrize("sides", [Sides(), Sides("sd-map", "dsm-private")])
def test_differences_are_of_task_means_and_q_values_are_over_the_rows(folders: tuple[Path, Path], sides: Sides):
    one, two = (read_run(folder).results for folder in folders)
    table = lines(compare(*folders, sides=sides, metrics=METRICS))
    assert [line["setting"] for line in table] == ["uniform"] * 4 + ["varied"] * 4
    p = []
    for line, metric in zip(table, METRICS * 2, strict=True):
        setting = str(line["setting"])
        first, second = by_task(one, metric, setting, sides.first), by_task(two, metric, setting, sides.second)
        assert first.keys() == second.keys()
        expected = paired_test([second[task] for task in first], list(first.values()))
        scale = 100 if metric == "coordination" else 1
        assert line["tasks"] == 3
        assert line["first"] == pytest.approx(scale * fmean(first.values()))
        mean, low, high = (scale * part for part in expected[1:4])
        ends = (max(-100.0, low), min(100.0, high)) if metric == "coordination" else (low, high)
        assert line["difference"] == pytest.approx((mean, *ends))
        p.append(expected.p)
    assert [line["q"] for line in table] == pytest.approx(benjamini_hochberg(p))


def test_what_is_better_is_named_where_the_q_value_says_so(folders: tuple[Path, Path]):
    table = lines(compare(*folders, metrics=METRICS))
    for line in table:
        difference, q = line["difference"], line["q"]
        assert isinstance(difference, Interval)
        assert isinstance(q, float)
        higher = "↑" in str(line["metric"])
        better = {True: "dsm", False: "sd-map"}[(difference.mean > 0) == higher]
        assert line["better"] == (better if q < 0.05 else "")
    assert any(line["better"] for line in table)


def test_wilcoxons_test_is_scipys(tmp_path: Path):
    one = played(tmp_path / "one", "imap", suite="canonical", limit=8)
    two = played(tmp_path / "two", "sd-map", suite="canonical", limit=8)
    (line,) = lines(compare(one, two, metrics=["messages"], test="wilcoxon"))
    a, b = (by_task(read_run(folder).results, "messages", "uniform") for folder in (one, two))
    assert line["p"] == pytest.approx(scipy_stats.wilcoxon([b[task] - a[task] for task in a]).pvalue)


def test_a_run_does_not_differ_from_itself(folders: tuple[Path, Path], tmp_path: Path):
    again = played(tmp_path / "again", "sd-map", suite="quick")
    table = lines(compare(folders[0], again))
    assert {line["q"] for line in table} == {1.0}
    assert all(line["difference"] == (0, 0, 0) and line["better"] == "" for line in table)


def test_tasks_of_one_name_that_are_not_the_same_are_refused(folders: tuple[Path, Path], tmp_path: Path):
    other = played(tmp_path / "other", "imap", suite="quick", suite_seed=7)
    with pytest.raises(UserError, match=r"task \S+ of sd-map is not task \S+ of other: .* different seeds"):
        compare(folders[0], other)


def test_tasks_that_only_one_run_finished_are_counted_and_left_out(folders: tuple[Path, Path], tmp_path: Path):
    short = played(tmp_path / "short", "imap", suite="quick", limit=4)
    table = compare(folders[0], short, metrics=["excess"])
    assert [line["tasks"] for line in lines(table)] == [3, 1]
    assert "Finished tasks without a pair: 2 of sd-map, 0 of short." in table.note


def test_runs_without_a_common_task_and_a_run_against_itself_are_refused(tmp_path: Path):
    run(toy(tmp_path / "a", limit=1))
    run(toy(tmp_path / "b", strategy=f"{PLAYERS}:Raising"))
    with pytest.raises(UserError, match="a and b have no finished task in common; compare runs of one suite"):
        compare(tmp_path / "a", tmp_path / "b")
    with pytest.raises(UserError, match="are one run; name two"):
        compare(tmp_path / "a", tmp_path / "a")


def test_names_that_are_not_there_are_said(folders: tuple[Path, Path]):
    with pytest.raises(UserError, match="dsm: 'sd-map' plays in no game; use one of dsm-private, dsm-welfare"):
        compare(*folders, sides=Sides("sd-map", "sd-map"))
    with pytest.raises(UserError, match="'exces' is not a metric of these runs; did you mean 'excess'"):
        compare(*folders, metrics=["exces"])


def test_the_command_prints_it_and_writes_it(folders: tuple[Path, Path], tmp_path: Path, cheaptalk: Cheaptalk):
    said = cheaptalk("compare", *folders, "--strategy", "sd-map", "--against", "dsm-welfare", "--csv", tmp_path)
    assert said.code == 0
    assert "dsm-welfare of dsm against sd-map" in said.out
    assert (tmp_path / "compare.csv").is_file()
    every = json.loads(cheaptalk("compare", *folders, "--metrics", "all", "--json").out)
    assert len(every[0]["rows"]) > 2 * len(METRICS)
    assert set(METRICS) <= {row["name"] for row in every[0]["rows"]}


def test_the_name_of_a_metric_is_for_programs_and_its_title_for_people(folders: tuple[Path, Path]):
    table = compare(*folders, metrics=["messages"])
    assert "messages" in {str(row["name"]) for row in lines(table)}
    assert "Msgs/mtg" in plain(table)
    assert "name" not in plain(table).splitlines()[0].split()
