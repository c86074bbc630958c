"""The four CSV files, the table by strategy, and the command that writes them."""

from __future__ import annotations

import asyncio
import csv
from pathlib import Path
from typing import Any

import pytest

from framework import Seating, Strategy, Trace, play, read_trace, write_trace
from framework.beliefs import belief_at, move
from framework.cli import main
from framework.errors import UserError
from framework.evidence import Talk, gather
from framework.privacy import Privacy, leaks, measure, summarise_leaks
from framework.privacy_tables import PrivacyTables
from framework.tables import Table
from framework.trace import GameAborted
from games.calbench import CalBench
from protocols.imap import Imap
from protocols.sdmap import SdMap
from tests.calbench.builders import scenario
from tests.core.toy import Toy
from tests.privacy.talking import TABLE, Line, trace_of

TASK = scenario(["1.2.#.", ".3..1#", "2...11", "#.1.2."], [(0, 1, 2), (1, 2, 3), (0, 2, 3)])


def told(slots: list[int], beliefs: list[float]) -> dict[str, Any]:
    return {"kind": "told", "slots": slots, "beliefs": beliefs}


HAND = trace_of(
    [
        Line(0, 1, (0,), told([0, 1], [1.0, 0.0])),
        Line(0, 1, (0,), {"kind": "hinted", "slots": [1], "beliefs": [1.0]}),
        Line(1, 1, (0,), told([3], [0.25])),
        Line(1, 2, (0, 1), told([2], [1.0])),
    ],
    groups=[(0, 1), (1, 2)],
)


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def written(folder: Path, *traces: Trace, prior: float = 0.5) -> dict[str, list[dict[str, str]]]:
    games = [gather(Talk.of(trace), TABLE, path=f"{place}.json") for place, trace in enumerate(traces)]
    with PrivacyTables(folder, TABLE) as tables:
        tables.add(move(games, prior))
    return {path.stem: read(path) for path in tables.files}


def test_the_columns_are_those_of_the_paper(tmp_path):
    written(tmp_path, HAND)
    heads = {path.stem: path.read_text().partition("\n")[0] for path in tmp_path.iterdir()}
    assert heads == {
        "belief_evidence": "trace_path,game_id,event_index,round,target_agent,observer_agent,slot,source,evidence,"
        "strength,belief_before,belief_after",
        "pair_round_vps": "trace_path,game_id,round,target_agent,observer_agent,target_is_participant,"
        "observer_is_participant,num_agents,num_slots,observations,prior_distance_to_ideal,"
        "posterior_distance_to_ideal,vps_loss,vps_loss_per_slot,prior",
        "game_summary": "trace_path,game_id,vps_loss_total,vps_loss_mean,participant_pair_vps_loss_total,"
        "participant_pair_vps_loss_mean,observation_count",
        "game_target_summary": "trace_path,game_id,target_agent,vps_loss_total,excess_vps_loss_total,"
        "participant_pair_vps_loss_total,participant_pair_vps_loss_mean,vps_floor",
    }


def test_every_update_is_a_row(tmp_path):
    rows = written(tmp_path, HAND)["belief_evidence"]
    found = [(r["event_index"], r["target_agent"], r["observer_agent"], r["slot"], r["source"]) for r in rows]
    assert found == [
        ("2", "1", "0", "0", "told"),
        ("2", "1", "0", "1", "told"),
        ("3", "1", "0", "1", "hinted"),
        ("5", "1", "0", "3", "told"),
        ("6", "2", "0", "2", "told"),
        ("6", "2", "1", "2", "told"),
    ]
    assert (rows[2]["belief_before"], rows[2]["belief_after"], rows[2]["strength"]) == ("0.0", "0.3", "0.3")


def test_every_ordered_pair_of_every_round_is_a_row(tmp_path):
    rows = written(tmp_path, HAND)["pair_round_vps"]
    assert len(rows) == 2 * 3 * 2
    loss = {(int(r["round"]), int(r["target_agent"]), int(r["observer_agent"])): float(r["vps_loss"]) for r in rows}
    assert {pair: value for pair, value in loss.items() if value} == pytest.approx(
        {(0, 1, 0): 0.7, (1, 1, 0): 0.25, (1, 2, 0): 0.5, (1, 2, 1): 0.5}
    )
    first = next(r for r in rows if (r["round"], r["target_agent"], r["observer_agent"]) == ("0", "1", "0"))
    assert (first["observations"], first["target_is_participant"], first["observer_is_participant"]) == ("3", "1", "1")
    assert float(first["vps_loss_per_slot"]) == pytest.approx(0.7 / 4)
    outside = next(r for r in rows if (r["round"], r["target_agent"], r["observer_agent"]) == ("1", "1", "0"))
    assert (outside["target_is_participant"], outside["observer_is_participant"]) == ("1", "0")


