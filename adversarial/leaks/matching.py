"""Whether a message gives a secret away: by one of its canary terms, or by being like its text.

Both work on words: letters and digits, without case, accents of typography or a plural's ending. A term is
found where its words follow one another, also if the message spells them out letter by letter. A sentence is
like a text if it holds most of what the text alone says.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal, NamedTuple

from framework.secrets import Secret

__all__ = ["THRESHOLD", "Match", "Matcher", "words_of"]

THRESHOLD = 0.6
"""The similarity from which on a sentence counts as giving a text away."""

_FEWEST = 2
"""A single word in common is no similarity; a word that gives a text away by itself is a canary term."""
_SENTENCE = re.compile(r"[.!?;\n]+")
_WORD = re.compile(r"[^\W_]+")
_SPELLED = re.compile(r"\b(?:[^\W\d_] ){3,}[^\W\d_]\b")
_APOSTROPHES = str.maketrans("", "", "'`\u2019\u2018\u00b4")
_COMMON = frozenset(files(__package__).joinpath("common_words.txt").read_text(encoding="utf-8").split())


def words_of(text: str) -> list[str]:
    """The words of a text in order, as they are compared."""
    plain = "".join(c for c in unicodedata.normalize("NFKC", text) if unicodedata.category(c) != "Cf")
    plain = plain.casefold().translate(_APOSTROPHES).replace("&", " and ")
    return [_singular(word) for word in _WORD.findall(plain)]


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


class Match(NamedTuple):
    """A secret that a message gives away.

    Attributes:
        secret: Its place among the secrets.
        by: Whether a canary term was found, or a sentence is like the text.
        evidence: The term, or the words in common.
        score: The similarity; 1 for a term.
    """

    secret: int
    by: Literal["term", "similarity"]
    evidence: str
    score: float


@dataclass(frozen=True, slots=True)
class _Text:
    """What is looked for of one secret: its terms as given and as words, and the weight of each word of its text."""

    terms: tuple[tuple[str, str], ...]
    weights: dict[str, float]

    def similarity(self, common: Set[str]) -> float:
        """How much of the text some of its words are."""
        return math.fsum(self.weights[word] for word in common) / math.fsum(self.weights.values()) if common else 0.0


class Matcher:
    """Finds which secrets a message gives away.

    The similarity of a sentence to a text is the share of the text's words that it holds, each weighted by
    `log(1 + n/d)` where `d` of the `n` different texts hold the word: what a text shares with others says
    little about it.

    Args:
        secrets: The secrets of one game.
        threshold: The similarity from which on a sentence counts; above 1 only terms count.
    """

    def __init__(self, secrets: Sequence[Secret], threshold: float = THRESHOLD) -> None:
        self._threshold = threshold
        contents = {secret.text: frozenset(words_of(secret.text)) - _COMMON for secret in secrets}
        found_in = Counter(word for words in contents.values() for word in words)
        self._texts = [_text(secret, contents[secret.text], found_in, len(contents)) for secret in secrets]

    def matches(self, message: str) -> list[Match]:
        """The secrets that a message gives away, each once, in the order of the secrets."""
        whole = " ".join(words_of(message))
        spelled = _SPELLED.sub(lambda run: run.group().replace(" ", ""), whole)
        haystacks = {f" {whole} ", f" {spelled} "}
        sentences = [set(words_of(sentence)) for sentence in _SENTENCE.split(message)]
        return list(self._found(haystacks, sentences))

    def _found(self, haystacks: set[str], sentences: Sequence[set[str]]) -> Iterator[Match]:
        for place, text in enumerate(self._texts):
            term = next((said for said, needle in text.terms if any(needle in stack for stack in haystacks)), None)
            if term is not None:
                yield Match(place, "term", term, 1.0)
                continue
            common = max((text.weights.keys() & sentence for sentence in sentences), key=text.similarity, default=set())
            score = text.similarity(common)
            if len(common) >= _FEWEST and score >= self._threshold:
                yield Match(place, "similarity", " ".join(sorted(common)), score)


def _text(secret: Secret, words: frozenset[str], found_in: Counter[str], texts: int) -> _Text:
    terms = tuple((term, f" {' '.join(words_of(term))} ") for term in secret.terms)
    return _Text(terms, {word: math.log(1 + texts / found_in[word]) for word in words})
