"""Data files that a page loads by a script tag, since a page opened from disk may not fetch JSON.

A file is one call of a function of the pages with two strings: the key that was asked for, and JSON. The JSON
is parsed by the browser as data and never runs as code, and nothing in it can end the script or the string.
"""

from __future__ import annotations

import json
import re

from pydantic import BaseModel

__all__ = ["as_script", "script_of"]

_ESCAPES = {
    "\\": "\\\\",
    "'": "\\'",
    "<": "\\x3c",
    ">": "\\x3e",
    "&": "\\x26",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
    "\n": "\\n",
    "\r": "\\r",
}
_SPECIAL = re.compile("|".join(map(re.escape, _ESCAPES)))


def as_script(key: str, text: str) -> str:
    """A data file from JSON text.

    Args:
        key: The key under which the page asks for it.
        text: The JSON.
    """
    return f"Cheaptalk.receive({_quoted(key)},{_quoted(text)});\n"


def script_of(key: str, model: BaseModel | dict[str, str]) -> str:
    """A data file from a model, whose defaults are left out, or from texts by name."""
    if isinstance(model, BaseModel):
        return as_script(key, model.model_dump_json(exclude_defaults=True))
    return as_script(key, json.dumps(model, separators=(",", ":")))


def _quoted(text: str) -> str:
    """A JavaScript string literal that is also safe inside a script element."""
    return "'" + _SPECIAL.sub(lambda found: _ESCAPES[found[0]], text) + "'"
