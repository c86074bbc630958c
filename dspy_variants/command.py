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
        base_url: Annotated[str, typer.Option(help="Where an OpenAI-compatible server listens, for --model.")] = "",
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
    ) -> int:
        """Look for a better version of a prompt block, and write it with a record of how it came about."""
        _require_dspy()
        from framework.cli._models import call_models

        call_models(None, budget, None)
        from dspy_variants.optimizing import keep

        choice = _Choice(game, suite or "", tasks or "", train, holdout, seed)
        search = _Search(weight or [], games, threads)
        _require_folder(out)
        found = _optimize(choice, search, variant, model, base_url, lm, rule or [], reflect)
        return _tell(found, *keep(out, found))


def _require_folder(folder: Path) -> None:
    """See that what is found can be written, before it is looked for."""
    import os

    from framework.errors import UserError

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"--out {folder} cannot be made ({error.strerror}); name another folder") from error
    if not os.access(folder, os.W_OK):
        raise UserError(f"--out {folder} cannot be written; name another folder")


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
    choice: _Choice,
    how: _Search,
    variant: str,
    model: str,
    base_url: str,
    lm: str | None,
    rule: list[str],
    reflect: bool,
) -> Optimized:
    from dspy_variants.optimizing import optimize as search
    from dspy_variants.seat import VariantParams, VariantStrategy
    from dspy_variants.variants import load_variant
    from framework.experiment import Experiment, Setup

    base = load_variant(variant)
    rules = dict(_pair(text, "rule") for text in rule)
    experiment = {"game": choice.game, "suite": choice.suite, "tasks": choice.tasks, "rules": rules}
    setup = Setup.of(Experiment.model_validate(experiment))
    params = VariantParams(model=model, base_url=base_url, variant=variant, reflect=reflect)
    VariantStrategy(params, block=base)  # says at once what is missing

    def seat(text: str) -> VariantStrategy:
        return VariantStrategy(params, block=base.model_copy(update={"text": text}))

    return search(
        setup.game,
        base,
        _split(setup.game, list(setup.scenarios), choice),
        seat,
        _language_model(lm, model, base_url),
        weights=dict(map(_weight, how.weights)) or _usual_weights(setup.game),
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


def _weight(text: str) -> tuple[str, float]:
    from framework.errors import UserError

    name, value = _pair(text, "weight")
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise UserError(f"--weight {text!r}: {value!r} is not a number; write for instance --weight coordination=1")
    return name, float(value)


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


def _language_model(name: str | None, model: str, base_url: str) -> Any:
    """The model that rewrites blocks, as DSPy has it. Nothing that it is asked is kept on disk."""
    import dspy

    from framework.errors import UserError
    from protocols.models import ModelSpec, Settings
    from protocols.models.local import LOCAL_NAME, local_server
    from protocols.models.spec import api_key

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
    if base_url:
        spec = ModelSpec.parse(model, base_url=base_url)
        key = api_key(spec) or "none"
        return dspy.LM(f"openai/{spec.model}", api_base=base_url, api_key=key, temperature=1.0, max_tokens=8000)
    provider, _, rest = model.partition(":")
    if provider not in ("openai", "anthropic", "ollama"):
        raise UserError(f"model {model} cannot rewrite blocks; name one with --lm, such as openai/gpt-5")
    return dspy.LM(f"{provider}/{rest}", temperature=1.0, max_tokens=8000)


def _tell(found: Optimized, path: Path | None, record: Path) -> int:
    """Say what came out; the exit code."""
    print(f"{len(found.record.candidates)} candidates, {len(found.record.games)} games.")
    if found.record.stopped:
        from framework.cli._console import say

        say(
            f"the optimization stopped before anything was compared: {found.record.stopped}; "
            f"what was played is in {record}"
        )
        return 1
    held = found.record.held_out
    base, best = (sum(scores.values()) / len(scores) for scores in (held.base, held.best))
    if path is None:
        print(f"No candidate was better than {found.record.base} in validation; it scores {base:.3f} on the holdout.")
    else:
        word = "better" if held.better else "NOT better"
        print(f"{path}: {word} on the holdout ({best:.3f}, and {base:.3f} before).")
    print(f"Record: {record}")
    return 0
