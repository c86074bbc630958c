"""Text can be read on what it stands on, in both colour schemes (WCAG 2.2, level AA)."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from framework.pages.content import asset

CSS = asset("pages.css").decode()
SCHEMES = ("light", "dark")
PAIRS = [
    *(("dim", ground) for ground in ("bg", "surface", "raised", "soft", "accent-soft")),
    *(("ink", ground) for ground in ("bg", "surface", "soft", "accent-soft")),
    *(("accent", ground) for ground in ("bg", "surface", "raised", "accent-soft")),
    ("on-accent", "accent"),
    *((tone, f"{tone}-soft") for tone in ("good", "bad", "warn")),
    *((tone, "surface") for tone in ("good", "bad", "warn")),
]


def colours(scheme: str) -> dict[str, str]:
    """The named colours of a scheme."""
    both = re.findall(r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);", CSS)
    return {name: own[SCHEMES.index(scheme)] for name, *own in both}


def channels(colour: str) -> tuple[float, ...]:
    return tuple(int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))


def mixed(one: str, other: str, share: float) -> str:
    """What `color-mix(in srgb, one share, other)` gives."""
    parts = (share * a + (1 - share) * b for a, b in zip(channels(one), channels(other), strict=True))
    return "#" + "".join(f"{round(255 * part):02x}" for part in parts)


def luminance(colour: str) -> float:
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_that_of_the_standard() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(("text", "ground"), PAIRS)
def test_text_can_be_read_on_its_ground(scheme: str, text: str, ground: str) -> None:
    named: Mapping[str, str] = colours(scheme)
    assert contrast(named[text], named[ground]) >= 4.5


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("seat", range(8))
def test_a_seat_s_number_can_be_read_in_its_colour(scheme: str, seat: int) -> None:
    named = colours(scheme)
    own = named[f"s{seat}"]
    assert contrast(own, mixed(own, named["surface"], 0.12)) >= 4.5


@pytest.mark.parametrize("scheme", SCHEMES)
def test_costs_can_be_read_in_the_darkest_cells(scheme: str) -> None:
    named = colours(scheme)
    shares = re.findall(r"var\(--ink\) (\d+)%", CSS[CSS.index("--full: light-dark(") :])
    share = int(shares[SCHEMES.index(scheme)]) / 100
    assert contrast(named["ink"], mixed(named["ink"], named["surface"], share)) >= 4.5
