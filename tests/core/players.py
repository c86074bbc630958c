"""Players of the toy game that fail, hang or count, each in its own way."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from framework.errors import UserError
from framework.messages import Action
from framework.strategy import ModelFailure, Params
from framework.trace import Usage
from tests.core.toy import Pick, Proposer, ToyObservation


class PathParams(Params):
    """Where to look."""

    path: str = ""


class Counting(Proposer):
    """Says what a model would have consumed."""

    async def act(self, observation: ToyObservation) -> Sequence[Action]:
        self.record.usage = Usage(prompt_tokens=10 + observation.seat, completion_tokens=1, calls=1, cost=0.5)
        return await super().act(observation)


class Lucky(Proposer):
    """Draws its digits, so that a game depends on its seed."""

    async def act(self, observation: ToyObservation) -> Sequence[Action]:
        if observation.phase == "pick":
            return [Pick(digit=self.rng.randrange(10))]
        return await super().act(observation)


class Raising(Proposer):
    """Raises in its second round."""

    async def act(self, observation: ToyObservation) -> Sequence[Action]:
        if observation.round.index == 1:
            raise ZeroDivisionError("no digit is left")
        return await super().act(observation)


class Hanging(Proposer):
    """Awaits what never comes."""

    async def act(self, observation: ToyObservation) -> Sequence[Action]:
        await asyncio.Event().wait()
        return ()


class Blocking(Proposer):
    """Waits without awaiting."""

    async def act(self, observation: ToyObservation) -> Sequence[Action]:
        time.sleep(3600)  # noqa: ASYNC251 - what it is here for
        return ()


class Stubborn(Proposer):
    """Does not let itself be cancelled."""

    async def act(self, observation: ToyObservation) -> Sequence[Action]:
        while True:
            with suppress(asyncio.CancelledError):
                await asyncio.Event().wait()


class Forking(Proposer):
    """Goes on in two processes."""

    async def act(self, observation: ToyObservation) -> Sequence[Action]:
        if observation.seat == 0 and observation.turn.sweep == 0:
            os.fork()
        return await super().act(observation)


class Refusing(Proposer):
    """Says something, then fails in the same round."""

    async def act(self, observation: ToyObservation) -> Sequence[Action]:
        said = await super().act(observation)
        if observation.seat == 1:
            raise ZeroDivisionError("no digit is left")
        return said


class Deadly(Proposer):
    """Ends its process."""

    async def act(self, observation: ToyObservation) -> Sequence[Action]:
        os._exit(7)


class NeedsModel(Counting):
    """Asks a model that is there once a file is."""

    params_type = PathParams

    async def act(self, observation: ToyObservation) -> Sequence[Action]:
        if not Path(self.params.path).exists():  # noqa: ASYNC240
            self.record.usage = Usage(prompt_tokens=1000, calls=1)
            raise ModelFailure("the model did not answer after 3 tries")
        return await super().act(observation)


class NeedsFile(Proposer):
    """Cannot play without a file of the user's."""

    params_type = PathParams

    async def act(self, observation: ToyObservation) -> Sequence[Action]:
        if not Path(self.params.path).exists():  # noqa: ASYNC240
            raise UserError(f"path {self.params.path} is not there; make it")
        return await super().act(observation)
