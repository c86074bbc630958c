"""A strategy that does everything a careless or a malicious one might do, at random."""

from __future__ import annotations

import json
import random
import types
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from framework.game import Game
from framework.messages import Action, Conflict, Observation, Post, Send
from framework.strategy import Params, Strategy
from framework.testing._graph import numbers_in

__all__ = ["NoiseParams", "NoiseStrategy"]

_WORDS = ("offer", "counter", "yes", "no", "slot", "x" * 300, "\u2028", "\x00", "{", "null", "")
_TRIES = 8


class NoiseParams(Params):
    """How much noise.

    Attributes:
        messages: Most messages in a move.
        actions: Most other actions in a move.
        quiet: Probability of a move without any message.
        giant: Probability that a message is longer than any limit.
    """

    messages: int = 3
    actions: int = 4
    quiet: float = 0.4
    giant: float = 0.01


class NoiseStrategy(Strategy[Observation]):
    """Sends random text, random typed payloads and forged actions to random seats, and obeys no rule.

    Payloads take their `kind` and their fields from posts that it has read, so that they look like the
    other seats' protocol. All randomness comes from `rng`: the same seed makes the same noise.

    Args:
        params: How much noise.
        actions: The action types to draw batches from; none makes talk only.
        channels: Channel names to draw from besides those that are open and one that does not exist.
        values: Parameters as keyword arguments.
    """

    params_type = NoiseParams

    def __init__(
        self,
        params: Params | None = None,
        actions: Sequence[type[Action]] = (),
        channels: Sequence[str] = (),
        **values: Any,
    ) -> None:
        super().__init__(params, **values)
        self._actions, self._channels = tuple(actions), tuple(channels)
        self._seen: list[Post] = []
        self._numbers: tuple[int, ...] = ()

    @classmethod
    def of(cls, game: Game[Any, Any], **values: Any) -> Callable[[], NoiseStrategy]:
        """A factory of noise in a game's own action types, over all its channels."""
        actions = tuple(dict.fromkeys(action for phase in game.phases() for action in phase.actions))
        channels = tuple(channel.name for channel in game.channels)
        return lambda: cls(actions=actions, channels=channels, **values)

    async def act(self, observation: Observation) -> Sequence[Action]:
        self._seen = [*self._seen, *observation.inbox][-50:]
        self._numbers = numbers_in(observation)
        actions: list[Action] = []
        if self.rng.random() >= self.params.quiet:
            actions += [self._message(observation) for _ in range(self.rng.randint(0, self.params.messages))]
        if self._actions:
            actions += self._batch()
        self.rng.shuffle(actions)
        return actions

    async def retry(self, observation: Observation, conflict: Conflict) -> Sequence[Action] | None:
        return None if self.rng.random() < 0.2 else await self.act(observation)

    def _message(self, observation: Observation) -> Send:
        channels = [*observation.turn.channels, *observation.turn.channels, *self._channels, "no-such-channel"]
        seats = observation.turn.seats
        to = self.rng.choice([None, observation.seat, -1, seats, 10**9, *range(seats), *observation.turn.reachable])
        return Send(channel=self.rng.choice(channels), content=self._content(), to=to)

    def _content(self) -> str:
        if self.rng.random() < self.params.giant:
            return "z" * 100_000
        # The tag makes every message unlike any other, so that it can be found where it should not be.
        tag = f"noise-{self.rng.getrandbits(64):016x}"
        if self.rng.random() < 0.5:
            return f"{self.rng.choice(_WORDS)} {tag}"
        return json.dumps(self._payload(tag))

    def _payload(self, tag: str) -> dict[str, Any]:
        payload: dict[str, Any] = {"kind": self.rng.choice(_WORDS)}
        if self._seen:
            payload = _object_of(self.rng.choice(self._seen).content) or payload
        numbers = [*self._numbers, -1, 0, 1]
        for key in payload:
            if key not in ("kind", "type") and self.rng.random() < 0.5:
                payload[key] = self.rng.choice([self.rng.choice(numbers), None, [], {}, "?", 1e308, True])
        return {**payload, "tag": tag}

    def _batch(self) -> list[Action]:
        drawn = (
            draw(self.rng.choice(self._actions), self.rng, self._numbers)
            for _ in range(self.rng.randint(0, self.params.actions))
        )
        return [action for action in drawn if action is not None]


def _object_of(content: str) -> dict[str, Any] | None:
    try:
        data = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def draw(model: type[Action], rng: random.Random, numbers: Sequence[int]) -> Action | None:
    """A random action of a type, from its fields' annotations; None if no draw of several is valid."""
    for _ in range(_TRIES):
        try:
            return model(**_fields(model, rng, numbers, 0))
        except (ValidationError, TypeError, ValueError):
            continue
    return None


def _fields(model: type[BaseModel], rng: random.Random, numbers: Sequence[int], depth: int) -> dict[str, Any]:
    return {
        field.alias or name: _value(field.annotation, rng, numbers, depth + 1)
        for name, field in model.model_fields.items()
        if field.is_required() or get_origin(field.annotation) is Literal or rng.random() < 0.5
    }


def _value(annotation: Any, rng: random.Random, numbers: Sequence[int], depth: int) -> Any:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _value(arguments[0], rng, numbers, depth)
    if origin is Literal:
        return rng.choice(arguments)
    if origin in (Union, types.UnionType):
        return _value(rng.choice(arguments), rng, numbers, depth)
    if origin in (tuple, list, set, frozenset) or annotation in (tuple, list):
        return _items(origin, arguments, rng, numbers, depth)
    if isinstance(annotation, type):
        return _plain(annotation, rng, numbers, depth)
    return None


def _items(origin: Any, arguments: Any, rng: random.Random, numbers: Sequence[int], depth: int) -> list[Any]:
    if depth > 3 or not arguments:
        return []
    if origin is tuple and arguments[-1] is not Ellipsis:
        return [_value(argument, rng, numbers, depth + 1) for argument in arguments]
    return [_value(arguments[0], rng, numbers, depth + 1) for _ in range(rng.randint(0, 3))]


def _plain(kind: type, rng: random.Random, numbers: Sequence[int], depth: int) -> Any:
    if issubclass(kind, Enum):
        return rng.choice(list(kind))
    if issubclass(kind, bool):
        return rng.random() < 0.5
    if issubclass(kind, int):
        return rng.choice([*numbers, -1, 0, 1, rng.randint(0, 20), 10**9])
    if issubclass(kind, float):
        return rng.choice([-1.0, 0.0, 0.5, 1e308])
    if issubclass(kind, str):
        return rng.choice(_WORDS)
    if issubclass(kind, BaseModel) and depth <= 3:
        return _fields(kind, rng, numbers, depth)
    return None
