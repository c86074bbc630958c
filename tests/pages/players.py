"""Two rivals for CalBench that are rated: one says nothing, one takes what is cheapest for itself."""

from __future__ import annotations

from collections.abc import Sequence

from framework import Action, Observation, Strategy


class Mute(Strategy[Observation]):
    """Does nothing at all."""

    async def act(self, observation: Observation) -> Sequence[Action]:
        return ()


class Hasty(Strategy[Observation]):
    """Takes the cheapest option without asking anybody."""

    async def act(self, observation: Observation) -> Sequence[Action]:
        view = observation.agreement
        if view is None or observation.phase != "decision":
            return ()
        cheapest = min((option for option in view.options if option.cost is not None), key=lambda o: o.cost or 0)
        return view.commit(cheapest.index)
