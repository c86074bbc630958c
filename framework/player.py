"""One seat: receives posts by subscription, and asks its strategy to move when the referee says so."""

from __future__ import annotations

import asyncio
import random
import time
import traceback
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from autogen_core import BaseAgent, MessageContext

from framework.messages import Action, Conflict, Observation, Post
from framework.strategy import ModelFailure, Record, SeatStart, Strategy
from framework.trace import Boundary, SeatEvent, Usage

__all__ = ["Failure", "Player", "Reply", "Request"]


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
    """Why a seat could not move: the boundary, one sentence, and the traceback."""

    boundary: Boundary
    error: str
    detail: str


@dataclass(frozen=True, slots=True, repr=False)
class Reply:
    """What a seat answers.

    Attributes:
        actions: Its actions; None where it declines to retry.
        inbox: Ids of the posts that it read.
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
        self._time_limit = time_limit
        self._inbox: list[Post] = []
        self._received = 0
        self._arrival = asyncio.Event()
        self._round = -1
        strategy.rng = random.Random(f"{seed}/{start.seat}")

    @property
    def wants_round_ends(self) -> bool:
        """Whether the strategy has something to do when a round is over."""
        return type(self._strategy).end_round is not Strategy.end_round

    async def start(self) -> Reply:
        """Tell the strategy that the game begins."""
        return await self._guard(self._nothing(self._strategy.start_game(self._start)), ())

    async def end(self) -> None:
        """Tell the strategy that the game is over; what goes wrong then cannot change the game."""
        await self._guard(self._nothing(self._strategy.end_game()), ())

    async def on_message_impl(self, message: Any, ctx: MessageContext) -> Any:
        if isinstance(message, Post):
            self._take(message)
            return None
        if not isinstance(message, Request):
            return None
        while self._received < message.posts:
            self._arrival.clear()
            await self._arrival.wait()
        return await self._answer(message)

    def _take(self, post: Post) -> None:
        if post.sender == self._start.seat:  # a group's topic echoes to its sender
            return
        self._inbox.append(post)
        self._received += 1
        self._arrival.set()

    async def _answer(self, request: Request) -> Reply:
        if request.kind == "end_round":
            return await self._guard(self._nothing(self._strategy.end_round(request.observation)), ())
        posts = tuple(self._inbox)
        self._inbox.clear()
        observation = request.observation.model_copy(update={"inbox": posts}) if posts else request.observation
        return await self._guard(self._move(request, observation), tuple(post.id for post in posts))

    async def _move(self, request: Request, observation: Observation) -> Sequence[Action] | None:
        if request.conflict is not None:
            return await self._strategy.retry(observation, request.conflict)
        if self._round != observation.round.index:
            self._round = observation.round.index
            await self._strategy.start_round(observation)
        return await self._strategy.act(observation)

    @staticmethod
    async def _nothing(hook: Awaitable[None]) -> Sequence[Action]:
        await hook
        return ()

    async def _guard(self, move: Awaitable[Sequence[Action] | None], inbox: tuple[int, ...]) -> Reply:
        """Run the strategy's code: whatever it does, a reply comes out and nothing is swallowed."""
        record = self._strategy.record = Record()
        actions: tuple[Action, ...] | None = None
        failure = None
        began = time.perf_counter()
        try:
            async with asyncio.timeout(self._time_limit) as clock:
                actions = _checked(await move)
            _check_record(record)
        except TimeoutError as error:
            late = clock.expired()
            what = f"did not move within {self._time_limit:g} s" if late else f"raised TimeoutError: {error}"
            failure = self._failure("strategy", what)
        except ModelFailure as error:
            failure = self._failure("model", str(error))
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            failure = self._failure("strategy", "raised CancelledError")
        except (Exception, SystemExit) as error:
            failure = self._failure("strategy", f"raised {type(error).__name__}: {error}")
        return Reply(actions, inbox, record, time.perf_counter() - began, failure)

    def _failure(self, boundary: Boundary, what: str) -> Failure:
        name = type(self._strategy).__name__
        return Failure(boundary, f"seat {self._start.seat} ({name}): {what}", traceback.format_exc())


def _checked(actions: Sequence[Action] | None) -> tuple[Action, ...] | None:
    if actions is None:
        return None
    if isinstance(actions, (str, bytes)) or not isinstance(actions, Sequence):
        raise TypeError(f"a move must be a sequence of actions, got {type(actions).__name__}")
    for action in actions:
        if not isinstance(action, Action):
            raise TypeError(f"a move must hold actions only, got {type(action).__name__}: {action!r:.80}")
    return tuple(actions)


def _check_record(record: Record) -> None:
    if not (isinstance(record.prompt, str) and isinstance(record.thinking, str)):
        raise TypeError("record.prompt and record.thinking must be text")
    if not (record.usage is None or isinstance(record.usage, Usage)):
        raise TypeError("record.usage must be a Usage or None")
    if not all(isinstance(event, SeatEvent) for event in record.events):
        raise TypeError("record.events must hold events of a seat (SeatEvent) only")
