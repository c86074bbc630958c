"""The typed view of a streaming agreement problem, which protocols are written against.

In each round some parties have to settle on one option (a slot, a room, a price band), and each of
them alone knows what an option costs it. A game that is of this kind hands a seat an `AgreementView` of
its own private state; a protocol never needs to know what the options are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from framework.messages import Action

__all__ = ["AgreementView", "Option", "Settled"]


@dataclass(frozen=True, slots=True)
class Option:
    """One option as one seat sees it.

    Attributes:
        index: Number of the option, from 0.
        cost: What taking it costs this seat, on the game's internal scale; None where it cannot.
            An option that is held by an earlier agreement is None as well.
        held_by: `free`; `own` for something of the seat's own that can give way; `fixed` for something
            that cannot; `agreement` for an earlier agreement with others.
        agreement: Id of the earlier agreement that holds it, if one does.
    """

    index: int
    cost: int | None
    held_by: Literal["free", "own", "fixed", "agreement"]
    agreement: int | None = None


@dataclass(frozen=True, slots=True)
class Settled:
    """An earlier agreement of this seat.

    Attributes:
        id: Its number.
        option: The option that it holds now.
        parties: The seats that are bound by it, ascending.
        cost: What it costs this seat to move it to another option, without what gives way there.
    """

    id: int
    option: int
    parties: tuple[int, ...]
    cost: int


class AgreementView(ABC):
    """What one seat knows of the agreement that the round is about."""

    @property
    @abstractmethod
    def id(self) -> int:
        """Number of the agreement to reach; unique in a game."""

    @property
    @abstractmethod
    def parties(self) -> tuple[int, ...]:
        """The seats that have to agree, ascending."""

    @property
    @abstractmethod
    def options(self) -> tuple[Option, ...]:
        """All options, by index, with this seat's own costs."""

    @property
    @abstractmethod
    def settled(self) -> Mapping[int, Settled]:
        """This seat's earlier agreements, by id."""

    @abstractmethod
    def landing(self, option: int) -> int | None:
        """The option to which whatever of the seat's own holds `option` would give way; None if there is none."""

    @abstractmethod
    def commit(self, option: int, moves: Mapping[int, int] | None = None) -> tuple[Action, ...]:
        """The batch that takes `option` for the current agreement.

        Args:
            option: The option agreed upon.
            moves: Earlier agreements that move as well: id -> new option.

        Returns:
            Actions of the game, in an order in which they are valid if the choice is.
        """

    @abstractmethod
    def move(self, moves: Mapping[int, int]) -> tuple[Action, ...]:
        """The batch that only moves earlier agreements (id -> new option), as in a repair."""

    def price(self, option: int | None, moves: Mapping[int, int] | None = None) -> int | None:
        """What a batch would cost this seat: `commit(option, moves)`, or `move(moves)` where `option` is None.

        Returns:
            The cost on the game's internal scale; None where the seat cannot make the batch: a target is
            fixed, wanted twice, or held by an agreement that does not move, an agreement is not this
            seat's, or what gives way has nowhere to go.
        """
        moves = moves or {}
        if option is not None and not moves:
            return self.options[option].cost
        targets = [*moves.values()] if option is None else [*moves.values(), option]
        if len(set(targets)) < len(targets) or any(id not in self.settled for id in moves):
            return None
        total = sum(self.settled[id].cost for id, target in moves.items() if self.settled[id].option != target)
        giving_way = 0
        for target in targets:
            held = self.options[target]
            if held.held_by == "agreement":
                if held.agreement not in moves:
                    return None
            elif held.cost is None:
                return None
            else:
                total += held.cost
                giving_way += held.held_by == "own"
        landings = sum(o.held_by == "free" and o.index not in targets for o in self.options) if giving_way else 0
        return None if landings < giving_way else total
