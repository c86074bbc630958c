"""Audit of what seats say of their own slots in prose (paper, section 4.3 and G.5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from framework import Trace
from framework.analysis import Analysis, Field, Findings, Group, Part, Seen, by_strategy, share
from framework.analysis.groups import GROUP_FIELDS
from framework.experiment import Reporting
from framework.stats import benjamini_hochberg, share_test
from framework.trace import MessageSent
from games.calbench.analysis.phrases import LABELS, labels_of
from games.calbench.privacy import EVIDENCE

__all__ = ["DISCLOSURE", "prose"]

_MESSAGES = "messages"
Counts = tuple[Counter[str], ...]
"""For each seat the number of its messages in prose, and of those with each label."""


def prose(trace: Trace) -> Iterator[MessageSent]:
    """The messages that are not payloads of a protocol."""
    return (post for post in trace.posts if EVIDENCE.read(post.content) is None)


def disclosures(trace: Trace) -> Counts:
    """How often each seat said what."""
    seats = tuple(Counter[str]() for _ in range(trace.start.seats))
    for post in prose(trace):
        seats[post.sender].update([_MESSAGES, *labels_of(post.content)])
    return seats


FIELDS = (
    *GROUP_FIELDS,
    Field("messages", "messages", "count"),
    *(
        field
        for label in LABELS
        for field in (Field(label.name, label.title, "share"), Field(f"{label.name}_q", "q", "p"))
    ),
)


def _tabulate(games: Sequence[Seen[Counts | None]], reporting: Reporting) -> Findings:
    counts = {group: found for group, parts in by_strategy(games).items() if (found := _count(parts))[_MESSAGES]}
    tests = {label.name: _tests(counts, label.name) for label in LABELS}
    rows = []
    for place, (group, found) in enumerate(counts.items()):
        cells = [
            cell
            for label in LABELS
            for cell in (share(found[label.name], found[_MESSAGES], reporting), tests[label.name][place])
        ]
        rows.append((*group.cells(), found[_MESSAGES], *cells))
    note = (
        "Shares of the messages in prose, found by patterns that miss rather than invent, with Wilson's "
        f"{100 * reporting.confidence:g} % interval over messages. q: Fisher's exact test against the other strategies "
        "of the same run and setting, after Benjamini and Hochberg. Check the patterns with: cheaptalk disclosures."
    )
    return Findings(FIELDS, tuple(rows), note)


def _count(parts: Sequence[Part[Counts | None]]) -> Counter[str]:
    found = Counter[str]()
    for game, seats in parts:
        for seat in seats if game.facts else ():
            found += game.facts[seat] if game.facts else Counter()
    return found


def _tests(counts: dict[Group, Counter[str]], label: str) -> list[float]:
    """The q value of each group against the others of its run and setting; NaN where it is alone."""
    tests = []
    for group, own in counts.items():
        others = [found for other, found in counts.items() if other[:2] == group[:2] and other != group]
        said, messages = (sum(found[key] for found in others) for key in (label, _MESSAGES))
        tests.append(share_test(own[label], own[_MESSAGES], said, messages) if messages else float("nan"))
    return benjamini_hochberg(tests)


DISCLOSURE: Analysis[Counts | None] = Analysis(
    name="disclosures",
    title="What seats say of their own slots",
    read=disclosures,
    tabulate=_tabulate,
)
