"""Incremental MAP: everyone tells the initiator what each option costs, and the initiator picks (paper, D.1).

| step | message | from -> to | content |
| --- | --- | --- | --- |
| 1 | `cost_request` | initiator -> each responder | the options |
| 2 | `costs` | responder -> initiator | its cost of each option, none where it cannot |
| 3 | `decision` | initiator -> each responder | the option of least total cost, the lowest on a tie |

The initiator is the party of lowest id. With `p` parties an agreement takes `3 (p - 1)` messages, or
`2 (p - 1)` where no option is open to all: then there is no decision. An option that an earlier agreement
holds is infeasible. Everyone commits to the decision; without one a seat submits nothing.

Source: CalBench paper, D.1 and table 10, after Modi and Veloso (2004).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from framework import Action, AgreementView, Observation, Send
from protocols.typed import Payload, Received, TypedProtocol, direct, send_all

__all__ = ["CostRequest", "Costs", "Decision", "Imap"]


class CostRequest(Payload):
    """The initiator asks for the cost of some options."""

    kind: Literal["cost_request"] = "cost_request"
    options: tuple[int, ...]


class Costs(Payload):
    """A responder's cost of each requested option, in the order of the request; None where it cannot."""

    kind: Literal["costs"] = "costs"
    costs: tuple[int | None, ...]


class Decision(Payload):
    """The option that the initiator picked."""

    kind: Literal["decision"] = "decision"
    option: int


Message = CostRequest | Costs | Decision


class Imap(TypedProtocol[Message]):
    """Full numeric disclosure to the initiator, and the joint minimum for it."""

    vocabulary = Message

    async def start_round(self, observation: Observation) -> None:
        self._asked = False
        self._costs: dict[int, tuple[int | None, ...]] = {}
        self._choice: int | None = None

    def talk(self, observation: Observation, view: AgreementView, received: Sequence[Received[Message]]) -> list[Send]:
        initiator = view.parties[0]
        sends: list[Send] = []
        for post, payload in received:
            why = self._objection(view, observation.seat, post.sender, payload)
            if why:
                self.ignore(observation, post, why)
            elif isinstance(payload, CostRequest):
                self._asked = True
                costs = tuple([view.options[option].cost for option in payload.options])
                sends.append(direct(initiator, Costs(agreement=view.id, costs=costs)))
            elif isinstance(payload, Costs):
                self._costs[post.sender] = payload.costs
            else:
                self._choice = payload.option
        return [*sends, *self._initiate(observation, view)] if observation.seat == initiator else sends

    def decide(self, view: AgreementView) -> Sequence[Action]:
        return () if self._choice is None else view.commit(self._choice)

    def _objection(self, view: AgreementView, seat: int, sender: int, payload: Message) -> str:
        """Why a payload is not acted upon; empty if it is."""
        if payload.agreement != view.id:
            return f"it is about agreement {payload.agreement}, the round is about {view.id}"
        if seat not in view.parties or sender not in view.parties:
            return "its sender or its reader is not a party"
        if isinstance(payload, Costs):
            return self._objection_to_costs(view, seat, sender, payload)
        if sender != view.parties[0]:
            return f"only the initiator sends {payload.kind}"
        if isinstance(payload, CostRequest):
            strange = [option for option in payload.options if not 0 <= option < len(view.options)]
            return f"there is no option {strange[0]}" if strange else "it was asked before" if self._asked else ""
        if not 0 <= payload.option < len(view.options):
            return f"there is no option {payload.option}"
        return "" if self._choice is None else "the choice was announced before"

    def _objection_to_costs(self, view: AgreementView, seat: int, sender: int, payload: Costs) -> str:
        if seat != view.parties[0]:
            return "only the initiator receives costs"
        if not self._asked or sender in self._costs or self._choice is not None:
            return "these costs are not awaited"
        if len(payload.costs) != len(view.options):
            return f"it has {len(payload.costs)} costs for {len(view.options)} options"
        if any(cost is not None and cost < 0 for cost in payload.costs):
            return "a cost is negative"
        return ""

    def _initiate(self, observation: Observation, view: AgreementView) -> list[Send]:
        others = observation.others
        if not self._asked:
            self._asked = True
            if not others:  # an agreement with itself is in need of no talk, and talk ends when nobody speaks
                self._choice = self._cheapest(view)
            return send_all(others, CostRequest(agreement=view.id, options=tuple(range(len(view.options)))))
        if self._choice is not None or len(self._costs) < len(others):
            return []
        self._choice = self._cheapest(view)
        return [] if self._choice is None else send_all(others, Decision(agreement=view.id, option=self._choice))

    def _cheapest(self, view: AgreementView) -> int | None:
        """The option of least total cost among those that nobody rules out, the lowest on a tie."""
        best: tuple[int, int] | None = None
        for option, *costs in zip(view.options, *self._costs.values(), strict=True):
            if option.cost is None or None in costs:
                continue
            total = option.cost + sum(cost for cost in costs if cost is not None)
            if best is None or total < best[0]:
                best = (total, option.index)
        return None if best is None else best[1]
