"""How EAST's figures look: colours that differ in lightness, so that they also do in grey and to every eye."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from framework.errors import UserError

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.patheffects import AbstractPathEffect

__all__ = ["ROLE_COLOURS", "TITLES", "grid", "halo", "save", "shade", "title"]

ROLE_COLOURS = {"shared": "#00224e", "persona_2": "#575d6d", "persona_1": "#a59c74", "unrelated": "#fee838"}
"""By role, dark to light: four steps of matplotlib's cividis."""

TITLES = {
    "persona_1": "Persona 1",
    "persona_2": "Persona 2",
    "shared": "Shared",
    "unrelated": "Unrelated",
    "symmetric": "Symmetric",
    "asymmetric": "Asymmetric",
    "zero_knowledge": "Zero knowledge",
    "false_belief": "False belief",
    "noisy": "Noisy disclosure",
    "direct": "Direct",
    "standard_cot": "Standard CoT",
    "strategic_tom": "Strategic ToM",
    "all": "All",
}


def title(name: str) -> str:
    """A name for people."""
    return TITLES.get(name, name.replace("_", " ").capitalize())


def grid(rows: int, columns: int, width: float, height: float) -> Figure:
    """An empty figure of `rows` x `columns` panels of this size in inches, that no window shows."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(columns * width + 1.6, rows * height + 0.9), layout="constrained")
    figure.subplots(rows, columns, squeeze=False)
    return figure


def halo() -> list[AbstractPathEffect]:
    """A white rim, so that a black line shows on any ground."""
    from matplotlib.patheffects import Normal, Stroke

    return [Stroke(linewidth=3.4, foreground="white"), Normal()]


def shade(value: float) -> str:
    """A text colour that is legible on cividis at this value in [0, 1]."""
    return "black" if value > 0.5 else "white"


def save(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Save as SVG and PNG.

    Raises:
        UserError: If the folder cannot be written.
    """
    from matplotlib import rc_context

    paths = [folder / f"{name}.svg", folder / f"{name}.png"]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with rc_context({"svg.hashsalt": "cheaptalk"}):
            figure.savefig(paths[0], metadata={"Date": None})
            figure.savefig(paths[1], dpi=150)
    except OSError as error:
        raise UserError(f"figures cannot be written to {folder} ({error.strerror}); name another folder") from error
    return paths
