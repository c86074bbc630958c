"""Calls to a model: a few at a time, retried in sight of the user, cached on disk, within a budget."""

from __future__ import annotations

import asyncio
import logging
import random
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from autogen_core.models import ChatCompletionClient

from framework.errors import UserError
from framework.printing import printable
from framework.strategy import BudgetSpent, ModelFailure, ModelRefused
from framework.trace import Usage
from protocols.models.budget import Ledger
from protocols.models.cache import ReplyCache
from protocols.models.clients import Endpoint, Garbled, make_client
from protocols.models.completion import Ask, Completion
from protocols.models.local import LocalServer, local_server
from protocols.models.prices import Price, price_of
from protocols.models.settings import Budget, Settings
from protocols.models.spec import PROVIDERS, ModelSpec, Style, key_variable, reply_limit, without_keys

__all__ = ["Model", "check_price", "model_of", "open_model"]

_log = logging.getLogger("cheaptalk.models")
_PATIENCE = 500.0
"""Seconds that a call of the local model may take at least: on a busy machine it is slow, but it does not fail."""
_KEY = re.compile(r"\bsk-[\w-]{8,}|(?<=Bearer )\S+")
_LONGEST = 300
_TOO_LONG = re.compile(r"context[ _-]?(?:length|window|size)|too many tokens|prompt is too long", re.I).search
"""How providers say that a conversation has outgrown the model."""
_REFUSED = frozenset({401, 402})
"""No valid key; no money left. A 403 may be about one prompt only."""
_PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})


class Model:
    """One model configuration, shared by all seats that use it in one event loop.

    Args:
        spec: What it is.
        client: The AutoGen client.
        settings: How it is called.
        ledger: Where what it consumes is counted.
        gate: Limits the calls in flight to its provider.
        server: The local server, if it runs on one.
    """

    def __init__(
        self,
        spec: ModelSpec,
        client: ChatCompletionClient,
        settings: Settings,
        ledger: Ledger,
        gate: asyncio.Semaphore,
        server: LocalServer | None = None,
        style: Style = "plain",
    ) -> None:
        self.spec = spec
        self.client = client
        self.price: Price | None = price_of(spec, settings.prices)
        self._endpoint = Endpoint(client, style, reply_limit(spec), spec.label)
        self._settings, self._ledger, self._gate, self._server = settings, ledger, gate, server
        self._cache = None if settings.cache is None else ReplyCache(settings.cache)
        self._timeout = settings.timeout if server is None else max(settings.timeout, _PATIENCE)
        self._jitter = random.Random()  # waits are no part of a game's randomness

    async def complete(self, ask: Ask) -> Completion:
        """Ask the model, or take the reply to the same request from the cache.

        Raises:
            ModelFailure: If it cannot be asked, also after retries.
            BudgetSpent: If nothing is left to ask it with.
        """
        key = ask.key(self.spec) if self._cache else ""
        if self._cache and (found := self._cache.get(key)):
            return found
        reply = await self._persist(ask)
        if self._cache:
            self._cache.put(key, self.spec.label, reply)
        return reply

    def usage(self, reply: Completion) -> Usage:
        """What a reply consumed now: nothing if it came from the cache."""
        if reply.cached:
            return Usage(cost=None if self.price is None else 0.0)  # 0 would make a sum known that is not
        cost = None if self.price is None else self.price.of(reply.tokens)
        return Usage(prompt_tokens=reply.tokens.prompt, completion_tokens=reply.tokens.completion, calls=1, cost=cost)

    def release(self, thread: str) -> None:
        """Say that a conversation is over."""
        if self._server is not None:
            self._server.release(thread)

    async def _persist(self, ask: Ask) -> Completion:
        for attempt in range(self._settings.retries + 1):
            try:
                reply = await self._once(ask)
            except (Exception, asyncio.CancelledError) as error:
                if isinstance(error, (UserError, BudgetSpent)) or _is_cancelled():
                    raise
                await self._wait_or_fail(error, attempt)
                continue
            self._ledger.spend(reply.tokens, self.price)
            return reply.model_copy(update={"tries": attempt + 1})
        raise AssertionError("unreachable")

    async def _once(self, ask: Ask) -> Completion:
        async with self._gate:
            self._ledger.check()  # and not before the wait, in which others may spend what is left
            async with asyncio.timeout(self._timeout):
                reply = await self._endpoint.ask(ask, self._extra(ask))
        variable = key_variable(self.spec)  # a server may well repeat what it was sent, and replies are kept
        text, thought = without_keys(reply.text, variable), without_keys(reply.thought, variable)
        return reply.model_copy(update={"text": text, "thought": thought})

    def _extra(self, ask: Ask) -> Mapping[str, Any]:
        return {} if self._server is None else self._server.arguments(ask.thread, ask.sample)

    async def _wait_or_fail(self, error: BaseException, attempt: int) -> None:
        """Sleep before the next try, and say so; or give up."""
        settings = self._settings
        said = self._what(error)
        if _status(error) in _REFUSED:
            raise ModelRefused(f"{self.spec.label}: {said}; see to the key and the account") from None
        if not _passes(error):  # what the provider said may repeat the key, so it is not chained
            remedy = "; send less of the conversation, with the parameter context=tokens:N" if _TOO_LONG(said) else ""
            raise ModelFailure(f"{self.spec.label}: {said}{remedy}") from None
        if attempt >= settings.retries:
            raise ModelFailure(f"{self.spec.label}: {said} ({attempt + 1} tries)") from None
        wait = settings.backoff * 2.0**attempt * self._jitter.uniform(0.5, 1.5)
        wait = min(max(wait, _asked_to_wait(error)), settings.longest_wait)
        _log.warning("%s: %s; retry %d of %d in %.1f s", self.spec.label, said, attempt + 1, settings.retries, wait)
        await asyncio.sleep(wait)

    def _what(self, error: BaseException) -> str:
        """What went wrong, in one line, without our key and what looks like one."""
        if isinstance(error, TimeoutError) and not str(error):
            return f"no reply within {self._timeout:g} s"
        name = type(error).__name__
        said = printable(" ".join(str(error).split())) or name
        if "Connection" in name and error.__cause__ is not None:
            where = f" at {self.spec.base_url}" if self.spec.base_url else ""
            cause = " ".join(str(error.__cause__).split()) or type(error.__cause__).__name__
            said = f"{said.rstrip('.')}{where} ({printable(cause)})"
        said = _KEY.sub("[key]", without_keys(said, key_variable(self.spec)))[:_LONGEST]  # else half a key may stay
        return said if isinstance(error, Garbled) else f"{name}: {said}"


