"""`cheaptalk check`: the conformance kit on somebody's game or strategy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from framework.specs import StrategySpec
    from framework.strategy import Strategy

__all__ = ["check"]


def check(
    subject: Annotated[str, typer.Argument(metavar="MODULE:CLASS", help="A game or a strategy, by class or name.")],
    game: Annotated[str | None, typer.Option(help="The game that a strategy plays.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of everything.")] = 0,
) -> int:
    """Put what a game or a strategy promises to the test."""
    from framework import registry
    from framework.errors import UserError
    from framework.game import Game
    from framework.specs import StrategySpec
    from framework.testing import check_game, check_strategy

    spec = StrategySpec.parse(subject)
    is_game = spec.name in {entry.name for entry in registry.entries(registry.GAMES)}
    found = registry.game(spec.name) if is_game else registry.find(registry.STRATEGIES, spec.name)
    try:
        if isinstance(found, type) and issubclass(found, Game):
            report = check_game(registry.game(spec.name), seed=seed)
        else:
            spec.build()
            report = check_strategy(_Named(spec), registry.game(game or _only_game()), seed=seed)
    except ValueError as error:
        raise UserError(f"{subject}: {error}") from error
    print(report)
    return 0 if report.ok else 1


class _Named:
    """Makes instances of a strategy, under the name that was typed."""

    def __init__(self, spec: StrategySpec) -> None:
        self._spec = spec
        self.__name__ = spec.label

    def __call__(self) -> Strategy[Any]:
        return self._spec.build()


def _only_game() -> str:
    from framework.errors import UserError
    from framework.registry import GAMES, entries

    names = [entry.name for entry in entries(GAMES)]
    if len(names) != 1:
        raise UserError(f"say with --game what the strategy plays: one of {', '.join(names)}")
    return names[0]
