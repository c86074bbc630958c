"""What comes out of a seat, made safe to keep.

A strategy may return anything, and may hold on to what it returned. So nothing of it is kept as it is:
each action and each event is checked, and rebuilt from the JSON that the trace will hold. What is in
memory is then what is on disk, no later change reaches it, and no overridden method speaks in it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError

from framework.messages import Action, Frozen, Send
from framework.strategy import Record, Strategy
from framework.trace import AgentRegistered, Event, SeatEvent, Usage

__all__ = ["introduce", "moves", "said", "writable"]

ModelT = TypeVar("ModelT", bound=Frozen)


def moves(returned: object) -> tuple[Action, ...] | None:
    """The actions of a move; None where a seat declines.

    Raises:
        TypeError: If it is not a sequence of actions.
        ValueError: If an action cannot be written as JSON, or its fields do not fit its own type.
    """
    if returned is None:
        return None
    if isinstance(returned, (str, bytes)) or not isinstance(returned, Sequence):
        raise TypeError(f"a move must be a sequence of actions, got {type(returned).__name__}")
    return tuple(_action(item) for item in returned)


def _action(item: object) -> Action:
    if isinstance(item, Send):
        return Send(channel=writable(item.channel), content=writable(item.content), to=item.to)
    if not isinstance(item, Action):
        raise TypeError(f"a move must hold actions only, got {type(item).__name__}: {item!r:.80}")
    return _rebuilt(item)


def said(record: Record, seat: int) -> Record:
    """What a strategy wrote down, with its own seat on every event.

    Raises:
        TypeError: If a field has the wrong type, or an event is not one of a seat's own.
        ValueError: If an event cannot be written as JSON.
    """
    if not (isinstance(record.prompt, str) and isinstance(record.thinking, str)):
        raise TypeError("record.prompt and record.thinking must be text")
    if not (record.usage is None or isinstance(record.usage, Usage)):
        raise TypeError("record.usage must be a Usage or None")
    return Record(
        prompt=writable(record.prompt),
        thinking=writable(record.thinking),
        usage=None if record.usage is None else _rebuilt(record.usage),
        events=[_event(item, seat) for item in record.events],
    )


def introduce(seat: int, name: str, strategy: Strategy[Any], view: str) -> AgentRegistered:
    """What the trace says of a seat's strategy.

    Raises:
        Exception: Whatever the strategy's own attributes raise, or do not fit.
    """
    if not isinstance(getattr(strategy, "params", None), BaseModel):
        raise TypeError("it has no params; call super().__init__() in __init__")
    return _rebuilt(
        AgentRegistered(
            seat=seat,
            strategy=name,
            params=strategy.params.model_dump(mode="json"),
            adversarial=strategy.adversarial,
            system_prompt=strategy.system_prompt,
            view=view,
        )
    )


def _event(item: object, seat: int) -> SeatEvent:
    if not isinstance(item, SeatEvent):
        raise TypeError(f"record.events must hold events of a seat (SeatEvent) only, got {type(item).__name__}")
    families = [cls for cls in type(item).__mro__ if issubclass(cls, Event) and cls is not Event]
    namesakes = Event.kinds.known(item.type)
    if strange := [cls for cls in (*families, *namesakes) if not issubclass(cls, SeatEvent)]:
        raise TypeError(
            f"event {item.type!r} is {strange[0].__name__}, which a seat may not record; use a type of its own"
        )
    return _rebuilt(item, seat=seat)


def _rebuilt(model: ModelT, **values: int) -> ModelT:
    cls = type(model)
    try:
        data = cls.__pydantic_serializer__.to_json(model, warnings=False)
        fresh: ModelT = cls.__pydantic_validator__.validate_json(data, by_alias=False, by_name=True)
    except (PydanticSerializationError, ValueError):
        # Text that UTF-8 cannot hold is the usual reason: a model's reply that was cut within a character.
        data = json.dumps(_encodable(cls.__pydantic_serializer__.to_python(model, warnings=False))).encode()
        fresh = cls.__pydantic_validator__.validate_json(data, by_alias=False, by_name=True)
    if type(fresh) is not cls:
        raise TypeError(f"{cls.__name__} turns into a {type(fresh).__name__} when it is read back")
    fresh.__dict__.update(values)  # not by a method, which the class may have overridden
    return fresh


def _encodable(data: Any) -> Any:
    if isinstance(data, str):
        return writable(data)
    if isinstance(data, dict):
        return {_encodable(key): _encodable(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_encodable(item) for item in data]
    return data


def writable(text: str) -> str:
    """The text, with a question mark for each half of a character that UTF-8 cannot hold."""
    if not isinstance(text, str):
        raise TypeError(f"text must be a str, got {type(text).__name__}")
    return text if text.isascii() else str(text).encode("utf-8", "replace").decode("utf-8")
