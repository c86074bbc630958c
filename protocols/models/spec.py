"""Which model: a short text on the command line, or an AutoGen component config in a YAML file."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from pydantic import BaseModel, JsonValue, ValidationError

from framework.errors import UserError, explain, nearest
from framework.messages import Frozen
from framework.specs import refuse_secrets
from framework.yamlfile import read_mapping

__all__ = ["PROVIDERS", "ModelSpec", "Provider", "api_key", "key_variable", "recorded", "reply_limit", "without_keys"]

_SHORTEST_KEY = 8

Style: TypeAlias = Literal["openai", "local", "ollama", "plain"]
"""How a client is held to a schema: by `response_format`, by the same with short texts and lists, by AutoGen's
`json_output`, or not at all."""


class Provider(NamedTuple):
    """What is known of a provider.

    Attributes:
        client: The AutoGen component that talks to it.
        key: The environment variable that holds its key; empty if it needs none.
        address: The environment variable from which its client takes another address; empty if there is none.
        package: The package that its client needs.
        extra: The extra of ours that installs the package; empty if the core has it.
        style: How it is held to a schema.
    """

    client: str
    key: str = ""
    address: str = ""
    package: str = ""
    extra: str = ""
    style: Style = "plain"


_OPENAI = "autogen_ext.models.openai.OpenAIChatCompletionClient"
PROVIDERS: Mapping[str, Provider] = {
    "openai": Provider(_OPENAI, "OPENAI_API_KEY", "OPENAI_BASE_URL", "openai", style="openai"),
    "azure": Provider(
        "autogen_ext.models.openai.AzureOpenAIChatCompletionClient",
        "AZURE_OPENAI_API_KEY",
        "",
        "openai",
        style="openai",
    ),
    "anthropic": Provider(
        "autogen_ext.models.anthropic.AnthropicChatCompletionClient",
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
        "anthropic",
        "anthropic",
    ),
    "ollama": Provider(
        "autogen_ext.models.ollama.OllamaChatCompletionClient", "", "OLLAMA_HOST", "ollama", "ollama", "ollama"
    ),
    "replay": Provider("autogen_ext.models.replay.ReplayChatCompletionClient"),
    "local": Provider(_OPENAI, package="xllamacpp", extra="local", style="local"),
}
"""The providers by the name before the colon. No other component is ever loaded from a config."""

_BY_CLIENT = {provider.client: name for name, provider in PROVIDERS.items() if name != "local"}
_SHORT = {client.rpartition(".")[2]: client for client in _BY_CLIENT}
_EXAMPLES = "openai:gpt-5-mini, anthropic:NAME, ollama:NAME, local, replay:FILE or FILE.yaml"


class ModelSpec(Frozen):
    """A model. It holds no key and no header: what it holds goes into configs and traces.

    Attributes:
        provider: A name in `PROVIDERS`.
        model: Name of the model at its provider; for `replay` the file of replies.
        base_url: Where an OpenAI-compatible server listens; empty for the provider's own.
        key_env: The environment variable that holds the key; empty for the provider's usual one.
        options: Further settings of the AutoGen client, from a component config.
    """

    provider: str
    model: str
    base_url: str = ""
    key_env: str = ""
    options: dict[str, JsonValue] = {}

    @classmethod
    def parse(cls, text: str, *, base_url: str = "", key_env: str = "") -> ModelSpec:
        """A spec from its short form, or from the component config in a YAML file.

        Raises:
            UserError: If the text names no provider that is known, or the file is not a config.
        """
        text = text.strip()
        if text.endswith((".yaml", ".yml")):
            if base_url:
                raise UserError(f"model {text}: base_url goes with a model's short name; write it into the file")
            return cls.from_file(Path(text), key_env=key_env)
        if text == "local" and not base_url:
            return cls(provider="local", model="gemma-3-270m-q4_k_m")
        provider, colon, model = text.partition(":")
        if base_url and not colon and text != "local":
            provider, model = "openai", text
        if provider not in PROVIDERS:
            raise UserError(f"model {text!r}: provider {provider!r} is unknown; {nearest(provider, PROVIDERS)}")
        if base_url and provider != "openai":
            raise UserError(f"base_url goes with an openai model, not with {provider}; write openai:{model or 'NAME'}")
        if not model or provider == "local":
            raise UserError(f"model {text!r} is not of the form PROVIDER:NAME; write for instance {_EXAMPLES}")
        if base_url and not base_url.startswith(("http://", "https://")):
            raise UserError(f"base_url {base_url!r} is no address; write for instance http://127.0.0.1:8000/v1")
        refuse_secrets({"base_url": base_url}, f"model {text}")
        return cls(provider=provider, model=model, base_url=base_url or _address(provider), key_env=key_env)

    @classmethod
    def from_file(cls, path: Path, *, key_env: str = "") -> ModelSpec:
        """A spec from an AutoGen component config: a mapping with `provider` and `config`.

        Raises:
            UserError: If the file cannot be read, names a component that is not a known model client, or
                holds a secret.
        """
        data = read_mapping(path, "a component config is a mapping with 'provider' and 'config'", f"model {path}")
        config = data.get("config")
        if not isinstance(config, dict) or not isinstance(data.get("provider"), str):
            raise UserError(f"model {path}: a component config is a mapping with 'provider' and 'config'; write both")
        return cls.from_component(data["provider"], config, str(path), key_env=key_env)

    @classmethod
    def from_component(cls, client: str, config: Mapping[str, Any], place: str, *, key_env: str = "") -> ModelSpec:
        """A spec from the two parts of a component config; see `from_file`."""
        client = _SHORT.get(client, client)
        if client not in _BY_CLIENT:
            allowed = ", ".join(sorted(_SHORT))
            raise UserError(f"{place}: provider {client!r} is not an allowed model client; use one of {allowed}")
        refuse_secrets(dict(config), place)
        for key in ("default_headers", "headers"):
            if key in config:
                raise UserError(f"{place}: {key} may hold secrets and configs are kept; leave them out")
        provider = _BY_CLIENT[client]
        fields = {"model": config.get("model", ""), "base_url": config.get("base_url") or _address(provider)}
        options = {key: value for key, value in config.items() if key not in fields}
        try:
            spec = cls.model_validate({"provider": provider, "key_env": key_env, "options": options, **fields})
        except ValidationError as error:
            raise explain(error, cls, place) from error
        if not spec.model and provider != "replay":
            raise UserError(f"{place}: its config names no model; add 'model'")
        return spec

    @property
    def label(self) -> str:
        """The short form, for tables and messages."""
        return self.provider if self.provider == "local" else f"{self.provider}:{self.model}"

    @property
    def hash(self) -> str:
        """SHA-256 of the whole configuration. No two configurations share one, and so no cached reply either."""
        whole = json.dumps(self.model_dump(mode="json"), sort_keys=True).encode()
        return hashlib.sha256(whole + self._recorded()).hexdigest()

    def _recorded(self) -> bytes:
        """The file of replies, whose name may stay while it changes."""
        if self.provider != "replay" or not self.model:
            return b""
        with suppress(OSError):  # said when it is opened
            return Path(self.model).read_bytes()
        return b""

    def check(self) -> None:
        """See that the model can be asked, as far as that shows without asking it.

        Raises:
            UserError: If its package is not installed, its key is not set, its client does not take an option, or
                its file of replies cannot be read.
        """
        provider = PROVIDERS[self.provider]
        if provider.package and importlib.util.find_spec(provider.package) is None:
            raise UserError(
                f"model {self.label}: {provider.package} is not installed; pip install 'cheaptalk[{provider.extra}]'"
            )
        api_key(self)
        if self.options:
            self._check_options(provider)
        if self.provider == "replay" and "chat_completions" not in self.options:
            recorded(self)

    def _check_options(self, provider: Provider) -> None:
        """AutoGen's clients pass over in silence what they do not know, such as a setting with a slip in its name."""
        module, _, name = provider.client.rpartition(".")
        schema: type[BaseModel] = getattr(import_module(module), name).component_config_schema
        unknown = sorted(self.options.keys() - schema.model_fields.keys())
        if unknown:
            hint = nearest(unknown[0], schema.model_fields)
            raise UserError(f"model {self.label}: {unknown[0]!r} is not a setting of {name}; {hint}")
        try:
            schema.model_validate({"chat_completions": [], **self.options, "model": self.model})
        except ValidationError as error:
            raise explain(error, schema, f"model {self.label}") from error


