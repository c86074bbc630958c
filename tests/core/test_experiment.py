"""The description of a run: files, flags, refusals, and the resolved config."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from framework.errors import UserError
from framework.experiment import Experiment, Setup, parse_experiment, read_experiment, write_experiment
from tests.core.runs import PLAYERS, PROPOSER, TOY, toy
from tests.core.toy import Toy

FILE = f"""
game: {TOY}
suite: small
suite_seed: 3
limit: 1
rules:
  channels: [dm]
  topology: clusters:size=2
  sweeps: 2
strategy: {PROPOSER}
seats:
  1: {PLAYERS}:NeedsModel:path=/tmp/x
  2: {{name: {PLAYERS}:NeedsModel, params: {{path: /tmp/y}}}}
limits: {{seconds: 5}}
seed: 9
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "experiment.yaml"
    path.write_text(FILE)
    return path


def test_one_file_describes_a_run(file: Path):
    experiment, game, scenarios = Setup.of(read_experiment(file))
    assert isinstance(game, Toy)
    assert game.rules.channels == ("dm",)
    assert game.rules.sweeps == 2
    assert game.topology(scenarios[0]).edges == ((0, 1), (1, 2), (2, 3))
    assert len(scenarios) == 1
    assert experiment.seats[1].params == {"path": "/tmp/x"}
    assert experiment.seats[2].params == {"path": "/tmp/y"}
    assert experiment.limits.seconds == 5


def test_flags_make_the_same_experiment_as_a_file(file: Path):
    flags = {
        "game": TOY,
        "suite": "small",
        "suite_seed": 3,
        "limit": 1,
        "rules": {"channels": ["dm"], "topology": {"name": "clusters", "size": 2}, "sweeps": 2},
        "strategy": PROPOSER,
        "seats": {1: f"{PLAYERS}:NeedsModel:path=/tmp/x", 2: f"{PLAYERS}:NeedsModel:path=/tmp/y"},
        "limits": {"seconds": 5},
        "seed": 9,
    }
    assert parse_experiment(flags, {}, "flags") == read_experiment(file)


def test_overrides_take_the_place_of_what_the_file_says(file: Path):
    found = read_experiment(file, {"seed": 1, "rules": {"sweeps": 4}, "seats": {1: PROPOSER}})
    assert found.seed == 1
    assert found.rules["sweeps"] == 4
    assert found.rules["channels"] == ["dm"]
    assert found.seats[1].name == PROPOSER
    assert found.seats[2].params == {"path": "/tmp/y"}


def test_an_overriding_source_of_tasks_replaces_the_files(file: Path):
    found = read_experiment(file, {"tasks": "other.jsonl"})
    assert (found.suite, found.tasks) == ("", "other.jsonl")


def test_the_resolved_config_reproduces_the_run_and_holds_every_default(tmp_path: Path):
    setup = Setup.of(toy(out="somewhere", jobs=3))
    write_experiment(tmp_path / "config.yaml", setup.experiment)
    again = Setup.of(read_experiment(tmp_path / "config.yaml"))
    assert again.experiment.model_copy(update={"out": "somewhere"}) == setup.experiment
    assert again.scenarios == setup.scenarios
    data = yaml.safe_load((tmp_path / "config.yaml").read_text())
    assert data["suite"] == "small"
    assert data["rules"]["retries"] == 2
    assert "out" not in data


def test_tasks_that_have_changed_since_are_refused(tmp_path: Path):
    tasks = tmp_path / "tasks.jsonl"
    game = Toy()
    game.write_tasks(tasks, game.suite("small", 0))
    experiment = Setup.of(toy(tasks=str(tasks))).experiment
    game.write_tasks(tasks, game.suite("small", 1))
    with pytest.raises(UserError, match="the tasks are not the ones that the config was written for"):
        Setup.of(experiment)


