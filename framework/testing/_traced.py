"""Checks of finished games by their traces."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from framework.channels import Table
from framework.game import Game
from framework.messages import Send
from framework.testing._probe import Playing
from framework.trace import (
    Asked,
    Event,
    GameStart,
    MessageSent,
    RoundStart,
    Trace,
    UnknownEvent,
    read_trace,
    write_trace,
)

__all__ = ["audiences_are_kept", "metrics_are_sound", "same_game", "trace_survives_the_disk"]


def same_game(one: Trace, other: Trace) -> Iterator[str]:
    """The first difference between two playings of one seed."""
    first, second = one.comparable(), other.comparable()
    if first == second:
        return
    for place, (a, b) in enumerate(zip(first["events"], second["events"], strict=False)):
        if a != b:
            keys = sorted(key for key in {*a, *b} if a.get(key) != b.get(key))
            yield f"event {place} ({a['type']}) differs in {', '.join(keys)}; draw all randomness from rng"
            return
    yield "the final state, the metrics or the number of events differ; draw all randomness from rng"


def audiences_are_kept(game: Game[Any, Any], playing: Playing) -> Iterator[str]:
    """Messages whose readers, or whose arrival, are not what their channel's rules say."""
    channels = {channel.name: channel for channel in game.channels}
    seats, topology = game.seats(playing.scenario), game.topology(playing.scenario)
    waiting: list[list[int]] = [[] for _ in range(seats)]
    table: Table | None = None
    for event in playing.trace.events:
        if isinstance(event, RoundStart):
            table = Table(seats, topology, event.round)
        elif isinstance(event, MessageSent) and table is not None:
            channel = channels[event.channel]
            due = tuple(sorted(channel.audience(event.sender, event.to, table)))
            if event.readers != due:
                yield f"post {event.id} on {event.channel} reached {event.readers}, its audience is {due}"
            if event.sender in event.readers:
                yield f"post {event.id} on {event.channel} reached its own sender {event.sender}; leave it out"
            message = Send(channel=event.channel, content=event.content, to=event.to)
            if conflict := channel.refuse(event.sender, message, table):
                yield f"post {event.id} was delivered though {event.channel} refuses it: {conflict.message}"
            for reader in event.readers:
                waiting[reader].append(event.id)
        elif isinstance(event, Asked):
            if list(event.inbox) != waiting[event.seat]:
                yield f"seat {event.seat} read posts {list(event.inbox)} where {waiting[event.seat]} were due"
            waiting[event.seat].clear()


def trace_survives_the_disk(game: Game[Any, Any], playing: Playing) -> Iterator[str]:
    """What is lost or changed when a trace is written and read back."""
    trace = playing.trace
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "game.json"
        write_trace(path, trace)
        back = read_trace(path)
    for event, read in zip(trace.events, back.events, strict=True):
        yield from _same_event(event, read)
    if back.final_state != trace.final_state:
        yield "final_state does not come back equal; keep to JSON values"
    if back.comparable() != trace.comparable():
        yield "the trace does not come back equal; keep to JSON values in events and metrics"
    if not trace.aborted and game.score(back) != game.score(trace):
        yield "the metrics of the trace that was read back are not those of the game"


def _same_event(event: Event, read: Event) -> Iterator[str]:
    if isinstance(read, UnknownEvent) and not isinstance(event, UnknownEvent):
        yield f"event {type(event).__name__} comes back unknown; give it type: Literal['name'] = 'name'"
    elif type(read) is not type(event):
        yield f"event {type(event).__name__} comes back as {type(read).__name__}; give it a type of its own"
    elif isinstance(event, GameStart):  # whose scenario is a model in memory and JSON on disk
        if read.model_dump(mode="json") != event.model_dump(mode="json"):
            yield "the game_start event comes back with other values; keep facts and the scenario to JSON values"
    elif read != event:
        yield f"event {type(event).__name__} comes back with other values; keep to fields that JSON can hold"


def metrics_are_sound(game: Game[Any, Any], playing: Playing) -> Iterator[str]:
    """Metrics that change the trace, differ between two looks at it, or are not numbers."""
    names = [metric.name for metric in game.metrics]
    shares = {metric.name for metric in game.metrics if metric.share}
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"two metrics are named {name!r}; rename one"
    trace = playing.trace
    if trace.aborted:
        return
    before = trace.model_dump_json()
    first, second = game.score(trace), game.score(trace)
    if trace.model_dump_json() != before:
        yield "scoring changed the trace; a metric only reads"
    seats = game.seats(playing.scenario)
    for name, value in first.items():
        if second[name] != value:
            yield f"metric {name!r} is {value} and then {second[name]} for the same trace"
        if trace.metrics.get(name) != value:
            yield f"metric {name!r} is {value} now and was {trace.metrics.get(name)} in the trace"
        numbers = [number for number in (value.game, *value.seats) if number is not None]
        if strange := [number for number in numbers if not math.isfinite(number)]:
            yield f"metric {name!r} has the value {strange[0]}; give None where it has none"
        if name in shares and (other := [n for n in value.seats or (value.game,) if n not in (0, 1, None)]):
            yield f"metric {name!r} is declared a share and has the value {other[0]:g}; give 1, 0 or None"
        if len(value.seats) not in (0, seats):
            yield f"metric {name!r} has {len(value.seats)} values for {seats} seats; give one a seat or none"
