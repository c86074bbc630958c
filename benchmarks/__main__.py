"""Measures everything that has a limit and prints one table: `python -m benchmarks [NAME...]`.

Times of one process are medians over repeated measurements. These machines differ and are noisy: compare the
rows of one table with each other, not with a table from elsewhere.
"""

from __future__ import annotations

import sys
import time

from rich.console import Console
from rich.table import Table

from benchmarks import measure
from benchmarks.east import east
from benchmarks.models import models
from benchmarks.pages import pages

MEASURES = {**measure.MEASURES, "east": east, "models": models, "pages": pages}


def main(names: list[str]) -> int:
    """Print the table of all measures, or of those whose names begin as given."""
    chosen = {name: task for name, task in MEASURES.items() if not names or name.startswith(tuple(names))}
    if not chosen:
        print(f"no measure begins with {names[0]!r}; there are {', '.join(MEASURES)}", file=sys.stderr)
        return 2
    table = Table("measure", "value", "unit", "limit", "", title="Cheaptalk benchmarks")
    failed = 0
    for name, task in chosen.items():
        began = time.perf_counter()
        rows = task()
        print(f"{name}: {time.perf_counter() - began:.1f} s", file=sys.stderr)
        for row in rows:
            failed += not row.holds
            table.add_row(row.name, f"{row.value:,.2f}", row.unit, row.bound, "" if row.holds else "over")
    Console().print(table)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
