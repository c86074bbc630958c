"""How figures look: series differ in colour, marker, line and hatch, so that grey and every eye tell them apart."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Literal, TypeAlias

from framework.errors import UserError
from framework.stats import Interval

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patheffects import AbstractPathEffect

__all__ = ["Look", "bars", "errors", "figure", "finish", "halo", "looks", "points", "save", "wrapped"]

Stroke: TypeAlias = Literal["-", "--", "-.", ":"] | tuple[float, tuple[float, ...]]
Kind: TypeAlias = Literal["marker", "line", "bar"]

_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000", "#F0E442")
"""Okabe and Ito's palette, neighbours apart in lightness."""
_MARKERS = "osD^vP*X"
_LINES: tuple[Stroke, ...] = ("-", "--", "-.", ":", (0, (6, 2, 1, 2, 1, 2)))
_HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\", "++++", "oo", "**")
_NOTE_CHARS_PER_INCH = 15.5
_LABEL_CHARS = 26
_PARTS = re.compile(r"[^\s:,/]+[\s:,/]*|[\s:,/]+")


@dataclass(frozen=True, slots=True)
class Look:
    """How a series is drawn."""

    colour: str
    marker: str
    line: Stroke
    hatch: str


def looks(names: Sequence[str]) -> dict[str, Look]:
    """A look for each series. With more than eight, colours come again, with other markers, lines and hatches."""
    return {
        name: Look(
            _COLOURS[place % len(_COLOURS)],
            _MARKERS[(place + place // len(_COLOURS)) % len(_MARKERS)],
            _LINES[place % len(_LINES)],
            _HATCHES[(place + place // len(_COLOURS)) % len(_HATCHES)],
        )
        for place, name in enumerate(dict.fromkeys(names))
    }


def figure(panels: int, width: float, height: float, *, share_x: bool = False, share_y: bool = False) -> Figure:
    """An empty figure with a row of panels of this size in inches, which no window shows."""
    from matplotlib.figure import Figure

    made = Figure(figsize=(panels * width, height), layout="constrained")
    made.subplots(1, panels, squeeze=False, sharex=share_x, sharey=share_y)
    for axes in made.axes:
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=8)
        axes.xaxis.label.set_fontsize(9)
        axes.yaxis.label.set_fontsize(9)
    return made


def halo() -> list[AbstractPathEffect]:
    """A white rim for text and lines, so that black shows on any ground."""
    from matplotlib import patheffects

    return [patheffects.Stroke(linewidth=2.6, foreground="white"), patheffects.Normal()]


def errors(interval: Interval) -> list[list[float]]:
    """The two arms of an error bar; none where there is no interval."""
    if math.isnan(interval.low):
        return [[0.0], [0.0]]
    return [[max(0.0, interval.mean - interval.low)], [max(0.0, interval.high - interval.mean)]]


def bars(axes: Axes, labels: Sequence[str], series: Mapping[str, Sequence[Interval | None]]) -> None:
    """Lying bars with their intervals and values: a group for each label, in it a bar for each series.

    Args:
        axes: Where to draw.
        labels: The groups, from the top.
        series: The values of each series, one a group; None leaves a gap.
    """
    styles, height = looks(list(series)), 0.8 / max(1, len(series))
    longest = max((v.mean if math.isnan(v.high) else v.high for row in series.values() for v in row if v), default=0.0)
    for number, (name, values) in enumerate(series.items()):
        for place, value in enumerate(values):
            if value is not None:
                _bar(axes, place - 0.4 + (number + 0.5) * height, 0.92 * height, value, styles[name])
    axes.set_yticks(range(len(labels)), [wrapped(label) for label in labels], fontsize=8)
    axes.set_ylim(len(labels) - 0.45, -0.55)
    lowest = min((v.mean if math.isnan(v.low) else v.low for row in series.values() for v in row if v), default=0.0)
    axes.set_xlim(left=0.0 if lowest >= 0 else None, right=1.16 * longest if longest > 0 else 1.0)
    axes.axvline(0, color="black", linewidth=0.8)


def wrapped(label: str, width: int = _LABEL_CHARS) -> str:
    """A label in lines that leave room for what it labels; it breaks at spaces and after the marks of a spec."""
    return "\n".join("\n".join(_lines(line, width)) for line in label.split("\n"))


def _lines(text: str, width: int) -> list[str]:
    lines = [""]
    for part in _PARTS.findall(text):
        for piece in [part[begin : begin + width] for begin in range(0, len(part), width)]:
            if lines[-1] and len((lines[-1] + piece).rstrip()) > width:
                lines.append("")
            lines[-1] += piece
    return [line.rstrip() for line in lines]


def _bar(axes: Axes, y: float, height: float, value: Interval, look: Look) -> None:
    ground = _tint(look.colour)
    axes.barh(y, value.mean, height, color=ground, edgecolor="black", linewidth=0.6, hatch=look.hatch)
    arms = errors(value)
    whisker = axes.errorbar(value.mean, y, xerr=arms, fmt="none", ecolor="black", elinewidth=1.1, capsize=2.2)
    for artist in whisker.get_children():
        artist.set_path_effects(halo())
    end = max(value.mean + arms[1][0], 0.0)
    text = axes.annotate(_short(value.mean), (end, y), (4, 0), textcoords="offset points", va="center", fontsize=7)
    text.set_path_effects(halo())


def _tint(colour: str) -> tuple[float, float, float]:
    """A lighter ground, on which a black hatch and a black whisker show."""
    from matplotlib.colors import to_rgb

    red, green, blue = (0.45 + 0.55 * part for part in to_rgb(colour))
    return red, green, blue


def _short(value: float) -> str:
    size = abs(value)
    text = f"{value:.{3 if size < 0.1 else 2 if size < 10 else 1 if size < 100 else 0}f}"
    return "0" if not text.strip("-0.") else text


def points(axes: Axes, x: float, y: Interval, look: Look, label: str | None = None) -> None:
    """A marker with its interval upright."""
    axes.errorbar(
        x,
        y.mean,
        yerr=errors(y),
        fmt=look.marker,
        color=look.colour,
        markeredgecolor="black",
        markeredgewidth=0.6,
        markersize=6,
        elinewidth=1.1,
        capsize=2.5,
        label=label,
    )


def finish(
    made: Figure, title: str, note: str, entries: Mapping[str, Look] | None = None, kind: Kind = "marker"
) -> Figure:
    """Put a title above the panels, and below them the small print and what each series is.

    Args:
        made: The figure.
        title: The title.
        note: The small print: n, intervals, units.
        entries: The series.
        kind: How they are drawn.
    """
    shown = entries or {}
    longest = max((len(name) for name in shown), default=1)
    columns = max(1, min(len(shown), int(made.get_figwidth() * 11 / (longest + 6))))
    small = fill(note, int(made.get_figwidth() * _NOTE_CHARS_PER_INCH))
    below = made.legend(
        handles=[_handle(name, look, kind) for name, look in shown.items()],
        loc="outside lower center",
        ncols=columns,
        fontsize=8,
        frameon=False,
        handlelength=3,
        title=small,
        title_fontsize=7,
    )
    made.set_figheight(made.get_figheight() + 0.17 * math.ceil(len(shown) / columns) + 0.13 * (small.count("\n") + 1))
    below.get_title().set_color("#333333")
    made.suptitle(title, fontsize=11)
    return made


def _handle(name: str, look: Look, kind: Kind) -> Artist:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    if kind == "bar":
        return Patch(facecolor=_tint(look.colour), edgecolor="black", linewidth=0.6, hatch=look.hatch, label=name)
    handle = Line2D([], [], color=look.colour, marker=look.marker, markeredgecolor="black", label=name)
    handle.set_linestyle(look.line if kind == "line" else "none")
    return handle


def save(made: Figure, folder: Path, name: str, forms: Sequence[str] = ("svg", "png")) -> list[Path]:
    """Save a figure in each form; the same figure gives the same bytes.

    Raises:
        UserError: If the folder cannot be written.
    """
    from matplotlib import rc_context

    paths = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with rc_context({"svg.hashsalt": "cheaptalk"}):
            for form in forms:
                path = folder / f"{name}.{form}"
                made.savefig(path, dpi=160, metadata={"Date": None} if form == "svg" else {"Software": None})
                paths.append(path)
    except OSError as error:
        raise UserError(f"figures cannot be written to {folder} ({error.strerror}); give another --out") from error
    return paths
