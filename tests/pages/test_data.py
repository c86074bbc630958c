"""Data files are one call with two strings, whatever is in them."""

from __future__ import annotations

import json
import re

from hypothesis import given
from hypothesis import strategies as st

from framework.pages.data import as_script, script_of
from framework.pages.model import Fact

CALL = re.compile(r"Cheaptalk\.receive\('((?:[^'\\]|\\.)*)','((?:[^'\\]|\\.)*)'\);\n")
ESCAPE = re.compile(r"\\(u[0-9a-f]{4}|x[0-9a-f]{2}|.)")
texts = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("'\"\\<>&\u2028\u2029\n\r/`$"))


def unescaped(literal: str) -> str:
    """What a JavaScript engine reads of the inside of a string literal."""
    plain = {"n": "\n", "r": "\r"}
    return ESCAPE.sub(lambda m: chr(int(m[1][1:], 16)) if len(m[1]) > 1 else plain.get(m[1], m[1]), literal)


@given(texts, texts)
def test_a_data_file_gives_back_what_was_put_in_and_nothing_ends_its_strings(key: str, text: str) -> None:
    script = as_script(key, text)
    found = CALL.fullmatch(script)
    assert found is not None
    assert (unescaped(found[1]), unescaped(found[2])) == (key, text)


@given(texts)
def test_a_data_file_holds_nothing_that_ends_a_script_or_a_line(text: str) -> None:
    script = script_of("texts", {text: text})
    assert not set("<>&\u2028\u2029\r") & set(script)
    assert script.count("\n") == 1


@given(texts)
def test_a_model_arrives_as_its_json_without_defaults(text: str) -> None:
    found = CALL.fullmatch(script_of("fact", Fact(label=text, value=text)))
    assert found is not None
    assert json.loads(unescaped(found[2])) == {"label": text, "value": text}
