"""How models are called: limits, retries, cache and budget. None of it is part of an experiment's identity.

The settings come from the environment, where the flags of `cheaptalk run` put them, so that the worker
processes of a run see them too.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt, ValidationError

from framework.errors import UserError, explain
from framework.messages import Frozen

__all__ = ["PREFIX", "Budget", "Settings"]

PREFIX = "CHEAPTALK_MODEL_"
"""What the environment variables begin with; the rest is the name of a setting in capitals."""


class Budget(Frozen):
    """What may be spent on models; None is no limit.

    Attributes:
        tokens: Tokens read and written.
        calls: Calls that reached a provider.
        dollars: US dollars by the price table.
    """

    tokens: PositiveInt | None = None
    calls: PositiveInt | None = None
    dollars: PositiveFloat | None = None


class Settings(Frozen):
    """How models are called.

    Attributes:
        concurrency: Calls in flight to one provider, or to one server of those named by `base_url`.
        timeout: Seconds that one call may take.
        retries: How often a call that failed for a passing reason is made again.
        backoff: Seconds before the first retry; each further one waits twice as long, give or take half.
        longest_wait: Seconds that a wait never exceeds.
        cache: Folder of cached replies; None caches nothing.
        prices: File of prices that take the place of the shipped ones.
        tokens: Budget of tokens.
        calls: Budget of calls.
        dollars: Budget of US dollars.
        spent: File in which what the budgets count is kept, for all processes and sittings of a run; None counts
            in each process from zero.
        slots: Conversations that the local model keeps in memory at once.
        context: Tokens that a conversation with the local model may have.
        threads: Threads of the local model; 0 takes all cores but one.
    """

    concurrency: PositiveInt = 16
    timeout: PositiveFloat = 90.0
    retries: NonNegativeInt = 4
    backoff: NonNegativeFloat = 1.0
    longest_wait: PositiveFloat = 30.0
    cache: Path | None = None
    prices: Path | None = None
    tokens: PositiveInt | None = None
    calls: PositiveInt | None = None
    dollars: PositiveFloat | None = None
    spent: Path | None = None
    slots: PositiveInt = Field(default=6, le=64)
    context: int = Field(default=12288, ge=512, le=32768)
    threads: NonNegativeInt = 0

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Settings:
        """The settings in force.

        Raises:
            UserError: If a variable holds an unfit value.
        """
        source = os.environ if environment is None else environment
        found = {name: source[PREFIX + name.upper()] for name in cls.model_fields if source.get(PREFIX + name.upper())}
        try:
            return cls.model_validate(found)
        except ValidationError as error:
            name = str(error.errors()[0]["loc"][0])
            raise explain(error, cls, f"environment variable {PREFIX}{name.upper()}") from error

    @property
    def budget(self) -> Budget:
        """What may be spent."""
        return Budget(tokens=self.tokens, calls=self.calls, dollars=self.dollars)

    def check(self) -> None:
        """See that the files can be used, before anything is played.

        Raises:
            UserError: If the cache cannot be made, or the prices cannot be read.
        """
        from protocols.models.cache import ReplyCache
        from protocols.models.prices import read_prices

        if self.cache is not None:
            ReplyCache(self.cache)
        if self.prices is not None:
            read_prices(self.prices)


def set_in_environment(name: str, value: object) -> None:
    """Set one of the settings for this process and for those that it starts.

    Raises:
        UserError: If the value does not fit.
    """
    if name not in Settings.model_fields:
        raise UserError(f"setting {name!r} is unknown; use one of {', '.join(Settings.model_fields)}")
    os.environ[PREFIX + name.upper()] = str(value)
    Settings.from_environment()
