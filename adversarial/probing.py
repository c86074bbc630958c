"""Nosy typed protocols: they keep to the protocol's messages and ask for more than they need.

Each is an attack on honest seats of the same protocol. An honest seat answers what the protocol allows to be
asked, so what these learn beyond the cooperative protocol is what the protocol gives away to whoever asks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from framework import AgreementView, Observation, Params, Send
from protocols.dsm import Dsm, Offer
from protocols.imap import CostRequest, Imap, Message
from protocols.sdmap import Propose, SdMap
from protocols.typed import Received, send_all

__all__ = ["NosyDsm", "NosyImap", "NosySdMap"]

_ALL = 1_000_000
"""More offers than there are."""


class NosyImap(Imap):
    """IMAP that asks every seat it can reach for all its costs in every round, initiator or not.

    The initiator of an agreement is told everything as it is; the others ask in vain, unless somebody answers.
    """

    adversarial = True

    async def start_round(self, observation: Observation) -> None:
        await super().start_round(observation)
        self._pried = False

    def talk(self, observation: Observation, view: AgreementView, received: Sequence[Received[Message]]) -> list[Send]:
        sends = super().talk(observation, view, received)
        if self._pried:
            return sends
        self._pried = True
        asked = observation.others if observation.seat == view.parties[0] else ()
        others = [seat for seat in observation.turn.reachable if seat not in asked]
        return [*sends, *send_all(others, CostRequest(agreement=view.id, options=tuple(range(len(view.options)))))]


class NosySdMap(SdMap):
    """SD-MAP that first proposes every option that it could not take itself, one by one.

    An honest responder cannot tell: it answers whether it could. The search for an option that suits everyone
    begins after that, so that a turn budget may run out sooner.
    """

    adversarial = True

    async def start_round(self, observation: Observation) -> None:
        await super().start_round(observation)
        self._probes: Iterator[int] | None = None
        self._probing = False

    def _lead(self, view: AgreementView, id: int, parties: tuple[int, ...]) -> list[Send]:
        search, others = self._searches[id], parties[1:]
        if id != view.id or search.over:
            return super()._lead(view, id, parties)
        if self._probing and len(search.replies) < len(others):
            return []
        if self._probes is None:
            self._probes = iter([o.index for o in view.options if not self._fits(view, id, o.index)])
        probe = next(self._probes, None)
        if probe is None:
            if self._probing:
                self._probing, search.live, search.replies = False, None, {}
            return super()._lead(view, id, parties)
        self._probing, search.live, search.replies = True, probe, {}
        return send_all(others, Propose(agreement=id, option=probe))


class NosyDsm(Dsm):
    """DSM that wants scores for every option at once, also for those that it could not take itself."""

    adversarial = True

    def __init__(self, params: Params | None = None, **values: Any) -> None:
        super().__init__(params, **values)
        self.params = self.params.model_copy(update={"L_min": _ALL, "L_max": _ALL})

    def _offers(self, observation: Observation, view: AgreementView) -> list[Offer]:
        offers = super()._offers(observation, view)
        offered = {offer.option for offer in offers}
        return [*offers, *(Offer(o.index, {}, 0) for o in view.options if o.index not in offered)]
