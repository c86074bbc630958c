"""Ours beside the paper's: what is marked, what is printed, and the commands that play for it."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest

from framework.cli import main
from framework.stats import Interval
from framework.tables import Column, Row, Table
from games.calbench.published import COLUMNS, METHODS, Comparison, Shown, compare
from games.calbench.table2 import rendered, written

VPS = Shown("vps", "VPS", "vps", 2)


def compared(ours: Interval | None, published: float) -> Comparison:
    return Comparison("uniform", "imap", VPS, 45, ours, published)


@pytest.mark.parametrize(
    ("ours", "published", "outside"),
    [
        (Interval(1.0, 0.9, 1.1), 1.0, False),
        (Interval(1.0, 0.9, 1.1), 1.1, False),
        (Interval(1.0, 0.9, 1.1), 1.11, True),
        (Interval(1.0, 0.9, 1.1), 0.89, True),
        (Interval(12.4, 12.4 - 1e-12, 12.4 - 1e-12), 12.40, False),
        (Interval(12.4, 12.404, 12.404), 12.40, False),
        (Interval(12.4, float("nan"), float("nan")), 0.0, False),
        (None, 1.0, False),
    ],
)
def test_a_published_number_is_marked_where_it_lies_outside_the_interval_as_printed(ours, published, outside):
    assert compared(ours, published).outside is outside


def table_of(group: str, **cells: Interval) -> Table:
    columns = tuple(Column(name, name) for name in cells)
    row = Row("run", group, "imap", False, 45, 225, 0, tuple(cells.values()))
    return Table(columns, (row,), Counter(), 45, 0.95)


def test_shares_are_compared_as_percentages_and_both_excesses_with_the_one_of_the_paper():
    ours = Interval(0.5, 0.4, 0.6)
    found = {c.column.metric: c for c in compare(METHODS[0], table_of("varied", coordination=ours, excess=ours))}
    assert found["coordination"].ours == Interval(50.0, 40.0, 60.0)
    assert found["coordination"].published == 100.0
    assert found["excess"].published == found["excess_replayed"].published == 0.32
    assert found["excess"].ours == ours
    assert found["excess_replayed"].ours is None


def test_a_setting_that_the_paper_does_not_have_is_left_out():
    assert list(compare(METHODS[0], table_of("other", vps=Interval(1, 1, 1)))) == []


def test_a_row_of_ours_stands_above_the_paper_s():
    cells = {"coordination": Interval(0.98, 0.96, 1.0), "vps": Interval(0.5, 0.25, 0.75)}
    _, ours, paper = rendered(list(compare(METHODS[0], table_of("uniform", **cells)))).splitlines()
    assert ours.split()[:3] == ["uniform", "imap", "45"]
    assert "98.0 [96.0, 100.0]" in ours
    assert "0.50 [0.25, 0.75]" in ours
    assert paper.split() == ["paper", "100.0", "0.26", "0.26", "2.00", "0.530", "12.40", "*"]


def test_numbers_go_to_the_file_as_they_are(tmp_path):
    path = written(tmp_path / "t.csv", [compared(Interval(0.5, 0.25, 0.75), 0.9), compared(None, 0.9)])
    with path.open(newline="") as file:
        first, second = csv.DictReader(file)
    assert (first["mean"], first["low"], first["high"], first["paper"], first["outside"]) == (
        "0.5",
        "0.25",
        "0.75",
        "0.9",
        "1",
    )
    assert (second["mean"], second["outside"]) == ("", "0")


def ran(*arguments: str) -> int:
    with pytest.raises(SystemExit) as exit:
        main(arguments)
    code = exit.value.code
    assert isinstance(code, int)
    return code


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_table2_plays_every_method_once_and_prints_all_rows(tmp_path, capsys):
    arguments = ["table2", "--suite", "quick", "--out", str(tmp_path)]
    assert ran(*arguments) == 0
    first = capsys.readouterr().out
    rows = rows_of(tmp_path / "table2.csv")
    assert len(rows) == 2 * len(METHODS) * len(COLUMNS)
    assert {row["games"] for row in rows} == {"3"}
    imap = [row for row in rows if row["method"] == "imap" and row["metric"] == "vps"]
    assert [float(row["mean"]) for row in imap] == pytest.approx([12.4, 12.4])
    assert {path.name for path in tmp_path.iterdir()} == {"table2.csv", *(method.folder for method in METHODS)}
    traces = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*/traces/*.json")}
    assert ran(*arguments) == 0
    assert capsys.readouterr().out == first
    assert {path: path.stat().st_mtime_ns for path in tmp_path.glob("*/traces/*.json")} == traces


def test_theta_writes_a_row_for_each_point_and_setting(tmp_path):
    arguments = ["--suite", "quick", "--limit", "2", "--theta", "0,10", "--l-max", "1,8", "--out", str(tmp_path)]
    assert ran("theta", *arguments) == 0
    rows = rows_of(tmp_path / "theta.csv")
    points = [(float(row["theta"]), int(row["L_max"])) for row in rows]
    assert sorted(points) == [(0, 1), (0, 8), (10, 1), (10, 8)]
    wide, narrow = (float(rows[points.index(point)]["vps_total"]) for point in ((0, 8), (10, 8)))
    assert wide > narrow
    assert all(float(row["vps_low"]) <= float(row["vps"]) <= float(row["vps_high"]) for row in rows if row["vps_low"])


@pytest.mark.parametrize(
    "arguments", [("--theta", "0,much"), ("--theta", "0,-1"), ("--l-max", "1.5"), ("--strategy", "imap")]
)
def test_theta_says_what_is_wrong_with_a_grid_before_a_game_is_played(tmp_path, capsys, arguments):
    assert ran("theta", "--limit", "1", "--out", str(tmp_path / "t"), *arguments) == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert len(said) > 20
    assert not (tmp_path / "t").exists()
