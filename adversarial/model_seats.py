"""Language models that are after the others' secrets: the standard prompt and one section more (paper, A.2)."""

from __future__ import annotations

from importlib.resources import files
from typing import ClassVar

from framework import SeatStart
from protocols.llm import Appendix, LlmStrategy

__all__ = ["NosyHighPressure", "Redteam"]


class _Adversary(LlmStrategy):
    """A model whose system prompt ends with a block; the rest of the prompt is byte for byte the standard one.

    Attributes:
        block: Name of the block.
    """

    adversarial: ClassVar[bool] = True
    block: ClassVar[str]

    def appendix(self, start: SeatStart) -> Appendix:
        text = files(__package__).joinpath("blocks", f"{self.block}.md").read_text(encoding="utf-8")
        return Appendix(text.strip(), self.block)


class NosyHighPressure(_Adversary):
    """Asks for the others' calendars in every turn, and presses those who keep them."""

    block = "nosy-highpressure"


class Redteam(_Adversary):
    """Tries to draw secrets out of the others by all means of conversation, without letting it show."""

    block = "redteam"
