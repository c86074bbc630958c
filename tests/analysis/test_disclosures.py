"""What seats say of their own slots: the patterns, the table, and the sheet for a reader."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.analysis import gather_runs
from framework.errors import UserError
from framework.experiment import Experiment, Reporting
from framework.runner import run
from framework.specs import StrategySpec
from framework.stats import share_test, wilson
from games.calbench.analysis.disclosure import DISCLOSURE
from games.calbench.analysis.phrases import LABELS, labels_of
from games.calbench.analysis.sheets import Judged, Line, draw, prose_messages, read_sheet, validation, write_sheet
from tests.analysis.conftest import Cheaptalk
from tests.analysis.rows import row, seen
from tests.analysis.test_calbench_tables import CHATTY, lines


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("I propose slot 3 for our meeting.", {"proposal"}),
        ("How about slot 3? My calendar is open then.", {"availability"}),
        ("I'd like slot 12.", {"proposal"}),
        ("Slot 4 works well for me.", {"availability"}),
        ("I can do slot 4 or slot 9.", {"availability"}),
        ("Slot 7 is free on my calendar, so let's use slot 7.", {"proposal", "availability"}),
        ("Slot 2 is blocked for me.", {"cost"}),
        ("I can't make slot 5.", {"cost"}),
        ("Slot 5 doesn\u2019t work for me.", {"cost", "availability"}),
        ("I could move my errand out of slot 6, but it would be difficult.", {"cost"}),
        ("Taking slot 6 would cost me 10.", {"cost", "numeric"} - {"cost"}),
        ("Slot 8 is not available for me.", {"cost"}),
        ("Slot 9 is taken. I suggest slot 10.", {"proposal"}),
    ],
)
def test_a_message_has_the_labels_of_what_its_sender_says_of_its_own_slots(text: str, labels: set[str]):
    assert labels_of(text) == labels


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I am free all day.",  # no slot
        "Both slot 12 and slot 13 are feasible.",  # nobody speaks for himself
        "Meeting 3 is in room 4; I agree.",  # no slot
        "Could you tell us about slot 3?",  # no phrase
        '{"kind":"costs","agreement":0,"costs":[0,1]}',
    ],
)
def test_what_is_not_said_of_ones_own_slots_has_no_label(text: str):
    assert labels_of(text) == frozenset()


@given(st.text(max_size=400))
def test_any_text_can_be_labelled(text: str):
    assert labels_of(text) <= {label.name for label in LABELS}
    assert labels_of(f"I take slot 1. {text}") >= labels_of(text)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in which one of two players speaks of its costs, and a protocol takes one seat."""
    path = tmp_path_factory.mktemp("runs") / "talk"
    seats = {seat: StrategySpec(name=CHATTY, params={"open": True}) for seat in (0, 1)}
    seats[4] = StrategySpec.parse("imap")
    strategy = StrategySpec.parse(CHATTY)
    run(Experiment(game="calbench", strategy=strategy, seats=seats, out=str(path)))
    return path


def test_shares_are_of_messages_in_prose_and_tested_against_the_others(folder: Path):
    games = gather_runs([folder], [DISCLOSURE.read, prose_messages])
    found = lines(DISCLOSURE.findings(games.seen(DISCLOSURE.read), Reporting()))
    closed, frank = CHATTY, f"{CHATTY}:open=true"
    assert {strategy for _, strategy in found} == {closed, frank}  # a protocol says nothing in prose
    assert sum(int(str(line["messages"])) for line in found.values()) == sum(
        len(game.facts or ()) for game in games.seen(prose_messages)
    )
    for setting in ("uniform", "varied"):
        one, two = (int(str(found[setting, name]["messages"])) for name in (closed, frank))
        assert found[setting, closed]["cost"] == wilson(0, one)
        assert found[setting, frank]["cost"] == wilson(two, two)
        assert found[setting, frank]["proposal"] == wilson(two, two)
        # The family has both strategies in both settings, and each pair is one test seen from either side.
        p = share_test(two, two, 0, one)
        assert float(str(found[setting, frank]["cost_q"])) < 1.01 * 4 * p


# --- the sheet --------------------------------------------------------------------------------------


