from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from framework.analysis.rating import rate
from framework.errors import UserError
from framework.pages.content import Content
from framework.pages.runs import Run, boards, open_runs
from framework.pages.server import listen, make_app
from framework.pages.site import write_site
from framework.tables import summarise
from framework.trace import MessageSent, read_trace
from tests.pages.runs import hostile, play, toy
from tests.pages.test_data import CALL, unescaped


def data_of(script: str) -> Any:
    """What a data file holds."""
    found = CALL.fullmatch(script)
    assert found is not None
    return json.loads(unescaped(found[2]))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return toy(tmp_path_factory.mktemp("toy") / "run one", strategy="tests.core.players:Counting", repeats=3)


def test_a_run_is_listed_with_its_games_strategies_and_usage(folder: Path) -> None:
    summary = open_runs([folder])[0].summary()
    assert (summary.id, summary.name, summary.games, summary.aborted) == ("run-one", "run one", 6, 0)
    assert summary.strategies == ("tests.core.players:Counting",)
    assert summary.tokens > 0
    assert re.match(r"\d{4}-\d\d-\d\dT", summary.started)


def test_aborted_games_are_counted_and_have_their_failure(tmp_path: Path) -> None:
    run = open_runs([toy(tmp_path / "raising", strategy="tests.core.players:Raising")])[0]
    assert run.summary().aborted == run.summary().games == 2
    games = run.page().games
    assert games.boundary == ("strategy", "strategy")
    assert "no digit is left" in games.error[0]


def test_two_folders_of_one_name_are_two_runs(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / folder.name
    shutil.copytree(folder, other)
    first, second = open_runs([folder, other])
    assert (first.id, second.id) == ("run-one", "run-one-2")
    (board,) = boards([first, second])
    assert {row.run for row in board.rows} == {"run-one", "run-one-2"}


def test_one_folder_named_twice_is_one_run(folder: Path) -> None:
    assert len(open_runs([folder, folder / ".." / folder.name])) == 1


def test_the_table_is_that_of_the_report(folder: Path) -> None:
    run = open_runs([folder])[0]
    table = summarise([run.results], run.reporting)
    row, expected = run.board().rows[0], table.rows[0]
    assert [column.name for column in run.board().columns] == [column.name for column in table.columns]
    assert (row.games, row.seats) == (expected.games, expected.seats)
    for cell, interval in zip(row.cells, expected.cells, strict=True):
        assert cell is not None
        assert interval is not None
        assert cell == pytest.approx(interval, rel=1e-5)


def test_games_without_numbers_of_their_own_are_numbered_by_their_place(folder: Path, tmp_path: Path) -> None:
    loose = tmp_path / "loose" / "traces"
    loose.mkdir(parents=True)
    for name, path in zip("abc", sorted((folder / "traces").glob("*.json")), strict=False):
        (loose / f"{name}.json").write_text(re.sub(r'"number":\d+', '"number":0', path.read_text()))
    run = open_runs([loose.parent])[0]
    assert run.numbers == (0, 1, 2)
    assert [path and path.name for path in map(run.trace, run.numbers)] == ["a.json", "b.json", "c.json"]


def test_a_torn_trace_is_left_out_with_a_note(folder: Path, tmp_path: Path) -> None:
    torn = tmp_path / "torn"
    shutil.copytree(folder, torn)
    victim = sorted((torn / "traces").glob("*.json"))[1]
    victim.write_text(victim.read_text()[:500])
    run = open_runs([torn])[0]
    assert len(run.numbers) == 5
    assert victim.name in run.page().notes[0]


def test_a_game_whose_trace_is_gone_is_said(folder: Path, tmp_path: Path) -> None:
    whole = open_runs([folder])[0]
    assert whole.notes == ()
    holey = tmp_path / "holey"
    shutil.copytree(folder, holey)
    victim = sorted((holey / "traces").glob("*.json"))[1]
    victim.unlink()
    with (holey / "manifest.jsonl").open("a") as manifest:
        manifest.write('{"torn')
    run = open_runs([holey])[0]
    assert len(run.numbers) == 5
    (note,) = run.page().notes
    assert victim.name in note
    assert "cheaptalk run" in note


def test_the_messages_of_a_run_are_those_of_its_traces(folder: Path) -> None:
    (run,) = open_runs([folder])
    rows = run.messages()
    said = []
    for number in run.numbers:
        path = run.trace(number)
        assert path is not None
        said += [
            (number, m.id, m.round, m.sender, m.to, m.channel, m.content) for m in read_trace(path).of(MessageSent)
        ]
    assert said
    columns = (rows.number, rows.message, rows.round, rows.sender, rows.to, rows.channel, rows.content)
    assert list(zip(*columns, strict=True)) == said


def test_the_pages_know_what_each_strategy_is_called_for_short(folder: Path) -> None:
    front = data_of(Content(open_runs([folder])).front())
    assert front["names"] == {"tests.core.players:Counting": "tests.core.players:Counting"}


def test_a_run_read_anew_has_the_games_written_since(folder: Path, tmp_path: Path) -> None:
    growing = tmp_path / "growing"
    (growing / "traces").mkdir(parents=True)
    first, *rest = sorted((folder / "traces").glob("*.json"))
    shutil.copy(first, growing / "traces")
    run = open_runs([growing])[0]
    assert run.board().rows[0].games == 1
    for path in rest:
        shutil.copy(path, growing / "traces")
    run.refresh()
    assert len(run.numbers) == 6
    assert run.board().rows[0].games == 6


def test_a_config_that_is_no_longer_understood_leaves_the_games_to_look_at(folder: Path, tmp_path: Path) -> None:
    old = tmp_path / "old"
    shutil.copytree(folder, old)
    (old / "config.yaml").write_text("game: toy\nforgotten: 1\n")
    run = open_runs([old])[0]
    assert "'forgotten' is not a known key" in run.page().notes[0]
    assert run.summary().games == 6
    assert run.game_pages(0) is not None


def test_a_folder_without_traces_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=f"{tmp_path} holds no traces"):
        open_runs([tmp_path])


