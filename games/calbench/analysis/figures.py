"""CalBench's figures of outcomes: privacy against cost, messages against cost, fairness (paper, figures 2 to 4)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from framework.analysis import Drawing, Part, Sample, Seen
from framework.analysis.figures import by_label, settings_of
from framework.analysis.plotting import Look, bars, errors, figure, finish, halo, looks
from framework.experiment import Reporting
from framework.stats import Interval, regression
from games.calbench.analysis.facts import GameFacts, game_facts
from games.calbench.metrics import METRICS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["FAIRNESS", "MESSAGES_COST", "PRIVACY_COST", "mean_of"]

Games = Sequence[Seen[GameFacts | None]]

_COMPLETE = frozenset(metric.name for metric in METRICS if metric.complete)


def mean_of(parts: Sequence[Part[GameFacts | None]], metric: str, reporting: Reporting) -> Interval | None:
    """The mean of a metric over some seats, with an interval over games; none where a complete one lacks a seat."""
    sample = Sample()
    for part in parts:
        sample.add((part.game.run, part.game.result.game_id), part.values(metric))
    if metric in _COMPLETE and len(sample) < sum(len(part.seats) for part in parts):
        return None
    return sample.mean(reporting)


def _percent(reporting: Reporting) -> str:
    return f"{100 * reporting.confidence:g} %"


def _counts(settings: Mapping[str, Sequence[Part[GameFacts | None]]]) -> str:
    """Seats by setting."""
    return ", ".join(str(sum(len(part.seats) for part in settings[name])) for name in sorted(settings))


# --- figure 2 ---------------------------------------------------------------------------------------


def _privacy_cost(games: Games, reporting: Reporting) -> Figure | None:
    labels = by_label(games)
    measure = {
        label: "vps_reflected" if any(p.values("vps_reflected") for parts in own.values() for p in parts) else "vps"
        for label, own in labels.items()
    }
    cells = {
        label: {
            setting: (mean_of(parts, measure[label], reporting), mean_of(parts, "adjusted", reporting))
            for setting, parts in own.items()
        }
        for label, own in labels.items()
    }
    shown = {label: own for label, own in cells.items() if any(None not in cell for cell in own.values())}
    if not shown:
        return None
    styles, settings = looks(list(shown)), settings_of(shown)
    made = figure(len(settings), 4.2, 4.2)
    for axes, setting in zip(made.axes, settings, strict=True):
        for label, own in shown.items():
            vps, cost = own.get(setting, (None, None))
            if vps is not None and cost is not None:
                _cross(axes, vps, cost, styles[label])
        axes.set(xlabel="VPS: slots given away beyond the floor", ylabel="Adjusted cost a meeting")
        axes.set_title(setting or "all games", fontsize=10)
        _span(axes, [own[setting] for own in shown.values() if setting in own])
        axes.grid(color="#dddddd", linewidth=0.6)
        axes.set_axisbelow(True)
    entries = {
        f"{label} (n = {_counts(labels[label])}{', reflected' * (measure[label] != 'vps')})": styles[label]
        for label in shown
    }
    note = (
        f"Means over seats (n by setting) with {_percent(reporting)} intervals over games. Nearer to the origin is "
        "better. Adjusted cost charges missed meetings; 1/2/3 scale. VPS is of typed messages unless a series says "
        "that it was reflected; the two do not compare."
    )
    return finish(made, "Privacy against cost", note, entries)


def _span(axes: Axes, cells: Sequence[tuple[Interval | None, Interval | None]]) -> None:
    """Both axes from a little below 0; up to 1 where nothing is above 0."""
    right, top = (
        1.08 * max((v.mean if math.isnan(v.high) else v.high for v in values if v is not None), default=0.0) or 1.0
        for values in zip(*cells, strict=True)
    )
    axes.set(xlim=(-0.04 * right, right), ylim=(-0.04 * top, top))


def _cross(axes: Axes, x: Interval, y: Interval, look: Look) -> None:
    axes.errorbar(
        x.mean,
        y.mean,
        xerr=errors(x),
        yerr=errors(y),
        fmt=look.marker,
        color=look.colour,
        markeredgecolor="black",
        markeredgewidth=0.7,
        markersize=8,
        elinewidth=1.2,
        capsize=3,
    )


PRIVACY_COST: Drawing[GameFacts | None] = Drawing(
    name="privacy-cost", title="Privacy against cost (figure 2)", read=game_facts, draw=_privacy_cost
)


# --- figure 3 ---------------------------------------------------------------------------------------


def _messages_cost(games: Games, reporting: Reporting) -> Figure | None:
    labels = by_label(games)
    if not labels:
        return None
    styles, settings = looks(list(labels)), settings_of(labels)
    made = figure(len(settings), 4.4, 4.4)
    slopes: dict[str, list[str]] = {label: [] for label in labels}
    for axes, setting in zip(made.axes, settings, strict=True):
        for label, own in labels.items():
            x, y = _messages_and_excess(own.get(setting, []))
            if len(x):
                slopes[label].append(_cloud(axes, x, y, styles[label], reporting))
        axes.set_ylim(top=max(1.0, axes.get_ylim()[1]))
        axes.set(xlabel="Messages a scheduled meeting", ylabel="Excess cost")
        axes.set_title(setting or "all games", fontsize=10)
    entries = {f"{label}: {'; '.join(texts)}": styles[label] for label, texts in slopes.items()}
    note = (
        "Each point is a seat of a game, set a little apart from others in the same place; excess beyond the optimum "
        f"of scheduled meetings on the 1/2/3 scale. Lines are least squares; b is the slope with Student's "
        f"{_percent(reporting)} interval, panels from left to right."
    )
    return finish(made, "Messages against excess cost", note, entries, "line")


def _messages_and_excess(parts: Sequence[Part[GameFacts | None]]) -> tuple[list[float], list[float]]:
    x, y = [], []
    for part in parts:
        messages, excess = (part.game.result.metrics[name].seats for name in ("messages", "excess"))
        for seat in part.seats:
            sent, over = messages[seat], excess[seat]
            if sent is not None and over is not None:
                x.append(sent)
                y.append(over)
    return x, y


def _cloud(axes: Axes, x: Sequence[float], y: Sequence[float], look: Look, reporting: Reporting) -> str:
    """The points and their line; its slope in words."""
    rng = np.random.default_rng(0)
    apart = [rng.uniform(-0.09, 0.09, len(x)) for _ in range(2)]
    axes.plot(
        np.add(x, apart[0]),
        np.add(y, apart[1]),
        look.marker,
        color=look.colour,
        alpha=0.35,
        markersize=3.6,
        markeredgewidth=0,
    )
    line = regression(x, y, confidence=reporting.confidence)
    if line is None:
        return f"n = {len(x)}, no slope"
    ends = [min(x), max(x)]
    heights = [line.intercept + line.slope * end for end in ends]
    axes.plot(ends, heights, linestyle=look.line, color=look.colour, linewidth=1.8, path_effects=halo())
    axes.plot(ends, heights, look.marker, color=look.colour, markeredgecolor="black", markersize=6)
    return f"n = {len(x)}, b = {line.slope:.2f} [{line.low:.2f}, {line.high:.2f}]"


MESSAGES_COST: Drawing[GameFacts | None] = Drawing(
    name="messages-cost", title="Messages against excess cost (figure 3)", read=game_facts, draw=_messages_cost
)


# --- figure 4 ---------------------------------------------------------------------------------------


def by_setting(games: Games, metric: str, title: str, axis: str, note: str, reporting: Reporting) -> Figure | None:
    """A bar for each strategy and setting."""
    labels = by_label(games)
    settings = settings_of(labels)
    series: dict[str, list[Interval | None]] = {
        setting or "all games": [
            mean_of(own[setting], metric, reporting) if setting in own else None for own in labels.values()
        ]
        for setting in settings
    }
    if not any(value is not None and not math.isnan(value.mean) for row in series.values() for value in row):
        return None
    names = [f"{label}\nn = {_counts(own)}" for label, own in labels.items()]
    made = figure(1, 6.2, 1.7 + len(labels) * max(0.5, 0.3 * len(settings)))
    (axes,) = made.axes
    bars(axes, names, series)
    axes.set_xlabel(axis)
    entries = looks(list(series)) if settings != [""] else None
    small = f"Means over seats (n by setting) with {_percent(reporting)} intervals over games. {note}"
    return finish(made, title, small, entries, "bar")


def _fairness(games: Games, reporting: Reporting) -> Figure | None:
    note = "Distance of a seat's signed excess from the mean of its game, on the 1/2/3 scale."
    return by_setting(games, "fairness", "Fairness cost", "Fairness cost (lower is better)", note, reporting)


FAIRNESS: Drawing[GameFacts | None] = Drawing(
    name="fairness", title="Fairness cost by setting (figure 4)", read=game_facts, draw=_fairness
)
