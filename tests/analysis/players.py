"""Seats that talk in prose."""

from __future__ import annotations

from collections.abc import Sequence

from framework import Action, Observation, Params, SeatStart, Send, Strategy
from framework.reflection import Reflection


class ChattyParams(Params):
    """Whether the seat speaks of what its slots cost, and is asked about its beliefs."""

    open: bool = False
    reflect: bool = False


class Chatty(Strategy[Observation]):
    """Proposes its cheapest slot in words, to the other participants; takes what the first speaker proposed."""

    params_type = ChattyParams

    async def start_game(self, start: SeatStart) -> None:
        self.slot: int | None = None

    async def start_round(self, observation: Observation) -> None:
        self.slot, self.said = None, False

    async def act(self, observation: Observation) -> Sequence[Action]:
        view = observation.agreement
        assert view is not None
        first = observation.round.speakers[0]
        for post in observation.inbox:
            if post.sender == first and post.content.startswith("I propose slot "):
                self.slot = int(post.content.split("slot ")[1].split(".")[0])
        if not observation.turn.channels:
            return view.commit(self.slot) if self.slot is not None and observation.turn.participates else []
        if self.said or not observation.turn.participates:
            return []
        self.said = True
        best = min((option for option in view.options if option.cost is not None), key=lambda option: option.cost or 0)
        if first == observation.seat:
            self.slot = best.index
        extra = " It is cheap for me." if self.params.open else ""
        text = f"I propose slot {best.index}.{extra}"
        return [Send(channel="dm", to=other, content=text) for other in observation.others]

    async def end_round(self, observation: Observation) -> None:
        if self.params.reflect:
            others = (seat for seat in range(observation.turn.seats) if seat != observation.seat)
            for target in others:
                self.record.events.append(
                    Reflection(round=observation.round.index, target=target, deltas=(3,) * 16, prompt_tokens=5)
                )
