"""`cheaptalk generate`: write a suite, or what a game's generator makes of a config, to a file of tasks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pydantic import JsonValue

__all__ = ["generate"]


def generate(
    game: Annotated[str, typer.Argument(metavar="GAME", help="The game.")],
    out: Annotated[Path, typer.Option(metavar="FILE.jsonl", help="Where the tasks go, one JSON object a line.")],
    suite: Annotated[str | None, typer.Option(help="A suite of the game.")] = None,
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="Settings of the generator, YAML.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed; 0, or the config's, by default.")] = None,
) -> None:
    """Write tasks to a file that `cheaptalk run --tasks` plays. The same seed gives the same file."""
    from framework import registry
    from framework.errors import UserError, nearest

    if (suite is None) == (config is None):
        raise UserError("name one of --suite and --config, and not both")
    found = registry.game(game)()
    if suite is not None and suite not in found.suites:
        raise UserError(f"suite {suite!r} is unknown to {game}; {nearest(suite, found.suites)}")
    try:
        scenarios = found.suite(suite, seed or 0) if suite is not None else found.generate(_settings(config, seed))
        out.parent.mkdir(parents=True, exist_ok=True)
        found.write_tasks(out, scenarios)
    except OSError as error:
        raise UserError(f"{out} cannot be written ({error.strerror}); name another file") from error
    except ValueError as error:
        raise UserError(str(error)) from error
    print(f"{len(scenarios)} tasks: {out}")


def _settings(config: Path | None, seed: int | None) -> dict[str, JsonValue]:
    """The config file as plain data, with the seed of the command line in place of its own."""
    from framework.yamlfile import read_mapping

    assert config is not None
    data = read_mapping(config, "a generator's settings are a mapping such as 'count: 10'")
    return data if seed is None else {**data, "seed": seed}
