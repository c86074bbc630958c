"""A table in every format."""

from __future__ import annotations

import csv
import json
import math
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from framework.analysis import Field, Findings
from framework.analysis.formats import as_json, as_latex, as_markdown, write_csv
from framework.analysis.text import plain, pretty
from framework.errors import UserError
from framework.stats import Interval

FIELDS = (
    Field("run", "run", "text", key=True),
    Field("strategy", "strategy", "text"),
    Field("n", "n", "count"),
    Field("share", "Share", "share", "higher"),
    Field("cost", "Cost", "number", "lower"),
    Field("q", "q", "p"),
)
TABLE = Findings(
    FIELDS,
    (
        ("one", "a_b & 50%", 3, Interval(0.5, 0.25, 0.75), Interval(1.234, 1.0, 1.5), 0.25),
        ("one", "c|d", 12, Interval(1.0, math.nan, math.nan), None, 2.22e-22),
    ),
    "Small print.",
    "table",
    "What it says",
)


def test_plain_text_is_aligned_leaves_out_what_rows_share_and_shows_intervals():
    head, first, second = plain(TABLE).splitlines()
    assert "run" not in head
    assert head.split("  ")[0] == "strategy"
    assert "Share % ↑" in head
    assert "Cost ↓" in head
    assert "50.0 [25.0, 75.0]" in first
    assert "1.23 [1.00, 1.50]" in first
    assert first.index("50.0 [") == second.index("100.0") == head.index("Share")
    assert second.split()[-2:] == ["-", "2.2e-22"]
    assert first.split()[-1] == "0.250"


def test_a_key_that_differs_is_shown():
    other = ("two", *TABLE.rows[1][1:])
    assert plain(Findings(FIELDS, (TABLE.rows[0], other))).splitlines()[0].startswith("run")


def test_tests_that_were_not_made_are_not_shown():
    fields = (Field("x", "x", "count"), Field("q", "q", "p"))
    assert plain(Findings(fields, ((1, math.nan), (2, None)))).splitlines()[0] == "x"
    assert plain(Findings(fields, ((1, math.nan), (2, 0.5)))).splitlines()[0] == "x      q"


def test_minus_zero_is_zero_and_no_number_is_a_dash():
    table = Findings((Field("x", "x"), Field("y", "y", "count")), ((-0.001, 1), (math.nan, None)))
    assert [line.split() for line in plain(table).splitlines()[1:]] == [["0.00", "1"], ["-", "-"]]


def test_a_terminal_shows_intervals_below_values_in_as_many_parts_as_it_takes():
    def printed(width: int) -> list[str]:
        console = Console(file=StringIO(), width=width, color_system=None)
        for part in pretty(TABLE, width):
            console.print(part)
        return console.file.getvalue().splitlines()  # type: ignore[attr-defined, no-any-return]

    wide = printed(100)
    assert len(pretty(TABLE, 100)) == 1
    assert wide[1].split()[:2] == ["a_b", "&"]
    assert wide[2].split() == ["[25.0,", "75.0]", "[1.00,", "1.50]"]
    assert len(pretty(TABLE, 30)) > 1
    assert all("strategy" in line for line in printed(30) if line.startswith("strategy"))


def test_csv_has_every_column_and_the_ends_of_intervals(tmp_path: Path):
    path = write_csv(tmp_path / "new", TABLE)
    assert path.name == "table.csv"
    first, second = csv.DictReader(path.open(encoding="utf-8", newline=""))
    assert list(first) == [
        "run",
        "strategy",
        "n",
        "share",
        "share_low",
        "share_high",
        "cost",
        "cost_low",
        "cost_high",
        "q",
    ]
    assert (first["run"], first["strategy"], first["share_low"], first["cost"]) == ("one", "a_b & 50%", "0.25", "1.234")
    assert (second["share"], second["share_low"], second["cost"], second["q"]) == ("1.0", "", "", "2.22e-22")


def test_csv_of_a_place_that_cannot_be_written_is_said(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"file.table\.csv cannot be written .*name another folder"):
        write_csv(tmp_path / "file", TABLE)


def test_json_holds_values_and_no_nan():
    (table,) = json.loads(as_json([TABLE]))
    assert (table["name"], table["title"], table["note"]) == ("table", "What it says", "Small print.")
    assert [column["name"] for column in table["columns"]] == [field.name for field in FIELDS]
    assert table["rows"][1] == {
        "run": "one",
        "strategy": "c|d",
        "n": 12,
        "share": 1.0,
        "share_low": None,
        "share_high": None,
        "cost": None,
        "cost_low": None,
        "cost_high": None,
        "q": 2.22e-22,
    }


def test_markdown_escapes_bars_and_aligns_numbers():
    title, _, head, rule, first, second, _, note = as_markdown(TABLE).splitlines()
    assert title == "### What it says"
    assert head == "| strategy | n | Share % ↑ | Cost ↓ | q |"
    assert rule == "| --- | ---: | ---: | ---: | ---: |"
    assert first.startswith("| a_b & 50% | 3 | 50.0 [25.0, 75.0] |")
    assert second.startswith("| c\\|d | 12 |")
    assert note == "Small print."


def test_markdown_shows_a_name_as_it_is():
    named = Findings((Field("x", "x", "text"),), (("<b>a*b*</b>\n`c`\\",),))
    assert as_markdown(named).splitlines()[-1] == r"| \<b>a\*b\*\</b> \`c\`\\ |"


def test_latex_escapes_what_latex_would_run():
    text = as_latex(TABLE)
    assert r"a\_b \& 50\% & 3 & 50.0 {\scriptsize [25.0, 75.0]}" in text
    assert r"Share \% $\uparrow$" in text
    assert r"\caption{What it says. Small print.}" in text
    assert r"\begin{tabular}{lrrrr}" in text
    assert text.index(r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%") < text.index(r"\toprule")
    assert text.count("{") == text.count("}")
    assert text.count(r"\\") == 3
    evil = Findings((Field("x", "x", "text"),), (("\\input{/etc/passwd}",), ("[1]",)))
    assert r"\textbackslash{}input\{/etc/passwd\}" in as_latex(evil)
    assert r"{}[1] \\" in as_latex(evil)
    named = Findings((Field("x", "x", "text"),), (("<a|b>",),))
    assert r"\textless{}a\textbar{}b\textgreater{} \\" in as_latex(named)


def test_a_row_of_another_length_is_refused():
    with pytest.raises(ValueError, match="has 6 columns and a row of 1 values"):
        Findings(FIELDS, (("one",),))
