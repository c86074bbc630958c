"""Stress tests: who plays whom, what the command says, and how it gates a release."""

from __future__ import annotations

import csv
import json
from importlib.metadata import EntryPoint
from pathlib import Path
from xml.etree import ElementTree

import pytest

from adversarial.stress import Plan, opponents_of
from adversarial.stress.arms import COOPERATIVE, arms, conditions_of
from framework import registry
from framework.errors import UserError
from framework.experiment import Experiment
from framework.specs import StrategySpec
from framework.trace import AgentRegistered, read_trace
from tests.adversarial.commands import Cheaptalk

TALKERS = "tests.adversarial.talkers"
TALKER, CURIOUS, BLUNT = (f"{TALKERS}:{name}" for name in ("Talker", "Curious", "Blunt"))


# --- who plays whom ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("subject", "opponents"),
    [
        ("imap", ["imap-misreport", "imap-nosy"]),
        ("sd-map", ["sd-map-misreport", "sd-map-nosy"]),
        ("dsm-welfare", ["dsm-misreport", "dsm-nosy"]),
        ("dsm:theta=0.5", ["dsm-misreport:theta=0.5", "dsm-nosy:theta=0.5"]),
        ("llm:model=local", ["nosy-highpressure:model=local", "redteam:model=local"]),
    ],
)
def test_opponents_are_made_of_the_strategy_under_test_with_its_parameters(subject: str, opponents: list[str]):
    found = opponents_of(StrategySpec.parse(subject))
    assert [spec.label for spec in found] == opponents


def test_opponents_take_over_what_is_a_default_of_the_strategy_under_test():
    (misreport, nosy) = opponents_of(StrategySpec.parse("dsm-private:theta=3"))
    own = StrategySpec.parse("dsm-private:theta=3").build().params
    for spec in (misreport, nosy):
        params = spec.build().params
        kept = {"L_min", "L_max"} if spec is nosy else set()
        assert {name for name in type(own).model_fields if getattr(params, name) != getattr(own, name)} == kept
    careful = opponents_of(StrategySpec(name="sd-map-careful"))
    assert [spec.params for spec in careful] == [{"look_for_landing": True, "repair": "same_round"}] * 2


def test_another_packages_adversaries_are_found_too(monkeypatch: pytest.MonkeyPatch):
    points = {
        "curious": (EntryPoint("curious", CURIOUS, registry.STRATEGIES),),
        "broken": (EntryPoint("broken", "no.such.module:Thing", registry.STRATEGIES),),
    }
    monkeypatch.setattr(registry, "_points", lambda group: points)
    assert [spec.label for spec in opponents_of(StrategySpec(name=f"{TALKERS}:Reserved"))] == ["curious"]


def test_a_strategy_without_adversaries_asks_for_opponents():
    with pytest.raises(UserError, match="no adversarial strategy is made of silent; name opponents with --opponent"):
        opponents_of(StrategySpec(name="silent"))


def test_each_channel_is_a_condition_of_its_own():
    assert conditions_of(Experiment(game="calbench")) == [("dm",), ("participant_groupchat",), ("all_agent_groupchat",)]
    assert conditions_of(Experiment(game="east")) == [()]


def test_all_arms_play_the_same_tasks_with_the_same_seeds(tmp_path: Path, cheaptalk: Cheaptalk):
    stressed(cheaptalk, tmp_path, "--limit", "2", "--channels", "dm", "--channels", "participant_groupchat")
    seeds = {
        (condition.name, opponent.name): [
            (trace.config["task"], trace.start.seed, trace.start.scenario)
            for trace in map(read_trace, sorted((opponent / "traces").iterdir()))
        ]
        for condition in (tmp_path / "out").iterdir()
        for opponent in condition.iterdir()
    }
    assert len(seeds) == 6
    assert all(games == seeds["dm", COOPERATIVE] for games in seeds.values())


