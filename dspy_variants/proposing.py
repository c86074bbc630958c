"""Asks a language model for a better block, in plain words, so that any DSPy model will do."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from protocols.models.spec import without_keys

__all__ = ["Proposer", "ask_for", "read_block"]

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


class Proposer:
    """Asks the language model in force for a new text of each component; the form that GEPA calls.

    GEPA passes over what a proposer raises and goes on playing. So the first failure is kept, and nothing more is
    asked after it.

    Args:
        stopped: Says why nothing more is to be asked; empty while that is not so.

    Attributes:
        failure: Why a proposal could not be had; empty if all could.
    """

    def __init__(self, stopped: Callable[[], str]) -> None:
        self._stopped = stopped
        self.failure = ""

    def __call__(
        self,
        candidate: dict[str, str],
        reflective_dataset: Mapping[str, Sequence[Mapping[str, Any]]],
        components_to_update: list[str],
    ) -> dict[str, str]:
        """A new text for each component."""
        if why := self.failure or self._stopped():
            raise RuntimeError(why)
        try:
            return {
                name: read_block(_asked(ask_for(candidate[name], reflective_dataset.get(name, ()))), candidate[name])
                for name in components_to_update
            }
        except Exception as error:
            said = without_keys(" ".join(str(error).split()))[:300]
            self.failure = f"the model that rewrites: {type(error).__name__}: {said}"
            raise RuntimeError(self.failure) from None


def _asked(request: str) -> str:
    import dspy

    reply = dspy.settings.lm(messages=[{"role": "user", "content": request}])[0]
    if isinstance(reply, dict):
        reply = reply.get("text")
    return reply if isinstance(reply, str) else ""
