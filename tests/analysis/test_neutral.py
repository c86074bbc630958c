"""Tables of every game: groups, gathering, failures, usage, and the command."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from framework.analysis import ALL, Analysis, Findings, by_strategy, gather_runs
from framework.analysis.failures import FAILURES, Fault
from framework.analysis.usage import USAGE, Consumed
from framework.errors import UserError
from framework.experiment import Reporting
from framework.runner import run
from framework.stats import wilson
from framework.tables import run_names
from framework.trace import Trace, read_trace, write_trace
from tests.analysis.conftest import Cheaptalk
from tests.analysis.rows import aborted, row, seen
from tests.core.runs import PLAYERS, toy

REPORTING = Reporting(resamples=200)
LUCKY = f"{PLAYERS}:Lucky"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the toy in which batches are rejected."""
    path = tmp_path_factory.mktemp("runs") / "toy"
    run(toy(path, strategy=LUCKY, repeats=2))
    return path


def cells(table: Findings, name: str) -> list[object]:
    """A column by name."""
    place = [field.name for field in table.fields].index(name)
    return [line[place] for line in table.rows]


# --- groups -----------------------------------------------------------------------------------------


def test_groups_are_runs_and_settings_in_order_and_strategies_by_name():
    games = [
        seen(row(0, ("b", "a"), group="late"), run="two"),
        seen(row(0, ("a", "a"), group="early"), run="one"),
        seen(row(1, ("a", "b"), group="late", adversarial=(1,)), run="two"),
    ]
    found = by_strategy(games)
    assert [tuple(group) for group in found] == [
        ("two", "late", "a", False),
        ("two", "late", "b", False),
        ("two", "late", "b", True),
        ("one", "early", "a", False),
    ]
    assert [(part.game.result.number, part.seats) for part in next(iter(found.values()))] == [(0, (1,)), (1, (0,))]


def test_totals_are_over_settings_and_over_strategies_of_one_run():
    games = [seen(row(0, ("a", "b"), group="x")), seen(row(1, ("a", "a"), group="y"))]
    found = by_strategy(games, totals=True)
    assert {(g.setting, g.strategy): sum(len(part.seats) for part in parts) for g, parts in found.items()} == {
        ("x", "a"): 1,
        ("x", "b"): 1,
        ("x", ALL): 2,
        ("y", "a"): 2,
        (ALL, "a"): 3,
        (ALL, "b"): 1,
        (ALL, ALL): 4,
    }


def test_a_total_that_says_nothing_new_is_left_out():
    games = [seen(row(0, ("a", "a"))), seen(row(1, ("a", "a")), run="other")]
    assert [group.strategy for group in by_strategy(games, totals=True)] == ["a", "a"]


# --- gathering --------------------------------------------------------------------------------------


def test_each_trace_is_read_once_for_all_and_in_the_order_of_the_games(folder: Path):
    handed: list[str] = []

    def count(trace: Trace) -> int:
        handed.append(trace.game_id)
        return len(trace.events)

    found = gather_runs([folder], [count, count])
    assert len(handed) == len(set(handed)) == 4
    games = found.seen(count)
    assert [game.result.number for game in games] == [0, 1, 2, 3]
    paths = sorted((folder / "traces").iterdir())
    assert [game.facts for game in games] == [len(read_trace(path).events) for path in paths]


def test_runs_of_one_name_are_told_apart_by_their_parents(tmp_path: Path):
    one, two = tmp_path / "x" / "run", tmp_path / "y" / "run"
    for path in (one, two):
        run(toy(path))
    assert list(run_names([one, two, one]).values()) == ["x/run", "y/run"]
    assert [found.name for found in gather_runs([one, two], []).runs] == ["x/run", "y/run"]
    assert list(run_names([one]).values()) == ["run"]


def test_runs_of_two_games_are_refused(folder: Path, tmp_path: Path):
    (path, *_) = sorted((folder / "traces").iterdir())
    trace = read_trace(path)
    (tmp_path / "traces").mkdir()
    write_trace(tmp_path / "traces" / path.name, trace.model_copy(update={"config": {"game": "chess"}}))
    with pytest.raises(UserError, match=r"is of the game .*Toy and .* of chess; name runs of one game"):
        gather_runs([folder, tmp_path], [])


def test_analyses_see_finished_games_only_unless_they_ask_for_all():
    def numbers(games, reporting):  # type: ignore[no-untyped-def]
        return Findings((), (), note=" ".join(str(game.result.number) for game in games))

    games = [seen(row(0)), seen(aborted(1)), seen(row(2))]
    for asks, expected in ((False, "0 2"), (True, "0 1 2")):
        analysis = Analysis(name="n", title="N", read=lambda trace: None, tabulate=numbers, aborted=asks)
        assert analysis.findings(games, REPORTING).note == expected


# --- failures ---------------------------------------------------------------------------------------


def test_failures_are_counted_by_seat_kind_and_rule_and_shares_are_of_games():
    faulty = Counter({Fault(0, "rejected batch", "one_pick"): 3, Fault(1, "rejected batch", "one_pick"): 1})
    games = [seen(row(0), faulty), seen(row(1), Counter()), seen(row(2), Counter()), seen(aborted(3), Counter())]
    table = FAILURES.findings(games, REPORTING)
    assert [line[2:6] for line in table.rows] == [
        ("a", "game aborted", "model", 1),
        ("a", "rejected batch", "one_pick", 3),
        ("b", "rejected batch", "one_pick", 1),
    ]
    assert cells(table, "share") == [wilson(1, 4)] * 3


