"""Rules of a game as options of their own: `--turns 10` stands for `--rule turns=10`."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from typer.core import TyperCommand

if TYPE_CHECKING:
    from pydantic import JsonValue

    from framework.game import Rules

__all__ = ["Extra", "PackOrRule", "RuleOptions", "extras_of", "pack_or_rule", "rule_names", "rules_from"]

_EXTRAS = "framework.cli.extras"


class Extra(NamedTuple):
    """An option that a command does not know.

    Attributes:
        name: Its name as it was typed, with the dashes.
        value: Its value; None if none followed.
    """

    name: str
    value: str | None


class RuleOptions(TyperCommand):
    """A command that sets options aside which it does not know: they may be rules of the game that it is about."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        takes_value = {
            name: not getattr(parameter, "is_flag", False)
            for parameter in self.get_params(ctx)
            for name in (*parameter.opts, *parameter.secondary_opts)
            if name.startswith("-")
        }
        own, ctx.meta[_EXTRAS] = _split(args, takes_value)
        rest: list[str] = super().parse_args(ctx, own)
        return rest


class _Split(NamedTuple):
    own: list[str]
    extras: tuple[Extra, ...]


def _split(args: Sequence[str], takes_value: Mapping[str, bool]) -> _Split:
    own, extras, rest = list[str](), list[Extra](), deque(args)
    while rest:
        word = rest.popleft()
        if word == "--":
            own += [word, *rest]
            break
        name, has_value, value = word.partition("=")
        if not word.startswith("--") or name in takes_value:
            own.append(word)
            if takes_value.get(word) and rest:
                own.append(rest.popleft())
        elif has_value:
            extras.append(Extra(name, value))
        else:
            extras.append(Extra(name, rest.popleft() if rest and not rest[0].startswith("--") else None))
    return _Split(own, tuple(extras))


def extras_of(ctx: Any) -> tuple[Extra, ...]:
    """The options that a `RuleOptions` set aside."""
    found: tuple[Extra, ...] = ctx.meta.get(_EXTRAS, ())
    return found


def rule_names(kind: type[Rules]) -> dict[str, str]:
    """The names by which the knobs of a game go, each with its field's name."""
    from pydantic import AliasChoices

    names = {field: field for field in kind.model_fields}
    for field, info in kind.model_fields.items():
        if isinstance(info.validation_alias, AliasChoices):
            names |= {choice: field for choice in info.validation_alias.choices if isinstance(choice, str)}
    return names


def rules_from(extras: Sequence[Extra], game: str, options: Iterable[str]) -> dict[str, JsonValue]:
    """The rules of a game that options name.

    A rule that is true or false needs no value: `--constrain`, `--no-constrain`.

    Args:
        extras: The options.
        game: The game as it was named.
        options: Names of the command's own options, for the hint.

    Raises:
        UserError: If there is no such game, an option is no rule of it, or one has no value.
    """
    if not extras:
        return {}
    from framework.errors import UserError, nearest
    from framework.registry import game as find
    from framework.specs import parse_value

    kind = find(game).rules_type
    names, rules = rule_names(kind), dict[str, Any]()
    truths = {name for name, field in names.items() if kind.model_fields[field].annotation is bool}
    for option, value in extras:
        name = option.removeprefix("--").replace("-", "_")
        if value is None and name.removeprefix("no_") in truths:
            rules[name.removeprefix("no_")] = not name.startswith("no_")
        elif name not in names:
            known = {*options, *(f"--{rule.replace('_', '-')}" for rule in names)}
            raise UserError(f"No such option: {option}; {nearest(option, known)}")
        elif value is None:
            raise UserError(f"{option} needs a value; write for instance {option} VALUE")
        else:
            rules[name] = parse_value(value)
    return rules


class PackOrRule(NamedTuple):
    """What an option that may mean either means: a folder of templates, or rules of the game."""

    folder: str | None
    rules: dict[str, JsonValue]


def pack_or_rule(value: str, game: str) -> PackOrRule:
    """What `--prompts VALUE` means: a folder of templates if there is one, otherwise a game's rule `prompts`.

    Raises:
        UserError: If there is no such game, the folder lacks a template, or the game has the rule and the rule
            does not take the value.
    """
    from pydantic import ValidationError

    from framework.errors import explain
    from framework.registry import game as find

    kind = find(game).rules_type
    folder = Path(value)
    if folder.is_dir() or "prompts" not in rule_names(kind):
        own = find(game)().prompts()
        if own is not None and folder.is_dir():
            own.using(folder)
        return PackOrRule(value, {})
    try:
        kind.model_validate({"prompts": value})
    except ValidationError as error:
        raise explain(error, kind, f"--prompts {value} is not a folder, and as a rule of {game}") from error
    return PackOrRule(None, {"prompts": value})
