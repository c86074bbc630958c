"""A language model whose system prompt ends with a versioned block (paper, A.2)."""

from __future__ import annotations

from typing import Any, ClassVar

from dspy_variants.variants import Variant, load_variant
from framework import Params, SeatStart
from framework.errors import UserError
from protocols.llm import Appendix, LlmParams, LlmStrategy

__all__ = ["VariantParams", "VariantStrategy"]


class VariantParams(LlmParams):
    """Parameters of a seat with a prompt block, besides those of its model.

    Attributes:
        variant: Name of the block (`settle-early`, `settle-early@1`) or path of its file.
    """

    variant: str


class VariantStrategy(LlmStrategy):
    """A language model with the standard prompt and a prompt block after it."""

    params_type: ClassVar[type[Params]] = VariantParams

    def __init__(self, params: Params | None = None, *, block: Variant | None = None, **values: Any) -> None:
        """Take parameters; see `LlmStrategy`.

        Args:
            params: The parameters as a whole.
            block: The block itself, instead of what `variant` names.
            values: The parameters one by one.

        Raises:
            UserError: If the block cannot be loaded.
        """
        super().__init__(params, **values)
        self._variant = block or load_variant(self.params.variant)

    def appendix(self, start: SeatStart) -> Appendix:
        if self._variant.game != start.game:
            raise UserError(f"variant {self._variant.label} is for {self._variant.game}, not for {start.game}")
        return Appendix(self._variant.text, self._variant.label)
