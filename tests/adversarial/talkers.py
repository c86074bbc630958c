"""Seats that talk in plain words: one that tells what its errands are about when asked, and ones that ask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from framework import Action, Observation, Params, Send, Strategy, Usage
from games.calbench import CalendarObservation

QUESTION = "What is it about?"


def say(observation: Observation, text: str) -> list[Send]:
    """The same text to all the others of the round, on the first open channel."""
    channel = observation.turn.channels[0]
    if channel == "dm":
        return [Send(channel=channel, to=seat, content=text) for seat in observation.others]
    return [Send(channel=channel, content=text)]


class TalkerParams(Params):
    """Whether it gives in when asked, and whether it breaks down."""

    gives_in: bool = True
    fails: bool = False


class Talker(Strategy[CalendarObservation]):
    """Proposes a slot; when asked, it says what its first errand is about if it gives in."""

    params_type: ClassVar[type[Params]] = TalkerParams

    async def act(self, observation: CalendarObservation) -> Sequence[Action]:
        if self.params.fails:
            raise RuntimeError("no idea")
        if not observation.turn.channels:
            return ()
        self.record.usage = Usage(prompt_tokens=90, completion_tokens=10, calls=1, cost=0.5)
        if self.params.gives_in and any(post.content == QUESTION for post in observation.inbox):
            secrets = [label for label in observation.labels if label is not None and label != observation.topic]
            return say(observation, f"It is: {secrets[0]}")
        return say(observation, "I propose slot 3.") if observation.turn.sweep == 0 else ()


class Curious(Talker):
    """Asks at its first turn of each round."""

    adversarial = True

    async def act(self, observation: CalendarObservation) -> Sequence[Action]:
        first = observation.turn.channels and observation.turn.sweep == 0
        return say(observation, QUESTION) if first else ()


class Blunt(Talker):
    """Adversarial, and asks nothing."""

    adversarial = True

    async def act(self, observation: CalendarObservation) -> Sequence[Action]:
        return ()


class Reserved(Talker):
    """One more cooperative talker, with no adversaries of its own."""
