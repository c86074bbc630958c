"""A table in a file or in another document: CSV, JSON, Markdown and LaTeX."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from framework.analysis.findings import Field, Findings, Value
from framework.analysis.text import Said, heading, numeric, said
from framework.csvfile import write_rows
from framework.stats import Interval

__all__ = ["as_json", "as_latex", "as_markdown", "write_csv"]

Scalar = str | int | float | None


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _scalars(field: Field, value: Value, with_interval: bool) -> Iterator[tuple[str, Scalar]]:
    """A cell by name: the value, and the ends of its interval where the column has intervals."""
    if with_interval:
        mean, low, high = value if isinstance(value, Interval) else (None, None, None)
        for name, part in ((field.name, mean), (f"{field.name}_low", low), (f"{field.name}_high", high)):
            yield name, None if part is None else _finite(part)
    elif isinstance(value, Interval):
        raise TypeError("a column with an interval has intervals")
    else:
        yield field.name, _finite(value) if isinstance(value, float) else value


def _records(findings: Findings) -> list[dict[str, Scalar]]:
    """The rows by column, every column among them, with the ends of intervals as columns of their own."""
    intervals = [
        any(isinstance(row[place], Interval) for row in findings.rows) for place in range(len(findings.fields))
    ]
    return [
        dict(
            pair
            for field, value, with_interval in zip(findings.fields, row, intervals, strict=True)
            for pair in _scalars(field, value, with_interval)
        )
        for row in findings.rows
    ]


def write_csv(folder: Path, findings: Findings) -> Path:
    """Write `NAME.csv` into a folder, which is made if there is none. A value that does not exist is empty.

    Raises:
        UserError: If it cannot be written.
    """
    records = _records(findings)
    columns = list(records[0]) if records else [field.name for field in findings.fields]
    rows = [[record[column] for column in columns] for record in records]
    return write_rows(folder / f"{findings.name}.csv", [columns, *rows])


def as_json(tables: Sequence[Findings]) -> str:
    """Tables as one JSON list; a value that does not exist is null."""
    return json.dumps(
        [
            {
                "name": table.name,
                "title": table.title,
                "note": table.note,
                "columns": [
                    {"name": field.name, "title": field.title, "kind": field.kind, "better": field.better}
                    for field in table.fields
                ],
                "rows": _records(table),
            }
            for table in tables
        ],
        ensure_ascii=False,
        indent=1,
    )


def as_markdown(table: Findings) -> str:
    """A table with its heading and small print, as Markdown."""
    fields = [table.fields[place] for place in table.shown()]
    lines = [
        [heading(field) for field in fields],
        ["---:" if numeric(field) else "---" for field in fields],
        *([_markdown(cell.line) for cell in row] for row in _said(table)),
    ]
    body = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return "\n\n".join(part for part in (f"### {table.title}" if table.title else "", body, table.note) if part)


def _said(table: Findings) -> list[list[Said]]:
    return [[said(row[place], table.fields[place]) for place in table.shown()] for row in table.rows]


_MARKDOWN = str.maketrans({mark: f"\\{mark}" for mark in "\\|*`<"})


def _markdown(text: str) -> str:
    return " ".join(text.split()).translate(_MARKDOWN)


_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "↓": r"$\downarrow$",
        "↑": r"$\uparrow$",
        "Δ": r"$\Delta$",
        "θ": r"$\theta$",
        "±": r"$\pm$",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
    }
)


_FITTED = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"


def as_latex(table: Findings) -> str:
    """A table as LaTeX, for the packages booktabs and graphicx, which makes a wide one as narrow as the text."""
    fields = [table.fields[place] for place in table.shown()]
    columns = "".join("r" if numeric(field) else "l" for field in fields)
    lines = [[heading(field).translate(_LATEX) for field in fields], *_latex_rows(table)]
    head, *body = (" & ".join(line) + r" \\" for line in lines)
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{' '.join(part for part in (_sentence(table.title), table.note) if part).translate(_LATEX)}}}",
            rf"\label{{tab:{table.name}}}",
            _FITTED,
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            head,
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}}",
            r"\end{table}",
        ]
    )


def _sentence(text: str) -> str:
    return text if not text or text[-1] in ".?!" else f"{text}."


def _latex_rows(table: Findings) -> Iterator[list[str]]:
    for row in _said(table):
        first, *rest = (
            cell.value.translate(_LATEX) + (rf" {{\scriptsize {cell.interval}}}" if cell.interval else "")
            for cell in row
        )
        # After a line break LaTeX takes a bracket for a length.
        yield ["{}" + first if first.startswith("[") else first, *rest]
