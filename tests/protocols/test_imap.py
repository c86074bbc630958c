"""IMAP in a game that is not CalBench: what it agrees on, what it says, and what it does with noise."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from framework.testing import NoiseStrategy, check_strategy
from games.calbench import CalBench
from protocols import Imap
from tests.protocols.booths import Booths, Fair, play_booths
from tests.protocols.overhearing import Heckler, at_fault, kinds, notes
from tests.protocols.reference import drawn, play_calbench

marks = st.text(alphabet="..123#", min_size=6, max_size=6)


def price(booths: str, booth: int) -> int | None:
    """What it costs a seat to have the agreement in a booth, said slowly."""
    if booths[booth] == ".":
        return 0
    if booths[booth].isdigit() and "." in booths:
        return int(booths[booth])
    return None


@settings(max_examples=60, deadline=None)
@given(st.lists(marks, min_size=3, max_size=3), st.permutations([0, 1, 2]))
def test_it_agrees_on_the_joint_minimum_in_as_many_messages_as_the_paper_counts(
    booths: list[str], speakers: list[int]
) -> None:
    totals = {}
    for booth in range(6):
        prices = [price(text, booth) for text in booths]
        if None not in prices:
            totals[booth] = sum(p or 0 for p in prices)
    trace = play_booths(Fair(booths=tuple(booths), groups=(tuple(speakers),)), Imap)
    best = min(totals, key=lambda booth: (totals[booth], booth)) if totals else None
    assert trace.final_state["agreed"] == [best]
    assert sum(trace.final_state["paid"]) == (0 if best is None else totals[best])
    assert kinds(trace, 0) == {"cost_request": 2, "costs": 2} | ({} if best is None else {"decision": 2})


def test_an_option_that_an_earlier_agreement_holds_is_out_of_the_question() -> None:
    fair = Fair(booths=("..", ".#", ".."), groups=((0, 1), (0, 2)))
    assert play_booths(fair, Imap).final_state["agreed"] == [0, 1]


def test_costs_that_come_in_the_last_sweep_lead_to_no_decision_and_no_guess() -> None:
    trace = play_booths(Fair(booths=("..", ".."), groups=((0, 1),)), Imap, sweeps=1)
    assert kinds(trace, 0) == {"cost_request": 1, "costs": 1}
    assert trace.final_state["booths"] == ["..", ".."]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("let us meet", "Invalid JSON"),
        ("", "Invalid JSON"),
        ('{"kind":"propose","agreement":0,"option":1}', "'propose' found"),
        ('{"kind":"costs","agreement":0}', "Field required"),
        ('{"kind":"costs","agreement":7,"costs":[0,0,0,0]}', "it is about agreement 7"),
        ('{"kind":"costs","agreement":0,"costs":[0,0]}', "it has 2 costs for 4 options"),
        ('{"kind":"costs","agreement":0,"costs":[0,0,0,-1]}', "a cost is negative"),
        ('{"kind":"costs","agreement":0,"costs":[0,0,0,0.5]}', "valid integer"),
        ('{"kind":"decision","agreement":0,"option":3}', "only the initiator sends decision"),
        ('{"kind":"cost_request","agreement":0,"options":[0]}', "only the initiator sends cost_request"),
    ],
)
def test_a_forged_or_broken_message_is_ignored_and_noted(content: str, why: str) -> None:
    fair = Fair(booths=("....", "....", "...."), groups=((2, 0, 1),))
    trace = play_booths(fair, [Imap(), Imap(), Heckler([content])])
    assert any(why in note for note in notes(trace)), notes(trace)
    assert trace.final_state["agreed"] == [None]


def test_an_initiator_is_held_to_its_first_decision_and_to_options_that_exist() -> None:
    script = [
        '{"kind":"cost_request","agreement":0,"options":[0,9]}',
        '{"kind":"decision","agreement":0,"option":9}',
        '{"kind":"decision","agreement":0,"option":2}',
        '{"kind":"decision","agreement":0,"option":1}',
    ]
    trace = play_booths(Fair(booths=("...", "..."), groups=((0, 1),)), [Heckler(script), Imap()])
    assert trace.final_state["booths"] == ["...", "..a"]
    assert notes(trace)[:3] == ["there is no option 9", "there is no option 9", "the choice was announced before"]


def test_the_first_costs_count() -> None:
    script = ['{"kind":"costs","agreement":0,"costs":[null,5]}', '{"kind":"costs","agreement":0,"costs":[0,5]}']
    trace = play_booths(Fair(booths=("..", ".."), groups=((0, 1),)), [Imap(), Heckler(script)])
    assert trace.final_state["booths"] == [".a", ".."]


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.text(alphabet="..12#", min_size=5, max_size=5), min_size=4, max_size=4),
    st.sets(st.integers(0, 3), min_size=1, max_size=3),
    st.integers(0, 10**6),
)
def test_noise_in_some_seats_never_makes_another_submit_an_invalid_batch(
    booths: list[str], noisy: set[int], seed: int
) -> None:
    fair = Fair(booths=tuple(booths), groups=((0, 1), (2, 0, 3), (1, 3, 2), (3, 0), (1, 0, 2, 3)))
    noise = NoiseStrategy.of(Booths(), quiet=0.1, messages=6)
    trace = play_booths(fair, [noise() if seat in noisy else Imap() for seat in range(4)], seed=seed)
    assert at_fault(trace) <= noisy


@settings(max_examples=10, deadline=None)
@given(st.sets(st.integers(0, 2), min_size=1, max_size=2), st.integers(0, 999))
def test_noise_in_calbench_never_makes_another_submit_an_invalid_batch(noisy: set[int], seed: int) -> None:
    task = drawn(["..1B2.", ".B.12.", "B..1.2"], [(1, 0, 2), (2, 0), (0, 1)])
    noise = NoiseStrategy.of(CalBench(), quiet=0.1, messages=6)
    trace = play_calbench(task, [noise() if seat in noisy else Imap() for seat in range(3)], seed=seed)
    assert at_fault(trace) <= noisy


def test_it_keeps_what_the_framework_asks_of_a_strategy() -> None:
    check_strategy(Imap, Booths).raise_if_failed()
