from __future__ import annotations

import pytest
from pydantic import ValidationError

from framework.pages import Cell, CellChange, CellKind, Grid, Sheet, Tally, diff

FREE, TAKEN = Cell(kind="free"), Cell(kind="taken", text="3")
KINDS = (CellKind(name="free", title="free", look="empty"), CellKind(name="taken", title="taken"))


def grid(**fields: object) -> Grid:
    data = {"title": "g", "rows": ("a", "b"), "columns": ("0", "1"), "kinds": KINDS, "cells": ((FREE, TAKEN),) * 2}
    return Grid.model_validate({**data, **fields})


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"cells": ((FREE, TAKEN),)}, "needs 2 rows of 2 cells"),
        ({"cells": ((FREE,), (FREE, TAKEN))}, "needs 2 rows of 2 cells"),
        ({"seats": (0,)}, "has 2 rows and 1 seats"),
        ({"changes": (CellChange(event=1, row=2, column=0, cell=FREE),)}, "no cell in row 2, column 0"),
        ({"changes": (CellChange(event=1, row=0, column=0, cell=Cell(kind="odd")),)}, "of kind 'odd'"),
        ({"kinds": KINDS[:1]}, "of kind 'taken'"),
        ({"tallies": (Tally(title="paid", values=("0",)),)}, "tally 'paid' does not fit the 2 rows"),
    ],
)
def test_a_grid_that_does_not_fit_together_is_refused_in_one_sentence(fields: dict[str, object], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        grid(**fields)


def test_a_sheet_has_as_many_cells_in_every_row_as_columns() -> None:
    with pytest.raises(ValidationError, match="needs 2 cells in every row"):
        Sheet(title="s", columns=("a", "b"), rows=(("1", "2"), ("1",)))


def test_the_difference_of_two_rows_is_the_cells_that_differ() -> None:
    changes = diff((FREE, TAKEN, FREE), (TAKEN, TAKEN, FREE), event=7, row=4)
    assert changes == (CellChange(event=7, row=4, column=0, cell=TAKEN),)
