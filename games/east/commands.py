"""Tables and figures of EAST, cross-play, and the vetting of scenarios."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from games.east.association import AssociationName
    from games.east.scenario import Vignette

__all__ = ["app"]

app = typer.Typer(help=__doc__, no_args_is_help=True, add_completion=False)

Runs = Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of runs.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the suite and of the runs.")]


@app.command()
def report(
    runs: Runs,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Write CSVs and figures here.")] = None,
) -> None:
    """Print rates by strategy, condition and prompt; with --out, write CSVs and figures as well."""
    from games.east.csvs import write_tables
    from games.east.printing import print_rates
    from games.east.results import read_runs

    games = read_runs(dict.fromkeys(runs))
    print_rates(games)
    if out is not None:
        from games.east.figures import draw_behaviour

        for path in (*write_tables(out, games), *draw_behaviour(out, games)):
            print(path)


@app.command()
def crossplay(
    strategies: Annotated[list[str], typer.Argument(metavar="STRATEGY...", help="Two or more strategies.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The runs go to DIR/runs, tables and figures to DIR.")],
    suite: Annotated[str, typer.Option(help="A suite of EAST.")] = "paper",
    conditions: Annotated[str | None, typer.Option(help="Only these conditions, with commas.")] = None,
    prompts: Annotated[str | None, typer.Option(help="Only these prompt variants, with commas.")] = None,
    rule: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="A rule of EAST; repeatable.")] = None,
    seed: Seed = 0,
    concurrency: Annotated[int, typer.Option(min=1, help="Games that overlap.")] = 1,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with what is in DIR.")] = False,
) -> int:
    """Play every ordered pair of strategies, and draw the matrix."""
    from framework.experiment import parse_experiment
    from framework.runner import RunStopped, run

    named = {"conditions": conditions, "prompts": prompts}
    settings = {
        "game": "east",
        "suite": suite,
        "rules": {**dict(map(_rule, rule or ())), **{key: value for key, value in named.items() if value is not None}},
        "seed": seed,
        "suite_seed": seed,
        "concurrency": concurrency,
    }
    folders, aborted = [], 0
    for number, (one, two) in enumerate(_pairings(strategies)):
        folders.append(out / "runs" / f"{number:03}")
        experiment = parse_experiment(settings, {"strategy": one, "seats": {1: two}, "out": str(folders[-1])}, "flags")
        try:
            outcome = run(experiment, resume=resume and (folders[-1] / "config.yaml").is_file())
        except RunStopped as stopped:
            print(f"cheaptalk: {stopped}, or make the same call with --resume", file=sys.stderr)
            return 130 if stopped.interrupted else 1
        aborted += len(outcome.aborted)
    report(folders, out)
    return 1 if aborted else 0


def _pairings(strategies: Sequence[str]) -> list[tuple[str, str]]:
    """Every ordered pair, each strategy with itself among them.

    Raises:
        UserError: If one cannot be seated, or there are fewer than two.
    """
    from framework.errors import UserError
    from framework.specs import StrategySpec

    names = list(dict.fromkeys(strategies))
    for name in names:
        StrategySpec.parse(name).build()
    if len(names) < 2:
        raise UserError("cross-play needs two strategies or more; name another one")
    return list(product(names, names))


@app.command()
def labels(
    runs: Runs,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Write CSVs and figures here.")] = None,
    annotator: Annotated[str | None, typer.Option(help="Whose labels; by default the busiest annotator's.")] = None,
) -> None:
    """Print what `cheaptalk annotate` found: reasoning, fallacies, and how far annotators agree."""
    from framework.errors import UserError, nearest
    from games.east.annotation.agreement import agreements
    from games.east.annotation.analysis import annotators_of, read_labels
    from games.east.printing import print_agreement, print_fallacies, print_reasoning

    whole = read_labels(dict.fromkeys(runs))
    known = annotators_of(whole)
    if not known:
        raise UserError(f"{runs[0]} holds no labels; make some with: cheaptalk annotate {runs[0]} --model MODEL")
    if annotator is not None and annotator not in known:
        raise UserError(f"--annotator: {annotator!r} judged nothing here; {nearest(annotator, known)}")
    mine = whole.by(annotator or known[0])
    print(f"Labels by {annotator or known[0]}; annotators: {', '.join(known)}.")
    print_reasoning(mine)
    print_fallacies(mine)
    agreed = agreements(whole.judged) if len(known) > 1 else []
    if agreed:
        print_agreement(agreed)
    if out is not None:
        from games.east.annotation.csvs import write_agreements, write_labels
        from games.east.annotation.figures import draw_labels

        paths = [*write_labels(out, mine), *draw_labels(out, mine)]
        for path in [*paths, write_agreements(out, agreed)] if agreed else paths:
            print(path)


@app.command()
def vet(
    tasks: Annotated[Path | None, typer.Option(metavar="FILE", help="Tasks; the paper's vignettes by default.")] = None,
    association: Annotated[str, typer.Option(help="`embedding`, or `table` for the paper's words.")] = "embedding",
) -> int:
    """Say of each vignette whether its words belong to whom they are meant for."""
    from games.east import PAPER
    from games.east.association import association as load
    from games.east.embedding import EmbeddingAssociation
    from games.east.printing import print_rows
    from games.east.vetting import vet as look

    found = PAPER if tasks is None else _vignettes(tasks)
    model = load(_association(association))
    distance = None
    if isinstance(model, EmbeddingAssociation):
        distance = model.distance
    vetted = [look(vignette, model, distance=distance) for vignette in found]
    rows = [
        [
            v.vignette.id,
            "-" if v.distance is None else f"{v.distance:.2f}",
            *(f"{value:+.2f}" for value in (*v.own, *v.lead)),
            f"{v.balance:.2f}",
            *(f"{value:+.2f}" for value in v.unrelated),
            "yes" if v.passed else "no",
        ]
        for v in vetted
    ]
    header = ["vignette", "distance", "own 1", "own 2", "lead 1", "lead 2", "balance", "far 1", "far 2", "passes"]
    print_rows(header, rows)
    for v in vetted:
        for fault in v.faults:
            print(f"{v.vignette.id}: {fault}")
    print(f"{sum(v.passed for v in vetted)} of {len(vetted)} pass.")
    return 0


def _vignettes(tasks: Path) -> tuple[Vignette, ...]:
    """The vignettes of a file of tasks, each once."""
    from framework.errors import UserError
    from games.east import East

    try:
        return tuple({s.vignette.id: s.vignette for s in East().read_tasks(tasks)}.values())
    except OSError as error:
        raise UserError(f"--tasks {tasks}: {error.strerror}; check the path") from error
    except ValueError as error:
        raise UserError(f"--tasks {error}") from error


def _association(name: str) -> AssociationName:
    from framework.errors import UserError, nearest
    from games.east.association import ASSOCIATIONS

    for known in ASSOCIATIONS:
        if name == known:
            return known
    raise UserError(f"--association: {name!r} is unknown; {nearest(name, ASSOCIATIONS)}")


def _rule(text: str) -> tuple[str, object]:
    from framework.errors import UserError
    from framework.specs import parse_value

    key, found, value = text.partition("=")
    if not (found and key):
        raise UserError(f"--rule {text!r} is not of the form KEY=VALUE; write for instance --rule prompts=direct")
    return key, parse_value(value)
