"""AutoGen's model clients behind one call: an `Ask` goes in, a `Completion` comes out."""

from __future__ import annotations

import json
import logging
import time
import warnings
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from autogen_core.models import ChatCompletionClient, CreateResult, ModelFamily, ModelInfo
from pydantic import ValidationError

from framework.errors import UserError
from protocols.models.completion import Ask, Completion, Token, Tokens
from protocols.models.schema import short_schema, strict_schema
from protocols.models.spec import PROVIDERS, ModelSpec, Style, api_key, recorded

if TYPE_CHECKING:
    from pydantic import BaseModel

    from protocols.models.local import LocalServer

__all__ = ["Endpoint", "Garbled", "make_client"]

_log = logging.getLogger("cheaptalk.models")

LOCAL_CHARS, LOCAL_ITEMS = 80, 3
"""How long a text and a list of the local model's reply may be."""
_REFUSALS = frozenset({400, 403, 404, 415, 422, 501})
"""Statuses with which providers answer a request that asks for what they do not have."""
_UNREADABLE = (
    AttributeError,
    IndexError,
    KeyError,
    RecursionError,
    TypeError,
    UnicodeDecodeError,
    ValidationError,
    json.JSONDecodeError,
)
"""What AutoGen's clients raise of a reply that is not of the provider's form."""
_UNKNOWN_MODEL: ModelInfo = {
    "vision": False,
    "function_calling": False,
    "json_output": True,
    "structured_output": True,
    "family": ModelFamily.UNKNOWN,
}


class Garbled(Exception):
    """A reply of a provider that is not of the form of its protocol, such as the page of a proxy."""


def make_client(spec: ModelSpec, timeout: float, server: LocalServer | None = None) -> ChatCompletionClient:
    """The AutoGen client of a model. The key goes from the environment into the client and nowhere else.

    Args:
        spec: The model.
        timeout: Seconds that one call may take.
        server: The local server, for the `local` provider.

    Raises:
        UserError: If the client does not take the model's settings.
    """
    # What a provider's reply is like is judged by what comes of it; AutoGen's remarks would mingle with the progress.
    for remark in ("Pydantic serializer warnings", "Resolved model mismatch", "Finish reason mismatch"):
        warnings.filterwarnings("ignore", remark, UserWarning)
    module, _, name = PROVIDERS[spec.provider].client.rpartition(".")
    try:
        client: Any = getattr(import_module(module), name)
        return _made(client, spec, timeout, server)
    except (ImportError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, UserError):
            raise
        said = str(error).partition("\n")[0]
        raise UserError(f"model {spec.label}: its client cannot be made: {said}; check its settings") from error


def _made(client: Any, spec: ModelSpec, timeout: float, server: LocalServer | None) -> ChatCompletionClient:
    settings: dict[str, Any] = dict(spec.options)
    if spec.provider == "replay":
        replies = settings.pop("chat_completions", None)
        made: ChatCompletionClient = client(recorded(spec) if replies is None else replies, **settings)
        return made
    settings["model"] = spec.model
    if server is not None:
        settings |= {"base_url": server.base_url, "api_key": server.token}
    elif spec.provider == "ollama" and spec.base_url:
        settings.setdefault("host", spec.base_url)
    elif spec.base_url:
        settings |= {"base_url": spec.base_url, "api_key": api_key(spec) or "none"}
    elif key := api_key(spec):
        settings["api_key"] = key
    if PROVIDERS[spec.provider].style in ("openai", "local") or spec.provider == "anthropic":
        settings |= {"timeout": timeout, "max_retries": 0}  # retries are ours, so that they can be seen
    if PROVIDERS[spec.provider].style in ("openai", "local"):
        settings.setdefault("include_name_in_message", False)
    if "model_info" not in settings and (server or not _is_known(client, settings)):
        settings["model_info"] = _UNKNOWN_MODEL
    built: ChatCompletionClient = client(**settings)
    return built


