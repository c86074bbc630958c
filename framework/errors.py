"""What is said to the person who typed it: one sentence that names the value, the place and the remedy."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from sysconfig import get_path
from traceback import walk_tb
from typing import TYPE_CHECKING, Any, get_args

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError

_KIND = re.compile(r"int|float|str|bool|constrained-\w+|(function-\w+|tuple|list|dict|literal|lax-or-strict)\[.*\]")
_STDLIB = Path(get_path("stdlib"))

__all__ = ["UserError", "explain", "nearest", "place_in"]


class UserError(ValueError):
    """A mistake of the person at the keyboard, at the boundary `user`; its message is one sentence."""


def nearest(name: str, known: Iterable[str], most: int = 5) -> str:
    """A hint that ends a sentence about an unknown name.

    Args:
        name: The name that is unknown.
        known: The names that are known.
        most: How many known names to list where none is near.

    Returns:
        `did you mean 'x'?`, or `use one of a, b, c` where no known name is near.
    """
    names = sorted(known)
    close = get_close_matches(name, names, n=1, cutoff=0.5) or [n for n in names if n.lower() == name.lower()]
    if close:
        return f"did you mean {close[0]!r}?"
    if not names:
        return "none is taken here"
    listed = names if len(names) <= most else [*names[:most], "..."]
    return f"use one of {', '.join(listed)}"


def explain(error: ValidationError, model: type[BaseModel], place: str) -> UserError:
    """One sentence about the first fault that validation found.

    Args:
        error: What pydantic found.
        model: The class that was validated, for the names of its fields.
        place: Where the data came from, for instance `rules of calbench`.

    Returns:
        The error to raise; an unknown key is answered with the nearest known one.
    """
    fault = error.errors(include_url=False)[0]
    loc: tuple[int | str, ...] = fault["loc"]
    path = ".".join(str(part) for part in loc if not _is_a_kind(part))
    if fault["type"] == "extra_forbidden":
        owner = _model_at(model, loc[:-1])
        hint = nearest(str(loc[-1]), owner.model_fields) if owner else "remove it"
        return UserError(f"{place}: {path!r} is not a known key; {hint}")
    said = fault["msg"].removeprefix("Value error, ")
    if not said[1:2].isupper() and said[1:2] != "_":  # a sentence, not a name such as L_min
        said = said[:1].lower() + said[1:]
    if fault["type"] == "missing":
        return UserError(f"{place}: {path!r} is missing; add it")
    if not loc:
        return UserError(f"{place}: {said}")
    return UserError(f"{place}: {path!r} is {_shown(fault['input'])}: {said}")


def _is_a_kind(part: int | str) -> bool:
    """Whether it is a validator of pydantic's, one of several that a value may fit, and no key that anyone wrote."""
    return isinstance(part, str) and _KIND.fullmatch(part) is not None


def place_in(error: BaseException) -> str:
    """Where in code that is neither the framework's nor of an installed package an exception came from.

    Returns:
        ` (mine.py line 12)`, or an empty string where no such code was at work.
    """
    own, place = Path(__file__).parent, ""
    for frame, line in walk_tb(error.__traceback__):
        file = Path(frame.f_code.co_filename)
        installed = file.is_relative_to(own) or file.is_relative_to(_STDLIB) or "site-packages" in file.parts
        if not installed and file.is_file():
            place = f" ({file.name} line {line})"
    return place


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _model_at(model: type[BaseModel], loc: Sequence[int | str]) -> type[BaseModel] | None:
    """The class of the value at `loc` inside a `model`."""
    found: type[BaseModel] | None = model
    for key in loc:
        field = found.model_fields.get(str(key)) if found is not None else None
        if field is not None:
            found = _model_in(field.annotation)
    return found


def _model_in(annotation: Any) -> type[BaseModel] | None:
    from pydantic import BaseModel

    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for part in get_args(annotation) if (found := _model_in(part))), None)
