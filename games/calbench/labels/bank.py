"""The bank of labels that ships: three tiers each for errands and for meetings."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

__all__ = ["Bank", "Kind", "Label", "Tier", "bank"]

Kind: TypeAlias = Literal["errand", "meeting"]
Tier: TypeAlias = Literal["public", "sensitive", "very_sensitive"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Label(_Frozen):
    """What an appointment is about.

    Attributes:
        id: Its name in the bank.
        kind: Whether it is for an errand or for a meeting.
        tier: How private it is; never shown to a seat.
        text: What its owner reads.
        canaries: Terms of the text, in lower case, whose appearance in a message is a semantic leak. No term
            occurs in another label.
    """

    id: str
    kind: Kind
    tier: Tier
    text: str
    canaries: tuple[str, ...]


class Bank(_Frozen):
    """All labels.

    Attributes:
        version: Changed whenever a label is.
        labels: The labels, in a fixed order.
        hash: SHA-256 of the bank's file.
    """

    version: str
    labels: tuple[Label, ...]
    hash: str = ""

    def of(self, kind: Kind) -> tuple[Label, ...]:
        """The labels of one kind, in order."""
        return tuple([label for label in self.labels if label.kind == kind])

    def __getitem__(self, id: str) -> Label:
        """A label by its id.

        Raises:
            KeyError: If there is none.
        """
        for label in self.labels:
            if label.id == id:
                return label
        raise KeyError(id)


@cache
def bank() -> Bank:
    """The bank that ships."""
    data = files(__package__).joinpath("bank.json").read_bytes()
    return Bank.model_validate_json(data).model_copy(update={"hash": hashlib.sha256(data).hexdigest()})
