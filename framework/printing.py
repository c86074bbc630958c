"""What others wrote, made safe to print: a model's message may hold commands to a terminal."""

from __future__ import annotations

__all__ = ["printable"]


def printable(text: str) -> str:
    """The text with its control characters written out, other than ends of lines and tabs."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)
