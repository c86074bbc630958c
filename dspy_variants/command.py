"""Rewrite a prompt block with DSPy's GEPA, by what games come to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

if TYPE_CHECKING:
    from dspy_variants.optimizing import Optimized, Tasks
    from framework import Game

__all__ = ["optimize"]


def optimize(app: typer.Typer) -> None:
    """Add the command `optimize`."""

    @app.command("optimize")
    def command(
        game: Annotated[str, typer.Argument(help="The game.")],
        variant: Annotated[str, typer.Option(help="The block to begin with: a name or a file.")],
        model: Annotated[str, typer.Option(help="The model that plays, as for `cheaptalk run`.")],
        lm: Annotated[
            str | None, typer.Option(help="The model that rewrites, as DSPy names it; the one that plays if none.")
        ] = None,
        suite: Annotated[str | None, typer.Option(help="Where tasks come from; the game's default if none.")] = None,
        tasks: Annotated[str | None, typer.Option(metavar="FILE", help="A file of tasks instead of a suite.")] = None,
        train: Annotated[int, typer.Option(min=1, help="Training tasks, and as many for validation.")] = 3,
        holdout: Annotated[int, typer.Option(min=1, help="Tasks for the comparison at the end.")] = 3,
        games: Annotated[int, typer.Option(min=2, help="About how many games the search may play.")] = 20,
        weight: Annotated[list[str] | None, typer.Option(metavar="METRIC=W", help="What counts; repeatable.")] = None,
        rule: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="A rule; repeatable.")] = None,
        reflect: Annotated[bool, typer.Option("--reflect", help="Ask seats for their beliefs, to weigh VPS.")] = False,
        threads: Annotated[int, typer.Option(min=1, help="Games that are played at once.")] = 1,
        seed: Annotated[int, typer.Option(min=0, help="Seed of everything.")] = 0,
        budget: Annotated[
            str | None, typer.Option(metavar="KIND=N,...", help="What playing may use, as for run.")
        ] = None,
        out: Annotated[Path, typer.Option(metavar="DIR", help="Where the new version and its record go.")] = Path(
            "variants"
        ),
    ) -> None:
        """Look for a better version of a prompt block, and write it with a record of how it came about."""
        _require_dspy()
        from framework.cli._models import call_models

        call_models(None, budget, None)
        from dspy_variants.optimizing import keep

        choice = _Choice(game, suite or "", tasks or "", train, holdout, seed)
        search = _Search(weight or [], games, threads)
        found = _optimize(choice, search, variant, model, lm, rule or [], reflect)
        _tell(found, *keep(out, found))


def _require_dspy() -> None:
    import importlib.util
    import os

    from framework.errors import UserError

    if importlib.util.find_spec("dspy") is None:
        raise UserError("dspy is not installed; pip install 'cheaptalk[dspy]'")
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else it asks the network for prices


class _Choice(NamedTuple):
    """Which tasks."""

    game: str
    suite: str
    tasks: str
    train: int
    holdout: int
    seed: int


class _Search(NamedTuple):
    """How long to search, and for what."""

    weights: list[str]
    games: int
    threads: int


def _optimize(
    choice: _Choice, how: _Search, variant: str, model: str, lm: str | None, rule: list[str], reflect: bool
) -> Optimized:
    from dspy_variants.optimizing import optimize as search
    from dspy_variants.seat import VariantParams, VariantStrategy
    from dspy_variants.variants import load_variant
    from framework.experiment import Experiment, Setup

    base = load_variant(variant)
    rules = dict(_pair(text, "rule") for text in rule)
    experiment = {"game": choice.game, "suite": choice.suite, "tasks": choice.tasks, "rules": rules}
    setup = Setup.of(Experiment.model_validate(experiment))
    params = VariantParams(model=model, variant=variant, reflect=reflect)
    VariantStrategy(params, block=base)  # says at once what is missing

    def seat(text: str) -> VariantStrategy:
        return VariantStrategy(params, block=base.model_copy(update={"text": text}))

    return search(
        setup.game,
        base,
        _split(setup.game, list(setup.scenarios), choice),
        seat,
        _language_model(lm, model),
        weights={key: float(str(value)) for key, value in (_pair(text, "weight") for text in how.weights)}
        or _usual_weights(setup.game),
        games=how.games,
        seed=choice.seed,
        threads=how.threads,
        suite=setup.experiment.suite or choice.tasks,
        suite_seed=setup.experiment.suite_seed,
        model=model,
    )


def _pair(text: str, flag: str) -> tuple[str, Any]:
    from framework.errors import UserError
    from framework.specs import parse_value

    key, found, value = text.partition("=")
    if not (key and found):
        raise UserError(f"--{flag} {text!r} is not of the form NAME=VALUE")
    return key.strip(), parse_value(value)


def _usual_weights(game: Game[Any, Any]) -> dict[str, float]:
    """Coordination before cost before privacy, as far as the game has these metrics; else its first one."""
    known = [metric.name for metric in game.metrics if metric.better != "neither"]
    usual = {"coordination": 1.0, "excess": 0.5, "vps_reflected": 0.25}
    return {name: value for name, value in usual.items() if name in known} or {known[0]: 1.0}


def _split(game: Game[Any, Any], scenarios: list[Any], choice: _Choice) -> Tasks:
    import random

    from dspy_variants.optimizing import Tasks
    from framework.errors import UserError

    train, wanted = choice.train, 2 * choice.train + choice.holdout
    if len(scenarios) < wanted:
        raise UserError(
            f"{game.name} has {len(scenarios)} tasks here, and {wanted} are asked for (training, as many for "
            "validation, and the holdout); ask for fewer, or name a larger suite"
        )
    random.Random(choice.seed).shuffle(scenarios)
    return Tasks(scenarios[:train], scenarios[train : 2 * train], scenarios[2 * train : wanted])


def _language_model(name: str | None, model: str) -> Any:
    """The model that rewrites blocks, as DSPy has it. Nothing that it is asked is kept on disk."""
    import dspy

    from framework.errors import UserError
    from protocols.models import Settings
    from protocols.models.local import LOCAL_NAME, local_server

    dspy.configure_cache(enable_disk_cache=False)
    if name is not None and name != "local":
        return dspy.LM(name, temperature=1.0, max_tokens=8000)
    if name == "local" or model == "local":
        server = local_server(Settings.from_environment())
        return dspy.LM(
            f"openai/{LOCAL_NAME}",
            api_base=server.base_url,
            api_key=server.token,
            temperature=1.0,
            max_tokens=200,
            timeout=600,
        )
    provider, _, rest = model.partition(":")
    if provider not in ("openai", "anthropic", "ollama"):
        raise UserError(f"model {model} cannot rewrite blocks; name one with --lm, such as openai/gpt-5")
    return dspy.LM(f"{provider}/{rest}", temperature=1.0, max_tokens=8000)


def _tell(found: Optimized, path: Path | None, record: Path) -> None:
    held = found.record.held_out
    base, best = (sum(scores.values()) / len(scores) for scores in (held.base, held.best))
    print(f"{len(found.record.candidates)} candidates, {len(found.record.games)} games.")
    if path is None:
        print(f"No candidate was better than {found.record.base} in validation; it scores {base:.3f} on the holdout.")
    else:
        word = "better" if held.better else "NOT better"
        print(f"{path}: {word} on the holdout ({best:.3f}, and {base:.3f} before).")
    print(f"Record: {record}")
