"""How strongly a word belongs to a persona: a table that ships with the scenarios, or an embedding model.

The numbers of the table are authored by hand for the paper's ten scenarios, not measured on people or
models. They are a reference point for strategies that ask no model.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Annotated, Literal, TypeAlias, get_args

import yaml
from pydantic import Field, TypeAdapter

from framework.focal import ANYONE, Association

__all__ = ["ASSOCIATIONS", "AssociationName", "TableAssociation", "WordAssociation", "association"]

WordAssociation: TypeAlias = Association
AssociationName: TypeAlias = Literal["table", "embedding"]
ASSOCIATIONS: tuple[AssociationName, ...] = get_args(AssociationName)

STRANGE = 0.5
"""What is left of a word's everyday strength for a persona that has no tie of its own to it."""

_Strengths = TypeAdapter(dict[str, dict[str, Annotated[float, Field(ge=0.0, le=1.0)]]])


class TableAssociation:
    """Strengths from a table: persona -> word -> strength in [0, 1], with a row for `ANYONE`.

    A persona's tie to a word that its row does not list is half of the word's everyday strength; a word
    that no row lists has strength 0.
    """

    def __init__(self, strengths: Mapping[str, Mapping[str, float]]) -> None:
        self._strengths = {who: {w.casefold(): s for w, s in row.items()} for who, row in strengths.items()}

    def strength(self, identity: str, option: str) -> float:
        word = option.casefold()
        everyday = self._strengths.get(ANYONE, {}).get(word, 0.0)
        if identity == ANYONE:
            return everyday
        return self._strengths.get(identity, {}).get(word, STRANGE * everyday)

    @property
    def identities(self) -> tuple[str, ...]:
        """The personas that have a row."""
        return tuple(who for who in self._strengths if who != ANYONE)


@cache
def association(name: AssociationName) -> WordAssociation:
    """The association of that name; made once a process.

    Raises:
        UserError: If it needs an extra that is not installed, with the command that installs it.
    """
    if name == "embedding":
        from games.east.embedding import EmbeddingAssociation

        return EmbeddingAssociation.load()
    text = files("games.east").joinpath("data/associations.yaml").read_text(encoding="utf-8")
    return TableAssociation(_Strengths.validate_python(yaml.safe_load(text)))
