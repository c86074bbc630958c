"""Checks of what seats are handed."""

from __future__ import annotations

import pickle
import random
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import fields, is_dataclass
from typing import Any

from autogen_core import AgentRuntime, BaseAgent
from pydantic import BaseModel

from framework.game import Game
from framework.messages import Observation
from framework.referee import Referee
from framework.strategy import Strategy
from framework.testing._graph import reachable
from framework.testing._probe import Handed, Playing, Probe
from framework.testing._watch import turn_of

__all__ = [
    "first_sights_keep_secrets",
    "nothing_else_is_in_reach",
    "observations_are_values",
    "posts_stay_in_their_audience",
]

_TAG = re.compile(r"noise-[0-9a-f]{16}")
_DRAWS = 3


def first_sights_keep_secrets(game: Game[Any, Any], scenario: BaseModel, rng: random.Random) -> Iterator[str]:
    """Changes each seat's secrets in turn, where the game offers a way, and looks through the others' eyes."""
    seats = range(game.seats(scenario))
    mine = [_first_sight(game, scenario, seat) for seat in seats]
    offered = shown = False
    for seat in seats:
        for _ in range(_DRAWS):
            changed = game.perturb(scenario, seat, rng)
            if changed is None:
                continue
            offered = True
            for other in seats:
                differs = _first_sight(game, changed, other) != mine[other]
                shown = shown or (differs and other == seat)
                if differs and other != seat:
                    yield f"a secret of seat {seat} shows in what seat {other} is first handed"
    if offered and not shown:
        yield "perturb changes nothing that the seat itself sees, so that nothing was checked; change a secret"


def _first_sight(game: Game[Any, Any], scenario: BaseModel, seat: int) -> tuple[Any, ...]:
    round = game.rounds(scenario)[0]
    start = game.start(scenario)
    state = game.begin(start, round)
    seen = [game.observe(state, turn_of(game, scenario, round, phase, seat)) for phase in game.phases()]
    return (game.view(start, seat), game.public_facts(scenario), seen, [item.describe() for item in seen])


def observations_are_values(game: Game[Any, Any], playing: Playing) -> Iterator[str]:
    """Observations that can be changed, or not be hashed or pickled."""
    for seat, probe in enumerate(playing.seats):
        for handed in _some(probe):
            yield from (f"{_place(seat, handed)}: {complaint}" for complaint in _faults(handed.observation))


def nothing_else_is_in_reach(game: Game[Any, Any], playing: Playing) -> Iterator[str]:
    """Ways from what a seat is handed to the state, the scenario, the runtime or another seat."""
    state = game.start(playing.scenario)
    walls: tuple[type, ...] = (AgentRuntime, BaseAgent, Strategy, Referee, Game, type(playing.scenario))
    if type(state).__module__ != "builtins":
        walls = (*walls, type(state))
    for seat, probe in enumerate(playing.seats):
        for item in (item for item in reachable(probe.start) if isinstance(item, walls)):
            yield f"seat {seat}: its SeatStart leads to a {type(item).__name__}; hand out facts only"
        for handed in _some(probe):
            for root in (handed.observation, handed.observation.agreement, handed.observation.focal):
                for item in (item for item in reachable(root) if isinstance(item, walls)):
                    what = f"its {type(root).__name__} leads to a {type(item).__name__}"
                    yield f"{_place(seat, handed)}: {what}; hand out the seat's own view only"


def _place(seat: int, handed: Handed) -> str:
    return f"seat {seat}, round {handed.observation.round.index}, {handed.observation.phase}"


def _some(probe: Probe) -> list[Handed]:
    """The first observation of each hook in each phase, and the last one of all."""
    found: dict[tuple[str, str], Handed] = {}
    for handed in probe.handed:
        found.setdefault((handed.hook, handed.observation.phase), handed)
    return [*found.values(), *probe.handed[-1:]]


def _faults(observation: Observation) -> Iterator[str]:
    for item in reachable(tuple(value for _, value in observation)):  # not what it has cached of its own
        if isinstance(item, list | dict | set | bytearray):
            yield f"the observation holds a {type(item).__name__}, which a seat can change; use a tuple"
        elif name := _changeable(item):
            yield f"{type(item).__name__}.{name} can be set; make its class frozen"
    if name := _changeable(observation):
        yield f"{type(observation).__name__}.{name} can be set; make the model frozen"
    try:
        hash(observation)
        if pickle.loads(pickle.dumps(observation)) != observation:
            yield "the observation comes back from pickle unequal"
    except Exception as error:
        yield f"the observation cannot be hashed and pickled: {type(error).__name__}: {error}"


def _changeable(item: Any) -> str:
    """The name of a field that takes an assignment; it is given the value that it has."""
    names: Iterable[str] = ()
    if isinstance(item, BaseModel):
        names = type(item).model_fields
    elif is_dataclass(item) and not isinstance(item, type):
        names = (field.name for field in fields(item))
    for name in names:
        with suppress(Exception):
            setattr(item, name, getattr(item, name))
            return name
    return ""


def posts_stay_in_their_audience(playing: Playing) -> Iterator[str]:
    """Posts that show, in whatever form, in what a seat outside their audience is handed."""
    posts = playing.trace.posts
    tags = [set(_TAG.findall(post.content)) for post in posts]
    for seat, probe in enumerate(playing.seats):
        mine = [post for post in posts if seat in post.readers]
        closed = [found for post, found in zip(posts, tags, strict=True) if seat not in (post.sender, *post.readers)]
        secret = set[str]().union(*closed)
        for handed in probe.handed:
            seen, where = handed.observation, f"in round {handed.observation.round.index}"
            for post in seen.inbox:
                if post.id >= len(mine) or (mine[post.id].sender, mine[post.id].content) != (post.sender, post.content):
                    yield f"seat {seat} was handed post {post.id} {where}, which was not sent to it"
            text = "\n".join([seen.describe(), *(item for item in reachable(seen) if isinstance(item, str))])
            if leaked := secret.intersection(_TAG.findall(text)):
                yield f"seat {seat} sees {min(leaked)!r} {where}, which was not sent to it"
