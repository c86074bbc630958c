"""`cheaptalk arena`: players meet by rating until a budget of games is spent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from framework.arena import ArenaConfig

__all__ = ["arena"]


def arena(
    target: Annotated[
        str, typer.Argument(metavar="GAME|FILE.yaml|ARENA", help="A game, an arena's file or its folder.")
    ],
    pool: Annotated[
        list[str] | None, typer.Option(metavar="STRATEGY", help="A player, such as dsm:theta=0.5; repeatable.")
    ] = None,
    games: Annotated[int | None, typer.Option(min=1, help="Play so many games in all.")] = None,
    suite: Annotated[str | None, typer.Option(help="A suite of the game.")] = None,
    tasks: Annotated[str | None, typer.Option(help="A file of tasks, one JSON object a line.")] = None,
    suite_seed: Annotated[int | None, typer.Option(min=0, help="Seed of the suite.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Take only so many tasks.")] = None,
    rule: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="A rule of the game; repeatable.")] = None,
    explore: Annotated[
        float | None, typer.Option(min=0, max=1, help="How often an opponent is drawn without regard to ratings.")
    ] = None,
    distance: Annotated[
        float | None, typer.Option(help="MMR over which the odds of meeting an opponent fall to 37 %.")
    ] = None,
    at_once: Annotated[
        int | None, typer.Option(min=1, help="Matches made from the same ratings and played at once.")
    ] = None,
    seconds: Annotated[float | None, typer.Option(help="Time limit of a move.")] = None,
    cache: Annotated[str | None, typer.Option(metavar="DIR", help="Keep models' replies here and reuse them.")] = None,
    budget: Annotated[
        str | None, typer.Option(metavar="KIND=N,...", help="Stop when so many tokens, calls or dollars are spent.")
    ] = None,
    prices: Annotated[str | None, typer.Option(metavar="FILE", help="What models cost, in place of ours.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of matchmaking and of the games.")] = None,
    out: Annotated[str | None, typer.Option(help="Folder of the arena.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the arena in the folder.")] = False,
) -> int:
    """Let players meet by rating, rate each game, and print the standings. Flags override the file."""
    from framework.arena.arena import ArenaStopped, play_arena
    from framework.cli._console import progress_bar, say
    from framework.cli._models import call_models, count_together
    from framework.cli.run import rules_of

    flags = {
        "pool": pool,
        "games": games,
        "suite": suite,
        "tasks": tasks,
        "suite_seed": suite_seed,
        "limit": limit,
        "rules": rules_of(rule or []),
        "explore": explore,
        "distance": distance,
        "at_once": at_once,
        "limits": None if seconds is None else {"seconds": seconds},
        "seed": seed,
        "out": out,
    }
    call_models(cache, budget, prices)
    config = _config(target, {key: value for key, value in flags.items() if value not in (None, {})}, resume)
    count_together(config.pool, Path(config.out))
    try:
        with progress_bar(config.game) as progress:
            played = play_arena(config, resume=resume, progress=progress)
    except ArenaStopped as stopped:
        say(str(stopped))
        return 130 if stopped.interrupted else 1
    _print(config)
    if played.aborted:
        say(f"{played.aborted} of {played.done} games aborted and rated nobody; their traces say why")
    return 1 if played.aborted else 0


def _config(target: str, flags: dict[str, Any], resume: bool) -> ArenaConfig:
    from framework.arena.arena import CONFIG
    from framework.arena.config import parse_arena, read_arena
    from framework.errors import UserError
    from framework.specs import StrategySpec

    path = Path(target)
    if (path / CONFIG).is_file():
        if not resume:
            raise UserError(f"{target} holds an arena; add --resume to go on with it")
        pool = read_arena(path / CONFIG).pool
        known = {spec.label for spec in pool}
        newcomers = [text for text in flags.get("pool", ()) if StrategySpec.parse(text).label not in known]
        flags = {**flags, "pool": [*pool, *newcomers]}
        config = read_arena(path / CONFIG, {**flags, "out": target})
    elif resume and path.is_dir():
        raise UserError(f"{target} holds no {CONFIG} and is not an arena's folder; name one, or a game")
    elif path.suffix in (".yaml", ".yml"):
        config = read_arena(path, flags)
    else:
        config = parse_arena({"game": target}, flags, "flags")
    if not config.out:
        raise UserError("an arena needs a folder; add --out, for instance --out arenas/first")
    return config


def _print(config: ArenaConfig) -> None:
    from framework.analysis.rating import rate, standings_table
    from framework.cli._console import print_findings
    from framework.tables import read_run

    folder = Path(config.out)
    print_findings([standings_table(rate([read_run(folder)], competes=lambda player: True))])
    print(f"Arena: {folder}")