def test_a_leaderboard_rates_those_who_met_as_the_rating_command_does(tmp_path: Path) -> None:
    out = play(
        tmp_path / "met",
        game="calbench",
        strategy="tests.pages.players:Mute",
        seats={1: "tests.pages.players:Hasty", 2: "imap"},
        rotate=True,
    )
    runs = open_runs([out])
    (board,) = boards(runs)
    expected = rate([run.results for run in runs])
    assert board.ratings is not None
    assert [player.player for player in board.ratings.players] == [s.player for s in expected.standings]
    for player, standing in zip(board.ratings.players, expected.standings, strict=True):
        assert player.mmr == pytest.approx(standing.mmr, abs=0.01)
        assert player.history[-1][1] == player.mmr
        assert [part.games for part in player.parts] == list(standing.rated)
    assert [reference.player for reference in board.ratings.references] == ["imap"]


def test_a_leaderboard_without_rivals_has_no_ratings(folder: Path) -> None:
    assert boards(open_runs([folder]))[0].ratings is None


# --- the site -------------------------------------------------------------------------------------


def site_files(out: Path) -> set[str]:
    return {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}


def test_a_site_has_a_page_and_texts_for_every_game(folder: Path, tmp_path: Path) -> None:
    runs = open_runs([folder])
    index = write_site(runs, tmp_path / "site")
    assert index == tmp_path / "site/index.html"
    files = site_files(tmp_path / "site")
    for number in runs[0].numbers:
        assert {f"data/run/run-one/game/{number}.js", f"data/run/run-one/texts/{number}.js"} <= files
    assert {"data/front.js", "data/board.js", "data/run/run-one.js", "data/run/run-one/board.js"} <= files