def test_an_abort_that_belongs_to_no_seat_is_shown_as_such():
    table = FAILURES.findings([seen(aborted(0, seat=None)), seen(row(1), Counter())], REPORTING)
    assert [line[2:5] for line in table.rows] == [("(no seat)", "game aborted", "model")]
    assert cells(table, "share") == [wilson(1, 2)]


def test_failures_of_a_real_run_are_those_of_its_traces(folder: Path):
    gathered = gather_runs([folder], [FAILURES.read])
    table = FAILURES.findings(gathered.seen(FAILURES.read), REPORTING)
    traces = [read_trace(path) for path in (folder / "traces").iterdir()]
    rejected = [event for trace in traces for event in trace.events if event.type == "batch_rejected"]
    assert len(rejected) > 0
    assert sum(cells(table, "count")) == len(rejected)  # type: ignore[arg-type]


# --- usage ------------------------------------------------------------------------------------------


def test_usage_is_a_mean_over_seats_with_measurement_apart_and_the_total_over_all():
    one = Consumed(moves=2, seconds=3.0, calls=2, prompt=100, completion=10, cost=0.5, aside=7, aside_cost=0.25)
    two = Consumed(moves=1, seconds=1.0, calls=1, prompt=50, completion=30, cost=None)
    games = [seen(row(0, ("a", "a")), (one, two)), seen(aborted(1, ("a", "a")), (one, two))]
    table = USAGE.findings(games, REPORTING)
    means = {field.name: value for field, value in zip(table.fields, table.rows[0], strict=True)}
    assert (means["games"], means["seats"]) == (2, 4)
    for name, mean in (("calls", 1.5), ("prompt_tokens", 75), ("completion_tokens", 20), ("cost", 0.5)):
        assert means[name].mean == mean  # type: ignore[union-attr]
    assert means["seconds"].mean == 1.25  # type: ignore[union-attr]
    assert means["aside_tokens"].mean == 3.5  # type: ignore[union-attr]
    assert means["total_cost"] == 1.5


def test_players_without_a_model_are_not_listed_under_usage():
    assert USAGE.findings([seen(row(0), (Consumed(moves=3), Consumed(moves=1)))], REPORTING).rows == ()


def test_usage_of_a_real_run_adds_up(tmp_path: Path):
    outcome = run(toy(tmp_path / "run", strategy=f"{PLAYERS}:Counting", repeats=2))
    table = USAGE.findings(gather_runs([tmp_path / "run"], [USAGE.read]).seen(USAGE.read), REPORTING)
    (seats,) = cells(table, "seats")
    (tokens,) = cells(table, "prompt_tokens")
    assert isinstance(seats, int)
    assert tokens.mean * seats == pytest.approx(outcome.usage.prompt_tokens)  # type: ignore[attr-defined]


# --- the command ------------------------------------------------------------------------------------


def test_report_prints_the_headline_first_and_then_what_there_is_to_say(folder: Path, cheaptalk: Cheaptalk):
    said = cheaptalk("report", folder)
    assert said.code == 0
    assert said.out.startswith("strategy")
    assert "\nWhat went wrong, by kind\n" in said.out
    assert "What models consumed" not in said.out


def test_report_answers_one_question_if_asked_and_says_when_there_is_no_answer(folder: Path, cheaptalk: Cheaptalk):
    assert "Nothing to show." in cheaptalk("report", folder, "--table", "usage").out
    wrong = cheaptalk("report", folder, "--table", "useage")
    assert (wrong.code, wrong.out) == (2, "")
    assert wrong.err == "cheaptalk: --table: 'useage' is not a table of these runs; did you mean 'usage'?\n"


def test_report_prints_one_form_at_a_time(folder: Path, cheaptalk: Cheaptalk, tmp_path: Path):
    tables = json.loads(cheaptalk("report", folder, "--json").out)
    assert tables[0]["name"] == "headline"
    assert cheaptalk("report", folder, "--markdown").out.startswith("### Results by strategy and setting")
    assert cheaptalk("report", folder, "--latex").out.startswith("\\begin{table}")
    assert "--json and --latex are given together" in cheaptalk("report", folder, "--json", "--latex").err
    said = cheaptalk("report", folder, "--json", "--csv", tmp_path)
    assert json.loads(said.out) == tables
    assert str(tmp_path / "games.csv") in said.err


def test_report_writes_each_table_as_csv(tmp_path: Path, cheaptalk: Cheaptalk):
    run(toy(tmp_path / "run", strategy=f"{PLAYERS}:Counting"))
    cheaptalk("report", tmp_path / "run", "--csv", tmp_path / "csv")
    with (tmp_path / "csv" / "usage.csv").open(encoding="utf-8", newline="") as file:
        (line,) = csv.DictReader(file)
    assert float(line["calls"]) > 0
    assert line["calls_low"] != ""


def test_a_run_of_a_game_that_is_not_installed_still_has_its_headline(
    folder: Path, tmp_path: Path, cheaptalk: Cheaptalk
):
    (tmp_path / "traces").mkdir()
    for path in (folder / "traces").iterdir():
        trace = read_trace(path)
        write_trace(tmp_path / "traces" / path.name, trace.model_copy(update={"config": {"game": "gone"}}))
    said = cheaptalk("report", tmp_path)
    assert said.code == 0
    assert LUCKY in said.out
