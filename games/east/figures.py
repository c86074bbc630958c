"""Figures of behaviour: coordination rates, pairs of choices, and the cross-play matrix.

Source: EAST paper, figures 2 and 6. The cross-play matrix is beyond it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from framework.analysis.plotting import wrapped
from framework.specs import short_names
from framework.stats import wilson
from games.east.outcome import CHANCE
from games.east.results import Played, conditions_of, prompts_of, strategies_of
from games.east.scenario import ROLES
from games.east.style import ROLE_COLOURS, grid, halo, save, shade, title
from games.east.tables import ALL, Cell, cells, crossplay, pairs

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["choice_pairs", "coordination_rates", "crossplay_matrix", "draw_behaviour"]

_ROLES = ("shared", "persona_2", "persona_1", "unrelated")


def draw_behaviour(folder: Path, games: Sequence[Played]) -> list[Path]:
    """Draw all figures of behaviour into a folder, as SVG and PNG.

    Where there is self-play, coordination rates are of self-play, and cross-play is left to its matrix.

    Raises:
        UserError: If the folder cannot be written.
    """
    alone = [game for game in games if game.strategies[0] == game.strategies[1]]
    paths = save(coordination_rates(alone or games), folder, "coordination")
    paths += save(choice_pairs(games), folder, "choice_pairs")
    if len({game.strategies for game in games}) > 1:
        paths += save(crossplay_matrix(games), folder, "crossplay")
    return paths


def coordination_rates(games: Sequence[Played]) -> Figure:
    """Share of games that coordinate, by pairing, condition and prompt (paper, figure 2).

    A solid bar is convergence on the target, in the colour of the word; hatched parts are accidental
    convergence. The whisker is the 95 % Wilson interval of all matches; the dotted line is chance.
    """
    conditions, prompts, pairings = conditions_of(games), prompts_of(games), strategies_of(games)
    by_place = {(cell.pairing, cell.condition, cell.prompt): cell for cell in cells(games)}
    targets = {game.condition: game.outcome.target for game in games if game.outcome}
    names = _names(games)
    lines = sum(1 + name.count("\n") for name in names.values())
    figure = grid(len(prompts), len(conditions), 2.9, 0.7 + max(0.32 * len(pairings), 0.15 * lines))
    for number, axes in enumerate(figure.axes):
        prompt, condition = prompts[number // len(conditions)], conditions[number % len(conditions)]
        for place, pairing in enumerate(pairings):
            cell = by_place.get((pairing, condition, prompt))
            if cell is not None and cell.games:
                _bar(axes, place, cell, targets[condition])
        axes.axvline(CHANCE, color="black", linestyle=":", linewidth=1.2, path_effects=halo())
        axes.set(xlim=(0, 1), ylim=(len(pairings) - 0.4, -0.6), yticks=range(len(pairings)))
        axes.set_yticklabels(
            [names[pairing] for pairing in pairings] if number % len(conditions) == 0 else [], fontsize=8
        )
        axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25", "50", "75", "100 %"], fontsize=8)
        axes.spines[["top", "right"]].set_visible(False)
        if number < len(conditions):
            axes.set_title(f"{title(condition)} (target: {title(targets.get(condition, ''))})", fontsize=9)
        if number % len(conditions) == 0:
            axes.set_ylabel(title(prompt), fontsize=9)
    n = _n_of(cell.games for (_, *place), cell in by_place.items() if ALL not in place)
    figure.suptitle(f"Games that coordinate, in % ({n} a bar)", fontsize=10)
    _legend(figure)
    return figure


def _names(games: Sequence[Played]) -> dict[str, str]:
    """Each pairing as figures name it."""
    short = short_names(name for game in games for name in game.strategies)
    names = {game.pairing: [short[name] for name in dict.fromkeys(game.strategies)] for game in games}
    return {pairing: wrapped(" x ".join(own)) for pairing, own in names.items()}


def _n_of(counts: Iterable[int]) -> str:
    """The number of games behind each part of a figure."""
    found = sorted(set(counts) - {0}) or [0]
    return f"n = {found[0]}" if len(found) == 1 else f"n = {found[0]} to {found[-1]}"


def _bar(axes: Axes, place: int, cell: Cell, target: str) -> None:
    left = 0.0
    for role in (target, *(role for role in _ROLES if role != target)):
        width = cell.convergence[role] / cell.games  # type: ignore[index]
        hatch = "" if role == target else "////"
        edge = "white" if role in ("shared", "persona_2") and hatch else "black"
        axes.barh(place, width, 0.66, left, color=ROLE_COLOURS[role], hatch=hatch, edgecolor=edge, linewidth=0.5)
        left += width
    mean, low, high = wilson(cell.matches, cell.games)
    axes.hlines(place, low, high, color="black", linewidth=1.4, path_effects=halo())
    axes.plot([low, mean, high], [place] * 3, "|", color="black", markersize=6, path_effects=halo())


def _legend(figure: Figure) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Patch | Line2D] = [
        Patch(facecolor=ROLE_COLOURS[role], edgecolor="black", linewidth=0.5, label=title(role)) for role in _ROLES
    ]
    handles.append(Patch(facecolor="white", edgecolor="black", hatch="////", label="Accidental"))
    handles.append(Line2D([], [], color="black", marker="|", linewidth=1.4, label="Matches, 95 % interval"))
    handles.append(Line2D([], [], color="black", linestyle=":", label="Chance"))
    figure.legend(handles=handles, loc="outside lower center", ncols=7, fontsize=8, frameon=False)


def choice_pairs(games: Sequence[Played]) -> Figure:
    """How often each ordered pair of roles was chosen, by condition and prompt (paper, figure 6).

    The paper shows games without a match; here the diagonal shows the matches, and the target is framed.
    """
    from matplotlib.patches import Rectangle

    conditions, prompts = conditions_of(games), prompts_of(games)
    invalid = any(game.outcome is not None and game.outcome.convergence == "invalid" for game in games)
    roles = [*ROLES, *([None] if invalid else [])]
    labels = [title(role or "none of them") for role in roles]
    targets = {game.condition: game.outcome.target for game in games if game.outcome}
    counts = np.zeros((len(prompts), len(conditions), len(roles), len(roles)))
    for pair in pairs(games):
        where = (prompts.index(pair.prompt), conditions.index(pair.condition))
        counts[where][roles.index(pair.seat_0), roles.index(pair.seat_1)] += pair.count
    figure = grid(len(prompts), len(conditions), 2.6, 2.4)
    for number, axes in enumerate(figure.axes):
        row, column = divmod(number, len(conditions))
        heat(axes, counts[row, column], labels, labels, top=max(1.0, float(counts.max())))
        if conditions[column] in targets:
            place = ROLES.index(targets[conditions[column]])
            frame = Rectangle((place - 0.44, place - 0.44), 0.88, 0.88, fill=False, edgecolor="black", linewidth=1.4)
            frame.set_path_effects(halo())
            axes.add_patch(frame)
        if row == 0:
            axes.set_title(title(conditions[column]), fontsize=9)
        axes.set_ylabel(f"{title(prompts[row])}\nseat 0" if column == 0 else "", fontsize=9)
        axes.set_xlabel("seat 1" if row == len(prompts) - 1 else "", fontsize=9)
    together = ", all pairings together" if len(strategies_of(games)) > 1 else ""
    n = _n_of(counts.sum(axis=(2, 3)).astype(int).ravel().tolist())
    figure.suptitle(f"Pairs of choices ({n} games a panel{together})", fontsize=10)
    return figure


def heat(
    axes: Axes, values: np.ndarray, rows: Sequence[str], columns: Sequence[str], *, top: float | None = None
) -> None:
    """A matrix as a heat map with its numbers written in; NaN is left blank.

    Args:
        axes: Where to draw.
        values: Counts if there is a `top`, otherwise shares in [0, 1]; shape `(len(rows), len(columns))`.
        rows: Labels of the rows.
        columns: Labels of the columns.
        top: The count at the end of the colours, one for all panels that are compared.
    """
    end = 1.0 if top is None else top
    axes.imshow(values, cmap="cividis", vmin=0, vmax=end, aspect="auto")
    for (row, column), value in np.ndenumerate(values):
        if not np.isnan(value):
            text = f"{100 * value:.0f}" if top is None else f"{value:.0f}"
            axes.text(column, row, text, ha="center", va="center", color=shade(value / end), fontsize=8)
    axes.set_xticks(range(len(columns)), columns, rotation=40, ha="right", rotation_mode="anchor", fontsize=8)
    axes.set_yticks(range(len(rows)), rows, fontsize=8)


def crossplay_matrix(games: Sequence[Played]) -> Figure:
    """Normative convergence in per cent by the strategies of seat 0 (rows) and seat 1 (columns), by condition."""
    names = list(dict.fromkeys(name for game in games for name in game.strategies))
    short = short_names(names)
    labels = [wrapped(short[name]) for name in names]
    conditions = [*conditions_of(games), ALL]
    rates = {(rate.condition, rate.seat_0, rate.seat_1): rate for rate in crossplay(games)}
    size = 1.1 + 0.42 * len(names)
    figure = grid(1, len(conditions), size, size)
    for condition, axes in zip(conditions, figure.axes, strict=True):
        values = np.full((len(names), len(names)), np.nan)
        for place in np.ndindex(values.shape):
            rate = rates.get((condition, names[place[0]], names[place[1]]))
            if rate is not None and rate.games:
                values[place] = rate.normative / rate.games
        heat(axes, values, labels if condition == conditions[0] else [""] * len(labels), labels)
        axes.set_title(title(condition), fontsize=9)
        axes.set_xlabel("seat 1", fontsize=9)
        axes.set_ylabel("seat 0" if condition == conditions[0] else "", fontsize=9)
    n = _n_of(rate.games for (condition, _, _), rate in rates.items() if condition != ALL)
    figure.suptitle(f"Normative convergence (%); {n} a cell and condition", fontsize=10)
    return figure
