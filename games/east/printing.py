"""EAST's tables as aligned text."""

from __future__ import annotations

from collections.abc import Sequence

from framework.stats import Interval
from games.east.annotation.agreement import Agreement
from games.east.annotation.analysis import Labelling, fallacy_shares, reasoning_shares
from games.east.annotation.labels import FALLACIES, LEVELS
from games.east.outcome import CHANCE
from games.east.results import Played
from games.east.tables import cells, share

__all__ = ["print_agreement", "print_fallacies", "print_rates", "print_reasoning", "print_rows"]


def print_rates(games: Sequence[Played]) -> None:
    """Rates by pairing, condition and prompt, with the chance level."""
    rows = [
        [
            cell.pairing,
            cell.condition,
            cell.prompt,
            str(cell.games),
            *(_share(share(n, cell.games)) for n in (cell.matches, cell.normative, cell.accidental, cell.invalid)),
            str(cell.aborted or ""),
        ]
        for cell in cells(games)
    ]
    header = ["strategy", "condition", "prompt", "n", "match", "normative", "accidental", "invalid", "aborted"]
    print_rows(header, rows)
    print(f"Shares in % with 95 % Wilson intervals. Two seats that choose at random match in {CHANCE:.0%}.")


def print_reasoning(labelling: Labelling) -> None:
    """Levels of reasoning by strategy, condition and prompt."""
    rows = [
        [
            *(row.strategy, row.condition, row.prompt, str(row.n)),
            *(_share(share(row.levels[level], row.n)) for level in LEVELS),
            _share(share(row.incoherent, row.with_tom)),
        ]
        for row in reasoning_shares(labelling)
    ]
    header = ["strategy", "condition", "prompt", "n", "shallow", "behavioural", "ToM", "recursive", "incoherent"]
    print("\nReasoning in games with a normative match, in %; incoherent is a share of ToM and recursive.")
    print_rows(header, rows)


def print_fallacies(labelling: Labelling) -> None:
    """Fallacies by condition."""
    found = {(row.fallacy, row.condition): row for row in fallacy_shares(labelling)}
    conditions = list(dict.fromkeys(condition for _, condition in found))
    counts = {condition: found[FALLACIES[0], condition].n for condition in conditions}
    rows = [
        [name, *(_share(share(found[name, condition].count, counts[condition])) for condition in conditions)]
        for name in FALLACIES
    ]
    print("\nFallacies in games without coordination, in %.")
    print_rows(["fallacy", *(f"{condition} (n={n})" for condition, n in counts.items())], rows)


def print_agreement(agreed: Sequence[Agreement]) -> None:
    """Agreement by field."""
    rows = [
        [
            row.field,
            str(row.annotators),
            str(row.items),
            *("-" if v != v else f"{v:.2f}" for v in (row.observed, row.kappa, row.alpha)),
        ]
        for row in agreed
    ]
    print("\nAgreement between annotators.")
    print_rows(["field", "annotators", "items", "observed", "Cohen's kappa", "Krippendorff's alpha"], rows)


def _share(interval: Interval) -> str:
    mean, low, high = (100 * value for value in interval)
    return "-" if mean != mean else f"{mean:.0f} [{low:.0f}, {high:.0f}]"


def print_rows(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table as aligned text: first columns to the left, what is counted to the right."""
    lines = [header, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    numbers = {c for c in range(len(header)) if rows and all(r[c][:1] in "-0123456789" for r in rows)}
    for line in lines:
        cells = (t.rjust(w) if c in numbers else t.ljust(w) for c, (t, w) in enumerate(zip(line, widths, strict=True)))
        print("  ".join(cells).rstrip())