def _is_known(client: Any, settings: Mapping[str, Any]) -> bool:
    """Whether AutoGen knows what the model can do."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            client(**settings)
    except (KeyError, ValueError) as error:
        if "model_info" in str(error) or isinstance(error, KeyError):
            return False
        raise
    return True


class Endpoint:
    """A client, and how it is asked.

    Args:
        client: Any AutoGen model client.
        style: How it is held to a schema.
        limit: What its provider calls the longest reply.
        name: What messages call the model.
    """

    def __init__(
        self, client: ChatCompletionClient, style: Style, limit: str = "max_tokens", name: str = "the model"
    ) -> None:
        self.client = client
        self._style, self._limit, self._name = style, limit, name
        can = {"json_schema": "structured_output", "json_object": "json_output"}
        self._forms = [form for form, needed in can.items() if client.model_info.get(needed)]
        self._logprobs = style in ("openai", "local")

    async def ask(self, ask: Ask, extra: Mapping[str, Any]) -> Completion:
        """Make one call. What a provider says that it does not have is not asked of it again.

        Args:
            ask: The request.
            extra: Further arguments of the provider's request.

        Raises:
            Garbled: If the reply is not one. Whatever else the client raises comes out as it is.
        """
        while True:
            json_output, arguments = self._form(ask)
            began = time.perf_counter()
            try:
                result = await self.client.create(
                    ask.messages, json_output=json_output, extra_create_args={**arguments, **extra}
                )
                return completion_of(result, time.perf_counter() - began)
            except _UNREADABLE as error:
                raise Garbled(f"the reply is not a chat completion ({type(error).__name__}: {error})") from None
            except Exception as error:
                if not self._does_without(error, arguments):
                    raise

    def _does_without(self, error: Exception, arguments: Mapping[str, Any]) -> bool:
        """Whether the provider has refused something that a request can do without; the next one does."""
        if getattr(error, "status_code", None) not in _REFUSALS:
            return False
        said = str(error).lower()
        if "logprobs" in arguments and "logprob" in said:
            self._logprobs = False
            _log.warning("%s gives no log-probabilities; it is not asked for them again", self._name)
            return True
        if "response_format" in arguments and ("response_format" in said or "json_schema" in said):
            form = arguments["response_format"]["type"]
            if form in self._forms:  # else another call in flight has found out
                _log.warning("%s does not take the reply format %s; it is not held to it", self._name, form)
                self._forms.remove(form)
            return True
        return False

    def _form(self, ask: Ask) -> tuple[Any, dict[str, Any]]:
        """AutoGen's `json_output`, and the arguments that it passes through."""
        arguments: dict[str, Any] = {}
        wanted = {"temperature": ask.temperature, self._limit: ask.max_tokens}
        wanted = {key: value for key, value in wanted.items() if value is not None}
        if self._style == "ollama":
            arguments |= {"options": wanted} if wanted else {}
        else:
            arguments |= wanted
        if ask.logprobs and self._logprobs:
            arguments |= {"logprobs": True, "top_logprobs": ask.logprobs}
        if ask.schema is None:
            return None, arguments
        if self._style in ("openai", "local"):
            return None, {**arguments, **self._response_format(ask.schema)}
        if self._style == "ollama":
            return (ask.schema if "json_schema" in self._forms else True if self._forms else None), arguments
        return None, arguments

    def _response_format(self, wanted: type[BaseModel]) -> dict[str, Any]:
        """How an OpenAI-compatible provider is held to a schema, as far as it can be.

        A pydantic class would go through a call that raises on a reply that does not fit, and loses it.
        """
        is_local = self._style == "local"
        schema = short_schema(wanted, LOCAL_CHARS, LOCAL_ITEMS) if is_local else strict_schema(wanted)
        if schema.get("type") != "object" and not is_local:  # both forms are for objects only
            return {}
        if self._forms[:1] == ["json_schema"]:
            form = {"name": "reply", "schema": schema, "strict": True}
            return {"response_format": {"type": "json_schema", "json_schema": form}}
        return {"response_format": {"type": "json_object"}} if self._forms else {}


def completion_of(result: CreateResult, latency: float = 0.0) -> Completion:
    """A client's result in our own words. Text that is not Unicode is replaced where it is not."""
    text = result.content if isinstance(result.content, str) else json.dumps([vars(call) for call in result.content])
    return Completion(
        text=_clean(text),
        thought=_clean(result.thought or ""),
        finish=result.finish_reason,
        tokens=Tokens(  # a server that counts backwards would give a budget back
            prompt=max(0, result.usage.prompt_tokens), completion=max(0, result.usage.completion_tokens)
        ),
        logprobs=tuple([_token(token) for token in result.logprobs or ()]),
        latency=round(latency, 6),
    )


def _token(token: Any) -> Token:
    alternatives = [
        (bytes(other.bytes or ()).decode("utf-8", "replace"), other.logprob) for other in token.top_logprobs or ()
    ]
    return Token(text=_clean(token.token), logprob=token.logprob, alternatives=tuple(alternatives))


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
