"""Matchmaking, and an arena that is played, interrupted, resumed and rated again from its traces."""

from __future__ import annotations

import random
import signal
import sqlite3
import time
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from framework.analysis.rating import rate
from framework.arena import Ledger, Pairing, choose_players, parse_arena, play_arena, seat_players
from framework.arena.arena import LEDGER, ArenaStopped
from framework.errors import UserError
from framework.messages import Action, Observation
from framework.strategy import BudgetSpent
from framework.tables import read_run
from framework.trace import read_trace
from tests.analysis.conftest import Cheaptalk
from tests.analysis.players import Chatty
from tests.core.runs import finish, start

POOL = ("dsm", "dsm-private", "dsm:theta=0.5", "silent")
NEVER = Pairing(explore=0.0, distance=50.0)


class Broke(Chatty):
    """Has no money at times."""

    spent = False

    async def start_round(self, observation: Observation) -> None:
        if Broke.spent:
            raise BudgetSpent("the budget is spent")
        await super().start_round(observation)


class Falling(Chatty):
    """Cannot play."""

    async def act(self, observation: Observation) -> list[Action]:
        raise ValueError("no")


def arena(out: Path, **fields: Any) -> Any:
    """An arena of CalBench's quick suite."""
    data = {"game": "calbench", "suite": "quick", "pool": list(POOL), "games": 6, "seed": 3, "out": str(out)}
    return parse_arena({**data, **fields}, {}, "test")


def contents(folder: Path) -> dict[str, list[Any]]:
    """Everything that the ledger says."""
    db = sqlite3.connect(folder / LEDGER)
    return {table: sorted(map(repr, db.execute(f"SELECT * FROM {table}"))) for table in ("player", "match", "rating")}


# --- matchmaking ------------------------------------------------------------------------------------


@given(st.integers(2, 12), st.integers(1, 12), st.randoms(use_true_random=False))
def test_a_game_has_as_many_different_players_as_asked_for(pool: int, count: int, rng: random.Random):
    played = {f"p{n}": rng.randrange(5) for n in range(pool)}
    mmr = {name: rng.uniform(-1e6, 1e6) for name in played}
    chosen = choose_players(played, mmr, count, Pairing(0.2, 50.0), rng)
    assert len(chosen) == len(set(chosen)) == min(count, pool)
    assert played[chosen[0]] == min(played.values())


def meetings(pairing: Pairing, trials: int = 4000) -> Counter[str]:
    mmr = {"anchor": 1000.0, "near": 1050.0, "far": 1150.0}
    played = {"anchor": 0, "near": 1, "far": 1}
    rng = random.Random(0)
    return Counter(choose_players(played, mmr, 2, pairing, rng)[1] for _ in range(trials))


def test_the_odds_of_meeting_fall_with_the_distance_as_stated():
    # exp(-50/50) against exp(-150/50): 88.1 % near
    assert meetings(NEVER)["near"] / 4000 == pytest.approx(0.881, abs=0.02)


def test_exploration_draws_all_alike():
    assert meetings(Pairing(explore=1.0, distance=50.0))["near"] / 4000 == pytest.approx(0.5, abs=0.03)
    assert meetings(Pairing(explore=0.5, distance=50.0))["near"] / 4000 == pytest.approx(0.69, abs=0.03)


@given(st.integers(1, 9), st.integers(1, 20), st.randoms(use_true_random=False))
def test_seats_are_shared_out_evenly(players: int, seats: int, rng: random.Random):
    names = [f"p{n}" for n in range(players)]
    counts = Counter(seat_players(names, seats, rng))
    assert sum(counts.values()) == seats
    assert len(counts) == min(players, seats)
    assert max(counts.values()) - min(counts.get(name, 0) for name in names) <= 1


# --- play -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("arenas") / "whole"
    tally = play_arena(arena(path))
    assert tally == (6, 6, 0)
    return path


def test_everyone_plays_and_every_task_comes_before_one_comes_again(folder: Path):
    matches = Ledger(folder / LEDGER).matches()
    assert [match.number for match in matches] == list(range(6))
    assert {match.status for match in matches} == {"finished"}
    assert len({match.task for match in matches}) == 6
    counts = Counter(player for match in matches for player in set(match.seating))
    assert set(counts) == set(POOL)
    assert max(counts.values()) - min(counts.values()) <= 1
    for match in matches:
        trace = read_trace(folder / match.trace)
        assert (trace.game_id, trace.start.strategies) == (match.game_id, match.seating)


def test_rating_the_traces_again_gives_what_the_ledger_says(folder: Path):
    ledger = Ledger(folder / LEDGER)
    again = rate([read_run(folder)], competes=lambda player: True)
    assert [(step.number, step.change) for step in again.history] == ledger.changes()
    assert len(again.history) > 20
    for standing in again.standings:
        for rated, rating in zip(again.rated, standing.ratings, strict=True):
            assert ledger.ratings()[rated.name][standing.player] == rating


