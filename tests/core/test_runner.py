"""Runs: seeds, seating, folders, resume, failures as data, and independence of how they are played."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from framework.errors import UserError
from framework.experiment import Setup, read_experiment
from framework.results import read_result, result_of
from framework.runner import RunStopped, Tally, new_folder, plan, run
from framework.trace import read_trace
from tests.core.runs import PLAYERS, PROPOSER, manifest, playings, toy
from tests.core.toy import Toy


def test_a_run_leaves_config_manifest_and_traces(tmp_path: Path):
    outcome = run(toy(tmp_path / "run", repeats=2))
    lines = manifest(tmp_path / "run")
    assert [line["number"] for line in lines] == [0, 1, 2, 3]
    assert [(line["task"], line["repeat"]) for line in lines] == [
        ("toy-0", 0),
        ("toy-0", 1),
        ("toy-1", 0),
        ("toy-1", 1),
    ]
    for line, result in zip(lines, outcome.results, strict=True):
        trace = read_trace(tmp_path / "run" / line["trace"])
        assert trace.game_id == line["game_id"] == result.game_id
        assert line["status"] == "finished"
        assert trace.config["task"] == line["task"]
    assert outcome.planned == len(outcome.results) == 4
    assert read_experiment(tmp_path / "run" / "config.yaml").digest


def test_the_config_beside_the_results_reproduces_them(tmp_path: Path):
    run(toy(tmp_path / "first", strategy=f"{PLAYERS}:Lucky", seed=5))
    again = read_experiment(tmp_path / "first" / "config.yaml", {"out": str(tmp_path / "second")})
    run(again)
    assert playings(tmp_path / "first") == playings(tmp_path / "second")


@pytest.mark.parametrize("fields", [{"jobs": 2}, {"concurrency": 3}, {"jobs": 2, "concurrency": 2}])
def test_results_do_not_depend_on_how_games_overlap(tmp_path: Path, fields: dict[str, int]):
    run(toy(tmp_path / "plain", strategy=f"{PLAYERS}:Lucky", repeats=3))
    outcome = run(toy(tmp_path / "other", strategy=f"{PLAYERS}:Lucky", repeats=3, **fields))
    assert playings(tmp_path / "other") == playings(tmp_path / "plain")
    assert [result.number for result in outcome.results] == list(range(6))


async def test_a_run_can_be_started_where_an_event_loop_is_running(tmp_path: Path):
    assert len(run(toy(tmp_path / "run")).results) == 2


def test_an_executor_that_is_handed_in_plays_and_stays_open(tmp_path: Path):
    run(toy(tmp_path / "plain", repeats=3))
    with ThreadPoolExecutor(2) as executor:
        run(toy(tmp_path / "other", repeats=3), executor=executor)
        assert executor.submit(lambda: 1).result() == 1
    assert playings(tmp_path / "other") == playings(tmp_path / "plain")


def test_games_have_seeds_of_their_own_and_the_run_seed_changes_all_of_them(tmp_path: Path):
    setup = Setup.of(toy(repeats=3))
    seeds = [job.seed for job in plan(setup, tmp_path)]
    assert len(set(seeds)) == 6
    assert seeds == [job.seed for job in plan(Setup.of(toy(repeats=3, strategy=f"{PLAYERS}:Lucky")), tmp_path)]
    assert not set(seeds) & {job.seed for job in plan(Setup.of(toy(repeats=3, seed=1)), tmp_path)}


def test_a_game_keeps_its_id_when_more_games_are_planned(tmp_path: Path):
    few = {job.game_id for job in plan(Setup.of(toy(limit=1)), tmp_path)}
    many = [job.game_id for job in plan(Setup.of(toy(repeats=2)), tmp_path)]
    assert few < set(many)
    assert len(set(many)) == 4


@pytest.mark.parametrize(("repeats", "noted"), [(4, False), (8, False), (3, True), (5, True)])
def test_seats_that_cannot_rotate_evenly_are_noted(repeats: int, noted: bool, tmp_path: Path) -> None:
    experiment = toy(tmp_path, seats={0: f"{PLAYERS}:Lucky"}, rotate=True, limit=1, repeats=repeats)
    seats = len(plan(Setup.of(experiment), tmp_path)[0].seating)
    assert seats == 4
    assert ["no rotation is even; play a multiple of 4" in note for note in run(experiment).notes] == [True] * noted


def test_rotation_gives_every_strategy_every_seat_equally_often(tmp_path: Path):
    setup = Setup.of(toy(seats={0: f"{PLAYERS}:Lucky"}, rotate=True, limit=1, repeats=8))
    taken = Counter((seat, spec.name) for job in plan(setup, tmp_path) for seat, spec in enumerate(job.seating))
    assert {taken[seat, f"{PLAYERS}:Lucky"] for seat in range(4)} == {2}
    assert {taken[seat, PROPOSER] for seat in range(4)} == {6}


def test_seats_without_rotation_stay(tmp_path: Path):
    for job in plan(Setup.of(toy(seats={2: f"{PLAYERS}:Lucky"}, repeats=2)), tmp_path):
        assert [spec.name for spec in job.seating] == [PROPOSER, PROPOSER, f"{PLAYERS}:Lucky", PROPOSER]


def test_new_folders_are_numbered(tmp_path: Path):
    experiment = Setup.of(toy()).experiment
    assert [new_folder(experiment, tmp_path).name for _ in range(2)] == [
        "toy-small-Proposer-1",
        "toy-small-Proposer-2",
    ]


def test_progress_tells_of_every_game(tmp_path: Path):
    seen: list[Tally] = []
    run(toy(tmp_path / "run", strategy=f"{PLAYERS}:Raising"), progress=seen.append)
    assert seen == [Tally(0, 2, 0), Tally(1, 2, 1), Tally(2, 2, 2)]


def test_a_row_is_the_same_from_memory_and_from_disk(tmp_path: Path):
    for strategy in ("Counting", "Raising"):
        folder = tmp_path / strategy
        outcome = run(toy(folder, strategy=f"{PLAYERS}:{strategy}"))
        for result, path in zip(outcome.results, sorted((folder / "traces").iterdir()), strict=True):
            assert read_result(path) == result == result_of(read_trace(path))


# --- failures are data --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("strategy", "said"),
    [
        ("Raising", "raised ZeroDivisionError: no digit is left"),
        ("Hanging", "did not move within 0.2 s"),
        ("Blocking", "blocked the event loop for 0.2 s"),
    ],
)
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_strategy_that_fails_aborts_its_games_only(tmp_path: Path, strategy: str, said: str, jobs: int):
    groups = [[0, 1], [0, 1]]
    scenarios = [
        {"id": "with", "secrets": [[], []], "groups": groups},
        {"id": "without", "secrets": [[], [], []], "groups": [[1, 2], [1, 2]]},
    ]
    experiment = toy(
        tmp_path / "run",
        scenarios=scenarios,
        seats={0: f"{PLAYERS}:{strategy}"},
        limits={"seconds": 0.2},
        jobs=jobs,
    )
    outcome = run(experiment)
    (aborted,) = outcome.aborted
    assert aborted.task == "with"
    assert aborted.abort is not None
    assert aborted.abort.boundary == "strategy"
    assert aborted.abort.seat == 0
    assert said in aborted.abort.error
    assert [line["status"] for line in sorted(manifest(tmp_path / "run"), key=lambda line: line["number"])] == [
        "aborted",
        "finished",
    ]


def test_a_game_that_cannot_start_is_an_abort_of_the_harness(tmp_path: Path):
    bad = {"id": "bad", "secrets": [[], []], "groups": [[0, 5]]}
    outcome = run(toy(tmp_path / "run", scenarios=[bad]))
    (aborted,) = outcome.aborted
    assert aborted.abort is not None
    assert aborted.abort.boundary == "harness"


def test_a_worker_that_dies_stops_the_run_and_says_how_to_go_on(tmp_path: Path):
    with pytest.raises(RunStopped, match=r"a worker process died .* go on with: cheaptalk run .*run --resume"):
        run(toy(tmp_path / "run", strategy=f"{PLAYERS}:Deadly", jobs=2))


# --- the folder ---------------------------------------------------------------------------------


def test_a_finished_run_resumes_to_the_same_without_playing(tmp_path: Path):
    first = run(toy(tmp_path / "run", strategy=f"{PLAYERS}:Counting"))
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "run" / "traces").iterdir()}
    again = run(toy(tmp_path / "run", strategy=f"{PLAYERS}:Counting", jobs=2), resume=True)
    assert again.results == first.results
    assert again.usage == first.usage
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "run" / "traces").iterdir()} == before


def test_a_folder_with_a_run_is_refused_without_resume(tmp_path: Path):
    run(toy(tmp_path / "run"))
    with pytest.raises(UserError, match="holds a run already; add --resume"):
        run(toy(tmp_path / "run"))


def test_a_folder_with_other_things_is_refused(tmp_path: Path):
    (tmp_path / "thesis.tex").write_text("do not touch")
    for resume in (False, True):
        with pytest.raises(UserError, match=r"holds thesis.tex and is not a run's folder"):
            run(toy(tmp_path), resume=resume)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rules": {"sweeps": 1}}, "rules.sweeps is 4 there and 1 here"),
        ({"seed": 2}, "seed is 0 there and 2 here"),
        ({"strategy": f"{PLAYERS}:Lucky"}, "strategy is 'tests.core.toy:Proposer' there"),
        ({"repeats": 2}, "repeats is 1 there and 2 here"),
    ],
)
def test_another_experiment_is_refused_with_the_difference(tmp_path: Path, change: dict[str, object], said: str):
    run(toy(tmp_path / "run"))
    with pytest.raises(UserError, match="belongs to another experiment") as caught:
        run(toy(tmp_path / "run").model_validate({**toy(tmp_path / "run").model_dump(), **change}), resume=True)
    assert said in str(caught.value)


def test_a_torn_trace_and_a_missing_one_are_played_again(tmp_path: Path):
    folder = tmp_path / "run"
    run(toy(folder, strategy=f"{PLAYERS}:Counting", repeats=2))
    before = playings(folder)
    first, second, *_ = sorted((folder / "traces").iterdir())
    first.write_bytes(first.read_bytes()[:200])
    second.unlink()
    outcome = run(toy(folder, strategy=f"{PLAYERS}:Counting", repeats=2), resume=True)
    assert playings(folder) == before
    assert len(outcome.results) == 4
    assert [note.partition(" is missing")[0] for note in outcome.notes] == [
        "trace traces/0000-toy-0.json",
        "trace traces/0001-toy-0.json",
    ]


def test_a_trace_of_another_game_is_not_taken_for_this_one(tmp_path: Path):
    folder = tmp_path / "run"
    run(toy(folder))
    first, second = sorted((folder / "traces").iterdir())
    before = first.read_bytes()
    first.write_bytes(second.read_bytes())
    run(toy(folder), resume=True)
    assert read_trace(first).game_id == read_trace_of(before)


def read_trace_of(content: bytes) -> str:
    import json

    return str(json.loads(content)["game_id"])


def test_a_torn_last_line_of_the_manifest_costs_nothing(tmp_path: Path):
    folder = tmp_path / "run"
    first = run(toy(folder, strategy=f"{PLAYERS}:Counting"))
    path = folder / "manifest.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    stamps = {trace: trace.stat().st_mtime_ns for trace in (folder / "traces").iterdir()}
    again = run(toy(folder, strategy=f"{PLAYERS}:Counting"), resume=True)
    assert again.results == first.results
    assert again.usage == first.usage
    assert {trace: trace.stat().st_mtime_ns for trace in (folder / "traces").iterdir()} == stamps
    assert len(manifest(folder)) == 2


def test_games_that_a_model_aborted_are_played_again_and_all_usage_counts(tmp_path: Path):
    here = tmp_path / "model"
    strategy = f"{PLAYERS}:NeedsModel:path={here}"
    down = run(toy(tmp_path / "run", strategy=strategy))
    assert {result.abort.boundary for result in down.results if result.abort} == {"model"}
    here.touch()
    up = run(toy(tmp_path / "run", strategy=strategy), resume=True)
    assert up.aborted == []
    spent = sum(result.usage.prompt_tokens for result in up.results)
    assert up.usage.prompt_tokens == spent + 2 * 1000
    assert up.usage.calls == sum(result.usage.calls for result in up.results) + 2
    once_more = run(toy(tmp_path / "run", strategy=strategy), resume=True)
    assert once_more.usage == up.usage


def test_games_that_failed_for_what_the_user_can_mend_are_played_again(tmp_path: Path):
    here = tmp_path / "file"
    strategy = f"{PLAYERS}:NeedsFile:path={here}"
    without = run(toy(tmp_path / "run", strategy=strategy))
    assert {result.abort.boundary for result in without.results if result.abort} == {"user"}
    here.touch()
    assert run(toy(tmp_path / "run", strategy=strategy), resume=True).aborted == []


def test_games_that_a_strategy_aborted_are_kept(tmp_path: Path):
    run(toy(tmp_path / "run", strategy=f"{PLAYERS}:Raising"))
    again = run(toy(tmp_path / "run", strategy=f"{PLAYERS}:Raising"), resume=True)
    assert len(again.aborted) == 2
    assert len(manifest(tmp_path / "run")) == 2


def test_traces_hold_the_run_and_not_each_others_scenarios(tmp_path: Path):
    scenarios = [scenario.model_dump(mode="json") for scenario in Toy().suite("small", 0)]
    run(toy(tmp_path / "run", scenarios=scenarios, seed=4))
    for path in (tmp_path / "run" / "traces").iterdir():
        config = read_trace(path).config
        assert config["seed"] == 4
        assert config["rules"]["retries"] == 2  # type: ignore[index,call-overload]
        assert "scenarios" not in config