def _is_cancelled() -> bool:
    """Whether somebody stops us, as opposed to a client that raises CancelledError of its own."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _status(error: BaseException) -> int | None:
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) else None


def _passes(error: BaseException) -> bool:
    """Whether the same call may succeed later."""
    status = _status(error)
    if status is not None:
        return status in _PASSING or status < 0
    name = type(error).__name__
    return isinstance(error, (OSError, Garbled, asyncio.CancelledError)) or "Timeout" in name or "Connect" in name


def _asked_to_wait(error: BaseException) -> float:
    """Seconds that the provider asks us to wait; 0 if it does not."""
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    try:
        return max(0.0, float(headers.get("retry-after", 0)))
    except (TypeError, ValueError):
        return 0.0


class _Shared:
    """What the models of one event loop share."""

    def __init__(self) -> None:
        self.models: dict[tuple[str, Settings], Model] = {}
        self.gates: dict[tuple[str, int], asyncio.Semaphore] = {}  # by who is asked, and how often at once
        self.of_clients: WeakKeyDictionary[ChatCompletionClient, Model] = WeakKeyDictionary()
        self.end = self._at_the_end()
        with suppress(StopIteration):
            self.end.__anext__().send(None)  # up to its yield, for which it waits for nothing

    def gate(self, asked: str, calls: int) -> asyncio.Semaphore:
        """Lets so many calls at once through to whom is asked."""
        return self.gates.setdefault((asked, calls), asyncio.Semaphore(calls))

    async def _at_the_end(self) -> AsyncGenerator[None, None]:
        """Close our clients and forget what is shared when the loop ends, as it ends every generator.

        Left alone, gates and open connections would hold a loop that is over, and it them: a process that plays games
        in one loop after another would run out of files.
        """
        try:
            yield
        finally:
            _by_loop.pop(asyncio.get_running_loop(), None)
            for model in self.models.values():
                with suppress(Exception):  # of a connection that is lost there is nothing to close
                    await model.client.close()


_by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, _Shared] = WeakKeyDictionary()
_ledgers: dict[tuple[Budget, Path | None], Ledger] = {}


def _shared() -> _Shared:
    """What the models of the running event loop share."""
    loop = asyncio.get_running_loop()
    if loop not in _by_loop:
        _by_loop[loop] = _Shared()
    return _by_loop[loop]


def _ledger(settings: Settings) -> Ledger:
    return _ledgers.setdefault((settings.budget, settings.spent), Ledger(settings.budget, settings.spent))


def open_model(spec: ModelSpec, settings: Settings | None = None) -> Model:
    """The model of a configuration in the running event loop; opened once and then shared.

    Raises:
        UserError: If it cannot be used: a package, a key or a price is missing.
    """
    settings = settings or Settings.from_environment()
    shared = _shared()
    known = shared.models.get((spec.hash, settings))
    if known is not None:
        return known
    spec.check()
    check_price(spec, settings)
    gate = shared.gate(f"{spec.provider} {spec.base_url}", settings.concurrency)  # each server stands for itself
    server = local_server(settings) if spec.provider == "local" else None
    client = make_client(spec, settings.timeout if server is None else _PATIENCE, server)
    style = PROVIDERS[spec.provider].style
    model = Model(spec, client, settings, _ledger(settings), gate, server, style)
    shared.models[spec.hash, settings] = model
    return model


def model_of(client: ChatCompletionClient, settings: Settings | None = None) -> Model:
    """A model of the user's own client, in the running event loop. Its retries are the client's and ours.

    Nothing of its configuration is read, so its replies are never cached.
    """
    settings = (settings or Settings.from_environment()).model_copy(update={"cache": None})
    shared = _shared()
    name = type(client).__name__
    known = shared.of_clients.get(client)
    if known is None:
        gate, spec = shared.gate(name, settings.concurrency), ModelSpec(provider="client", model=name)
        style: Style = "openai" if "OpenAI" in name else "ollama" if "Ollama" in name else "plain"
        known = shared.of_clients[client] = Model(spec, client, settings, _ledger(settings), gate, None, style)
    return known


def check_price(spec: ModelSpec, settings: Settings) -> None:
    """See that a budget of dollars can be kept.

    Raises:
        UserError: If the price of the model is not known.
    """
    if settings.dollars is not None and price_of(spec, settings.prices) is None:
        raise UserError(
            f"model {spec.label}: its price is not known, so a budget of dollars cannot be kept; give a table "
            "with --prices, or a budget of tokens"
        )