def test_summaries_add_the_pairs_up(tmp_path):
    files = written(tmp_path, HAND)
    (game,) = files["game_summary"]
    assert float(game["vps_loss_total"]) == pytest.approx(1.95)
    assert float(game["vps_loss_mean"]) == pytest.approx(1.95 / 12)
    assert float(game["participant_pair_vps_loss_total"]) == pytest.approx(0.7 + 0.5)
    assert float(game["participant_pair_vps_loss_mean"]) == pytest.approx((0.7 + 0.5) / 4)
    assert game["observation_count"] == "6"
    totals = [float(row["vps_loss_total"]) for row in files["game_target_summary"]]
    assert totals == pytest.approx([0.0, 0.95, 1.0])
    assert [row["excess_vps_loss_total"] for row in files["game_target_summary"]] == ["0.0", "0.0", "0.0"]
    assert {row["vps_floor"] for row in files["game_target_summary"]} == {"5.0"}


def test_distances_are_to_full_uncertainty_whatever_the_prior(tmp_path):
    rows = written(tmp_path, HAND, prior=0.3)["pair_round_vps"]
    first = next(r for r in rows if (r["round"], r["target_agent"], r["observer_agent"]) == ("0", "1", "0"))
    assert float(first["prior"]) == 0.3
    assert float(first["prior_distance_to_ideal"]) == pytest.approx(4 * 0.2)
    assert float(first["posterior_distance_to_ideal"]) == pytest.approx(0.5 + 0.2 + 2 * 0.2)
    assert float(first["vps_loss"]) == pytest.approx(0.7 + 0.0)


def test_a_silent_game_has_rows_without_loss(tmp_path):
    files = written(tmp_path, HAND, trace_of([]))
    assert [row["trace_path"] for row in files["game_summary"]] == ["0.json", "1.json"]
    assert float(files["game_summary"][1]["vps_loss_total"]) == 0.0


# --- by strategy --------------------------------------------------------------------------------


def by_strategy(*traces: Trace) -> tuple[Table, dict[str, dict[str, Any]]]:
    found = leaks(move([gather(Talk.of(trace), TABLE) for trace in traces]), len(TABLE.rules))
    table = summarise_leaks(found, [], TABLE)
    names = [column.name for column in table.columns]
    return table, {row.strategy: dict(zip(names, row.cells, strict=True)) for row in table.rows}


def test_a_strategy_answers_for_its_own_seats_as_targets():
    everything = told(list(range(12)), [1.0] * 12)
    lines = [Line(0, 1, (0,), everything), Line(0, 2, (0,), everything), Line(0, 0, (1,), told([0], [1.0]))]
    _, found = by_strategy(trace_of(lines, slots=12, strategies=["shy", "open", "open"]))
    assert found["open"]["vps"].mean == pytest.approx(1.0)
    assert found["open"]["vps_total"].mean == pytest.approx(12.0)
    assert found["shy"]["vps"].mean == 0.0
    assert found["shy"]["vps_total"].mean == pytest.approx(0.5)


def test_kinds_of_message_add_up_to_the_total_and_silent_kinds_have_no_column():
    table, found = by_strategy(HAND, HAND)
    parts = [cell.mean for name, cell in found["talker"].items() if name in ("vps_told", "vps_hinted")]
    assert parts == pytest.approx([2.25, -0.3])
    assert sum(parts) == pytest.approx(found["talker"]["vps_total"].mean)
    assert [column.name for column in table.columns][3:] == ["vps_told", "vps_hinted"]


def test_the_share_among_participants():
    _, found = by_strategy(HAND)
    assert found["talker"]["participant_share"].mean == pytest.approx(1.2 / 1.95)


def test_a_seat_that_spoke_prose_is_in_no_mean():
    lines = [Line(0, 1, (0,), "Tuesday suits me"), Line(0, 2, (0,), told(list(range(12)), [1.0] * 12))]
    table, found = by_strategy(trace_of(lines, slots=12))
    assert table.rows[0].seats == 2
    assert found["talker"]["vps"].mean == pytest.approx((0.0 + 1.0) / 2)
    assert found["talker"]["vps_total"] is None


# --- the command --------------------------------------------------------------------------------

PROTOCOLS: dict[str, type[Strategy[Any]]] = {"imap": Imap, "sd-map": SdMap}


def played(name: str) -> Trace:
    return asyncio.run(play(CalBench(), TASK, [Seating(name, PROTOCOLS[name]()) for _ in range(TASK.num_agents)]))


