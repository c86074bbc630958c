"""The command line: what is typed, what is printed, and how it exits."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint, version
from pathlib import Path
from typing import NamedTuple

import pytest
import typer
import yaml

from framework import registry
from framework.cli import _group, main
from framework.trace import InvalidAction, read_trace
from tests.core.runs import PLAYERS, PROPOSER, ROOT, TOY, finish, manifest, playings, start
from tests.core.toy import Toy


class Said(NamedTuple):
    """What a command did."""

    code: int
    out: str
    err: str


Cheaptalk = Callable[..., Said]


@pytest.fixture
def cheaptalk(capsys: pytest.CaptureFixture[str]) -> Cheaptalk:
    """Run a command in this process."""

    def run(*arguments: str | Path) -> Said:
        with pytest.raises(SystemExit) as exit:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return Said(int(exit.value.code or 0), out, err)

    return run


@pytest.fixture
def folder(tmp_path: Path, cheaptalk: Cheaptalk) -> Path:
    """A run of the toy."""
    path = tmp_path / "run"
    assert cheaptalk("run", TOY, "--strategy", PROPOSER, "--out", path).code == 0
    return path


def test_a_run_prints_its_table_and_where_it_is(tmp_path: Path, cheaptalk: Cheaptalk):
    said = cheaptalk("run", TOY, "--strategy", PROPOSER, "--out", tmp_path / "run")
    assert said.code == 0
    assert said.err == ""
    head, row, foot, where = said.out.splitlines()
    assert head.split() == ["strategy", "games", "seats", "agreed", "%", "↑", "messages", "↓"]
    assert row.split()[:3] == [PROPOSER, "2", "8"]
    assert foot == "Means with 95 % intervals over games."
    assert where == f"Run: {tmp_path / 'run'}"


def test_invalid_actions_are_counted_below_the_table_with_where_they_are_listed(tmp_path: Path, cheaptalk: Cheaptalk):
    (tmp_path / "shouting.py").write_text(
        "from framework import Send, Strategy\n"
        "class Shouting(Strategy):\n"
        "    async def act(self, observation):\n"
        "        return [Send(channel='dm', to=99, content='!')] if observation.turn.channels else ()\n"
    )
    out = tmp_path / "run"
    said = cheaptalk("run", TOY, "--strategy", f"{tmp_path / 'shouting.py'}:Shouting", "--limit", "1", "--out", out)
    (path,) = (out / "traces").iterdir()
    invalid = len(list(read_trace(path).of(InvalidAction)))
    assert invalid > 0
    expected = f"cheaptalk: {invalid} invalid actions or replies; see: cheaptalk report {out} --table failures\n"
    assert said.err == expected
    assert cheaptalk("run", out, "--resume").err == expected


def test_a_missing_extra_is_said_before_an_address_is(
    folder: Path, cheaptalk: Cheaptalk, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("framework.pages.server.find_spec", lambda name: None)
    said = cheaptalk("view", folder, "--port", "0", "--no-browser")
    assert said.code == 2
    assert said.err == "cheaptalk: cheaptalk view needs the extra view; run pip install 'cheaptalk[view]'\n"


def test_show_of_a_folder_names_a_trace_in_it(folder: Path, cheaptalk: Cheaptalk):
    for given in (folder, folder / "traces"):
        said = cheaptalk("show", given)
        assert said.code == 2
        assert f"{given} is a folder; name a trace in it, such as {folder}/traces/0000-toy-0.json" in said.err


def test_the_version_is_said(cheaptalk: Cheaptalk):
    assert cheaptalk("--version").out == f"cheaptalk {version('cheaptalk')}\n"


def test_by_default_runs_are_numbered_below_runs(tmp_path: Path, cheaptalk: Cheaptalk, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    for number in (1, 2):
        said = cheaptalk("run", TOY, "--strategy", PROPOSER)
        assert said.out.endswith(f"Run: runs/toy-small-Proposer-{number}\n")


def test_flags_override_the_file_and_the_resolved_config_is_kept(tmp_path: Path, cheaptalk: Cheaptalk):
    file = tmp_path / "experiment.yaml"
    file.write_text(yaml.safe_dump({"game": TOY, "strategy": PROPOSER, "seed": 1, "rules": {"sweeps": 1}}))
    said = cheaptalk(
        *("run", file, "--seed", "7", "--seat", f"1={PLAYERS}:NeedsModel:path={file}", "--channels", "dm"),
        *("--topology", "clusters:size=2", "--rule", "retries=0", "--limit", "1", "--repeats", "2", "--rotate"),
        *("--suite-seed", "3", "--concurrency", "2", "--seconds", "9", "--out", tmp_path / "run"),
    )
    assert said.code == 0, said.err
    config = yaml.safe_load((tmp_path / "run" / "config.yaml").read_text())
    assert config["seed"] == 7
    assert config["suite_seed"] == 3
    assert config["rotate"] is True
    assert config["limits"]["seconds"] == 9
    assert config["seats"] == {1: {"name": f"{PLAYERS}:NeedsModel", "params": {"path": str(file)}}}
    assert config["rules"]["channels"] == ["dm"]
    assert (config["rules"]["sweeps"], config["rules"]["retries"]) == (1, 0)
    assert config["rules"]["topology"]["name"] == "clusters"
    again = cheaptalk("run", tmp_path / "run" / "config.yaml", "--out", tmp_path / "again")
    assert again.code == 0, again.err
    assert playings(tmp_path / "again") == playings(tmp_path / "run")


@pytest.mark.parametrize("flag", ["--suite", "--tasks", "--strategy", "--out"])
def test_an_empty_value_is_no_wish_for_the_default(cheaptalk: Cheaptalk, flag: str):
    said = cheaptalk("run", TOY, "--strategy", PROPOSER, flag, "")
    assert (said.code, said.out) == (2, "")
    assert said.err == f"cheaptalk: {flag} is empty; give a value, or leave it out\n"


@pytest.mark.parametrize("target", ["runs/nowhere", "."])
def test_a_path_that_holds_no_run_is_not_taken_for_a_game(cheaptalk: Cheaptalk, target: str):
    said = cheaptalk("run", target, "--resume")
    assert said.code == 2
    assert said.err.startswith(f"cheaptalk: {target} is no game, no experiment file .yaml and no folder of a run")


def test_a_run_is_resumed_by_its_folder(folder: Path, cheaptalk: Cheaptalk):
    next((folder / "traces").iterdir()).unlink()
    said = cheaptalk("run", folder, "--resume")
    assert said.code == 0
    assert "is missing or torn; the game is played again" in said.err
    assert len(list((folder / "traces").iterdir())) == 2
    assert "add --resume" in cheaptalk("run", folder).err


def test_aborted_games_are_shown_and_the_exit_code_says_so(tmp_path: Path, cheaptalk: Cheaptalk):
    said = cheaptalk("run", TOY, "--strategy", f"{PLAYERS}:Raising", "--repeats", "3", "--out", tmp_path / "run")
    assert said.code == 1
    assert "6 of 6 games aborted (6 at strategy) and in no mean" in said.out
    assert (
        "game 0 (toy-0) aborted at strategy: seat 2 (Raising): raised ZeroDivisionError: no digit is left" in said.err
    )
    assert f"; see {tmp_path / 'run' / 'traces' / '0000-toy-0.json'}" in said.err
    assert "3 more aborted; their traces say why" in said.err
    assert "Traceback" not in said.err
    detail = read_trace(next((tmp_path / "run" / "traces").iterdir())).aborted
    assert detail is not None
    assert "Traceback" in detail.detail


def test_a_rule_of_the_game_is_an_option_of_its_own(tmp_path: Path, cheaptalk: Cheaptalk):
    def rules(folder: Path) -> dict[str, object]:
        config = yaml.safe_load((folder / "config.yaml").read_text())
        return {name: config["rules"][name] for name in ("sweeps", "retries")}

    options = ("--sweeps", "3", "--strategy", PROPOSER, "--retries=0")
    assert cheaptalk("run", *options, TOY, "--out", tmp_path / "one").code == 0
    assert rules(tmp_path / "one") == {"sweeps": 3, "retries": 0}
    assert cheaptalk("run", tmp_path / "one" / "config.yaml", "--retries", "1", "--out", tmp_path / "two").code == 0
    assert rules(tmp_path / "two") == {"sweeps": 3, "retries": 1}


def test_model_usage_is_summed_up(tmp_path: Path, cheaptalk: Cheaptalk):
    said = cheaptalk("run", TOY, "--strategy", f"{PLAYERS}:Counting", "--out", tmp_path / "run")
    usage = [line.get("usage", {}) for line in manifest(tmp_path / "run")]
    calls = sum(part["calls"] for part in usage)
    assert f"Models: {calls} calls, {sum(part['prompt_tokens'] for part in usage)} + {calls} tokens" in said.out
    assert f"{calls * 0.5:.4f} USD" in said.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["rnu"], "No such command 'rnu'"),
        (["run"], "Missing argument"),
        (["run", TOY, "--strateg", "x"], "No such option: --strateg; did you mean '--strategy'?"),
        (["run", TOY, "--retrys", "1"], "No such option: --retrys; did you mean '--retries'?"),
        (["run", TOY, "--retries"], "--retries needs a value"),
        (["run", TOY, "--retries", "x"], "'retries' is 'x'"),
        (["run", "no-such-game", "--retries", "1"], "game 'no-such-game' is unknown"),
        (["run", TOY, "--prompts", "nowhere", "--strategy", PROPOSER], "--prompts: no seat's strategy asks a model"),
        (["run", TOY, "--seed", "x"], "'--seed'"),
        (["run", TOY, "--seed", "-1"], "'--seed'"),
        (["run", TOY, "--jobs", "0"], "'--jobs'"),
        (["run", "no-such-game"], "game 'no-such-game' is unknown"),
        (["run", "nowhere.yaml"], "nowhere.yaml: No such file or directory; check the path"),
        (["run", TOY], "has no default strategy"),
        (["run", TOY, "--strategy", "tests.core.toy:Nobody"], "tests.core.toy has no 'Nobody'"),
        (["run", TOY, "--strategy", PROPOSER, "--suite", "smal"], "did you mean 'small'"),
        (["run", TOY, "--strategy", PROPOSER, "--seat", "imap"], "--seat 'imap' is not of the form N=STRATEGY"),
        (["run", TOY, "--strategy", PROPOSER, "--seat", "9=x"], "strategy 'x' is unknown"),
        (["run", TOY, "--strategy", PROPOSER, "--rule", "retrys=1"], "did you mean 'retries'"),
        (["run", TOY, "--strategy", PROPOSER, "--rule", "retries"], "--rule 'retries' is not of the form KEY=VALUE"),
        (["run", TOY, "--strategy", PROPOSER, "--channels", "dmm"], "channel 'dmm' is unknown"),
        (["run", TOY, "--strategy", PROPOSER, "--topology", "rng"], "topology 'rng' is unknown"),
        (["run", TOY, "--strategy", PROPOSER, "--tasks", "nowhere.jsonl"], "tasks nowhere.jsonl: No such file"),
        (["run", TOY, "--strategy", PROPOSER, "--seconds", "0"], "'limits.seconds' is 0.0"),
        (["list", "gmes"], "'gmes' cannot be listed; did you mean 'games'"),
        (["show", "nowhere.json"], "nowhere.json: cannot be read"),
        (["report", "nowhere"], "nowhere holds no traces"),
        (["check", "no-such-thing"], "strategy 'no-such-thing' is unknown"),
        (["check", PROPOSER, "--game", "no-such-game"], "game 'no-such-game' is unknown"),
        (["generate", TOY, "--out", "x.jsonl"], "name one of --suite and --config"),
        (["generate", TOY, "--suite", "smal", "--out", "x.jsonl"], "did you mean 'small'"),
        (["generate", TOY, "--config", "nowhere.yaml", "--out", "x.jsonl"], "nowhere.yaml: No such file"),
        (["generate", TOY, "--suite", "small", "--out", "/dev/null/x.jsonl"], "/dev/null/x.jsonl cannot be written"),
    ],
)
def test_a_mistake_is_one_sentence_on_stderr_and_exit_code_2(
    arguments: list[str], said: str, cheaptalk: Cheaptalk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    found = cheaptalk(*arguments)
    assert found.code == 2
    assert found.out == ""
    assert said in found.err
    assert found.err.count("\n") == 1
    assert "Traceback" not in found.err
    assert not list(tmp_path.iterdir()), "nothing was begun"


def test_show_prints_the_playthrough(folder: Path, cheaptalk: Cheaptalk):
    said = cheaptalk("show", folder / "traces" / "0000-toy-0.json")
    assert said.code == 0
    assert said.out.startswith("toy: toy-0\n")
    assert "seat 2 -> seat 0 (dm): " in said.out


def test_report_lists_runs_side_by_side_and_writes_csvs(folder: Path, tmp_path: Path, cheaptalk: Cheaptalk):
    cheaptalk("run", TOY, "--strategy", f"{PLAYERS}:Lucky", "--out", tmp_path / "other")
    said = cheaptalk("report", folder, tmp_path / "other", "--csv", tmp_path / "csv", "--metrics", "messages")
    assert said.code == 0
    assert [line.split()[0] for line in said.out.splitlines()[:3]] == ["run", "run", "other"]
    assert "agreed" not in said.out.splitlines()[0]
    assert sorted(path.name for path in (tmp_path / "csv").iterdir()) == ["games.csv", "seats.csv", "strategies.csv"]
    bad = cheaptalk("report", folder, "--metrics", "mesages")
    assert (bad.code, "did you mean 'messages'" in bad.err) == (2, True)


def test_report_says_the_same_as_the_run_did(tmp_path: Path, cheaptalk: Cheaptalk):
    ran = cheaptalk("run", TOY, "--strategy", f"{PLAYERS}:Lucky", "--repeats", "4", "--out", tmp_path / "run")
    assert ran.out.startswith(cheaptalk("report", tmp_path / "run", "--table", "headline").out)


def test_generated_tasks_are_the_same_each_time_and_can_be_played(tmp_path: Path, cheaptalk: Cheaptalk):
    for name in ("a", "b"):
        said = cheaptalk("generate", TOY, "--suite", "small", "--seed", "5", "--out", tmp_path / f"{name}.jsonl")
        assert said.out == f"2 tasks: {tmp_path / f'{name}.jsonl'}\n"
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
    assert list(Toy().read_tasks(tmp_path / "a.jsonl")) == Toy().suite("small", 5)
    played = cheaptalk("run", TOY, "--strategy", PROPOSER, "--tasks", tmp_path / "a.jsonl", "--out", tmp_path / "run")
    assert played.code == 0
    assert len(manifest(tmp_path / "run")) == 2


def test_check_passes_a_sound_game_and_strategy_and_fails_a_raising_one(cheaptalk: Cheaptalk):
    assert cheaptalk("check", TOY).code == 0
    assert cheaptalk("check", PROPOSER, "--game", TOY).code == 0
    failed = cheaptalk("check", f"{PLAYERS}:Raising", "--game", TOY)
    assert failed.code == 1
    assert "FAIL" in failed.out


def test_list_says_what_each_knob_of_a_game_or_a_strategy_means(tmp_path: Path, cheaptalk: Cheaptalk):
    (tmp_path / "knobs.py").write_text(
        "from framework import Params, Strategy\n"
        "class KnobParams(Params):\n"
        '    """Attributes:\n        theta: How much\n            it counts.\n    """\n'
        "    theta: float = 0.5\n"
        "    bare: int\n"
        "class Knobs(Strategy):\n"
        '    """Turns knobs."""\n'
        "    params_type = KnobParams\n"
        "    async def act(self, observation): return ()\n"
    )
    head, *lines = cheaptalk("list", f"{tmp_path / 'knobs.py'}:Knobs").out.splitlines()
    assert head.endswith("knobs.py:Knobs: Turns knobs.")
    assert lines == ["  theta  How much it counts (default 0.5)", "  bare   required"]
    of_the_game = cheaptalk("list", TOY).out
    assert "  channels  Names of the channels that are open: the communication condition (default dm" in of_the_game
    assert "  topology  Who may address whom (default complete)" in of_the_game


def test_list_names_what_there_is_and_says_what_is_broken(cheaptalk: Cheaptalk, points):
    points(
        EntryPoint("toy", TOY, registry.GAMES),
        EntryPoint("broken", "no_such_module:Game", registry.GAMES),
        EntryPoint("proposer", PROPOSER, registry.STRATEGIES),
    )
    out = cheaptalk("list").out
    for part in ("toy small", "toy dm", "proposer  The first speaker proposes", "complete", "(default)"):
        assert part in out
    assert "broken  (not usable: game 'broken' cannot be loaded" in out
    assert cheaptalk("list", "strategies").out.splitlines()[0] == "strategies:"


# --- commands of other packages -----------------------------------------------------------------


@pytest.fixture
def points(monkeypatch: pytest.MonkeyPatch):
    """Stand-ins for what other distributions register."""

    def clear() -> None:
        registry._points.cache_clear()
        _group._registered.cache_clear()

    def register(*found: EntryPoint) -> None:
        clear()
        monkeypatch.setattr(registry, "entry_points", lambda group: [p for p in found if p.group == group])

    yield register
    clear()


audit = typer.Typer()


@audit.command()
def look(path: str) -> int:
    """Look at something."""
    print(f"looked at {path}")
    return 1


def adds_greet(app: typer.Typer) -> None:
    """Adds a command."""

    @app.command("greet")
    def greet(name: str) -> None:
        print(f"hello {name}")


def test_commands_of_other_packages_run_by_name_and_are_listed_without_being_imported(
    cheaptalk: Cheaptalk, points, monkeypatch: pytest.MonkeyPatch
):
    points(
        EntryPoint("audit", "tests.core.test_cli:audit", registry.COMMANDS),
        EntryPoint("greet", "tests.core.test_cli:adds_greet", registry.COMMANDS),
        EntryPoint("broken", "no_such_module:app", registry.COMMANDS),
    )
    out = cheaptalk("--help").out
    assert "audit" in out
    assert "The command line: what is typed" in out, "the first line of the module's docstring"
    assert "broken" in out
    assert cheaptalk("audit", "a.json") == (1, "looked at a.json\n", "")
    assert cheaptalk("greet", "you") == (0, "hello you\n", "")
    said = cheaptalk("broken")
    assert said.code == 2
    assert "command 'broken' cannot be loaded from no_such_module:app: ModuleNotFoundError" in said.err


# --- the process as a whole ---------------------------------------------------------------------


def test_help_imports_nothing_heavy():
    heavy = ("ortools", "pandas", "matplotlib", "autogen_core", "networkx", "numpy", "pydantic", "openai", "scipy")
    code = (
        "import sys\nfrom framework.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        f"print('imported:', [name for name in {heavy} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "imported: []"
    assert "Play the games of a suite" in done.stdout


def test_no_arguments_print_the_help(cheaptalk: Cheaptalk):
    said = cheaptalk()
    assert (said.code, "Usage:" in said.out) == (0, True)


def test_a_reader_that_goes_away_is_told_nothing(folder: Path):
    process = start("show", next((folder / "traces").iterdir()))
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    _, _, err = finish(process)
    assert err == ""


def test_on_a_terminal_the_table_is_laid_out_for_it(tmp_path: Path):
    import pty

    main_end, terminal = pty.openpty()
    code = "from framework.cli import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "run", TOY, "--strategy", PROPOSER, "--out", str(tmp_path / "run")],
        cwd=ROOT,
        stdout=terminal,
        stderr=terminal,
        env={**os.environ, "COLUMNS": "60", "TERM": "xterm"},
    )
    os.close(terminal)
    shown = b""
    try:
        while part := os.read(main_end, 65536):
            shown += part
    except OSError:
        pass  # the terminal is closed when the process ends
    os.close(main_end)
    assert process.wait() == 0
    text = shown.decode()
    assert "agreed % ↑" in text
    assert "\x1b[" in text, "styled"
    assert "Run: " in text