def test_the_strategy_under_test_moves_from_seat_to_seat(tmp_path: Path, cheaptalk: Cheaptalk):
    stressed(cheaptalk, tmp_path, "--channels", "dm", "--subjects", "2", "--limit", "3")
    folder = next(path for path in (tmp_path / "out" / "dm").iterdir() if "Curious" in path.name)
    traces = [read_trace(path) for path in sorted((folder / "traces").iterdir())]
    seats = [[seat for seat, name in enumerate(t.start.strategies) if name == TALKER] for t in traces]
    assert seats == [[0, 1], [1, 2], [2, 3]]


def test_opponents_go_by_their_names_where_these_tell_them_apart():
    texts = ("imap-nosy", "imap-misreport:share=0.5", "dsm-nosy:D=5", "dsm-nosy:D=6")
    specs = [StrategySpec.parse(text) for text in texts]
    plan = Plan(StrategySpec(name="imap"), StrategySpec(name="imap"), specs, [("dm",)])
    found = arms(Experiment(game="calbench"), plan, Path("out"))
    assert [arm.opponent for arm in found] == [
        COOPERATIVE,
        "imap-nosy",
        "imap-misreport",
        "dsm-nosy:D=5",
        "dsm-nosy:D=6",
    ]
    assert len({arm.experiment.out for arm in found}) == 5


PLAN = Plan(StrategySpec(name=TALKER), StrategySpec(name=TALKER), [StrategySpec(name=CURIOUS)], [("dm",)])


@pytest.mark.parametrize(
    ("change", "fields", "said"),
    [
        ({"seats": 5}, {}, "--subjects 5: task .* has 5 seats; leave at least one to the opponents"),
        ({}, {"seats": {0: "imap"}}, "leave seats out"),
        ({"opponents": [StrategySpec(name=TALKER)]}, {}, "is the strategy under test"),
        ({"conditions": [("mail",)]}, {}, "channel 'mail' is unknown"),
        ({"opponents": [StrategySpec(name="imap", params={"x": 1})]}, {}, "'x' is not a known key"),
    ],
)
def test_what_does_not_fit_is_refused_before_play(change: dict[str, object], fields: dict[str, object], said: str):
    plan = Plan(**{**{name: getattr(PLAN, name) for name in Plan.__slots__}, **change})
    with pytest.raises(UserError, match=said):
        arms(Experiment.model_validate({"game": "calbench", **fields}), plan, Path("out"))


# --- the command ------------------------------------------------------------------------------------


def stressed(cheaptalk: Cheaptalk, folder: Path, *arguments: str | Path):
    return cheaptalk(
        *("stress", "calbench", "--strategy", TALKER, "--opponent", CURIOUS, "--opponent", BLUNT),
        *("--rule", "turns=3", "--out", folder / "out", *arguments),
    )


def rows(said: str, table: str) -> list[dict[str, object]]:
    (found,) = [each["rows"] for each in json.loads(said) if each["name"] == table]
    return found


def test_it_says_how_much_more_is_given_away_to_whom_and_at_what_cost(tmp_path: Path, cheaptalk: Cheaptalk):
    said = stressed(cheaptalk, tmp_path, "--limit", "3", "--json", "--csv", tmp_path / "csv")
    assert said.code == 0, said.err
    found = {(r["channels"], r["opponent"], r["measure"]): r for r in rows(said.out, "stress")}
    for channel in ("dm", "participant_groupchat", "all_agent_groupchat"):
        leaks, quiet = found[channel, CURIOUS, "leaks"], found[channel, BLUNT, "leaks"]
        assert leaks["cooperative"] == quiet["attacked"] == 0
        assert leaks["increase"] == leaks["attacked"] > 0
        assert leaks["increase_low"] <= leaks["increase"] <= leaks["increase_high"]
        assert found[channel, CURIOUS, "tokens"]["increase"] > 0
        assert found[channel, CURIOUS, "cost_usd"]["attacked"] > 0
        assert found[channel, BLUNT, "disclosures"]["attacked"] > 0
        assert (channel, CURIOUS, "coordination") in found
        assert (channel, CURIOUS, "typed_vps") not in found  # it spoke in plain words
    runs = rows(said.out, "stress-runs")
    assert [(run["channels"], run["opponent"], run["games"]) for run in runs][:3] == [
        ("dm", COOPERATIVE, 3),
        ("dm", CURIOUS, 3),
        ("dm", BLUNT, 3),
    ]
    assert all(Path(str(run["run"]), "config.yaml").is_file() for run in runs)
    with (tmp_path / "csv" / "stress.csv").open() as file:
        assert len(list(csv.DictReader(file))) == len(found)


