"""Rows on their way into a CSV file."""

import csv
from pathlib import Path

import pytest

from framework.csvfile import write_rows
from framework.errors import UserError


def test_what_is_written_can_be_read_back(tmp_path: Path):
    path = write_rows(tmp_path / "new" / "t.csv", [("a", "b"), ('say "x",\ny', 0.1 + 0.2), (None, float("nan"))])
    with path.open(newline="", encoding="utf-8") as file:
        assert list(csv.reader(file)) == [["a", "b"], ['say "x",\ny', "0.30000000000000004"], ["", ""]]


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"file.t\.csv cannot be written .*name another folder"):
        write_rows(tmp_path / "file" / "t.csv", [("a",)])
