"""Asks a language model for a better block, in plain words, so that any DSPy model will do."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["ask_for", "propose", "read_block"]

LONGEST = 4000
"""Characters that a proposed block may have; what is beyond is cut at a line."""

_FENCE = re.compile(r"```(?:markdown|md|text)?\s*\n(?P<text>.*?)```", re.DOTALL)
_GAMES = 6


def ask_for(block: str, games: Sequence[Mapping[str, Any]]) -> str:
    """The request for a better block.

    Args:
        block: The block as it is.
        games: What games with it came to: each with its `Feedback`.
    """
    shown = "\n\n".join(f"Game {number}:\n{game.get('Feedback', '')}" for number, game in enumerate(games[:_GAMES], 1))
    return (
        "Several assistants play a game together. Each of them has the rules of the game, and after them this block "
        f"of advice, which is the same for all:\n\n<block>\n{block}\n</block>\n\n"
        f"These games were played with it:\n\n{shown}\n\n"
        "Write a better block. Keep what helped, and add general advice against what went wrong; do not name single "
        "tasks, slots or seats of these games, because the next ones are different. Be brief: at most fifteen lines.\n"
        "Answer with the new block and nothing else."
    )


def read_block(reply: str, old: str) -> str:
    """The block in a reply; the old one if there is none."""
    fenced = _FENCE.search(reply)
    text = (fenced["text"] if fenced else reply).replace("<block>", "").replace("</block>", "").strip()
    text = text.encode("utf-8", "replace").decode()
    if len(text) > LONGEST:
        text = text[:LONGEST].rpartition("\n")[0].strip() or text[:LONGEST]
    return text or old


def propose(
    candidate: dict[str, str],
    reflective_dataset: Mapping[str, Sequence[Mapping[str, Any]]],
    components_to_update: list[str],
) -> dict[str, str]:
    """A new text for each component, by the language model in force; the form that GEPA calls."""
    import dspy

    found = {}
    for name in components_to_update:
        request = ask_for(candidate[name], reflective_dataset.get(name, ()))
        reply = dspy.settings.lm(messages=[{"role": "user", "content": request}])[0]
        text = reply if isinstance(reply, str) else str(reply.get("text", ""))
        found[name] = read_block(text, candidate[name])
    return found