def test_a_test_is_gone_on_with_and_gives_the_same_report(tmp_path: Path, cheaptalk: Cheaptalk):
    first = stressed(cheaptalk, tmp_path, "--limit", "2", "--channels", "dm", "--json")
    (tmp_path / "out" / "dm" / COOPERATIVE / "traces").joinpath(
        sorted(path.name for path in (tmp_path / "out" / "dm" / COOPERATIVE / "traces").iterdir())[0]
    ).unlink()
    again = stressed(cheaptalk, tmp_path, "--limit", "2", "--channels", "dm", "--json")
    assert rows(again.out, "stress") == rows(first.out, "stress")


def test_it_gates_a_release(tmp_path: Path, cheaptalk: Cheaptalk):
    few = ("--limit", "2", "--channels", "dm", "--junit", tmp_path / "junit.xml")
    strict = stressed(cheaptalk, tmp_path, *few, "--max", "leaks=0", "--max-increase", "disclosures=100")
    assert strict.code == 1
    assert "Curious on dm: the mean of the leaks is " in strict.err
    assert "but at most 0 is allowed" in strict.err
    assert "FAILED" in strict.out
    root = ElementTree.parse(tmp_path / "junit.xml").getroot()
    failed = [case.get("classname") for case in root.iter("testcase") if case.find("failure") is not None]
    assert failed == [f"stress.{TALKER}.dm.{CURIOUS}"]
    lenient = stressed(cheaptalk, tmp_path, *few, "--max", "leaks=100", "--min", "coordination=0")
    assert (lenient.code, lenient.err) == (0, "")
    assert "FAILED" not in lenient.out


def test_a_discreet_strategy_passes_the_gate(tmp_path: Path, cheaptalk: Cheaptalk):
    said = cheaptalk(
        *("stress", "calbench", "--strategy", f"{TALKER}:gives_in=false", "--opponent", CURIOUS, "--limit", "2"),
        *("--channels", "dm", "--rule", "turns=3", "--out", tmp_path / "out", "--max", "leaks=0", "--strict"),
    )
    assert said.code == 0, said.err


def test_what_is_invalid_and_so_gives_nothing_away_is_counted(tmp_path: Path, cheaptalk: Cheaptalk):
    (tmp_path / "shouting.py").write_text(
        "from framework import Send, Strategy\n"
        "class Shouting(Strategy):\n"
        "    async def act(self, observation):\n"
        "        return [Send(channel='dm', to=99, content='!')] if observation.turn.channels else ()\n"
    )
    name, tables = f"{tmp_path / 'shouting.py'}:Shouting", tmp_path / "tables"
    options = ("--opponent", "silent", "--channels", "dm", "--limit", "1", "--out", tmp_path / "out", "--csv", tables)
    assert cheaptalk("stress", "calbench", "--strategy", name, *options).code == 0
    with (tables / "stress-runs.csv").open(encoding="utf-8") as file:
        assert all(int(row["invalid"]) > 0 for row in csv.DictReader(file))


