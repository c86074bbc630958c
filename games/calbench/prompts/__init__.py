"""How CalBench speaks to a language model (paper, A.2, A.3, A.5 and F.3)."""

from games.calbench.prompts.answers import Envelope
from games.calbench.prompts.pack import CalBenchPrompts

__all__ = ["CalBenchPrompts", "Envelope"]
