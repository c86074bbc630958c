"""Checks of what a game declares, before anything is played."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from framework.game import Game
from framework.messages import Action, Send

__all__ = ["channels_exist", "phases_are_sound", "rounds_are_within_the_seats"]

_TOPIC = re.compile(r"[\w\-.=]+")


def channels_exist(game: Game[Any, Any]) -> Iterator[str]:
    """Channel names that are doubled, illegal as a topic, or named by a phase and declared nowhere."""
    names = [channel.name for channel in game.channels]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"two channels are named {name!r}; rename one"
    for name in names:
        if not _TOPIC.fullmatch(name):
            yield f"channel {name!r} cannot be a topic; use letters, digits and any of - _ . ="
    for phase in game.phases():
        for name in phase.channels:
            if name not in names:
                yield f"phase {phase.name!r} opens channel {name!r}, which {game.name} does not declare"


def phases_are_sound(game: Game[Any, Any]) -> Iterator[str]:
    """Phases that cannot be played, or whose traces could not be told apart or read back."""
    phases = list(game.phases())
    if not phases:
        yield f"{game.name} has no phases; declare one"
    names = [phase.name for phase in phases]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"two phases are named {name!r}; rename one"
    for phase in phases:
        if phase.sweeps < 1:
            yield f"phase {phase.name!r} has {phase.sweeps} sweeps; give 1 or more"
        if phase.retries < 0:
            yield f"phase {phase.name!r} has {phase.retries} retries; give 0 or more"
        if (phase.validators or phase.retries) and not phase.actions:
            yield f"phase {phase.name!r} validates batches and takes no actions; name the action types"
        for action in phase.actions:
            yield from _action_is_sound(phase.name, action)


def _action_is_sound(phase: str, action: type[Action]) -> Iterator[str]:
    if issubclass(action, Send):
        yield f"phase {phase!r} lists {action.__name__} as an action; messages are open by its channels"
    default = action.model_fields["type"].default
    if not isinstance(default, str):
        yield f"action {action.__name__} has no default for 'type'; write type: Literal['name'] = 'name'"
    if not action.model_config.get("frozen"):
        yield f"action {action.__name__} is not frozen; leave the model configuration of Action as it is"


def rounds_are_within_the_seats(game: Game[Any, Any], scenario: BaseModel) -> Iterator[str]:
    """Rounds out of order, or with participants or speakers that are not seats."""
    seats = game.seats(scenario)
    if seats < 1:
        yield f"{game.name} has {seats} seats in scenario {game.task_id(scenario)!r}; one at least must play"
    joined = game.topology(scenario).seats
    if joined != seats:
        yield f"the topology joins {joined} seats and the scenario has {seats}; build it for the scenario's seats"
    rounds = list(game.rounds(scenario))
    if not rounds:
        yield f"scenario {game.task_id(scenario)!r} has no rounds"
    for place, round in enumerate(rounds):
        if round.index != place:
            yield f"round {place} has index {round.index}; number the rounds from 0"
        if list(round.participants) != sorted(set(round.participants)):
            yield f"round {place}: participants {round.participants} are not distinct and ascending"
        if sorted(round.speakers) != sorted(round.participants):
            yield f"round {place}: speakers {round.speakers} are not the participants {round.participants}"
        if strange := [seat for seat in round.participants if not 0 <= seat < seats]:
            yield f"round {place}: participant {strange[0]} is no seat of 0..{seats - 1}"