def test_the_same_arena_gives_the_same_ledger(folder: Path, tmp_path: Path):
    play_arena(arena(tmp_path / "again"))
    assert contents(tmp_path / "again") == contents(folder)
    play_arena(arena(tmp_path / "other", seed=4))
    assert contents(tmp_path / "other")["match"] != contents(folder)["match"]


def test_an_arena_in_two_sittings_is_the_arena_in_one(folder: Path, tmp_path: Path):
    out = tmp_path / "halves"
    play_arena(arena(out, games=2))
    with pytest.raises(UserError, match="holds an arena already; add --resume"):
        play_arena(arena(out))
    assert play_arena(arena(out), resume=True) == (6, 6, 0)
    assert contents(out) == contents(folder)


def test_matches_that_were_played_and_not_written_down_are_taken_over(folder: Path, tmp_path: Path):
    out = tmp_path / "killed"
    play_arena(arena(out, games=4))
    before = {path.name: path.stat().st_mtime_ns for path in (out / "traces").iterdir()}
    db = sqlite3.connect(out / LEDGER)
    db.execute("UPDATE match SET status = 'planned' WHERE number = 3")
    db.execute("DELETE FROM rating WHERE match = 3")
    db.commit()
    db.close()
    play_arena(arena(out), resume=True)
    after = {path.name: path.stat().st_mtime_ns for path in (out / "traces").iterdir()}
    assert {name: after[name] for name in before} == before
    assert contents(out) == contents(folder)


def test_a_killed_arena_goes_on_to_the_same_end(folder: Path, tmp_path: Path):
    out = tmp_path / "killed"
    flags = [f"--pool={name}" for name in POOL]
    process = start("arena", "calbench", *flags, "--suite=quick", "--games=6", "--seed=3", "--out", out)
    deadline = time.monotonic() + 100
    while process.poll() is None and time.monotonic() < deadline and len(list(out.glob("traces/0*.json"))) < 2:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    play_arena(arena(out), resume=True)
    assert contents(out) == contents(folder)


def test_an_interrupted_arena_says_how_to_go_on(tmp_path: Path):
    out = tmp_path / "interrupted"
    flags = [f"--pool={name}" for name in POOL]
    process = start("arena", "calbench", *flags, "--suite=quick", "--games=5000", "--seed=3", "--out", out)
    deadline = time.monotonic() + 100
    while process.poll() is None and time.monotonic() < deadline and len(list(out.glob("traces/0*.json"))) < 2:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    code, printed, said = finish(process)
    assert (code, printed) == (130, "")
    expected = f"interrupted; what was played is kept, go on with: cheaptalk arena {out} --resume"
    assert said == f"cheaptalk: {expected}\n"


def test_matches_made_at_once_do_not_know_of_each_other(tmp_path: Path):
    play_arena(arena(tmp_path / "one", at_once=3, explore=0.0))
    play_arena(arena(tmp_path / "two", at_once=3, explore=0.0, games=3))
    play_arena(arena(tmp_path / "two", at_once=3, explore=0.0), resume=True)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    changes = Ledger(tmp_path / "one" / LEDGER).changes()
    assert [match for match, _ in changes] == sorted(match for match, _ in changes)
    again = rate([read_run(tmp_path / "one")], competes=lambda player: True)
    assert [step.change for step in again.history] == [change for _, change in changes]


def test_a_player_that_joins_later_meets_the_others_from_then_on(tmp_path: Path):
    out = tmp_path / "arena"
    play_arena(arena(out, games=4))
    play_arena(arena(out, pool=[*POOL, "dsm-welfare"], games=7), resume=True)
    ledger = Ledger(out / LEDGER)
    assert ledger.players() == (*POOL, "dsm-welfare")
    newcomer = [match.number for match in ledger.matches() if "dsm-welfare" in match.seating]
    assert newcomer[0] == 4  # it has played least, so it comes first
    before = sum(len(set(match.seating)) for match in ledger.matches()[:4])
    assert before == sum(ledger.played()[name] for name in POOL) - sum(
        len(set(match.seating) - {"dsm-welfare"}) for match in ledger.matches()[4:]
    )


def test_aborted_matches_are_kept_and_rate_nobody(tmp_path: Path):
    out = tmp_path / "arena"
    pool = ["dsm", "silent", "tests.analysis.test_arena:Falling"]
    assert play_arena(arena(out, pool=pool, games=3)) == (3, 3, 3)
    ledger = Ledger(out / LEDGER)
    assert ledger.changes() == []
    rows = sqlite3.connect(out / LEDGER).execute("SELECT status, boundary, error FROM match").fetchall()
    assert {(status, boundary) for status, boundary, _ in rows} == {("aborted", "strategy")}
    assert all("no" in error for *_, error in rows)


