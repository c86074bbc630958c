"""A trace as the steps that a reader goes through: rounds, turns, and what happened in each.

Prompts, replies and other long texts are kept apart: the page of a game loads them when they are asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from pydantic import JsonValue

from framework.messages import Action, Send
from framework.pages.steps import (
    BatchStep,
    EffectStep,
    EndStep,
    EventStep,
    Fields,
    InvalidStep,
    MessageStep,
    Playthrough,
    Record,
    RoundPage,
    RoundStep,
    SeatPage,
    SilenceStep,
    Step,
    TurnPage,
    Usage,
)
from framework.trace import (
    AgentRegistered,
    Asked,
    BatchApplied,
    BatchRejected,
    BatchRolledBack,
    DecideEnd,
    Event,
    GameAborted,
    GameEnd,
    GameStart,
    IllegalPublish,
    InvalidAction,
    MessageSent,
    Moved,
    PhaseStart,
    RoundStart,
    SeatEvent,
    Trace,
    UnknownEvent,
)

__all__ = ["Read", "Texts", "read_steps"]

Texts: TypeAlias = dict[str, str]
"""Long texts by key: the index of the event and the name of its field."""


def _fields(actions: Iterable[Action]) -> tuple[Fields, ...]:
    return tuple(action.model_dump(mode="json") for action in actions)


def _is_short(value: JsonValue) -> bool:
    return value is None or isinstance(value, (bool, int, float)) or (isinstance(value, str) and len(value) <= 60)


@dataclass
class _Reader:
    """Goes through the events once."""

    texts: Texts = field(default_factory=dict)
    seats: dict[int, SeatPage] = field(default_factory=dict)
    rounds: list[RoundPage] = field(default_factory=list)
    turns: list[TurnPage] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    round: int = -1
    phase: str = ""
    in_turn: bool = False

    def read(self, place: int, event: Event) -> None:
        match event:
            case GameStart():
                self.seats = {seat: SeatPage(strategy=name) for seat, name in enumerate(event.strategies)}
            case AgentRegistered():
                self._register(place, event)
            case RoundStart():
                self.round, self.phase, self.in_turn = event.round.index, "", False
                told = event.round.model_dump(include={"index", "label", "participants", "speakers"})
                self.rounds.append(RoundPage(**told))
                self.steps.append(RoundStep(kind="round", event=place, round=self.round))
            case PhaseStart():
                self.phase, self.in_turn = event.phase, False
            case Asked():
                self._ask(place, event)
            case Moved():
                self._move(place, event)
            case SeatEvent():
                self._record(place, event, event.seat)
            case UnknownEvent() if (seat := self._recorder(event)) is not None:
                self._record(place, event, seat)
            case _:
                self._happen(place, event)

    def _where(self, place: int, *, turn: bool = False) -> dict[str, Any]:
        where: dict[str, Any] = {"event": place, "round": self.round, "phase": self.phase}
        return {**where, "turn": len(self.turns) - 1} if turn else where

    def _keep(self, place: int, **texts: str) -> tuple[str, ...]:
        """Put long texts aside, and say which there are."""
        self.texts |= {f"{place}.{name}": text for name, text in texts.items() if text}
        return tuple(name for name, text in texts.items() if text)

    def _register(self, place: int, event: AgentRegistered) -> None:
        self.seats[event.seat] = SeatPage(
            strategy=event.strategy,
            adversarial=event.adversarial,
            params=event.params,
            event=place,
            texts=self._keep(place, system_prompt=event.system_prompt, view=event.view),
        )

    def _ask(self, place: int, event: Asked) -> None:
        view = getattr(event, "view", "")
        self.in_turn = True
        self.turns.append(
            TurnPage(
                event=place,
                round=event.round,
                phase=event.phase,
                sweep=event.turn,
                seat=event.seat,
                attempt=getattr(event, "attempt", 0),
                inbox=event.inbox,
                texts=self._keep(place, prompt=event.prompt, view=view),
            )
        )

    def _move(self, place: int, event: Moved) -> None:
        turn, used = self.turns[-1], event.usage
        thinking = self._keep(turn.event, thinking=event.thinking)
        usage = used and Usage(
            prompt=used.prompt_tokens, completion=used.completion_tokens, calls=used.calls, cost=used.cost
        )
        changes = {"texts": (*turn.texts, *thinking), "usage": usage, "latency": event.latency}
        self.turns[-1] = turn.model_copy(update=changes)
        where = self._where(place, turn=True)
        if isinstance(event, DecideEnd):
            batch = _fields(action for action in event.actions if not isinstance(action, Send))
            self.steps.append(BatchStep(kind="batch", **where, seat=event.seat, attempt=event.attempt, actions=batch))
        elif not any(isinstance(action, Send) for action in event.actions):
            self.steps.append(SilenceStep(kind="silence", **where, seat=event.seat))

    def _recorder(self, event: UnknownEvent) -> int | None:
        """The seat that recorded an event of itself, of a strategy that is not at hand."""
        seat = (event.model_extra or {}).get("seat")
        if not isinstance(seat, int) or Event.kinds.known(event.type):
            return None
        at_the_table = self.round < 0 and seat in self.seats
        return seat if at_the_table or (self.in_turn and seat == self.turns[-1].seat) else None

    def _record(self, place: int, event: Event, seat: int) -> None:
        """What a strategy recorded belongs to its turn, to the seat before the first round, or to nothing."""
        fields: Fields = event.model_dump(mode="json", exclude={"type", "seat", "round"}, exclude_defaults=True)
        self._keep(place, record=json.dumps(fields, ensure_ascii=False))
        title = " ".join([event.type, *(str(fields[name]) for name in ("kind", "purpose") if name in fields)])
        record = Record(event=place, title=title)
        turn = self.turns[-1] if self.in_turn else None
        if turn is not None and turn.seat == seat:
            self.turns[-1] = turn.model_copy(update={"records": (*turn.records, record)})
        elif self.round < 0 and seat in self.seats:
            taken = self.seats[seat]
            self.seats[seat] = taken.model_copy(update={"records": (*taken.records, record)})
        else:
            short = {name: value for name, value in fields.items() if _is_short(value)}
            self.steps.append(
                EventStep(kind="event", **self._where(place), type=event.type, seat=seat, data=short, recorded=title)
            )

    def _happen(self, place: int, event: Event) -> None:
        match event:
            case MessageSent():
                told = event.model_dump(include={"id", "channel", "sender", "to", "readers", "content"})
                self.steps.append(MessageStep(kind="message", **self._where(place, turn=self.in_turn), **told))
            case InvalidAction():
                where = self._where(place, turn=self.in_turn)
                self.steps.append(
                    InvalidStep(
                        kind="invalid",
                        **where,
                        seat=event.seat,
                        action=event.action.model_dump(mode="json"),
                        conflict=event.conflict,
                    )
                )
            case BatchRejected():
                self._reject(place, event)
            case BatchApplied() | BatchRolledBack():
                self.in_turn = False
                undone = isinstance(event, BatchRolledBack)
                self.steps.append(
                    EffectStep(
                        **self._where(place),
                        kind="undone" if undone else "applied",
                        seat=event.seat,
                        actions=_fields(event.actions),
                        cost=getattr(event, "cost", 0.0),
                    )
                )
            case GameEnd():
                self.steps.append(EndStep(kind="end", event=place, round=self.round))
            case GameAborted():
                detail = self._keep(place, detail=event.detail)
                self.steps.append(
                    EndStep(
                        **self._where(place),
                        kind="aborted",
                        seat=event.seat,
                        boundary=event.boundary,
                        error=event.error,
                        texts=detail,
                    )
                )
            case _:
                self._other(place, event)

    def _reject(self, place: int, event: BatchRejected) -> None:
        """A rejected batch is the step of its submission, with the reason."""
        for number in range(len(self.steps) - 1, -1, -1):
            step = self.steps[number]
            if isinstance(step, BatchStep) and step.seat == event.seat and step.conflict is None:
                self.steps[number] = step.model_copy(update={"conflict": event.conflict, "event": place})
                return

    def _other(self, place: int, event: Event) -> None:
        data: Fields = event.model_dump(mode="json", exclude={"type", "round"})
        seat = data.get("seat")
        self.in_turn = self.in_turn and isinstance(event, IllegalPublish)
        self.steps.append(
            EventStep(
                kind="event",
                **self._where(place),
                type=event.type,
                seat=seat if isinstance(seat, int) else None,
                data=data,
            )
        )


@dataclass(frozen=True, slots=True)
class Read:
    """A trace as a reader goes through it, and the long texts."""

    playthrough: Playthrough
    texts: Mapping[str, str]


def read_steps(trace: Trace) -> Read:
    """The steps of a trace, finished or aborted."""
    reader = _Reader()
    for place, event in enumerate(trace.events):
        reader.read(place, event)
    start = next(trace.of(GameStart), None)
    return Read(
        Playthrough(
            seats=tuple(reader.seats[seat] for seat in sorted(reader.seats)),
            rounds=tuple(reader.rounds),
            turns=tuple(reader.turns),
            steps=tuple(reader.steps),
            facts=start.facts if start else {},
            channels=start.channels if start else (),
            topology=start.topology if start else None,
        ),
        reader.texts,
    )
