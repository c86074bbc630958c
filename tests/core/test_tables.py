"""From games to rows, tables and CSVs."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from framework.analysis import text
from framework.analysis.headline import footer, headline
from framework.cli import main
from framework.csvs import write_csvs
from framework.errors import UserError
from framework.results import Abort, GameResult, Metrics, Value
from framework.runner import run
from framework.stats import bootstrap_mean, wilson
from framework.tables import RunResults, Table, read_run, summarise
from framework.trace import Usage
from tests.core.runs import PLAYERS, TOY, toy
from tests.core.toy import Toy


def game(
    number: int,
    agreed: float | None,
    messages: tuple[float | None, ...],
    strategies: tuple[str, ...] = ("a", "a"),
    **fields: object,
) -> GameResult:
    """A game of the toy, as its row."""
    values: dict[str, object] = {
        "game": TOY,
        "game_id": f"id-{number}",
        "number": number,
        "task": f"t{number}",
        "group": "g",
        "repeat": 0,
        "seed": number,
        "strategies": strategies,
        "adversarial": (),
        "metrics": Metrics({"agreed": Value(agreed, ()), "messages": Value(sum(m or 0 for m in messages), messages)}),
        "abort": None,
        "usage": Usage(),
        "seconds": 0.5,
    }
    return GameResult(**{**values, **fields})  # type: ignore[arg-type]


def aborted(number: int, **fields: object) -> GameResult:
    """A game that was not finished."""
    return game(number, None, (), metrics=Metrics({}), abort=Abort("model", 1, "no answer"), **fields)


def plain(table: Table, names: Sequence[str] | None = None) -> str:
    """The table as it is printed."""
    return text.plain(headline(table, names), flush=False)


def test_a_metric_by_seat_is_averaged_over_the_strategys_seats_and_its_interval_is_over_games():
    games = [game(0, 1.0, (1, 2), ("a", "b")), game(1, 0.5, (3, 4), ("a", "b")), game(2, 0.0, (8, 6), ("a", "a"))]
    table = summarise([RunResults("r", games)])
    a, b = table.rows
    assert (a.strategy, a.games, a.seats) == ("a", 3, 4)
    assert (b.strategy, b.games, b.seats) == ("b", 2, 2)
    assert a.cells[1] == bootstrap_mean([1, 3, 8, 6], [0, 1, 2, 2])
    assert b.cells[1] is not None
    assert b.cells[1].mean == 3.0


def test_a_metric_of_the_game_counts_once_a_game():
    games = [game(0, 1.0, (0, 0), ("a", "b")), game(1, 0.0, (0, 0), ("a", "a"))]
    a, b = summarise([RunResults("r", games)]).rows
    assert a.cells[0] == bootstrap_mean([1.0, 0.0])
    assert b.cells[0] is not None
    assert b.cells[0].mean == 1.0


def test_settings_and_runs_are_not_pooled():
    runs = [
        RunResults("one", [game(0, 1.0, (1, 1)), game(1, 1.0, (2, 2), group="h")]),
        RunResults("two", [game(0, 1.0, (3, 3))]),
    ]
    rows = summarise(runs).rows
    assert [(row.run, row.group, row.games) for row in rows] == [("one", "g", 1), ("one", "h", 1), ("two", "g", 1)]


def test_aborted_games_are_counted_and_in_no_mean():
    games = [game(0, 1.0, (2, 2)), aborted(1), aborted(2), game(3, 1.0, (4, 4))]
    table = summarise([RunResults("r", games)])
    (row,) = table.rows
    assert (row.games, row.aborted) == (2, 2)
    assert row.cells[1] is not None
    assert row.cells[1].mean == 3.0
    assert "2 of 4 games aborted (2 at model) and in no mean" in footer(table)
    assert "aborted" in plain(table).splitlines()[0]


def test_adversarial_seats_have_rows_of_their_own_and_are_marked():
    games = [game(0, 1.0, (1, 5), adversarial=(1,)), game(1, 1.0, (3, 7), adversarial=(1,))]
    honest, adversarial = summarise([RunResults("r", games)]).rows
    assert (honest.adversarial, honest.cells[1].mean) == (False, 2.0)  # type: ignore[union-attr]
    assert (adversarial.adversarial, adversarial.cells[1].mean) == (True, 6.0)  # type: ignore[union-attr]
    assert "a (adversarial)" in plain(summarise([RunResults("r", games)]))


def test_a_share_that_never_varied_has_a_score_interval():
    table = summarise([RunResults("r", [game(number, 1.0, (1, 1)) for number in range(10)])])
    assert table.rows[0].cells[0] == wilson(10, 10)
    assert table.rows[0].cells[1] == (1.0, 1.0, 1.0)


def test_a_seat_without_a_value_does_not_count():
    table = summarise([RunResults("r", [game(0, None, (1, None)), game(1, None, (3, None))])])
    assert table.rows[0].cells[0] is None
    assert table.rows[0].cells[1] is not None
    assert table.rows[0].cells[1].mean == 2.0
    assert plain(table, ["agreed", "messages"]).splitlines()[1].split()[:5] == ["g", "a", "2", "4", "-"]


def test_a_metric_that_has_to_be_complete_is_none_where_a_seat_lacks_it(monkeypatch: pytest.MonkeyPatch):
    metrics = [replace(metric, complete=metric.name == "messages") for metric in Toy.metrics]
    monkeypatch.setattr(Toy, "metrics", tuple(metrics))
    games = [game(0, 1.0, (1, 2), ("a", "b")), game(1, 1.0, (3, None), ("a", "b"))]
    table = summarise([RunResults("r", games)])
    a, b = table.rows
    assert (a.cells[1].mean, b.cells[1]) == (2.0, None)  # type: ignore[union-attr]
    table = summarise([RunResults("r", [game(0, 1.0, (0, None))])])
    assert [(column.name, column.headline) for column in table.columns] == [("agreed", True), ("messages", False)]


def test_a_folder_without_traces_is_answered_with_a_run_in_it_or_beside_it(tmp_path: Path):
    played = toy(tmp_path / "runs" / "first")
    run(played)
    for given in (tmp_path / "runs", tmp_path / "runs" / "frist"):
        with pytest.raises(UserError, match=f"{given} holds no traces; .* such as {tmp_path}/runs/first$"):
            read_run(given)


def test_a_metric_without_a_value_in_any_game_is_in_no_headline():
    table = summarise([RunResults("r", [game(0, None, (1, None)), game(1, None, (3, None))])])
    assert [(column.name, column.headline) for column in table.columns] == [("agreed", False), ("messages", True)]
    assert "agreed" not in plain(table)
    assert "1 more metric:" in footer(table)


def test_plain_text_is_aligned_and_names_direction_and_unit():
    table = summarise([RunResults("r", [game(number, number % 2, (1, 2)) for number in range(4)])])
    head, row = plain(table).splitlines()
    assert head.split("  ")[0] == "setting"
    assert "agreed % ↑" in head
    assert "messages ↓" in head
    assert row.index("50.0 [") == head.index("agreed")
    assert row.index("1.50 [") == head.index("messages")
    assert "agreed" not in plain(table, ["messages"])


def test_a_narrow_terminal_gets_the_table_in_parts():
    table = summarise([RunResults("r", [game(number, number % 2, (1, 2)) for number in range(4)])])
    assert len(text.pretty(headline(table), width=120)) == 1
    assert len(text.pretty(headline(table), width=40)) == 3


def test_a_metric_that_no_game_declares_keeps_its_name():
    extra = Metrics({"mine": Value(2.0, ())})
    table = summarise([RunResults("r", [game(0, 1.0, (1, 1), metrics=extra, game="nowhere:Game")])])
    assert [(column.name, column.title) for column in table.columns] == [("mine", "mine")]


def test_csvs_hold_every_game_seat_and_strategy(tmp_path: Path):
    games = [game(0, 1.0, (1, 2), ("a", "b"), adversarial=(1,)), aborted(1, strategies=("a", "b"))]
    runs = [RunResults("r", games)]
    written = write_csvs(tmp_path / "csv", runs, summarise(runs))
    by_game, by_seat, by_strategy = (list(csv.DictReader(path.open(encoding="utf-8"))) for path in written)
    assert [(row["status"], row["boundary"], row["agreed"], row["messages"]) for row in by_game] == [
        ("finished", "", "1.0", "3.0"),
        ("aborted", "model", "", ""),
    ]
    assert by_game[0]["strategies"] == "a;b"
    assert [(row["seat"], row["strategy"], row["adversarial"], row["messages"]) for row in by_seat] == [
        ("0", "a", "0", "1.0"),
        ("1", "b", "1", "2.0"),
        ("0", "a", "0", ""),
        ("1", "b", "0", ""),
    ]
    assert "agreed" not in by_seat[0]
    means = {(row["strategy"], row["adversarial"], row["metric"]): row["mean"] for row in by_strategy}
    assert means["a", "0", "messages"] == "1.0"
    assert means["b", "1", "messages"] == "2.0"


def test_a_run_reads_back_from_its_folder_as_it_was(tmp_path: Path):
    outcome = run(toy(tmp_path / "run", strategy=f"{PLAYERS}:Counting", repeats=2))
    found = read_run(tmp_path / "run")
    assert found == RunResults("run", outcome.results)
    assert summarise([found]) == summarise([RunResults("run", outcome.results)])


def test_what_is_no_run_is_said(tmp_path: Path):
    with pytest.raises(UserError, match="holds no traces; name the folder of a run"):
        read_run(tmp_path)
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "0000-x.json").write_text('{"game_id": "x"')
    with pytest.raises(UserError, match=r"0000-x.json: it is torn or not a trace .*--resume"):
        read_run(tmp_path)


def test_a_report_says_which_game_left_no_trace(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    folder = tmp_path / "run"
    run(toy(folder))
    victim = sorted((folder / "traces").glob("*.json"))[0]
    victim.unlink()
    with pytest.raises(SystemExit) as ended:
        main(["report", str(folder), "--table", "headline"])
    assert ended.value.code == 0
    said = capsys.readouterr()
    assert f"lacks the trace of a game that its manifest lists, such as traces/{victim.name}" in said.err
    assert said.out
    run(toy(folder), resume=True)
    with pytest.raises(SystemExit):
        main(["report", str(folder), "--table", "headline"])
    assert capsys.readouterr().err == ""
