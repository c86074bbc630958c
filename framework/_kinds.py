"""Families of models that a literal `type` field tells apart, open to subclasses anywhere."""

from __future__ import annotations

from typing import Any, get_args

from pydantic import BaseModel, ValidationError

__all__ = ["Kinds"]


class Kinds:
    """The known classes of one family, by the literal in their `type` field.

    Two packages may use one name for different classes: the first whose fields fit is taken.
    """

    def __init__(self) -> None:
        self._known: dict[str, list[type[BaseModel]]] = {}

    def add(self, cls: type[BaseModel]) -> None:
        """Make a class known under each literal of its `type`; one without literals is abstract."""
        for name in get_args(cls.model_fields["type"].annotation):
            self._known.setdefault(name, []).append(cls)

    def known(self, name: str) -> tuple[type[BaseModel], ...]:
        """The classes that go by a name, in the order in which they were declared."""
        return tuple(self._known.get(name, ()))

    def read(self, data: Any, base: type[BaseModel], unknown: type[BaseModel]) -> Any:
        """A model from JSON data; an unknown kind becomes `unknown`, which takes any fields."""
        if isinstance(data, base) or not isinstance(data, dict):
            return data
        for cls in self._known.get(str(data.get("type")), []):
            try:
                return cls.model_validate(data)
            except ValidationError:
                continue
        return unknown.model_validate(data)
