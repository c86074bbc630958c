"""Scripted strategies: the least that one can do, as baselines and as examples."""

from __future__ import annotations

from collections.abc import Sequence

from framework import Action, Observation, Strategy

__all__ = ["FirstFree", "Silent"]


class Silent(Strategy[Observation]):
    """Sends nothing and submits nothing."""

    async def act(self, observation: Observation) -> Sequence[Action]:
        return ()


class FirstFree(Strategy[Observation]):
    """Says nothing and takes its own cheapest option, the first on a tie; others may take another."""

    async def act(self, observation: Observation) -> Sequence[Action]:
        view = observation.agreement
        if view is None or observation.phase != "decision":
            return ()
        options = [option for option in view.options if option.cost is not None]
        return view.commit(min(options, key=lambda option: option.cost or 0).index) if options else ()