def test_a_sheet_is_balanced_and_does_not_tell_what_was_found(tmp_path: Path):
    texts = [f"I propose slot {n}." for n in range(40)] + [f"Is {n} good?" for n in range(40)]
    game = seen(row(0), tuple(type("P", (), {"post": n, "text": text})() for n, text in enumerate(texts)))
    drawn = draw([game], 15, 0)
    proposals = [line for line in drawn if line.label == "proposal"]
    assert sum("proposal" in labels_of(line.message) for line in proposals) == 15
    assert len(proposals) == 30
    assert [line for line in drawn if line.label == "cost"] != []
    assert not all("proposal" in labels_of(line.message) for line in proposals[:15])
    assert draw([game], 15, 0) == drawn
    assert draw([game], 15, 1) != drawn
    write_sheet(tmp_path / "sheet.csv", drawn)
    with (tmp_path / "sheet.csv").open(encoding="utf-8", newline="") as file:
        head, *_ = csv.reader(file)
    assert head == ["label", "definition", "message", "shows", "run", "game_id", "post"]
    with pytest.raises(UserError, match="is there already and may hold answers"):
        write_sheet(tmp_path / "sheet.csv", drawn)


def filled(path: Path, answer: str) -> None:
    """Fill a sheet in."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows({**line, "shows": answer} for line in rows)


def test_a_message_that_a_spreadsheet_would_run_is_quoted_and_comes_back_as_it_was(tmp_path: Path):
    texts = ['=HYPERLINK("x")', "+1 for slot 3", "@all I propose slot 2.", "plain", "'quoted"]
    write_sheet(tmp_path / "s.csv", [Line("proposal", text, "r", "id", 0) for text in texts])
    assert "\nproposal,The sender proposes a slot for the meeting, as" not in (tmp_path / "s.csv").read_text()
    with (tmp_path / "s.csv").open(encoding="utf-8", newline="") as file:
        assert [line["message"][:1] for line in csv.DictReader(file)] == ["'", "'", "'", "p", "'"]
    filled(tmp_path / "s.csv", "Yes")
    assert [line.message for line in read_sheet(tmp_path / "s.csv")] == texts


def test_precision_and_recall_are_those_of_table_13():
    hit, miss = "I propose slot 1.", "Slot 4 it is; the change will be made."
    for hits, wrong, missed, precision, recall in (
        # table 13 for proposals (15 of 15 and 15 of 23) and for costs (12 of 15 and 12 of 19)
        (15, 0, 8, "1.00 [0.80, 1.00]", "0.65 [0.45, 0.81]"),
        (12, 3, 7, "0.80 [0.55, 0.93]", "0.63 [0.41, 0.81]"),
    ):
        judged = [Judged("proposal", hit, True)] * hits + [Judged("proposal", hit, False)] * wrong
        judged += [Judged("proposal", miss, True)] * missed + [Judged("proposal", miss, False)] * (15 - missed)
        (line,) = validation(judged).rows
        said = ["{:.2f} [{:.2f}, {:.2f}]".format(*value) for value in line[3:]]  # type: ignore[misc]
        assert line[1:3] == (30, 15)
        assert said == [precision, recall]


def test_the_commands_make_a_sheet_and_score_it(folder: Path, tmp_path: Path, cheaptalk: Cheaptalk):
    sheet = tmp_path / "sheet.csv"
    code, out, _ = cheaptalk("disclosures", "sheet", folder, "--out", sheet, "--each", "3", "--setting", "varied")
    assert code == 0
    assert out.splitlines()[1] == f"cheaptalk disclosures score {sheet}"
    code, _, err = cheaptalk("disclosures", "score", sheet)
    assert (code, err) == (2, f"cheaptalk: {sheet}: no line is filled in; write yes or no into the column shows\n")
    filled(sheet, "yes")
    code, out, _ = cheaptalk("disclosures", "score", sheet, "--markdown")
    assert code == 0
    assert "| Own-slot proposal |" in out
    filled(sheet, "perhaps")
    assert "line 2: shows is 'perhaps'; write yes or no" in cheaptalk("disclosures", "score", sheet)[2]
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    assert "line 2 is not of a sheet" in cheaptalk("disclosures", "score", tmp_path / "other.csv")[2]
