"""Proposes vignettes from lists of personas and words, and keeps those that pass vetting.

How far apart the two personas of a vignette are is a parameter, as the paper suggests (section 5).
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Self

from pydantic import Field, NonNegativeInt, PositiveInt, model_validator

from framework.focal import Association
from framework.messages import Frozen
from games.east.scenario import PROMPTS, PromptVariant, Vignette, Words
from games.east.vetting import VettingLimits, vet

__all__ = ["GeneratorConfig", "Lists", "propose", "propose_from"]


class GeneratorConfig(Frozen):
    """Settings of `cheaptalk generate east --config FILE`.

    Attributes:
        vignettes: How many vignettes to keep.
        distance: Least and greatest semantic distance between the two personas, 1 - cosine similarity.
        conditions: Names of the conditions to make of each.
        prompts: Prompt variants to make of each.
        personas: A file of personas, one a line; empty for our own list.
        words: A file of words that belong to trades, one a line; empty for our own list.
        everyday: A file of frequent words, one a line; empty for our own list.
        limits: What vetting holds them to.
        shared_lift: How much stronger the shared word has to be for both personas than for the average one.
        seed: Seed of what is tried, and of the word orders.
    """

    vignettes: PositiveInt = 10
    distance: tuple[float, float] = (0.0, 2.0)
    conditions: tuple[str, ...] = ("symmetric", "asymmetric", "zero_knowledge")
    prompts: tuple[PromptVariant, ...] = PROMPTS
    personas: str = ""
    words: str = ""
    everyday: str = ""
    limits: VettingLimits = VettingLimits(own=0.1, lead=0.02, balance=0.12, unrelated=0.05)
    shared_lift: float = 0.06
    seed: NonNegativeInt = 0

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.distance[0] > self.distance[1]:
            raise ValueError(f"distance must be [least, greatest]; got {list(self.distance)}")
        return self


class Lists(Frozen):
    """What vignettes are put together from.

    Attributes:
        personas: Personas.
        words: Words that belong to trades.
        everyday: Frequent words.
    """

    personas: tuple[str, ...] = Field(min_length=2)
    words: tuple[str, ...] = Field(min_length=3)
    everyday: tuple[str, ...] = Field(min_length=1)

    @classmethod
    def of(cls, config: GeneratorConfig) -> Lists:
        """The lists that a config names.

        Raises:
            OSError: If a file cannot be read.
            pydantic.ValidationError: If a list is too short.
        """
        names = ("personas", "words", "everyday")
        return cls(**{name: _lines(name, getattr(config, name)) for name in names})


def _lines(name: str, path: str) -> tuple[str, ...]:
    source = Path(path) if path else files("games.east").joinpath(f"data/{name}.txt")
    lines = (line.strip() for line in source.read_text(encoding="utf-8").splitlines())
    return tuple(dict.fromkeys(line for line in lines if line and not line.startswith("#")))


def propose(config: GeneratorConfig) -> list[Vignette]:
    """Vignettes by the embedding model.

    Raises:
        UserError: If the extra `embed` is not installed.
        ValueError: If fewer than asked for pass.
        OSError: If a list cannot be read.
    """
    from games.east.embedding import EmbeddingAssociation

    model = EmbeddingAssociation.load()
    return propose_from(Lists.of(config), model, model.distance, config)


def propose_from(
    lists: Lists, association: Association, distance: Callable[[str, str], float], config: GeneratorConfig
) -> list[Vignette]:
    """Vignettes that pass, from pairs of personas tried in an order that the seed decides.

    Raises:
        ValueError: If fewer than asked for pass, with how many do.
    """
    rng = random.Random(config.seed)
    pairs = [rng.sample(pair, 2) for pair in combinations(lists.personas, 2)]
    rng.shuffle(pairs)
    bench = _Bench(lists, association, config)
    kept: list[Vignette] = []
    for one, two in pairs:
        if len(kept) == config.vignettes:
            break
        if config.distance[0] <= distance(one, two) <= config.distance[1] and (found := bench.best(one, two)):
            kept.append(found)
    if len(kept) < config.vignettes:
        low, high = config.distance
        raise ValueError(
            f"{len(kept)} of {config.vignettes} vignettes pass at persona distances {low:g} to {high:g}; "
            "widen distance, loosen limits or give longer lists"
        )
    return kept


_TRIED = 5


class _Bench:
    """Puts vignettes together. What counts is a word's lift: its strength above its mean over all personas."""

    def __init__(self, lists: Lists, association: Association, config: GeneratorConfig) -> None:
        self._lists, self._association, self._config = lists, association, config
        self._mean = cache(lambda word: fmean(association.strength(who, word) for who in lists.personas))

    def _lift(self, persona: str, word: str) -> float:
        mean: float = self._mean(word)
        return self._association.strength(persona, word) - mean

    def best(self, one: str, two: str) -> Vignette | None:
        """The likeliest vignette for two personas that passes; None if none does."""
        words, lift, strength = self._lists.words, self._lift, self._association.strength
        first = max(words, key=lambda word: lift(one, word) - 0.5 * max(0.0, lift(two, word)))
        second = max(
            (w for w in words if w != first), key=lambda word: lift(two, word) - 0.5 * max(0.0, lift(one, word))
        )
        everyday = [word for word in self._lists.everyday if word not in (first, second)]
        fourth = min(everyday, key=lambda word: max(strength(one, word), strength(two, word)))
        rest = [word for word in words if word not in (first, second, fourth)]
        for shared in sorted(rest, key=lambda word: -min(lift(one, word), lift(two, word)))[:_TRIED]:
            if min(lift(one, shared), lift(two, shared)) < self._config.shared_lift:
                return None
            vignette = Vignette(
                id=_slug(one, two),
                personas=(one, two),
                words=Words(persona_1=first, persona_2=second, shared=shared, unrelated=fourth),
            )
            if vet(vignette, self._association, self._config.limits).passed:
                return vignette
        return None


def _slug(one: str, two: str) -> str:
    text = f"{one}-{two}".lower()
    return "-".join("".join(sign if sign.isascii() and sign.isalnum() else " " for sign in text).split())
