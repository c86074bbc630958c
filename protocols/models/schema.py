"""A pydantic model as the JSON schema that providers hold a reply to."""

from __future__ import annotations

from functools import cache
from typing import Any

from pydantic import BaseModel

__all__ = ["strict_schema"]

_DROPPED = ("title", "default", "discriminator")


@cache
def strict_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The schema in the form that strict structured output asks for: all properties required, no others.

    Do not change what is returned: it is kept.
    """
    schema: dict[str, Any] = _strict(model.model_json_schema())
    return schema


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