def test_a_site_names_nothing_outside_itself(folder: Path, tmp_path: Path) -> None:
    write_site(open_runs([folder]), tmp_path / "site")
    for path in (tmp_path / "site/index.html", *(tmp_path / "site/assets").iterdir()):
        found = set(re.findall(r"(?:https?:)?//[\w.]+", path.read_text(encoding="utf-8")))
        assert found <= {"http://www.w3.org"}, path


def test_a_site_is_replaced_by_the_next_and_nothing_of_it_stays(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "site"
    write_site(open_runs([folder]), out, traces=True)
    assert "traces/run-one/0.json" in site_files(out)
    other = toy(tmp_path / "other", limit=1)
    write_site(open_runs([other]), out)
    assert not [name for name in site_files(out) if "run-one" in name]


def test_a_site_never_replaces_what_it_did_not_write(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(UserError, match=r"holds mine.txt and is not a site; give another --out"):
        write_site(open_runs([folder]), tmp_path)
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_prompts_can_be_left_out(tmp_path: Path) -> None:
    runs = open_runs([hostile(tmp_path)])
    write_site(runs, tmp_path / "site", prompts=False)
    texts = (tmp_path / f"site/data/run/{runs[0].id}/texts/0.js").read_text()
    assert data_of(texts) == {}


# --- the server -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def client(folder: Path) -> TestClient:
    return TestClient(make_app(open_runs([folder])), base_url="http://127.0.0.1")


def test_the_server_gives_the_files_of_the_site(folder: Path, tmp_path: Path, client: TestClient) -> None:
    out = tmp_path / "site"
    write_site(open_runs([folder]), out, traces=True)
    for name in site_files(out) - {"index.html", "cheaptalk-site"}:
        assert client.get(f"/{name}").content == (out / name).read_bytes(), name
    assert client.get("/").headers["content-type"].startswith("text/html")


@pytest.mark.parametrize(
    "path",
    [
        "/data/run/none.js",
        "/data/run/run-one/game/99.js",
        "/data/run/run-one/game/x.js",
        "/data/run/run-one/../../../pyproject.js",
        "/assets/%2e%2e/model.py",
        "/assets/core.js",
        "/traces/run-one/99.json",
        "/traces/..%2frun-one/0.json",
        "/data/front.json",
    ],
)
def test_what_is_not_a_page_is_not_found(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_page_of_another_site_cannot_load_the_data(client: TestClient, site: str) -> None:
    for path in ("/data/front.js", "/traces/run-one/0.json"):
        assert client.get(path, headers={"Sec-Fetch-Site": site}).status_code == 404
        answer = client.get(path, headers={"Sec-Fetch-Site": "same-origin"})
        assert answer.status_code == 200
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"


def test_a_foreign_host_name_is_refused(client: TestClient) -> None:
    assert client.get("/data/front.js", headers={"Host": "attacker.example"}).status_code == 400


def test_a_trace_that_vanished_is_an_error_in_words_and_not_a_crash(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    runs = open_runs([copy])
    client = TestClient(make_app(runs), base_url="http://127.0.0.1")
    path = runs[0].trace(0)
    assert path is not None
    path.unlink()
    answer = client.get("/data/run/copy/game/0.js")
    assert answer.status_code == 500
    assert "cannot be read" in answer.text


def test_a_port_in_use_is_refused_in_one_sentence() -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UserError, match=f"--port {port} cannot be used .*; give another --port"):
            listen("127.0.0.1", port)


def test_the_front_of_the_pages_holds_the_runs_and_no_games(folder: Path) -> None:
    runs: tuple[Run, ...] = open_runs([folder])
    front = data_of(Content(runs, title="Ours").front())
    assert front["title"] == "Ours"
    assert [run["id"] for run in front["runs"]] == ["run-one"]
    assert len(Content(runs).front()) < 1000
