"""The commands, as a person types them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from framework.cli import main
from framework.stats import wilson
from framework.trace import read_trace
from games.east.prompting import EastPrompts
from protocols.events import ModelSeat
from tests.east.authored import replies, write_run


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit code, output and errors of a command."""
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    printed = capsys.readouterr()
    return int(stop.value.code or 0), printed.out, printed.err


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write_run(tmp_path / "run")


@pytest.fixture(scope="module")
def calbench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of another game."""
    folder = tmp_path_factory.mktemp("calbench") / "run"
    with pytest.raises(SystemExit):
        main(["run", "calbench", "--limit", "1", "--strategy", "first-free", "--out", str(folder)])
    return folder


def model(tmp_path: Path, said: list[str]) -> str:
    path = tmp_path / "replies.json"
    path.write_text(json.dumps(said))
    return f"replay:{path}"


def test_annotate_and_labels_go_together(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    judge = model(tmp_path, replies())
    code, out, _ = call(capsys, "annotate", str(run), "--model", judge, "--concurrency", "1")
    assert code == 0
    assert "10 judgements to make" in out
    assert "4 fallacies, 6 tom, 2 without reasoning." in out
    code, out, _ = call(capsys, "east", "labels", str(run), "--out", str(tmp_path / "out"))
    assert code == 0
    assert f"Labels by {judge}" in out
    assert "egocentric_projection" in out
    assert (tmp_path / "out" / "reasoning.png").exists()


def test_one_model_can_judge_as_two_annotators_and_their_agreement_is_shown(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    judge = model(tmp_path, replies())
    for name in ("first", "second"):
        code, out, _ = call(capsys, "annotate", str(run), "--model", judge, "--concurrency", "1", "--annotator", name)
        assert (code, out.splitlines()[0]) == (0, f"10 judgements to make by {name}.")
    code, out, _ = call(capsys, "east", "labels", str(run), "--annotator", "second")
    assert out.startswith("Labels by second; annotators: first, second.")
    (line,) = (line for line in out.splitlines() if line.startswith("highest_level_achieved"))
    assert line.split()[1:] == ["2", "6", "1.00", "1.00", "1.00"]


def test_a_model_that_gives_out_ends_the_sitting_in_one_sentence(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    judge = model(tmp_path, replies()[:2])
    code, _, err = call(capsys, "annotate", str(run), "--model", judge, "--concurrency", "1")
    assert code == 2
    assert "what was judged is kept, call again to go on" in err
    assert "Traceback" not in err
    code, out, _ = call(capsys, "annotate", str(run), "--model", model(tmp_path, replies()[2:]), "--concurrency", "1")
    assert code == 0
    assert "2 made before" in out


def test_labels_that_nobody_made_are_asked_for(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = call(capsys, "east", "labels", str(run))
    assert code == 2
    assert "holds no labels; make some with: cheaptalk annotate" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["annotate", "RUN", "--model", "nobody:x"], "provider 'nobody' is unknown"),
        (
            ["annotate", "RUN", "--model", "replay:/none.json", "--kinds", "toms"],
            "'toms' is not judged; use some of tom",
        ),
        (["annotate", "RUN", "--model", "local", "--kinds", " "], "--kinds is empty; name some of tom, fallacies"),
        (["annotate", "OTHER", "--model", "local"], "is of calbench, not of EAST"),
        (["east", "report", "OTHER"], "is of calbench, not of EAST"),
        (["east", "labels", "OTHER"], "is of calbench, not of EAST"),
        (["east", "report", "nowhere"], "nowhere holds no traces"),
        (["east", "crossplay", "normative", "--out", "x"], "cross-play needs two strategies or more"),
        (["east", "crossplay", "normative", "uniformm", "--out", "x"], "strategy 'uniformm' is unknown"),
        (["east", "vet", "--association", "tables"], "'tables' is unknown; did you mean 'table'?"),
        (
            ["east", "vet", "--tasks", "nowhere.jsonl"],
            "--tasks nowhere.jsonl: No such file or directory; check the path",
        ),
        (["east", "vet", "--tasks", __file__], "line 1: Invalid JSON"),
        (["run", "east", "--channels", "dm"], "channel 'dm' is unknown to east; it has none, leave them out"),
        (["run", "east", "--model", "local", "--prompts", "RUN"], "there is no system.j2; copy our own from"),
        (["run", "east", "--rule", "conditions=symetric"], "condition 'symetric' is unknown to east"),
        (["run", "east", "--rule", "prompts=cot"], "rules of east"),
        (["run", "east", "--conditions", "symetric"], "condition 'symetric' is unknown to east; use some of symmetric"),
        (["run", "east", "--condition", "symmetric"], "No such option: --condition; did you mean '--conditions'?"),
        (["run", "east", "--prompts", "cot"], "--prompts cot is not a folder, and as a rule of east: "),
    ],
)
def test_a_mistake_is_one_sentence(
    arguments: list[str], message: str, run: Path, calbench: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places = {"RUN": str(run), "OTHER": str(calbench)}
    code, _, err = call(capsys, *(places.get(part, part) for part in arguments))
    assert code == 2
    assert message in err
    assert err.count("\n") == 1


def test_crossplay_plays_every_ordered_pair(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["normative", "egocentric", "--suite", "quick", "--conditions", "asymmetric", "--prompts", "direct"]
    code, out, _ = call(capsys, "east", "crossplay", *arguments, "--out", str(tmp_path))
    assert code == 0
    for pairing in ("normative ", "egocentric ", "normative x egocentric ", "egocentric x normative "):
        assert any(line.startswith(pairing) for line in out.splitlines())
    assert (tmp_path / "crossplay.svg").exists()
    code, _, _ = call(capsys, "east", "crossplay", *arguments, "--out", str(tmp_path), "--resume")
    assert code == 0


def test_crossplay_that_is_stopped_says_how_to_go_on(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from framework.cli import main; main()", "east", "crossplay"]
    arguments = ["human", "normative", "--suite", "quick", "--out", str(tmp_path / "out")]
    done = subprocess.run([*command, *arguments], input="", capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "or make the same call with --resume" in done.stderr
    assert "Traceback" not in done.stderr


def test_vetting_by_the_table_needs_no_model(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "east", "vet", "--association", "table")
    assert code == 0
    assert out.splitlines()[-1] == "7 of 10 pass."


def test_a_whole_suite_is_played_and_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, _ = call(capsys, "run", "east", "--out", str(tmp_path / "run"))
    assert code == 0
    code, out, _ = call(capsys, "east", "report", str(tmp_path / "run"))
    assert code == 0
    assert "normative  all             all            90  100 [96, 100]  100 [96, 100]" in out


@pytest.mark.parametrize(
    ("options", "groups"),
    [
        (["--conditions", "symmetric,noisy", "--prompts", "direct"], {"symmetric.direct", "noisy.direct"}),
        (["--conditions=noisy", "--prompt-variants", "direct"], {"noisy.direct"}),
        (["--rule", "prompts=direct", "--rule", "conditions=symmetric"], {"symmetric.direct"}),
    ],
)
def test_conditions_and_prompt_variants_are_options(
    options: list[str], groups: set[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = call(capsys, "run", "east", *options, "--out", str(tmp_path / "run"))
    assert code == 0, err
    played = [path.stem.split(".", 1)[1] for path in (tmp_path / "run" / "traces").glob("[!.]*.json")]
    assert set(played) == groups
    assert len(played) == 10 * len(groups)


def test_prompts_names_a_variant_or_a_folder_of_templates(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(EastPrompts.default, tmp_path / "direct")
    said = model(tmp_path, ['{"chosen_word": "stitches"}'] * 4)
    arguments = ["run", "east", "--suite", "quick", "--limit", "1", "--model", said, "--prompts", "direct"]
    assert call(capsys, *arguments, "--out", str(tmp_path / "variant"))[0] == 0
    monkeypatch.chdir(tmp_path)
    assert call(capsys, *arguments, "--out", str(tmp_path / "folder"))[0] == 0
    packs = {}
    for name in ("variant", "folder"):
        (path,) = (tmp_path / name / "traces").glob("[!.]*.json")
        packs[name] = {event.pack for event in read_trace(path).of(ModelSeat)}
    assert packs == {"variant": {"plain"}, "folder": {"direct"}}


def test_prompt_variants_are_changed_over_what_a_file_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["run", "east", "--conditions", "symmetric", "--prompts", "direct", "--out", str(tmp_path / "one")]
    assert call(capsys, *arguments)[0] == 0
    config = str(tmp_path / "one" / "config.yaml")
    assert call(capsys, "run", config, "--prompts", "standard_cot", "--out", str(tmp_path / "two"))[0] == 0
    assert all("standard_cot" in path.name for path in (tmp_path / "two" / "traces").glob("[!.]*.json"))


def test_report_and_plot_show_what_east_declares(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = []
    for strategy in ("normative", "egocentric"):
        runs.append(str(tmp_path / strategy))
        seats = ["--strategy", strategy, "--prompts", "direct", "--out", runs[-1]]
        assert call(capsys, "run", "east", *seats)[0] == 0
    code, out, _ = call(capsys, "report", *runs, "--table", "rates", "--json")
    assert code == 0
    rows = {(row["run"], row["condition"]): row for row in json.loads(out)[0]["rows"]}
    assert rows["normative", "all"]["normative"] == 1.0
    assert rows["egocentric", "symmetric"]["normative"] == 0.0
    assert rows["egocentric", "symmetric"]["normative_high"] == pytest.approx(wilson(0, 10).high)
    code, out, _ = call(capsys, "report", *runs)
    assert "Seats that choose at random match in 25%" in out
    code, out, _ = call(capsys, "plot", *runs, "--out", str(tmp_path / "figures"), "--format", "svg")
    assert code == 0
    drawn = {path.stem for path in (tmp_path / "figures").iterdir()}
    assert drawn == {"overview", "coordination", "choice_pairs", "crossplay"}


def test_an_aborted_game_is_in_no_rate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = model(tmp_path, ['{"chosen_word": "stitches"}'] * 3)
    run = str(tmp_path / "run")
    call(capsys, "run", "east", "--suite", "quick", "--limit", "2", "--model", said, "--out", run)
    code, out, _ = call(capsys, "report", run, "--table", "rates", "--json")
    assert code == 0
    assert [row["games"] for row in json.loads(out)[0]["rows"]] == [1, 1]
    assert "1 of 2 games aborted" in call(capsys, "report", run)[1]
