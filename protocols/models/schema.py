"""A pydantic model as the JSON schema that providers hold a reply to."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pydantic import BaseModel

__all__ = ["short_schema", "strict_schema"]

_DROPPED = ("title", "default", "discriminator")


@lru_cache(maxsize=256)
def strict_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The schema in the form that strict structured output asks for: all properties required, no others.

    Do not change what is returned: it is kept.
    """
    schema: dict[str, Any] = _strict(model.model_json_schema())
    return schema


def short_schema(model: type[BaseModel], chars: int, items: int) -> dict[str, Any]:
    """The strict schema with a bound on every text and list that has none.

    A small model that is held to a schema may fill a text or a list without end.
    """
    schema: dict[str, Any] = _short(strict_schema(model), chars, items)
    return schema


def _short(node: Any, chars: int, items: int) -> Any:
    if isinstance(node, list):
        return [_short(part, chars, items) for part in node]
    if not isinstance(node, dict):
        return node
    out = {key: _short(value, chars, items) for key, value in node.items()}
    if out.get("type") == "string" and "const" not in out and "enum" not in out:
        out.setdefault("maxLength", chars)
    if out.get("type") == "array":
        out.setdefault("maxItems", items)
    return out


def _strict(node: Any) -> Any:
    if isinstance(node, list):
        return [_strict(part) for part in node]
    if not isinstance(node, dict):
        return node
    out: dict[str, Any] = {}
    for key, value in node.items():
        if key in ("properties", "$defs"):
            out[key] = {name: _strict(part) for name, part in value.items()}
        elif key not in _DROPPED:
            out["anyOf" if key == "oneOf" else key] = _strict(value)
    if "properties" in out:
        out |= {"required": list(out["properties"]), "additionalProperties": False}
    return out
