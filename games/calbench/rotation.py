"""Who meets whom, and who speaks first: balanced participant sets and speaker orders.

Source: CalBench paper, section 4.1 (rotating participants) and G.2 (why the first speaker matters).
"""

from __future__ import annotations

from collections.abc import Sequence

from games.calbench._dice import Dice

_ATTEMPTS = 12
"""Rotations that are drawn in search of one in which pairs meet equally often."""


def participant_sets(num_agents: int, size: int, count: int, dice: Dice) -> tuple[tuple[int, ...], ...]:
    """Draw the participants of each meeting so that agents, and then pairs, meet about equally often.

    The numbers of meetings of two agents never differ by more than one. With 5 agents, 3 participants and 5
    meetings each agent is in exactly 3.

    Args:
        num_agents: Seats to draw from.
        size: Participants of a meeting, at most `num_agents`.
        count: Number of meetings.
        dice: Source of the draws.
    """
    best: tuple[tuple[int, ...], ...] = ()
    least: int | None = None
    for _ in range(_ATTEMPTS):
        sets, unevenness = _rotate(num_agents, size, count, dice)
        if least is None or unevenness < least:
            best, least = sets, unevenness
        if least <= 1:
            break
    return best


def _rotate(num_agents: int, size: int, count: int, dice: Dice) -> tuple[tuple[tuple[int, ...], ...], int]:
    """Return one rotation, and the difference between the most and the least frequent pair."""
    meetings = [0] * num_agents
    met = [[0] * num_agents for _ in range(num_agents)]
    sets: list[tuple[int, ...]] = []
    for _ in range(count):
        chosen: list[int] = []
        together = [0] * num_agents
        rest = dice.shuffled(range(num_agents))
        for _ in range(size):
            seat = min(rest, key=lambda agent: (meetings[agent], together[agent]))
            rest.remove(seat)
            chosen.append(seat)
            for other, times in enumerate(met[seat]):
                together[other] += times
        for seat in chosen:
            meetings[seat] += 1
            for other in chosen:
                met[seat][other] += 1
        sets.append(tuple(sorted(chosen)))
    pairs = [met[a][b] for a in range(num_agents) for b in range(a)]
    return tuple(sets), max(pairs, default=0) - min(pairs, default=0)


def speaker_orders(sets: Sequence[tuple[int, ...]], num_agents: int, dice: Dice) -> tuple[tuple[int, ...], ...]:
    """Draw the speaker order of each meeting so that agents speak first about equally often.

    Where there are as many meetings as agents, and the participants rotate, each agent speaks first exactly
    once. The order of the others is random.

    Args:
        sets: Participants of each meeting.
        num_agents: Number of seats.
        dice: Source of the draws.
    """
    orders = [dice.shuffled(participants) for participants in sets]
    first: list[int] = []
    leads = [0] * num_agents
    for order in orders:
        first.append(min(order, key=leads.__getitem__))
        leads[first[-1]] += 1
    agents = dice.shuffled(range(num_agents))
    while any(_hand_over(agent, first, sets, num_agents) for agent in agents):
        pass
    return tuple(
        [(leader, *[seat for seat in order if seat != leader]) for leader, order in zip(first, orders, strict=True)]
    )


def _hand_over(agent: int, first: list[int], sets: Sequence[tuple[int, ...]], num_agents: int) -> bool:
    """Shift one meeting's lead, along a chain of agents, from `agent` to one who leads at least two fewer."""
    leads = [0] * num_agents
    for leader in first:
        leads[leader] += 1
    if leads[agent] - min(leads) < 2:
        return False
    came_by: dict[int, int] = {agent: -1}
    queue = [agent]
    for giver in queue:
        if leads[giver] <= leads[agent] - 2:
            while came_by[giver] >= 0:
                meeting = came_by[giver]
                first[meeting], giver = giver, first[meeting]
            return True
        for meeting, leader in enumerate(first):
            if leader == giver:
                for taker in sets[meeting]:
                    if taker not in came_by:
                        came_by[taker] = meeting
                        queue.append(taker)
    return False