def test_scenarios_can_be_written_out():
    scenario = {"id": "mine", "secrets": [[1], [2]], "groups": [[0, 1]]}
    setup = Setup.of(toy(scenarios=[scenario]))
    assert [setup.game.task_id(s) for s in setup.scenarios] == ["mine"]
    assert setup.experiment.suite == ""


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"stratgy": "x"}, "'stratgy' is not a known key; did you mean 'strategy'"),
        ({"limits": {"second": 5}}, "'limits.second' is not a known key; did you mean 'seconds'"),
        ({"report": {"confidnce": 0.9}}, "'report.confidnce' is not a known key; did you mean 'confidence'"),
        ({"seats": {0: {"name": "x", "parms": {}}}}, "'seats.0.parms' is not a known key; did you mean 'params'"),
        ({"rules": {"retrys": 1}}, "rules of tests.core.toy:Toy: 'retrys' is not a known key; did you mean 'retries'"),
        ({"rules": {"topology": {"nme": "ring"}}}, "'topology.nme' is not a known key; did you mean 'name'"),
        ({"rules": {"topology": "rng"}}, "topology 'rng' is unknown"),
        ({"rules": {"channels": ["dmm"]}}, "channel 'dmm' is unknown"),
        ({"rules": {"sweeps": "many"}}, "'sweeps' is 'many': input should be a valid integer"),
        ({"scenarios": [{"id": "x", "secrts": []}]}, "'secrets' is missing"),
        (
            {"scenarios": [{"secrets": [], "groups": [], "grups": 1}]},
            "'grups' is not a known key; did you mean 'groups'",
        ),
        ({"suite": "smal"}, "suite 'smal' is unknown to tests.core.toy:Toy; did you mean 'small'"),
        ({"suite": "small", "tasks": "x.jsonl"}, "suite and tasks are given together; keep one"),
        ({"tasks": "nowhere.jsonl"}, "tasks nowhere.jsonl: No such file or directory"),
        ({"seats": {7: PROPOSER}}, "seat 7: task toy-0 has seats 0 to 3"),
        ({"seats": {-1: PROPOSER}}, "'seats.-1"),
        ({"jobs": 0}, "'jobs' is 0: input should be greater than 0"),
        ({"limit": True}, "file.yaml: 'limit' is true; write a number"),
        ({"limits": {"seconds": False}}, "'seconds' is false; write a number"),
        ({"rules": {"retries": True}}, "rules of tests.core.toy:Toy: 'retries' is true; write a number"),
        ({"limits": {"seconds": float("inf")}}, "'limits.seconds' is inf: input should be a finite number"),
        ({"limits": {"seconds": 1e300}}, "input should be less than or equal to 1000000"),
        ({"out": "a\0b"}, "a path may not hold a null character"),
        ({"scenarios": []}, "file.yaml: 'scenarios' is empty; name some"),
        ({"suite": ""}, "file.yaml: 'suite' is empty; name some"),
        ({"strategy": f"{PLAYERS}:NeedsModel:path=/a,path=/b"}, "gives 'path' twice; keep one"),
        ({"seats": {0: PROPOSER, "0": PROPOSER}}, "seat 0 is there twice; keep one"),
        ({"seats": {True: PROPOSER}}, "'seats.True.[key]' is 'True'"),
        ({"strategy": None}, "has no default strategy; name one"),
        ({"strategy": f"{PLAYERS}:NeedsModel:path=https://me:pw@host"}, "looks like a secret"),
    ],
)
def test_a_mistake_is_one_sentence_with_the_place_and_the_remedy(change: dict[str, object], said: str):
    data = {"game": TOY, "strategy": PROPOSER, **change}
    with pytest.raises(UserError) as caught:
        Setup.of(parse_experiment(data, {}, "file.yaml"))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [", "not valid YAML"),
        ("- a", "an experiment is a mapping"),
        ("", "is a mapping"),
        ("game: x\nseed: 1\nseed: 2\n", r"bad.yaml: not valid YAML: the key 'seed' is there twice.*line 3"),
        ("game: x\nrules: {turns: 1, turns: 2}\n", "the key 'turns' is there twice"),
        ("game: x\nrules: &a {b: *a}\n", "an alias stands within its own anchor"),
        ("x0: &x0 [1, 1]\n" + "".join(f"x{i + 1}: &x{i + 1} [*x{i}, *x{i}]\n" for i in range(30)), "aliases stand for"),
        ("game: " + "[" * 3000, "nested too deeply"),
        ("game: !!python/object/apply:os.getcwd []", "not valid YAML: could not determine a constructor"),
        ("game: \udcff", "not valid YAML"),
    ],
)
def test_what_is_no_experiment_file_is_said(tmp_path: Path, text: str, said: str):
    path = tmp_path / "bad.yaml"
    path.write_text(text, errors="surrogateescape")
    with pytest.raises(UserError, match=said):
        read_experiment(path)
    with pytest.raises(UserError, match=r"nowhere.yaml: No such file or directory; check the path"):
        read_experiment(tmp_path / "nowhere.yaml")


def test_what_an_anchor_stands_for_may_be_used_again_and_overridden(tmp_path: Path):
    path = tmp_path / "anchors.yaml"
    path.write_text(
        f"game: {TOY}\nstrategy: &who {PROPOSER}\nseats: {{0: *who, 1: *who}}\n"
        "rules: {topology: &net {name: clusters, size: 2}}\nscenarios:\n- {a: {b: &low {<<: *net, size: 3}}, c: *low}\n"
    )
    found = read_experiment(path)
    assert found.seats[0] == found.seats[1] == found.strategy
    assert found.scenarios[0]["c"] == {"name": "clusters", "size": 3}


def test_a_faulty_task_is_named_by_its_line(tmp_path: Path):
    tasks = tmp_path / "tasks.jsonl"
    tasks.write_text('{"secrets": [[1]], "groups": [[0]]}\n{"secrets": 5, "groups": []}\n')
    with pytest.raises(UserError, match=r"tasks.jsonl line 2: .* at secrets"):
        Setup.of(toy(tasks=str(tasks)))


def test_speed_and_place_are_no_part_of_what_decides_results():
    base = Setup.of(toy()).experiment
    assert Setup.of(toy(out="x", jobs=4, concurrency=2)).experiment.config_hash == base.config_hash
    assert Setup.of(toy(repeats=3, limit=1)).experiment.config_hash == base.config_hash
    for other in ({"seed": 1}, {"rules": {"sweeps": 1}}, {"suite_seed": 1}, {"rotate": True}):
        assert Setup.of(toy(**other)).experiment.config_hash != base.config_hash


def test_the_schema_documents_every_field():
    documented = Experiment.__doc__ or ""
    assert [name for name in Experiment.model_fields if f"        {name}: " not in documented] == []
