"""A strategy as a flag or a config file names it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import yaml
from pydantic import JsonValue, ValidationError, model_serializer, model_validator

from framework import registry
from framework.errors import UserError, explain, place_in
from framework.messages import Frozen
from framework.strategy import Strategy

__all__ = ["StrategySpec", "parse_named", "parse_value", "refuse_secrets", "short_names"]

_NAMED = re.compile(r"(?P<name>.+?)(?::(?P<params>[A-Za-z_]\w*=.*))?", re.DOTALL)
_NEXT_PARAM = re.compile(r",(?=\s*[A-Za-z_]\w*=)")
_FOLDERS = re.compile(r"^[^:]*/")
_BESIDE_PLAY = ("base_url", "key_env", "reflect")
"""Parameters that say where a model is reached and whether it is measured, and not how it plays."""
_SECRET_KEY = re.compile(
    r"(?:^|[_-])(?:(?:api|access|secret|private)[_-]?key|secret|passw(?:or)?d|token|authorization|credentials?)$", re.I
)
_SECRET_VALUE = re.compile(
    r"\bsk-[\w-]{16,}|://[^/\s:@]+:[^/\s@]+@|://[^\s]*[?&][\w-]*(?:key|token|secret|passw(?:or)?d|sig)=|^Bearer\s", re.I
)


def parse_value(text: str) -> JsonValue:
    """A value as YAML reads it: `0.5` is a number, `[1, 2]` a list, `true` a truth; other text stays text."""
    try:
        value: JsonValue = yaml.safe_load(text)
    except yaml.YAMLError:
        return text
    return value if isinstance(value, (bool, int, float, list, dict)) or text in ("", "null", "~") else text


def parse_named(text: str) -> tuple[str, dict[str, JsonValue]]:
    """Split `name:key=value,key=value` into the name and its values; a name may itself hold colons."""
    match = _NAMED.fullmatch(text.strip())
    if match is None:
        raise UserError("a name is empty; give one such as imap or dsm:theta=0.5")
    pairs = _NEXT_PARAM.split(match["params"]) if match["params"] else []
    values: dict[str, JsonValue] = {}
    for key, _, value in (pair.strip().partition("=") for pair in pairs):
        if key in values:
            raise UserError(f"{text!r} gives {key!r} twice; keep one of them")
        values[key] = parse_value(value)
    return match["name"], values


def refuse_secrets(value: JsonValue, place: str) -> None:
    """Refuse what looks like a secret: a config is written beside the results and into every trace.

    Raises:
        UserError: Naming the key, never the value.
    """
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in items:
        here = f"{place}.{key}"
        is_text = isinstance(part, str) and part != ""
        if is_text and (_SECRET_KEY.search(str(key)) or _SECRET_VALUE.search(str(part))):
            raise UserError(
                f"{here} looks like a secret, and configs and traces are kept; put it into an environment variable"
            )
        refuse_secrets(part, here)


class StrategySpec(Frozen):
    """Which strategy takes a seat, with its parameters. It is small, picklable and free of code.

    In a config file it is text (`imap`, `dsm:theta=0.5,L_max=4`, `my.module:Class`, `mine.py:Class`) or a
    mapping with `name` and `params`.

    Attributes:
        name: A registered name, `module.path:Class` or `path/to/file.py:Class`.
        params: Values for the fields of the strategy's `params_type`.
    """

    name: str
    params: dict[str, JsonValue] = {}

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, data: Any) -> Any:
        if not isinstance(data, str):
            return data
        name, params = parse_named(data)
        return {"name": name, "params": params}

    @model_serializer
    def _as_config(self) -> str | dict[str, JsonValue]:
        return {"name": self.name, "params": self.params} if self.params else self.name

    @classmethod
    def parse(cls, text: str) -> StrategySpec:
        """A spec from its text form.

        Raises:
            UserError: If the text is empty.
        """
        name, params = parse_named(text)
        return cls(name=name, params=params)

    @property
    def label(self) -> str:
        """The text form, under which traces and tables list the strategy."""
        if not self.params:
            return self.name
        return f"{self.name}:{','.join(f'{key}={_plain(value)}' for key, value in self.params.items())}"

    def build(self) -> Strategy[Any]:
        """A new instance, for one seat of one game.

        Raises:
            UserError: If the strategy is unknown, cannot be loaded, or does not take the parameters.
        """
        kind = registry.strategy(self.name)
        refuse_secrets(dict(self.params), f"strategy {self.name}")
        try:
            params = kind.params_type.model_validate(self.params)
        except ValidationError as error:
            raise explain(error, kind.params_type, f"strategy {self.name}") from error
        try:
            return kind(params)
        except UserError as error:
            raise UserError(f"strategy {self.name}: {error}") from error
        except Exception as error:
            why = f"{type(error).__name__}: {error}{place_in(error)}"
            if isinstance(error, TypeError) and "__init__" in kind.__dict__:
                why = f"{why}; let __init__ take the parameters, as in: def __init__(self, params=None)"
            raise UserError(f"strategy {self.label} cannot be seated: {why}") from error

    def __hash__(self) -> int:
        return hash(self.label)


def short_names(labels: Iterable[str]) -> dict[str, str]:
    """Strategies as figures and pages name them: without folders, and without parameters that have no part in play.

    Labels that would become the same stay as they are.

    Args:
        labels: Text forms of specs, as traces list them.
    """
    shortened = {label: _shortened(label) for label in labels}
    times = Counter(shortened.values())
    return {label: short if times[short] == 1 else label for label, short in shortened.items()}


def _shortened(label: str) -> str:
    match = _NAMED.fullmatch(label)
    if match is None:
        return label
    name = _FOLDERS.sub("", match["name"])
    pairs = _NEXT_PARAM.split(match["params"]) if match["params"] else []
    kept = [pair for pair in pairs if pair.partition("=")[0].strip() not in _BESIDE_PLAY]
    return f"{name}:{','.join(kept)}" if kept else name


def _plain(value: JsonValue) -> str:
    if isinstance(value, str):
        return value
    return yaml.safe_dump(value, default_flow_style=True, width=10**6).removesuffix("\n").removesuffix("\n...")


def named_from(data: Mapping[str, JsonValue] | str) -> dict[str, JsonValue]:
    """A mapping with `name` from either of its two forms in a config file."""
    if not isinstance(data, str):
        return dict(data)
    name, values = parse_named(data)
    return {"name": name, **values}
