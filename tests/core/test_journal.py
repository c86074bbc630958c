"""Journals: lines that are only ever appended."""

from pathlib import Path

import pytest

from framework.errors import UserError
from framework.journal import append_line, read_lines


def test_lines_come_back_as_they_were_written(tmp_path: Path):
    path = tmp_path / "new" / "j.jsonl"
    assert read_lines(path) == []
    for line in ("1", '"a\u2028b\x85c"', "{}"):
        append_line(path, line)
    assert read_lines(path) == ["1", '"a\u2028b\x85c"', "{}"]


def test_a_torn_line_is_ended_and_spoils_no_other(tmp_path: Path):
    path = tmp_path / "j.jsonl"
    path.write_text('1\n{"to')
    append_line(path, "2")
    assert read_lines(path) == ["1", '{"to', "2"]


def test_a_journal_that_is_no_text_or_cannot_be_written_is_named(tmp_path: Path):
    path = tmp_path / "j.jsonl"
    path.write_bytes(b"\xff\n")
    with pytest.raises(UserError, match=r"j\.jsonl: cannot be read .* remove the file or mend it"):
        read_lines(path)
    with pytest.raises(UserError, match=r"j\.jsonl.below: cannot be written .* free space, then go on"):
        append_line(path / "below", "1")
