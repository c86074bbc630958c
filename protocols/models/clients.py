"""AutoGen's model clients behind one call: an `Ask` goes in, a `Completion` comes out."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autogen_core.models import ChatCompletionClient, CreateResult, ModelFamily, ModelInfo

from framework.errors import UserError
from protocols.models.completion import Ask, Completion, Token, Tokens
from protocols.models.schema import short_schema, strict_schema
from protocols.models.spec import PROVIDERS, ModelSpec, Style, api_key

if TYPE_CHECKING:
    from protocols.models.local import LocalServer

__all__ = ["Endpoint", "make_client"]

LOCAL_CHARS, LOCAL_ITEMS = 80, 3
"""How long a text and a list of the local model's reply may be."""
_UNKNOWN_MODEL: ModelInfo = {
    "vision": False,
    "function_calling": False,
    "json_output": True,
    "structured_output": True,
    "family": ModelFamily.UNKNOWN,
}


def make_client(spec: ModelSpec, timeout: float, server: LocalServer | None = None) -> ChatCompletionClient:
    """The AutoGen client of a model. The key goes from the environment into the client and nowhere else.

    Args:
        spec: The model.
        timeout: Seconds that one call may take.
        server: The local server, for the `local` provider.

    Raises:
        UserError: If the client does not take the model's settings.
    """
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
        made: ChatCompletionClient = client(_replies(spec), **settings)
        return made
    settings["model"] = spec.model
    if server is not None:
        settings |= {"base_url": server.base_url, "api_key": server.token}
    elif spec.base_url:
        settings |= {"base_url": spec.base_url, "api_key": api_key(spec) or "none"}
    elif key := api_key(spec):
        settings["api_key"] = key
    if PROVIDERS[spec.provider].style in ("openai", "local"):
        settings |= {"timeout": timeout, "max_retries": 0}  # retries are ours, so that they can be seen
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


def _replies(spec: ModelSpec) -> list[str]:
    """The replies in a file: a JSON list of texts or objects."""
    if "chat_completions" in spec.options:
        return []
    try:
        data = json.loads(Path(spec.model).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"model {spec.label}: {error}; name a file with a JSON list of replies") from error
    if not isinstance(data, list):
        raise UserError(f"model {spec.label}: the file is not a list; write a JSON list of replies")
    return [reply if isinstance(reply, str) else json.dumps(reply) for reply in data]


class Endpoint:
    """A client, and how it is asked.

    Args:
        client: Any AutoGen model client.
        style: How it is held to a schema.
        limit: What its provider calls the longest reply.
    """

    def __init__(self, client: ChatCompletionClient, style: Style, limit: str = "max_tokens") -> None:
        self.client = client
        self._style, self._limit = style, limit
        info = client.model_info
        self._structured = bool(info.get("structured_output", False))
        self._json = bool(info.get("json_output", False))

    async def ask(self, ask: Ask, extra: Mapping[str, Any]) -> Completion:
        """Make one call. What the client raises comes out as it is.

        Args:
            ask: The request.
            extra: Further arguments of the provider's request.
        """
        json_output, arguments = self._form(ask)
        began = time.perf_counter()
        result = await self.client.create(
            ask.messages, json_output=json_output, extra_create_args={**arguments, **extra}
        )
        return completion_of(result, time.perf_counter() - began)

    def _form(self, ask: Ask) -> tuple[Any, dict[str, Any]]:
        """AutoGen's `json_output`, and the arguments that it passes through."""
        arguments: dict[str, Any] = {}
        wanted = {"temperature": ask.temperature, self._limit: ask.max_tokens}
        wanted = {key: value for key, value in wanted.items() if value is not None}
        if self._style == "ollama":
            arguments |= {"options": wanted} if wanted else {}
        else:
            arguments |= wanted
        if ask.logprobs and self._style in ("openai", "local"):
            arguments |= {"logprobs": True, "top_logprobs": ask.logprobs}
        if ask.schema is None:
            return None, arguments
        if self._structured and self._style in ("openai", "local"):
            schema = strict_schema(ask.schema)
            if self._style == "local":
                schema = short_schema(ask.schema, LOCAL_CHARS, LOCAL_ITEMS)
            elif schema.get("type") != "object":  # strict output is for objects only
                return None, arguments
            # A pydantic class would go through a call that raises on a reply that does not fit, and loses it.
            form = {"name": "reply", "schema": schema, "strict": True}
            return None, {**arguments, "response_format": {"type": "json_schema", "json_schema": form}}
        if self._structured and self._style == "ollama":
            return ask.schema, arguments
        return (True if self._json and self._style != "plain" else None), arguments


def completion_of(result: CreateResult, latency: float = 0.0) -> Completion:
    """A client's result in our own words. Text that is not Unicode is replaced where it is not."""
    text = result.content if isinstance(result.content, str) else json.dumps([vars(call) for call in result.content])
    return Completion(
        text=_clean(text),
        thought=_clean(result.thought or ""),
        finish=result.finish_reason,
        tokens=Tokens(prompt=result.usage.prompt_tokens, completion=result.usage.completion_tokens),
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
