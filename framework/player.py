"""One seat: receives posts by subscription, and asks its strategy to move when the referee says so."""

from __future__ import annotations

import asyncio
import os
import random
import time
import traceback
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from inspect import isawaitable
from typing import Any, Literal, TypeVar

from autogen_core import BaseAgent, MessageContext

from framework._clock import Clock
from framework._intake import moves, said, writable
from framework.errors import UserError, place_in
from framework.messages import Action, Conflict, Observation, Post
from framework.runtime import Fence
from framework.strategy import BudgetSpent, ModelFailure, ModelRefused, Record, SeatLeft, SeatStart, Strategy
from framework.trace import Boundary

__all__ = ["Failure", "Player", "Reply", "Request", "patience"]

_FAREWELL = 30.0
"""Seconds for the end of a game at most."""

_GRACE = 5.0
"""Seconds in which a strategy whose time is over has to stop, at most."""

_ReturnT = TypeVar("_ReturnT")
_Hook = Literal["start_game", "end_round", "end_game"]
_Move = Callable[[], Awaitable[Sequence[Action] | None]]


@dataclass(frozen=True, slots=True, repr=False)
class Request:
    """What the referee asks of a seat.

    Attributes:
        kind: `act` for a move, `retry` after a rejected batch, `end_round` when the round is over.
        observation: What the seat may know, without the posts, which reach it by subscription.
        posts: How many posts the seat must have received before it moves: the runtime does not order
            the delivery of a publish before a request that follows it.
        conflict: Why the last batch was rejected, for `retry`.
    """

    kind: Literal["act", "retry", "end_round"]
    observation: Observation
    posts: int
    conflict: Conflict | None = None

    def __repr__(self) -> str:  # the runtime formats every message for its log
        return f"<Request {self.kind}>"


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a seat could not move: the boundary, one sentence, the traceback, and whether the run stops with it."""

    boundary: Boundary
    error: str
    detail: str
    stop: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class Reply:
    """What a seat answers.

    Attributes:
        actions: Its actions; None where it declines to retry.
        inbox: Ids of the posts that it read, as the trace numbers them.
        record: What the strategy wrote down.
        latency: Seconds that the strategy took.
        failure: Why there are no actions, if it failed.
    """

    actions: tuple[Action, ...] | None
    inbox: tuple[int, ...]
    record: Record
    latency: float
    failure: Failure | None = None

    def __repr__(self) -> str:
        return f"<Reply of {len(self.actions or ())} actions>"


_NOTHING = Reply((), (), Record(), 0.0)


class Player(BaseAgent):
    """Seats a strategy at the switchboard. The strategy never sees it.

    Args:
        strategy: What plays.
        start: What the seat is told before the first round.
        seed: Seed of the game, from which the strategy's own randomness is derived.
        time_limit: Seconds a move may take before the seat counts as failed; None for no limit.
    """

    def __init__(self, strategy: Strategy[Any], start: SeatStart, seed: int, time_limit: float | None = None) -> None:
        super().__init__(f"seat {start.seat}")
        self._strategy = strategy
        self._start = start
        self._seat = start.seat  # the strategy is handed the other one
        self._time_limit = time_limit
        self._inbox: list[Post] = []
        self._unread: list[int] = []
        self._received = 0
        self._arrival = asyncio.Event()
        self._round = -1
        self._at_work: asyncio.Task[Any] | None = None
        self._clock = Clock()
        strategy.rng = random.Random(f"{seed}/{start.seat}")

    @property
    def wants_round_ends(self) -> bool:
        """Whether the strategy has something to do when a round is over."""
        return self._overrides("end_round")

    def _overrides(self, hook: _Hook) -> bool:
        return getattr(type(self._strategy), hook) is not getattr(Strategy, hook)

    async def start(self) -> Reply:
        """Tell the strategy that the game begins."""
        if not self._overrides("start_game"):
            return _NOTHING
        return await self._apart(lambda: self._nothing("start_game", self._start), self._time_limit)

    async def end(self) -> Reply:
        """Tell the strategy that the game is over; what goes wrong then cannot change the game."""
        if not self._overrides("end_game"):
            return _NOTHING
        limit = _FAREWELL if self._time_limit is None else min(_FAREWELL, self._time_limit)
        return await self._apart(lambda: self._nothing("end_game"), limit)

    def cut_off(self) -> None:
        """Stop a move that is still going on, and ask for no other one."""
        self._clock.close()
        if self._at_work is not None:
            self._at_work.cancel()

    async def on_message_impl(self, message: Any, ctx: MessageContext) -> Any:
        if isinstance(message, Post):
            self._take(message)
            return None
        if not isinstance(message, (Request, Fence)):
            return message
        while self._received < message.posts:
            self._arrival.clear()
            await self._arrival.wait()
        if isinstance(message, Fence):
            return message
        self._at_work = asyncio.current_task()
        reply = await self._answer(message)
        self._at_work = None
        return reply

    def _take(self, post: Post) -> None:
        if post.sender == self._seat:  # a group's topic echoes to its sender
            return
        # Each reader has a copy of its own: what one of them does to it, no other one sees. And it counts
        # its own posts: gaps in the game's numbers would tell it how many posts it did not receive.
        self._inbox.append(post.model_copy(update={"id": self._received}))
        self._unread.append(post.id)
        self._received += 1
        self._arrival.set()

    async def _answer(self, request: Request) -> Reply:
        if request.kind == "end_round":
            return await self._guard(lambda: self._nothing("end_round", request.observation), ())
        posts, ids = tuple(self._inbox), tuple(self._unread)
        self._inbox.clear()
        self._unread.clear()
        observation = request.observation.model_copy(update={"inbox": posts}) if posts else request.observation
        return await self._guard(lambda: self._move(request, observation), ids)

    async def _move(self, request: Request, observation: Observation) -> Sequence[Action] | None:
        strategy = self._strategy
        if request.conflict is not None:
            return await _awaitable("retry", strategy.retry(observation, request.conflict))
        if self._round != observation.round.index:
            self._round = observation.round.index
            await _awaitable("start_round", strategy.start_round(observation))
        returned = await _awaitable("act", strategy.act(observation))
        if returned is None:
            raise TypeError("act returned None; return a sequence of actions, and [] to pass")
        return returned

    async def _nothing(self, hook: _Hook, *arguments: Any) -> Sequence[Action]:
        await _awaitable(hook, getattr(self._strategy, hook)(*arguments))
        return ()

    async def _apart(self, hook: _Move, limit: float | None) -> Reply:
        """Run a hook in a task of its own, so that it cannot cancel its caller's."""
        clock = Clock()  # a late move may still hold the other one
        task = asyncio.create_task(self._guard(hook, (), limit, clock))
        try:
            await asyncio.wait({task}, timeout=patience(limit))
        except asyncio.CancelledError:
            task.cancel()
            raise
        finally:
            clock.close()
        if task.done() and not task.cancelled():
            return task.result()
        task.cancel()
        return Reply(None, (), Record(), limit or 0.0, self._failure("strategy", "did not stop when its time was over"))

    async def _guard(
        self, move: _Move, inbox: tuple[int, ...], limit: float | None = None, clock: Clock | None = None
    ) -> Reply:
        """Run the strategy's code: whatever it does, a reply comes out and nothing is swallowed."""
        limit, clock = limit or self._time_limit, clock or self._clock
        record = self._strategy.record = Record()
        kept, actions, failure = Record(), None, None
        began, process = time.perf_counter(), os.getpid()
        try:
            with clock.limit(limit):
                returned = await move()
            if clock.expired:
                raise TimeoutError
            actions, kept = moves(returned), said(record, self._seat)
        except TimeoutError as error:
            late = clock.expired
            what = f"did not move within {limit:g} s" if late else f"raised TimeoutError: {error}"
            asked = record.waiting if late and isinstance(record.waiting, str) else ""
            failure = self._failure("model" if asked else "strategy", f"{what}, waiting for {asked}" if asked else what)
        except ModelFailure as error:
            failure = self._failure("model", _words(error), stop=isinstance(error, (BudgetSpent, ModelRefused)))
        except (UserError, SeatLeft) as error:
            failure = self._failure("user", _words(error), stop=isinstance(error, SeatLeft))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # also SystemExit, and a cancellation by the strategy itself
            failure = self._failure("strategy", f"raised {type(error).__name__}: {_words(error)}{place_in(error)}")
        if os.getpid() != process:  # the strategy has forked, and this is the copy: the game is not its own
            os._exit(1)
        if failure is not None:
            actions = None
            with suppress(Exception):
                kept = said(record, self._seat)
        return Reply(actions, inbox, kept, time.perf_counter() - began, failure)

    def _failure(self, boundary: Boundary, what: str, *, stop: bool = False) -> Failure:
        name = type(self._strategy).__name__
        error = writable(f"seat {self._seat} ({name}): {what}")
        return Failure(boundary, error, writable(traceback.format_exc()), stop)


def patience(limit: float | None) -> float | None:
    """Seconds after which a seat that its time limit has not stopped is given up."""
    return None if limit is None else limit + min(limit, _GRACE)


def _awaitable(hook: str, found: Awaitable[_ReturnT]) -> Awaitable[_ReturnT]:
    if not isawaitable(found):
        raise TypeError(f"{hook} is not asynchronous; write: async def {hook}")
    return found


def _words(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return "its message cannot be read"
