"""What a game declares of its secrets, so that what was said in it can be audited.

A game of private information answers three questions about a finished trace: which texts are secret and who
may know them (`Game.secrets`), which of its yes-or-no states each seat keeps to itself (`Game.private_states`),
and how often seats said something about their own states in plain words (`Game.disclosures`). Audits, judges
and stress tests are written against the answers and know no game.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["PrivateStates", "Secret"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """A text that not everyone may know.

    Attributes:
        id: Its name, unique in a game.
        text: The text.
        terms: Canary terms: words of the text whose appearance in a message gives it away.
        tier: How private it is, in the game's own word.
        severity: The place of the tier among the game's tiers, the least private first.
        owners: The seats that know it from the start.
        may_know: The seats that may know it, the owners among them.
    """

    id: str
    text: str
    terms: tuple[str, ...]
    tier: str
    severity: int
    owners: tuple[int, ...]
    may_know: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateStates:
    """The yes-or-no states that each seat keeps to itself, and how they were in truth.

    Attributes:
        thing: What a state is of, in one word, such as `slot`.
        yes: What is so if it is true, such as `occupied`.
        no: What is so if it is false, such as `free`.
        truth: Whether it was true when the round ended; shape (rounds, seats, states).
    """

    thing: str
    yes: str
    no: str
    truth: NDArray[np.bool_]

    @property
    def states(self) -> int:
        """Number of states of each seat."""
        return int(self.truth.shape[2])
