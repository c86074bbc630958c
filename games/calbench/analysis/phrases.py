"""What a seat says of its own slots in prose: proposals, availability, cost and constraints (paper, G.5).

A message has a label if it mentions a slot and one of its sentences speaks in the first person and has a
phrase of the label. The patterns are our own. They are meant to miss rather than to invent: what is said
without a first person ("both 12 and 13 are feasible") goes unseen.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["LABELS", "Label", "labels_of"]


@dataclass(frozen=True, slots=True)
class Label:
    """Something that a seat may say of its own slots.

    Attributes:
        name: Its key.
        title: Its heading.
        definition: What an annotator looks for.
        phrase: What a sentence in the first person has to contain.
    """

    name: str
    title: str
    definition: str
    phrase: re.Pattern[str]


def _any_of(*parts: str) -> re.Pattern[str]:
    return re.compile("|".join(rf"\b(?:{part})\b" for part in parts), re.IGNORECASE)


_SLOT = re.compile(r"\b(?:time[ -]?)?slots?\s*(?:number\s*|no\.\s*|#\s*)?\d+\b", re.IGNORECASE)
_FIRST_PERSON = re.compile(r"\bI(?:'(?:m|d|ll|ve))?\b|\b(?:[Mm]e|[Mm]y|[Mm]ine|[Mm]yself)\b")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_NOT = r"(?:\w+n't|not|never|cannot)\s+(?:\w+\s+)?"
_MEET = r"(?:go|use|take|do|try|book|schedule|meet|settle|choose|pick)"
_ATTEND = r"(?:do|make|take|attend|accept|meet|use|schedule|host)"
_MOVE = r"(?:move|shift|reschedule|displace|relocate)"

LABELS = (
    Label(
        "proposal",
        "Own-slot proposal",
        "The sender proposes a slot for the meeting, as its own wish or choice.",
        _any_of(
            r"(?:propos|suggest)(?:e|es|ed|ing|al)?",
            r"(?:how|what) about",
            rf"let(?:'s| us) {_MEET}",
            rf"(?:shall|could|can|should) we {_MEET}",
            r"(?:I'd|I would|I) (?:like|prefer|favou?r|vote for|go (?:with|for)|choose|pick|recommend)",
            r"my (?:first |second |top |best |next )?(?:choice|preference|pick|preferred)",
        ),
    ),
    Label(
        "availability",
        "Own-slot availability",
        "The sender says that a slot is free for it, or that it can take the slot.",
        _any_of(
            r"(?<!not )(?<!n't )(?:free|available|open|feasible|clear)",
            r"(?:work|suit|fit)s? (?:\w+ )?(?:for me|me|my (?:calendar|schedule))",
            r"(?:is|are|be) (?:\w+ )?(?:fine|good|great|ok|okay|perfect|possible) (?:for|with|by|on) (?:me|my)",
            rf"I (?:can|could) (?:also |still |easily )?{_ATTEND}",
            r"(?:nothing|no (?:conflict|errand|meeting)s?) (?:in|at|on|for)",
        ),
    ),
    Label(
        "cost",
        "Own cost/constraint",
        "The sender says that a slot is blocked, taken, costly, cheap or movable for it.",
        _any_of(
            r"block(?:ed|s|ing)?|busy|occupied|booked|taken|conflicts?|unavailable|infeasible|impossible",
            rf"{_NOT}(?:free|available|open|feasible|possible|work|move|{_ATTEND})",
            rf"can(?:not|'t) (?:{_ATTEND}|{_MOVE})",
            r"difficult|hard|tough|tricky|costly|expensive|cheap|cheaper|inconvenient|painful|disruptive|easy|easier",
            rf"(?:can|could|will|would|have to|need to|must|able to|willing to) (?:easily |still )?{_MOVE}",
            r"(?:mov|shift|reschedul|displac)(?:e|ing) (?:my|mine|an? (?:errand|meeting)|something)",
            r"(?:im)?movable|inflexible|flexible|fixed",
        ),
    ),
    Label(
        "numeric",
        "Own cost in numbers",
        "The sender says a number that a slot costs it.",
        _any_of(
            r"(?:cost|penalt|price|displacement)\w*\W{0,3}(?:(?!slot)[A-Za-z]+\W+){0,3}?\d+",
            r"\d+ ?(?:points?|units?)",
        ),
    ),
)
"""The three labels of table 13, and numbers, which the paper tracks apart."""


def labels_of(text: str) -> frozenset[str]:
    """The labels of a message, by name."""
    straight = text.replace("\u2019", "'")
    if not _SLOT.search(straight):
        return frozenset()
    own = [sentence for sentence in _SENTENCE.split(straight) if _FIRST_PERSON.search(sentence)]
    return frozenset(label.name for label in LABELS if any(label.phrase.search(sentence) for sentence in own))
