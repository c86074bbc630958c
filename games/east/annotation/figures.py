"""Figures of annotations: strategies of reasoning with incoherence, fallacies, and which occur together.

Source: EAST paper, figures 3 to 5.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from games.east.annotation.analysis import (
    FallacyShare,
    Labelling,
    ReasoningShare,
    cooccurrence,
    fallacy_shares,
    reasoning_shares,
)
from games.east.annotation.labels import FALLACIES, GROUPS, LEVELS
from games.east.figures import heat
from games.east.results import conditions_of, prompts_of
from games.east.style import grid, halo, save, title
from games.east.tables import share

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_labels", "fallacies", "fallacies_together", "reasoning_strategies"]

_LEVEL_TITLES = ("Shallow", "Behavioural", "Other-directed ToM", "Recursive ToM", "Incoherent ToM")
_SHADES = ("#00224e", "#7d7c78", "#fee838", "#434e6c", "#bcae6c")


def draw_labels(folder: Path, labelling: Labelling) -> list[Path]:
    """Draw all figures of annotations into a folder, as SVG and PNG.

    Raises:
        UserError: If the folder cannot be written.
    """
    return [
        *save(reasoning_strategies(labelling), folder, "reasoning"),
        *save(fallacies(labelling), folder, "fallacies"),
        *save(fallacies_together(labelling), folder, "cooccurrence"),
    ]


def reasoning_strategies(labelling: Labelling) -> Figure:
    """How seats reasoned where they coordinated on the target, in per cent (paper, figure 3).

    The first four columns share out the judged seats; the last is the share of those with ToM reasoning
    whose reasoning does not fit what they were told. Hatched rows have nothing to judge; prompt variants
    in which no reasoning was judged are left out.
    """
    rows = {(row.strategy, row.condition, row.prompt): row for row in reasoning_shares(labelling)}
    conditions = conditions_of(labelling.games)
    judged = {prompt for (_, _, prompt), row in rows.items() if row.n}
    prompts = [prompt for prompt in prompts_of(labelling.games) if prompt in judged or not judged]
    strategies = _best_first(labelling)
    figure = grid(len(prompts), len(conditions), 3.0, 1.5 + 0.32 * len(strategies))
    for number, axes in enumerate(figure.axes):
        row, column = divmod(number, len(conditions))
        found = [rows.get((strategy, conditions[column], prompts[row])) for strategy in strategies]
        _levels(axes, found, strategies if column == 0 else [""] * len(strategies), last=row == len(prompts) - 1)
        if row == 0:
            axes.set_title(title(conditions[column]), fontsize=9)
        if column == 0:
            axes.set_ylabel(title(prompts[row]), fontsize=9)
    figure.suptitle("Reasoning in games with a normative match (% of seats judged)", fontsize=10)
    return figure


def _best_first(labelling: Labelling) -> list[str]:
    """Strategies by the normative rate of their games, as the paper sorts its models."""
    ended: dict[str, list[bool]] = {}
    for game in labelling.games:
        for strategy in dict.fromkeys(game.strategies):
            ended.setdefault(strategy, []).append(game.outcome is not None and game.outcome.normative)
    return sorted(ended, key=lambda name: (-sum(ended[name]) / len(ended[name]), name))


def _levels(axes: Axes, rows: list[ReasoningShare | None], names: list[str], *, last: bool) -> None:
    from matplotlib.patches import Rectangle

    values = np.full((len(rows), len(LEVELS) + 1), np.nan)
    for place, row in enumerate(rows):
        if row is None or not row.n:
            blank = Rectangle(
                (-0.5, place - 0.5), len(LEVELS) + 1, 1, hatch="////", facecolor="white", edgecolor="grey"
            )
            axes.add_patch(blank)
            continue
        values[place, :-1] = [row.levels[level] / row.n for level in LEVELS]
        axes.text(len(LEVELS) + 0.55, place, f"n={row.n}", va="center", fontsize=7)
        if row.with_tom:
            values[place, -1] = row.incoherent / row.with_tom
    heat(axes, values, names, _LEVEL_TITLES if last else [""] * len(_LEVEL_TITLES))
    axes.axvline(len(LEVELS) - 0.5, color="black", linewidth=2.5, path_effects=halo())


def fallacies(labelling: Labelling) -> Figure:
    """Share of reasoning with each fallacy in games without coordination, by condition (paper, figure 4)."""
    conditions = conditions_of(labelling.games)
    shares = {(row.condition, row.fallacy): row for row in fallacy_shares(labelling)}
    figure = grid(1, 1, 6.5, 1.0 + 0.22 * len(FALLACIES) * max(1, len(conditions)))
    (axes,) = figure.axes
    height = 0.8 / len(conditions)
    for number, condition in enumerate(conditions):
        found = [shares[condition, name] for name in FALLACIES]
        places = np.arange(len(FALLACIES)) - 0.4 + height * (number + 0.5)
        label = f"{title(condition)} (n = {found[0].n})"
        _bars(axes, places, found, height, _SHADES[number % len(_SHADES)], label)
    axes.set_yticks(range(len(FALLACIES)), [title(name) for name in FALLACIES], fontsize=8)
    axes.set(xlim=(0, 1), ylim=(len(FALLACIES) - 0.5, -0.5))
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25", "50", "75", "100 %"], fontsize=8)
    ends = np.cumsum([len(names) for names in GROUPS.values()])
    for end in ends[:-1]:
        axes.axhline(end - 0.5, color="black", linewidth=0.8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title("Reasoning with each fallacy in games without coordination", fontsize=10)
    figure.legend(loc="outside lower center", ncols=len(conditions), fontsize=8, frameon=False)
    return figure


def _bars(axes: Axes, places: np.ndarray, rows: list[FallacyShare], height: float, colour: str, label: str) -> None:
    intervals = [share(row.count, row.n) for row in rows]
    widths = [0.0 if np.isnan(interval.mean) else interval.mean for interval in intervals]
    axes.barh(places, widths, height * 0.9, color=colour, edgecolor="black", linewidth=0.5, label=label)
    for place, interval in zip(places, intervals, strict=True):
        axes.hlines(place, interval.low, interval.high, color="black", linewidth=1.2, path_effects=halo())


def fallacies_together(labelling: Labelling) -> Figure:
    """How often two fallacies occur in the same reasoning (paper, figure 5); the diagonal counts each alone."""
    figure = grid(1, 1, 6.4, 5.6)
    names = [title(name) for name in FALLACIES]
    counts = cooccurrence(labelling).astype(float)
    heat(figure.axes[0], counts, names, names, top=max(1.0, float(counts.max())))
    figure.axes[0].set_title("Fallacies in the same reasoning, games without coordination", fontsize=10)
    return figure