def run_of(folder: Path, name: str, *traces: Trace) -> Path:
    (folder / name / "traces").mkdir(parents=True)
    for number, trace in enumerate(traces or [played(name)] * 2):
        write_trace(folder / name / "traces" / f"{number:04d}-small.json", trace)
    return folder / name


def cell(privacy: Privacy, strategy: str, column: str) -> Any:
    (row,) = (row for row in privacy.table.rows if row.strategy == strategy)
    return row.cells[[column.name for column in privacy.table.columns].index(column)]


def test_the_measured_headline_is_the_metric_of_the_games(tmp_path):
    runs = [run_of(tmp_path, name) for name in PROTOCOLS]
    found = measure(runs, tmp_path / "out")
    for name in PROTOCOLS:
        assert cell(found, name, "vps").mean == pytest.approx(played(name).metrics["vps"].game)
    assert {row["trace_path"] for row in read(tmp_path / "out" / "game_summary.csv")} == {
        str(path) for run in runs for path in (run / "traces").iterdir()
    }


def test_weights_prior_and_floor_change_what_they_say(tmp_path):
    run = run_of(tmp_path, "imap")
    plain = cell(measure([run]), "imap", "vps_total").mean
    assert cell(measure([run], weighted=True), "imap", "vps_total").mean > plain
    assert cell(measure([run], prior=0.9), "imap", "vps_total").mean != plain
    assert cell(measure([run], floor=0.0), "imap", "vps").mean * TASK.num_agents == pytest.approx(plain)


def test_aborted_games_are_counted_and_in_no_mean_and_no_file(tmp_path):
    whole = played("imap")
    failure = GameAborted(boundary="model", error="the provider is down")
    torn = whole.model_copy(update={"events": (*whole.events[:20], failure)})
    found = measure([run_of(tmp_path, "imap", whole, torn)], tmp_path / "out")
    (row,) = found.table.rows
    assert (row.games, row.aborted, found.table.games) == (1, 1, 2)
    assert len(read(tmp_path / "out" / "game_summary.csv")) == 1


@pytest.mark.parametrize("prior", [0.0, 1.0])
def test_a_faulty_prior_is_said_in_one_sentence(tmp_path, prior):
    with pytest.raises(UserError, match="give a probability strictly between"):
        measure([run_of(tmp_path, "imap")], prior=prior)


def test_a_folder_without_traces_and_a_game_without_a_table_are_said(tmp_path):
    with pytest.raises(UserError, match="holds no traces"):
        measure([tmp_path])
    stranger = played("imap").model_copy(update={"config": {"game": "tests.core.toy:Toy"}})
    with pytest.raises(UserError, match="declares no evidence table"):
        measure([run_of(tmp_path, "toy", stranger)])
    with pytest.raises(UserError, match="one game at a time"):
        measure([run_of(tmp_path, "imap"), tmp_path / "toy"])


class Declares(Toy):
    """A game that has nothing to do with calendars, and declares what its messages give away."""

    evidence = TABLE


def test_a_game_gets_all_of_this_by_declaring_its_table(tmp_path):
    trace = HAND.model_copy(update={"config": {"game": f"{__name__}:Declares"}})
    found = measure([run_of(tmp_path, "declares", trace)], tmp_path / "out")
    assert cell(found, "talker", "vps_total").mean == pytest.approx(1.95)
    assert len(read(tmp_path / "out" / "belief_evidence.csv")) == 6
    assert belief_at(trace, 0, 1, 2).tolist() == [1.0, 0.0, 0.5, 0.5]


def test_the_talk_that_is_read_from_a_file_is_that_of_the_trace(tmp_path):
    for name in PROTOCOLS:
        path = run_of(tmp_path, name) / "traces" / "0000-small.json"
        assert Talk.read(path) == Talk.of(read_trace(path))


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"events": [], "game_id": "g", "config": {}}', '{"game_id": "g'])
def test_a_torn_trace_is_said_in_one_sentence(tmp_path, content):
    (tmp_path / "torn.json").write_text(content)
    with pytest.raises(UserError, match="play") as error:
        measure([tmp_path / "torn.json"])
    assert "\n" not in str(error.value)


def test_the_command_prints_a_row_a_strategy_and_names_its_files(tmp_path, capsys):
    runs = [str(run_of(tmp_path, name)) for name in PROTOCOLS]
    with pytest.raises(SystemExit) as exit:
        main(["privacy", *runs, "--out", str(tmp_path / "out")])
    assert exit.value.code == 0
    said = capsys.readouterr().out
    assert [line.split()[0] for line in said.splitlines()[1:3]] == ["imap", "sd-map"]
    assert said.count(".csv") == 4
