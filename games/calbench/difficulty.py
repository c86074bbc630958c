"""Difficulty of a scenario: the share of slot assignments that respect every blocked slot.

`d = F / (T! / (T-M)!)`, where `F` counts the ways to give the `M` meetings distinct slots of `T` so that
each slot is feasible for each participant. `F` is the permanent of a rectangular 0/1 matrix; it is counted
slot by slot over sets of placed meetings, never by listing assignments.

Source: CalBench paper, section 3 (the difficulty score) and A.1, step 5.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from games.calbench._dice import Dice
from games.calbench._placing import insertion_costs
from games.calbench.scenario import Bucket, Difficulty, Layout

_MAX_STATES = 2**20
"""Most numbers that the exact count keeps: 20 meetings that are all different."""
_SAMPLES = 2_000
_DIGIT_BITS = 56
"""Bits of one digit of a count; leaves room to add 128 digits before carrying."""


def feasible_slots(layout: Layout) -> tuple[tuple[bool, ...], ...]:
    """Return, by meeting and slot, whether the slot is feasible for each participant.

    A slot is infeasible for a participant if it is blocked or holds a prior meeting, or if its errand has
    nowhere to land.
    """
    vectors = [insertion_costs(calendar) for calendar in layout.calendars]
    return tuple(
        [
            tuple(
                [None not in column for column in zip(*[vectors[seat] for seat in meeting.participants], strict=True)]
            )
            for meeting in layout.meetings
        ]
    )


def difficulty(layout: Layout, *, seed: int = 0, samples: int = _SAMPLES) -> Difficulty:
    """Compute the difficulty of a scenario.

    Exact whenever the count is affordable: up to 20 meetings always, and beyond as long as enough of them
    have the same feasible slots. Otherwise estimated by sampling, which the result says.

    Args:
        layout: A scenario, or its calendars and meetings.
        seed: Seed of the samples.
        samples: Number of samples, 2 or more.
    """
    rows = feasible_slots(layout)
    slots = len(layout.calendars[0])
    if len(rows) > slots:
        return Difficulty(d=0.0, feasible=0)
    groups = _group(rows)
    if math.prod(group.size + 1 for group in groups) <= _MAX_STATES:
        count = _count(groups, slots)
        return Difficulty(d=count / math.perm(slots, len(rows)), feasible=count)
    return _estimate(rows, slots, Dice(seed, "difficulty"), samples)


class _Group(NamedTuple):
    """Meetings with the same feasible slots."""

    row: tuple[bool, ...]
    size: int


def _group(rows: Sequence[tuple[bool, ...]]) -> list[_Group]:
    return [_Group(row, rows.count(row)) for row in sorted(set(rows))]


def _count(groups: Sequence[_Group], slots: int) -> int:
    """Count the assignments of distinct slots exactly.

    `ways[a1, a2, ...]` is the number of ways to have `a_g` slots used by group `g` so far. Numbers are kept
    in digits of 56 bits, the first axis, because they outgrow machine integers.
    """
    shape = [group.size + 1 for group in groups]
    meetings = sum(group.size for group in groups)
    ways: npt.NDArray[np.uint64] = np.zeros((_digits(slots, meetings, len(groups)), *shape), dtype=np.uint64)
    ways[(0,) * ways.ndim] = 1
    for slot in range(slots):
        # Numbers are short at first: the digits that are still zero need no work.
        live = ways[: _digits(slot + 1, meetings, len(groups))]
        before = live.copy()
        for axis, group in enumerate(groups, start=1):
            if group.row[slot]:
                lead = (slice(None),) * axis
                live[(*lead, slice(1, None))] += before[(*lead, slice(None, -1))]
        for digit in range(len(live) - 1):
            live[digit + 1] += live[digit] >> np.uint64(_DIGIT_BITS)
            live[digit] &= np.uint64(2**_DIGIT_BITS - 1)
    last = tuple([group.size for group in groups])
    sets = sum(int(digits[last]) << (_DIGIT_BITS * place) for place, digits in enumerate(ways))
    return sets * math.prod(math.factorial(group.size) for group in groups)


def _digits(slots: int, meetings: int, groups: int) -> int:
    """Return the number of digits that hold any count over some slots."""
    most: int = min(math.perm(slots, min(slots, meetings)), (groups + 1) ** slots)
    return most.bit_length() // _DIGIT_BITS + 1


def _estimate(rows: Sequence[tuple[bool, ...]], slots: int, dice: Dice, samples: int) -> Difficulty:
    """Estimate `d` by sequential sampling: the most constrained meeting picks a free feasible slot first.

    The product of the numbers of choices is an unbiased estimate of `F`. Sums are kept in integers, so that
    the result is the same on every machine.
    """
    choices = sorted([[1 << slot for slot, fits in enumerate(row) if fits] for row in rows], key=len)
    masks = [sum(row) for row in choices]
    total = squares = 0
    for _ in range(samples):
        used = 0
        ways = 1
        for row, mask in zip(choices, masks, strict=True):
            free = (mask & ~used).bit_count()
            ways *= free
            if not free:
                break
            while (slot := dice.pick(row)) & used:
                pass
            used |= slot
        total += ways
        squares += ways * ways
    everything = math.perm(slots, len(rows))
    spread = (samples * squares - total * total) / (samples**2 * (samples - 1) * everything**2)
    return Difficulty(d=total / (samples * everything), feasible=None, method="sampled", std_error=math.sqrt(spread))


def buckets(scores: Sequence[float]) -> tuple[Bucket, ...]:
    """Sort the candidates of one configuration cell into tertiles of their difficulty `d`.

    Equal scores get the same bucket. A low `d` is hard.

    Args:
        scores: The difficulty of each candidate, at least three.

    Raises:
        ValueError: There are fewer than three candidates, or all have the same difficulty.
    """
    if len(scores) < 3:
        raise ValueError(f"{len(scores)} candidates cannot be split into three buckets: generate more")
    ordered = sorted(scores)
    if ordered[0] == ordered[-1]:
        raise ValueError(
            f"all {len(scores)} candidates have difficulty {ordered[0]:g}, so easy, medium and hard would "
            "mean nothing: give the agents blocked errands, or vary the density"
        )
    hard = ordered[-(-len(ordered) // 3) - 1]
    medium = ordered[-(-2 * len(ordered) // 3) - 1]
    return tuple(["hard" if d <= hard else "medium" if d <= medium else "easy" for d in scores])