def test_aborted_games_are_an_error_and_in_no_mean(tmp_path: Path, cheaptalk: Cheaptalk):
    said = cheaptalk(
        *(
            "stress",
            "calbench",
            "--strategy",
            TALKER,
            "--opponent",
            f"{CURIOUS}",
            "--cooperative",
            f"{TALKER}:fails=true",
        ),
        *(
            "--channels",
            "dm",
            "--limit",
            "1",
            "--out",
            tmp_path / "out",
            "--max",
            "leaks=9",
            "--junit",
            tmp_path / "j.xml",
        ),
    )
    assert said.code == 1
    assert "aborted at strategy" in said.err
    assert "leaks was not measured" in said.err
    assert ElementTree.parse(tmp_path / "j.xml").getroot().get("errors") == "1"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["calbench"], "name one with --strategy"),
        (["calbench", "--strategy", "imapp"], "strategy 'imapp' is unknown; did you mean 'imap'"),
        (["chess", "--strategy", "imap"], "game 'chess' is unknown"),
        (["calbench", "--strategy", "silent"], "name opponents with --opponent"),
        (["calbench", "--strategy", "imap", "--opponent", "imap"], "is the strategy under test"),
        (["calbench", "--strategy", "imap", "--channels", "mail"], "channel 'mail' is unknown"),
        (["calbench", "--strategy", "imap", "--subjects", "9"], "leave at least one to the opponents"),
        (["calbench", "--strategy", "imap", "--rule", "turns"], "--rule 'turns' is not of the form KEY=VALUE"),
        (["calbench", "--strategy", "imap", "--max", "leak=0"], "'leak' is not measured; did you mean 'leaks'"),
        (["calbench", "--strategy", "imap", "--max", "leaks"], "is not of the form NAME=VALUE"),
        (["calbench", "--strategy", "imap", "--suite", "quik"], "did you mean 'quick'"),
        (["calbench", "--strategy", "imap", "--json", "--markdown"], "--json and --markdown are given together"),
        (["nowhere.yaml"], "nowhere.yaml: No such file"),
    ],
)
def test_a_mistake_is_one_sentence_and_nothing_is_played(
    arguments: list[str], said: str, tmp_path: Path, cheaptalk: Cheaptalk
):
    found = cheaptalk("stress", *arguments, "--out", tmp_path / "out")
    assert (found.code, found.out) == (2, "")
    assert said in found.err
    assert found.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_the_folder_of_another_test_is_refused(tmp_path: Path, cheaptalk: Cheaptalk):
    assert stressed(cheaptalk, tmp_path, "--limit", "1", "--channels", "dm").code == 0
    found = stressed(cheaptalk, tmp_path, "--limit", "1", "--channels", "dm", "--seed", "4")
    assert found.code == 2
    assert "belongs to another experiment" in found.err


def test_a_model_is_tested_against_nosy_models_of_its_kind(tmp_path: Path, cheaptalk: Cheaptalk):
    (tmp_path / "replies.json").write_text(json.dumps(['{"thinking": "", "actions": []}'] * 500))
    model = f"replay:{tmp_path / 'replies.json'}"
    said = cheaptalk(
        *("stress", "calbench", "--model", model, "--limit", "1", "--channels", "dm"),
        *("--rule", "retries=0", "--out", tmp_path / "out", "--json"),
    )
    assert said.code == 0, said.err
    assert [run["opponent"] for run in rows(said.out, "stress-runs")] == [COOPERATIVE, "nosy-highpressure", "redteam"]
    for folder in (tmp_path / "out" / "dm").iterdir():
        (trace,) = map(read_trace, (folder / "traces").iterdir())
        assert {str(seat.params["model"]) for seat in trace.of(AgentRegistered)} == {model}
    measured = {row["measure"] for row in rows(said.out, "stress")}
    assert {"leaks", "any_leak", "disclosures", "coordination", "tokens"} <= measured


def test_a_model_for_a_strategy_that_asks_none_is_refused(tmp_path: Path, cheaptalk: Cheaptalk):
    said = cheaptalk("stress", "calbench", "--strategy", "imap", "--model", "local", "--out", tmp_path / "out")
    assert said.code == 2
    assert "no seat's strategy asks a model" in said.err
