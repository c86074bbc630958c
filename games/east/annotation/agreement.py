"""How far annotators agree: Cohen's kappa and Krippendorff's alpha, by NLTK (extra `cheaptalk[annotate]`).

Alpha of the Theory-of-Mind level takes the distance between levels into account (interval data); alpha of
everything else, and kappa, only whether two labels are the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import fmean
from typing import Any, NamedTuple, TypeAlias

from framework.errors import UserError
from games.east.annotation.analysis import Judged
from games.east.annotation.labels import FALLACIES

__all__ = ["Agreement", "Ratings", "agreement", "agreements", "ratings"]

Label: TypeAlias = str | int
Ratings: TypeAlias = Mapping[str, Mapping[str, Label]]
"""Annotator -> item -> label."""


class Agreement(NamedTuple):
    """How far annotators agree on one field.

    Attributes:
        field: The field.
        annotators: How many judged items that another one judged as well.
        items: Items that at least two of them judged.
        observed: Share of pairs of labels that are the same, the mean over pairs of annotators.
        kappa: Cohen's kappa, the mean over pairs of annotators; NaN where only one label was ever given.
        alpha: Krippendorff's alpha; NaN where only one label was ever given.
    """

    field: str
    annotators: int
    items: int
    observed: float
    kappa: float
    alpha: float


def ratings(judged: Sequence[Judged], field: str) -> Ratings:
    """The labels of one field: one of `TomLabels` or the name of a fallacy."""
    found: dict[str, dict[str, Label]] = {}
    for one in judged:
        label: Label
        if one.tom is not None and field not in FALLACIES:
            label = getattr(one.tom, field)
        elif one.fallacies is not None and field in FALLACIES:
            label = int(field in one.fallacies.present)
        else:
            continue
        found.setdefault(one.annotator, {})[f"{one.trace}/{one.seat}"] = label
    return found


def agreement(field: str, given: Ratings, *, interval: bool = False) -> Agreement:
    """How far annotators agree on one field.

    Args:
        field: Its name, for the result.
        given: The labels; an annotator may lack items.
        interval: Whether alpha takes the distance between labels, which are numbers, into account.

    Raises:
        UserError: If the extra is not installed, with the command that installs it.
    """
    pairs = [(one, two, sorted(given[one].keys() & given[two].keys())) for one, two in combinations(sorted(given), 2)]
    pairs = [pair for pair in pairs if pair[2]]
    items = {item for _, _, shared in pairs for item in shared}
    annotators = {name for one, two, _ in pairs for name in (one, two)}
    if not pairs:
        return Agreement(field, 0, 0, math.nan, math.nan, math.nan)
    observed = fmean(fmean(given[one][i] == given[two][i] for i in shared) for one, two, shared in pairs)
    kappas = [_kappa(given, one, two, shared) for one, two, shared in pairs]
    known = [kappa for kappa in kappas if not math.isnan(kappa)]
    alpha = _alpha([(who, i, given[who][i]) for who in sorted(annotators) for i in given[who] if i in items], interval)
    return Agreement(field, len(annotators), len(items), observed, fmean(known) if known else math.nan, alpha)


def agreements(judged: Sequence[Judged]) -> list[Agreement]:
    """Agreement on every field that two annotators judged."""
    fields = ("highest_level_achieved", "recursive_target", "information_coherence", *FALLACIES)
    found = [agreement(f, ratings(judged, f), interval=f == "highest_level_achieved") for f in fields]
    return [result for result in found if result.items]


def _kappa(given: Ratings, one: str, two: str, shared: Sequence[str]) -> float:
    labels = [(who, item, given[who][item]) for who in (one, two) for item in shared]
    if len({label for _, _, label in labels}) < 2:
        return math.nan
    return float(_task(labels, interval=False).kappa())


def _alpha(labels: Sequence[tuple[str, str, Label]], interval: bool) -> float:
    if len({label for _, _, label in labels}) < 2:
        return math.nan
    return float(_task(labels, interval).alpha())


def _task(labels: Sequence[tuple[str, str, Label]], interval: bool) -> Any:
    try:
        from nltk.metrics.agreement import AnnotationTask
        from nltk.metrics.distance import binary_distance, interval_distance
    except ImportError as error:
        raise UserError("agreement needs the extra annotate; pip install 'cheaptalk[annotate]'") from error
    return AnnotationTask(labels, distance=interval_distance if interval else binary_distance)
