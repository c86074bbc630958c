"""The flags of `cheaptalk run` that have to do with language models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from framework.specs import StrategySpec

__all__ = ["call_models", "count_together", "seat_models"]

_BUDGETS = ("tokens", "calls", "dollars")
_EXAMPLE = "tokens=200000"


def seat_models(flags: dict[str, Any], values: dict[str, Any]) -> None:
    """Let a model play the seats whose strategy asks one.

    Args:
        flags: Values of the flags so far, by field of the experiment; `strategy` and `seats` are completed.
        values: What was given for `model`, `base_url`, `prompts` and `reflect`. They fill in parameters that a
            strategy has and that its own text does not name. With a model, and without a strategy, all seats
            are taken by the strategy that is registered as `seat` under `cheaptalk.models`.

    Raises:
        UserError: If a strategy does not fit, or none asks a model.
    """
    given = {key: value for key, value in values.items() if value not in (None, False, "")}
    if not given:
        return
    from framework.errors import UserError
    from framework.specs import StrategySpec

    if flags.get("strategy") is None and "model" in given:
        flags["strategy"] = _default()
    filled: list[StrategySpec] = []
    if flags.get("strategy") is not None:
        flags["strategy"] = _fill(StrategySpec.parse(flags["strategy"]), given, filled)
    seats = flags.get("seats", {})
    flags["seats"] = {seat: _fill(StrategySpec.parse(text), given, filled) for seat, text in seats.items()}
    if not filled:
        names = ", ".join(f"--{key.replace('_', '-')}" for key in given)
        raise UserError(
            f"{names}: no seat's strategy asks a model here; name one with --strategy or --seat, or give --model; "
            "the seats of a file or a run keep what is written there"
        )


def _default() -> str:
    """Name of the strategy that a model plays with."""
    from framework.errors import UserError
    from framework.registry import STRATEGIES, entries

    wanted = next((entry.value for entry in entries("cheaptalk.models") if entry.name == "seat"), None)
    for entry in entries(STRATEGIES):
        if entry.value == wanted:
            return entry.name
    raise UserError("--model: no strategy is registered for models; install cheaptalk anew")


def _fill(spec: StrategySpec, given: dict[str, Any], filled: list[StrategySpec]) -> StrategySpec:
    from framework import registry

    fields = registry.strategy(spec.name).params_type.model_fields
    if "model" not in fields:
        return spec
    if "agent" in spec.params or ("model" in spec.params and "model" in given):  # it has a model of its own
        given = {key: value for key, value in given.items() if key not in ("model", "base_url")}
    params = {key: value for key, value in given.items() if key in fields} | dict(spec.params)
    full = spec.model_copy(update={"params": params})
    filled.append(full)
    return full


def call_models(cache: str | None, budget: str | None, prices: str | None) -> None:
    """Say how models are called, to this process and to those that it starts.

    Args:
        cache: Folder of cached replies.
        budget: Such as `tokens=200000,calls=500,dollars=2`.
        prices: File of prices.

    Raises:
        UserError: If a value does not fit.
    """
    if cache is None and budget is None and prices is None:
        return
    from framework.errors import UserError
    from framework.registry import load

    put = load("cheaptalk.models", "settings")
    for name, value in (("cache", cache), ("prices", prices)):
        if value == "":
            raise UserError(f"--{name} is empty; give a value, or leave it out")
        if value is not None:
            put(name, value)
    for name, value in _budgets(budget).items() if budget is not None else ():
        try:
            put(name, value)
        except UserError as error:
            said = str(error).partition(": ")[2]
            raise UserError(f"--budget: {said}; write for instance --budget {_EXAMPLE}") from error


def _budgets(text: str) -> dict[str, str]:
    """The budgets that `KIND=N,KIND=N` names."""
    from framework.errors import UserError, nearest

    found: dict[str, str] = {}
    for part in text.split(","):
        name, _, value = (word.strip() for word in part.partition("="))
        if not value:
            raise UserError(f"--budget {text!r}: {part!r} is not of the form KIND=N; write for instance {_EXAMPLE}")
        if name not in _BUDGETS:
            raise UserError(f"--budget {part!r}: {nearest(name, _BUDGETS)}; write for instance --budget {_EXAMPLE}")
        if name in found:
            raise UserError(f"--budget {text!r} gives {name} twice; keep one of them")
        found[name] = value
    return found


def count_together(specs: Iterable[StrategySpec | None], folder: Path) -> None:
    """Let what strategies spend on models count for all that goes into a folder, in all processes and sittings."""
    from framework.registry import load, strategy

    if any(spec and "model" in strategy(spec.name).params_type.model_fields for spec in specs):
        load("cheaptalk.models", "settings")("spent", folder.absolute() / "spent.jsonl")
