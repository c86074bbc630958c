"""Small calendars and scenarios for tests, written as text."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace

from games.calbench.calendars import LEVEL_SCALE, Calendar, Errand, MeetingItem, Slot
from games.calbench.oracle import optimum
from games.calbench.scenario import Difficulty, Meeting, PriorMeeting, Scenario, ScenarioParams


def calendar(text: str, priors: Sequence[PriorMeeting] = (), first_errand: int = 1) -> Calendar:
    """A calendar from one character a slot: `.` free, `1`-`3` an errand of that level, `#` blocked, `a`-... a prior."""
    slots: list[Slot] = []
    for place, mark in enumerate(text):
        if mark == ".":
            slots.append(None)
        elif mark.isalpha():
            prior = priors[ord(mark) - ord("a")]
            slots.append(MeetingItem(meeting_id=prior.id, cost=prior.cost, participants=prior.participants))
        else:
            level = 1 if mark == "#" else int(mark)
            slots.append(Errand(errand_id=first_errand + place, cost=level, blocked=mark == "#"))
    return Calendar(tuple(slots))


def scenario(
    calendars: Sequence[str], meetings: Sequence[Sequence[int]], priors: Sequence[tuple[Sequence[int], int]] = ()
) -> Scenario:
    """A scenario from calendars as text, the participants of each meeting, and (participants, slot) of the priors."""
    prior_meetings = tuple(
        PriorMeeting(id=len(meetings) + 1 + place, participants=tuple(seats), slot=slot)
        for place, (seats, slot) in enumerate(priors)
    )
    parts = SimpleNamespace(
        calendars=tuple(calendar(text, prior_meetings, 100 * seat) for seat, text in enumerate(calendars)),
        meetings=tuple(
            Meeting(id=place, participants=tuple(sorted(seats)), speaker_order=tuple(seats))
            for place, seats in enumerate(meetings, start=1)
        ),
        prior_meetings=prior_meetings,
    )
    return Scenario(
        task_id="small",
        seed=0,
        params=ScenarioParams(
            num_agents=len(calendars),
            num_slots=len(calendars[0]),
            num_meetings=len(meetings),
            subset_size=2,
            cost_setting="varied",
        ),
        calendars=parts.calendars,
        meetings=parts.meetings,
        prior_meetings=prior_meetings,
        asked_density=(0.5,) * len(calendars),
        realised_density=(0.5,) * len(calendars),
        oracle=optimum(parts),
        greedy_cost=None,
        difficulty=Difficulty(d=0.5, feasible=None),
        cost_scale=LEVEL_SCALE,
    )
