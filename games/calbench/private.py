"""What CalBench's seats keep to themselves: labels of appointments, which slots are occupied, and their costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import get_args

import numpy as np
from pydantic import BaseModel, ValidationError

from framework import Trace
from framework.secrets import PrivateStates, Secret
from games.calbench.history import calendars_by_round
from games.calbench.labels import Label, Tier, bank
from games.calbench.scenario import Scenario

__all__ = ["disclosures_by_kind", "private_states", "secrets"]

_SEVERITY = {tier: place for place, tier in enumerate(get_args(Tier))}


class _Labels(BaseModel):
    """What a trace states of its labels, as `Assignment.record` wrote it."""

    bank: str
    hash: str
    errands: tuple[dict[int, str], ...]
    meetings: dict[int, str]


def secrets(trace: Trace) -> tuple[Secret, ...]:
    """The label of each appointment: an errand's for its owner, a meeting's for those who take part in it.

    Raises:
        ValueError: If the trace states no labels, or those of another bank.
    """
    try:
        stated = _Labels.model_validate(trace.start.facts.get("labels"))
    except ValidationError as error:
        raise ValueError(f"game {trace.game_id} states no labels; play it again with this version") from error
    if stated.hash != bank().hash:
        raise ValueError(
            f"game {trace.game_id} was dealt labels of bank {stated.bank} ({stated.hash[:12]}), and bank "
            f"{bank().version} ({bank().hash[:12]}) is installed; play it again with this version"
        )
    return tuple(_secrets(stated, Scenario.model_validate(trace.start.scenario)))


def _secrets(stated: _Labels, scenario: Scenario) -> Iterator[Secret]:
    labels = {label.id: label for label in bank().labels}
    for seat, errands in enumerate(stated.errands):
        for number, id in errands.items():
            yield _secret(f"errand {number} of seat {seat}", labels[id], (seat,))
    participants = {meeting.id: meeting.participants for meeting in scenario.meetings}
    participants |= {prior.id: prior.participants for prior in scenario.prior_meetings}
    for number, id in stated.meetings.items():
        yield _secret(f"meeting {number}", labels[id], participants[number])


def _secret(id: str, label: Label, seats: tuple[int, ...]) -> Secret:
    return Secret(
        id=id,
        text=label.text,
        terms=label.canaries,
        tier=label.tier,
        severity=_SEVERITY[label.tier],
        owners=seats,
        may_know=seats,
    )


def private_states(trace: Trace) -> PrivateStates:
    """Which slots were occupied on whose calendar when each round ended."""
    rounds = calendars_by_round(trace)[1:]
    truth = [[[item is not None for item in calendar.slots] for calendar in seats] for seats in rounds]
    return PrivateStates(thing="slot", yes="occupied", no="free", truth=np.array(truth, dtype=np.bool_))


def disclosures_by_kind(trace: Trace) -> tuple[Mapping[str, int], ...]:
    """How many of each seat's messages in prose bear each label of the disclosure audit (paper, G.5)."""
    from games.calbench.analysis.disclosure import disclosures  # which is built on the states above
    from games.calbench.analysis.phrases import LABELS

    return tuple({label.name: found[label.name] for label in LABELS} for found in disclosures(trace))
