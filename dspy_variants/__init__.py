"""Versioned prompt blocks, the seat that uses them, and the optimizer that writes them."""

from dspy_variants.variants import Variant, load_variant, shipped, write_variant

__all__ = ["Variant", "load_variant", "shipped", "write_variant"]