def _address(provider: str) -> str:
    """Where a provider's client would look by itself. It is part of a configuration like any other address.

    Raises:
        UserError: If it holds a password.
    """
    variable = PROVIDERS[provider].address
    address = os.environ.get(variable, "") if variable else ""
    refuse_secrets({variable: address}, "environment")
    return address


def key_variable(spec: ModelSpec) -> str:
    """The environment variable that holds a model's key; empty if it needs none."""
    known = PROVIDERS.get(spec.provider)
    return spec.key_env or (known.key if known else "")


def recorded(spec: ModelSpec) -> list[str]:
    """The replies in the file of a `replay` model: a JSON list of texts or objects.

    Raises:
        UserError: If it is none.
    """
    try:
        data = json.loads(Path(spec.model).read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"model {spec.label}: {error.strerror}; name a file with a JSON list of replies") from error
    except (ValueError, RecursionError) as error:
        raise UserError(f"model {spec.label}: {error}; name a file with a JSON list of replies") from error
    if not isinstance(data, list):
        raise UserError(f"model {spec.label}: the file is not a list; write a JSON list of replies")
    return [reply if isinstance(reply, str) else json.dumps(reply) for reply in data]


def without_keys(text: str, *variables: str) -> str:
    """A text of somebody else's without the keys that this process holds, which go into nothing that is kept.

    Args:
        text: The text.
        variables: Environment variables that hold a key, besides the providers' usual ones.
    """
    for variable in (*(provider.key for provider in PROVIDERS.values()), *variables):
        key = os.environ.get(variable, "") if variable else ""
        if len(key) >= _SHORTEST_KEY:
            text = text.replace(key, "[key]")
    return text


def reply_limit(spec: ModelSpec) -> str:
    """What a model's provider calls the longest reply."""
    if spec.provider in ("openai", "azure") and not spec.base_url:
        return "max_completion_tokens"  # reasoning models take no other
    return "num_predict" if spec.provider == "ollama" else "max_tokens"


def api_key(spec: ModelSpec) -> str:
    """The key of a model, from the environment; empty if it needs none.

    Raises:
        UserError: If it needs one and it is not set.
    """
    variable = key_variable(spec)
    if not variable:
        return ""
    key = os.environ.get(variable, "")
    if not key and (spec.key_env or not spec.base_url):
        raise UserError(f"model {spec.label}: the environment variable {variable} is not set; export it with your key")
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise UserError(
            f"model {spec.label}: the environment variable {variable} holds what no key does, such as a space or the "
            "end of a line; export it anew"
        )
    return key