def test_a_spent_budget_stops_the_arena_and_the_match_is_played_when_it_goes_on(tmp_path: Path):
    out = tmp_path / "arena"
    pool = ["dsm", "tests.analysis.test_arena:Broke"]
    play_arena(arena(out, pool=pool, games=2))
    Broke.spent = True
    try:
        with pytest.raises(ArenaStopped, match=r"the budget is spent; .* cheaptalk arena .* --resume"):
            play_arena(arena(out, pool=pool, games=4), resume=True)
    finally:
        Broke.spent = False
    assert [match.status for match in Ledger(out / LEDGER).matches()] == ["finished", "finished", "planned"]
    assert play_arena(arena(out, pool=pool, games=4), resume=True) == (4, 4, 0)


def test_an_arena_belongs_to_its_folder_and_one_process(tmp_path: Path, folder: Path):
    with pytest.raises(UserError, match=r"belongs to another arena: explore is 0.2 there and 0.9 here"):
        play_arena(arena(folder, explore=0.9), resume=True)
    (tmp_path / "run" / "traces").mkdir(parents=True)
    (tmp_path / "run" / "traces" / "0000-x.json").write_text("{}")
    with pytest.raises(UserError, match="holds traces and is not an arena's folder"):
        play_arena(arena(tmp_path / "run"))
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / LEDGER).write_text("not a database, but long enough to be looked at as one" * 10)
    with pytest.raises(UserError, match=r"ledger .* cannot be used"):
        play_arena(arena(tmp_path / "bad"), resume=True)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"pool": ["dsm"]}, "name two or more"),
        ({"pool": ["dsm", "dsm"]}, "'dsm' is named 2 times"),
        ({"explore": 1.5}, "explore"),
        ({"paol": 1}, "'paol' is not a known key; did you mean 'pool'"),
        ({"pool": ["dsm", "dms"]}, "strategy 'dms' is unknown; did you mean 'dsm'"),
        ({"game": "east", "suite": "", "pool": ["uniform", "normative"]}, "nothing to rate players by"),
    ],
)
def test_what_does_not_fit_is_said_before_anything_is_played(tmp_path: Path, fields: dict[str, Any], said: str):
    with pytest.raises(UserError, match=said):
        play_arena(arena(tmp_path / "arena", **fields))
    assert list((tmp_path / "arena").glob("traces/*.json")) == []


# --- the command ------------------------------------------------------------------------------------


def test_the_command_plays_prints_goes_on_and_refuses(tmp_path: Path, cheaptalk: Cheaptalk):
    out = tmp_path / "arena"
    flags = [part for name in POOL for part in ("--pool", name)]
    said = cheaptalk("arena", "calbench", *flags, "--games", "2", "--out", out)
    assert said.code == 0
    assert "MMR" in said.out
    assert said.out.endswith(f"Arena: {out}\n")
    assert cheaptalk("arena", out).err == f"cheaptalk: {out} holds an arena; add --resume to go on with it\n"
    more = cheaptalk("arena", out, "--resume", "--games", "4", "--pool", "imap", "--pool", "dsm")
    assert more.code == 0
    assert Ledger(out / LEDGER).players() == (*POOL, "imap")
    assert yaml.safe_load((out / "arena.yaml").read_text())["games"] == 4
    assert "add --out" in cheaptalk("arena", "calbench", "--pool", "dsm", "--pool", "imap").err


def test_a_run_is_no_arena_to_go_on_with(tmp_path: Path, cheaptalk: Cheaptalk):
    (tmp_path / "run" / "traces").mkdir(parents=True)
    said = cheaptalk("arena", tmp_path / "run", "--resume", "--games", "4")
    assert (said.code, said.out) == (2, "")
    assert "holds no arena.yaml and is not an arena's folder" in said.err


def test_an_arenas_file_describes_it(tmp_path: Path, cheaptalk: Cheaptalk):
    out = tmp_path / "arena"
    file = tmp_path / "mine.yaml"
    file.write_text(yaml.safe_dump({"game": "calbench", "pool": list(POOL), "games": 1, "out": str(out)}))
    assert cheaptalk("arena", file, "--rule", "turns=3", "--games", "2").code == 0
    kept = yaml.safe_load((out / "arena.yaml").read_text())
    assert (kept["rules"], kept["games"]) == ({"turns": 3}, 2)
    traces = [read_trace(path) for path in sorted((out / "traces").iterdir())]
    assert all(trace.config["rules"]["turns"] == 3 for trace in traces)  # type: ignore[index,call-overload]
    pairs = product(traces, POOL)
    assert {name for trace, name in pairs if name in trace.start.strategies} == set(POOL)
