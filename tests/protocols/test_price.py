"""What a view says that a batch costs, against the batch itself."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from framework import Action
from tests.protocols.booths import BoothsView, Shift, after

GROUPS = ((0, 1), (0, 2), (0, 3), (0, 1, 2))


def paid(booths: str, batch: tuple[Action, ...]) -> int | None:
    """What a batch costs when it is carried out; None if it is not valid."""
    try:
        after(booths, batch, "d")
    except ValueError:
        return None
    marks = [booths[action.source] for action in batch if isinstance(action, Shift) and action.source != action.target]
    return sum(int(mark) if mark.isdigit() else 1 for mark in marks)


@given(
    st.text(alphabet="...1239#", min_size=6, max_size=6),
    st.permutations(range(6)).map(lambda places: places[:2]),
    st.integers(0, 2),
    st.one_of(st.none(), st.integers(0, 5)),
    st.dictionaries(st.integers(0, 1), st.integers(0, 5)),
)
def test_a_price_is_what_the_batch_costs_and_none_where_the_batch_is_invalid(
    booths: str, places: list[int], held: int, option: int | None, moves: dict[int, int]
) -> None:
    for letter, place in zip("ab"[:held], places, strict=False):
        booths = booths[:place] + letter + booths[place + 1 :]
    view = BoothsView(booths, GROUPS, 3)
    price = view.price(option, moves)
    if any(id not in view.settled for id in moves):
        assert price is None
    else:
        batch = view.move(moves) if option is None else view.commit(option, moves)
        assert price == paid(booths, batch)
