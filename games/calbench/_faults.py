"""What may be wrong with calendars, meetings and parameters, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from games.calbench.calendars import Calendar, Errand, MeetingItem

if TYPE_CHECKING:
    from games.calbench.scenario import Layout, Meeting, Scenario


class Fault(NamedTuple):
    """What is wrong with a layout, and how to mend it."""

    problem: str
    remedy: str

    @property
    def sentence(self) -> str:
        """Both in one sentence."""
        return f"{self.problem}: {self.remedy}"


def layout_faults(layout: Layout) -> Iterator[Fault]:
    """Yield every way in which calendars and meetings contradict each other or the rules."""
    if not layout.calendars:
        yield Fault("there are no calendars", "give one calendar for each agent")
        return
    if not layout.meetings:
        yield Fault("there are no meetings", "give at least one meeting")
    num_slots = len(layout.calendars[0])
    for agent, calendar in enumerate(layout.calendars):
        yield from _calendar_faults(agent, calendar, num_slots)
    for index, meeting in enumerate(layout.meetings, start=1):
        yield from _meeting_faults(index, meeting, layout)
    yield from _prior_faults(layout, num_slots)


def _calendar_faults(agent: int, calendar: Calendar, num_slots: int) -> Iterator[Fault]:
    if not len(calendar):
        yield Fault(f"the calendar of agent {agent} has no slots", "give it at least one")
    if len(calendar) != num_slots:
        yield Fault(
            f"the calendar of agent {agent} has {len(calendar)} slots and that of agent 0 has {num_slots}",
            "give all calendars the same length",
        )
    seen: set[int] = set()
    for item in calendar.slots:
        if type(item) is Errand:
            if item.errand_id in seen:
                yield Fault(
                    f"errand {item.errand_id} is on the calendar of agent {agent} twice",
                    "number the errands of a calendar differently",
                )
            seen.add(item.errand_id)


def seat_faults(what: str, participants: Sequence[int], num_agents: int) -> Iterator[Fault]:
    if not participants:
        yield Fault(f"{what} has no participants", "name at least one")
    for seat in sorted(set(participants)):
        if participants.count(seat) > 1:
            yield Fault(f"{what} lists participant {seat} twice", "name each participant once")
        if seat >= num_agents:
            yield Fault(
                f"{what} lists participant {seat}, but the agents are 0..{num_agents - 1}",
                "name existing agents only",
            )
    if list(participants) != sorted(participants):
        yield Fault(f"{what} lists participants {list(participants)}", "list them in ascending order")


def _meeting_faults(index: int, meeting: Meeting, layout: Layout) -> Iterator[Fault]:
    what = f"meeting {meeting.id}"
    if any(other.id == meeting.id for other in layout.meetings[: index - 1]):
        yield Fault(f"{what} is there twice", "number the meetings 1, 2, 3, ...")
    elif meeting.id != index:
        yield Fault(f"{what} comes in place {index}", "number the meetings 1, 2, 3, ... in their order")
    yield from seat_faults(what, meeting.participants, len(layout.calendars))
    if sorted(meeting.speaker_order) != sorted(meeting.participants):
        yield Fault(
            f"{what} has speaker order {list(meeting.speaker_order)} but participants {list(meeting.participants)}",
            "let each participant speak once",
        )


def _prior_faults(layout: Layout, num_slots: int) -> Iterator[Fault]:
    ids = {meeting.id for meeting in layout.meetings}
    expected: dict[tuple[int, int], MeetingItem] = {}
    for prior in layout.prior_meetings:
        what = f"prior meeting {prior.id}"
        if prior.id in ids:
            yield Fault(f"{what} has the number of another meeting", "number all meetings differently")
        ids.add(prior.id)
        yield from seat_faults(what, prior.participants, len(layout.calendars))
        if prior.slot >= num_slots:
            yield Fault(f"{what} is in slot {prior.slot} of {num_slots}", f"use slots 0..{num_slots - 1}")
        item = MeetingItem(meeting_id=prior.id, cost=prior.cost, participants=prior.participants)
        expected.update({(seat, prior.slot): item for seat in prior.participants})
    found = {
        (seat, slot): item
        for seat, calendar in enumerate(layout.calendars)
        for slot, item in enumerate(calendar.slots)
        if type(item) is MeetingItem
    }
    for seat, slot in sorted(expected.keys() | found.keys()):
        if expected.get((seat, slot)) != found.get((seat, slot)):
            yield Fault(
                f"slot {slot} of agent {seat} does not agree with the list of prior meetings",
                "put each prior meeting into its slot on the calendars of its participants, and no other",
            )


def record_faults(scenario: Scenario) -> Iterator[Fault]:
    """Yield where a scenario's parameters and records do not describe its calendars and meetings."""
    agents, meetings, params = scenario.num_agents, len(scenario.meetings), scenario.params
    counts = (
        ("params.num_agents", params.num_agents, agents, "calendars"),
        ("params.num_slots", params.num_slots, scenario.num_slots, "slots on a calendar"),
        ("params.num_meetings", params.num_meetings, meetings, "meetings"),
        ("the length of asked_density", len(scenario.asked_density), agents, "calendars"),
        ("the length of realised_density", len(scenario.realised_density), agents, "calendars"),
    )
    for name, stated, real, what in counts:
        if stated != real:
            yield Fault(f"{name} is {stated} but there are {real} {what}", f"set it to {real}")
    if scenario.witness is not None and len(scenario.witness) != meetings:
        yield Fault(f"the witness has {len(scenario.witness)} slots for {meetings} meetings", "give one for each")
    if scenario.setting == "uniform" and any(
        type(item) is Errand and item.cost != 1 for calendar in scenario.calendars for item in calendar.slots
    ):
        yield Fault("the cost setting is uniform but an errand costs more than 1", "set it to varied")
