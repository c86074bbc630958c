"""Typed protocols whose seats lie about their own options, to be spared what they cost.

The CalBench paper assumes truthful reports and leaves misreporting to future work (section 5). A lie is told
through the agreement view: the protocol runs as it is, over a view in which options that would cost this seat
something look worse than they are. What it commits to is decided on the true view. Free options are never lied
about, so a lie pushes the cost of agreeing onto others, and makes agreements fail where nobody can give way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

from pydantic import Field, JsonValue, PositiveInt

from framework import Action, AgreementView, Observation, Option, Params, Send, Settled
from protocols.dsm import Dsm, DsmParams
from protocols.imap import Imap
from protocols.sdmap import SdMap, SdMapParams
from protocols.typed import Received, TypedProtocol

__all__ = ["Misreported", "MisreportingDsm", "MisreportingImap", "MisreportingSdMap", "Untruth"]


class Untruth(Params):
    """How a seat lies.

    Attributes:
        share: How likely each option that would cost it something is lied about, anew in each round.
    """

    share: float = Field(default=1.0, gt=0, le=1)


class CostUntruth(Untruth):
    """How a seat lies to a protocol that speaks of costs.

    Attributes:
        claim: That an option is impossible, or only that it is more costly.
        factor: How many times its true cost it is said to cost, where it is said to be more costly.
    """

    claim: Literal["impossible", "costly"] = "impossible"
    factor: PositiveInt = 3


class MisreportingSdMapParams(SdMapParams, Untruth):
    """Those of SD-MAP, which knows no costs, and how its seat lies."""


class MisreportingDsmParams(DsmParams, CostUntruth):
    """Those of DSM and how its seat lies."""


@dataclass(frozen=True)
class Misreported(AgreementView):
    """A view in which some options look worse than they are.

    Attributes:
        true: The seat's own view.
        lied_about: Which options.
        factor: By what their costs are multiplied; None if they look impossible.
    """

    true: AgreementView
    lied_about: Set[int]
    factor: int | None = None

    @property
    def id(self) -> int:
        return self.true.id

    @property
    def parties(self) -> tuple[int, ...]:
        return self.true.parties

    @cached_property
    def options(self) -> tuple[Option, ...]:
        return tuple([self._worse(o) if o.index in self.lied_about else o for o in self.true.options])

    def _worse(self, option: Option) -> Option:
        if option.cost is None:
            return option
        if self.factor is None:
            return Option(option.index, None, "fixed")
        return Option(option.index, option.cost * self.factor, option.held_by, option.agreement)

    @property
    def settled(self) -> Mapping[int, Settled]:
        return self.true.settled

    def landing(self, option: int) -> int | None:
        return self.true.landing(option)

    def commit(self, option: int, moves: Mapping[int, int] | None = None) -> tuple[Action, ...]:
        return self.true.commit(option, moves)

    def move(self, moves: Mapping[int, int]) -> tuple[Action, ...]:
        return self.true.move(moves)


class _Misreporting(TypedProtocol[Any]):
    """Talks over a view that lies; notes in the trace what it lied about."""

    adversarial: ClassVar[bool] = True

    async def start_round(self, observation: Observation) -> None:
        await super().start_round(observation)
        self._lied_about: frozenset[int] = frozenset()
        if observation.agreement is not None:
            costly = [option.index for option in observation.agreement.options if option.cost]
            self._lied_about = frozenset(option for option in costly if self.rng.random() < self.params.share)
            self.note(observation, "lies", options=list[JsonValue](sorted(self._lied_about)))

    def talk(self, observation: Observation, view: AgreementView, received: Sequence[Received[Any]]) -> list[Send]:
        params = self.params
        factor = params.factor if isinstance(params, CostUntruth) and params.claim == "costly" else None
        return list(super().talk(observation, Misreported(view, self._lied_about, factor), received))  # type: ignore[safe-super]


class MisreportingImap(_Misreporting, Imap):
    """IMAP whose seat overstates what its own appointments cost, as initiator and as responder."""

    params_type = CostUntruth


class MisreportingSdMap(_Misreporting, SdMap):
    """SD-MAP whose seat says IMPOSSIBLE where it could give way."""

    params_type = MisreportingSdMapParams


class MisreportingDsm(_Misreporting, Dsm):
    """DSM whose seat scores what would cost it something lower than it should."""

    params_type = MisreportingDsmParams
