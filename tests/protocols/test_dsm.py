"""DSM: what it agrees on, what it offers to whom, its points, and what it does with noise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from framework import Trace
from framework.testing import NoiseStrategy, check_strategy
from framework.trace import DecideEnd, InvalidAction, Note
from games.calbench import CalBench
from protocols.dsm import Dsm, DsmPrivate, DsmWelfare
from tests.protocols.booths import Booths, Fair, play_booths
from tests.protocols.overhearing import Heckler, at_fault, kinds, notes, said
from tests.protocols.reference import Outcome, drawn, needs_reference, outcome, play_calbench, reference

UNIFORM_0 = (
    ["11.1B1.111BBB1.1", "B.B1.11.1B1B1BB1", "BB1.1111111.B.B1", "BBB1B11B1.11..B1", "B..11111.1...B11"],
    [(1, 0, 4), (2, 1, 3), (4, 0, 2), (0, 1, 3), (3, 2, 4)],
)


# --- what it agrees on ------------------------------------------------------------------------------


def test_a_known_task_gives_the_known_slots_costs_and_messages() -> None:
    scenario = drawn(*UNIFORM_0, setting="uniform")
    trace = play_calbench(scenario, DsmWelfare)
    assert outcome(trace, scenario) == Outcome((1, 3, 2, 5, 8), (3, 2, 2, 3, 0), (17, 10, 9, 3, 5))


@needs_reference
@pytest.mark.parametrize("setting", ["uniform", "varied"])
def test_welfare_does_what_the_reference_did_on_every_task(setting: str) -> None:
    differing = [
        task.scenario.task_id
        for task in reference(setting)
        if outcome(play_calbench(task.scenario, DsmWelfare), task.scenario) != task.outcomes["dsm-welfare"]
    ]
    assert differing == []


@needs_reference
@pytest.mark.parametrize("setting", ["uniform", "varied"])
def test_private_agrees_with_the_reference_until_the_first_meeting_without_an_agreement(setting: str) -> None:
    compared = 0
    for task in reference(setting):
        ours = outcome(play_calbench(task.scenario, DsmPrivate), task.scenario)
        theirs = task.outcomes["dsm-private"]
        until = ours.slots.index(None) + 1 if None in ours.slots else len(ours.slots)
        assert ours.slots[:until] == theirs.slots[:until], task.scenario.task_id
        assert ours.messages == theirs.messages
        compared += until
    assert compared > 90


marks = st.text(alphabet="..123#", min_size=6, max_size=6)


def obvious(booths: Sequence[str], size: int) -> tuple[int | None, int]:
    """The booth that offer sets of one size lead to in a round of fresh seats, and how many sets it takes."""
    costs = [
        [None if mark == "#" or (mark != "." and "." not in text) else int(mark.replace(".", "0")) for mark in text]
        for text in booths
    ]
    order = sorted((cost, booth) for booth, cost in enumerate(costs[0]) if cost is not None)
    sets = [order[start : start + size] for start in range(0, len(order), size)]
    for number, offers in enumerate(sets, start=1):
        totals = []
        for _, booth in offers:
            column = [row[booth] for row in costs]
            if None not in column:
                totals.append((sum(cost or 0 for cost in column), booth))
        if totals:
            return min(totals)[1], number
    return None, len(sets)


@settings(max_examples=60, deadline=None)
@given(st.lists(marks, min_size=3, max_size=3), st.permutations([0, 1, 2]), st.integers(1, 6))
def test_it_takes_the_cheapest_offer_of_the_first_set_that_suits_everyone_in_as_many_messages_as_the_paper_counts(
    booths: list[str], speakers: list[int], size: int
) -> None:
    agreed, sets = obvious(booths, size)
    fair = Fair(booths=tuple(booths), groups=(tuple(speakers),))
    trace = play_booths(fair, lambda: Dsm(L_min=size, L_max=size))
    assert trace.final_state["agreed"] == [agreed]
    assert kinds(trace, 0) == Counter(proposals=2 * sets, scores=2 * sets, decision=2)


def test_the_private_preset_makes_one_offer_set_and_then_gives_up() -> None:
    fair = Fair(booths=("..1", "#..", "..."), groups=((0, 1, 2),))
    trace = play_booths(fair, DsmPrivate)
    assert kinds(trace, 0) == {"proposals": 2, "scores": 2, "decision": 2}
    assert [payload["plan"] for payload in said(trace) if payload["kind"] == "decision"] == [None, None]
    assert trace.final_state["booths"] == list(fair.booths)
    assert all(not event.actions for event in trace.of(DecideEnd))


def test_a_decision_in_the_last_sweep_counts_for_those_who_have_spoken() -> None:
    trace = play_booths(Fair(booths=("..", ".."), groups=((1, 0),)), Dsm, sweeps=2)
    assert trace.final_state["agreed"] == [0]


# --- displacement -----------------------------------------------------------------------------------

BUMP = Fair(booths=("..##", "..##", ".###"), groups=((0, 1), (0, 2)))
CASCADE = Fair(booths=("...", "..#", "#..", ".##"), groups=((0, 1), (0, 2), (0, 3)))


def plans_to(trace: Trace, seat: int, round: int) -> list[Any]:
    proposals = [p for p in said(trace) if p["kind"] == "proposals" and p["to"] == seat and p["round"] == round]
    return [plan for proposal in proposals for plan in proposal["plans"]]  # type: ignore[attr-defined]


def test_an_earlier_agreement_moves_with_the_consent_of_its_parties() -> None:
    trace = play_booths(BUMP, Dsm)
    assert trace.final_state["agreed"] == [1, 0]
    assert trace.final_state["paid"] == [1, 1, 0]
    moved = [event for event in trace.of(DecideEnd) if event.phase == "favours" and event.actions]
    assert [event.seat for event in moved] == [1]


def test_an_earlier_agreement_stays_where_one_of_its_parties_cannot_follow() -> None:
    fair = Fair(booths=("..##", ".###", ".###"), groups=BUMP.groups)
    assert play_booths(fair, Dsm).final_state["agreed"] == [0, None]


def test_a_plan_gains_nothing_by_being_scored_by_more_seats() -> None:
    # To take option 1 costs 1 in all; to move the first agreement out of option 0 costs 2, shared by two.
    fair = Fair(booths=("..", "..", ".1"), groups=((0, 1), (0, 2)))
    for need_to_know in (False, True):
        make = partial(Dsm, need_to_know=need_to_know)
        assert play_booths(fair, make).final_state["agreed"] == [0, 1]


def test_a_displacement_that_needs_someone_out_of_reach_is_not_offered() -> None:
    fair = Fair(booths=("...", "...", "...", "1.#"), groups=((0, 1, 2), (1, 3)))
    trace = play_booths(fair, Dsm, edges=((0, 1), (0, 2), (1, 3)))
    assert trace.final_state["agreed"] == [0, 1]
    assert not list(trace.of(InvalidAction))


@pytest.mark.parametrize(("targets", "depth", "ways"), [(9, 2, 4), (3, 2, 3), (2, 2, 2), (9, 1, 2), (9, 3, 4)])
def test_as_many_ways_to_displace_are_offered_as_are_considered(targets: int, depth: int, ways: int) -> None:
    # In the last round seat 0 has two options free, and an agreement in option 1 that could move to either.
    fair = Fair(booths=("....", "....", "#...", ".###"), groups=((0, 1), (0, 2), (0, 3)))
    trace = play_booths(fair, lambda: Dsm(L_min=30, L_max=30, displacement_targets=targets, cascade_depth=depth))
    offered = [plan for plan in plans_to(trace, 1, 2) if plan["option"] == 0]
    assert len(offered) == ways
    assert {plan["displacements"][0]["option"] for plan in offered} == ({2, 3} if ways == 2 else {1, 2, 3})


def test_without_cascades_nothing_is_displaced() -> None:
    assert play_booths(BUMP, lambda: Dsm(cascade_depth=0)).final_state["agreed"] == [0, None]
    assert play_booths(BUMP, lambda: Dsm(displacement_targets=0)).final_state["agreed"] == [0, None]


def test_a_cascade_of_two_moves_both_agreements() -> None:
    assert play_booths(CASCADE, Dsm).final_state["agreed"] == [1, 2, 0]
    assert play_booths(CASCADE, lambda: Dsm(cascade_depth=1)).final_state["agreed"] == [0, 1, None]


def test_a_recipient_sees_only_the_displacements_of_agreements_that_it_is_in() -> None:
    trace = play_booths(CASCADE, Dsm)
    for seat, its_own in ((1, {0}), (2, {1}), (3, set())):
        plans = plans_to(trace, seat, 2)
        assert {shown["agreement"] for plan in plans for shown in plan["displacements"]} == its_own
        assert {plan["option"] for plan in plans} == {0, 1, 2}


def test_who_is_no_party_can_be_shown_only_what_it_has_to_score() -> None:
    trace = play_booths(CASCADE, lambda: Dsm(need_to_know=True))
    assert trace.final_state["agreed"] == [1, 2, 0]
    for seat in (1, 2):
        plans = plans_to(trace, seat, 2)
        assert plans
        assert all(plan["option"] is None and plan["displacements"] for plan in plans)
    assert all(plan["option"] is not None for plan in plans_to(trace, 3, 2))


@pytest.mark.parametrize("need_to_know", [False, True])
def test_displacements_send_as_many_messages_as_the_paper_counts(need_to_know: bool) -> None:
    trace = play_booths(CASCADE, lambda: Dsm(need_to_know=need_to_know))
    # One party answers, seats 1 and 2 answer for what would move, and all three are told of the chosen plan.
    assert kinds(trace, 2) == {"proposals": 3, "scores": 3, "decision": 3}
    assert kinds(trace, 1) == {"proposals": 2, "scores": 2, "decision": 1}


# --- points -----------------------------------------------------------------------------------------


def balances(trace: Trace, seats: int, initial: int, rounds: int) -> list[list[int]]:
    """Each seat's points after each round."""
    now, after = [initial] * seats, []
    for round in range(rounds):
        for note in trace.of(Note):
            if note.kind == "points" and note.round == round and note.seat is not None:
                assert isinstance(note.data["balance"], int)
                now[note.seat] = note.data["balance"]
        after.append(list(now))
    return after


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.text(alphabet="..12#", min_size=5, max_size=5), min_size=4, max_size=4),
    st.integers(1, 5),
    st.sampled_from([0, 3, 100]),
    st.booleans(),
)
def test_points_are_conserved_and_never_negative(
    booths: list[str], size: int, initial: int, need_to_know: bool
) -> None:
    groups = ((0, 1), (2, 0, 3), (1, 3, 2), (3, 0), (1, 0, 2, 3))
    fair = Fair(booths=tuple(booths), groups=groups)
    trace = play_booths(fair, lambda: Dsm(L_max=size, initial_points=initial, need_to_know=need_to_know))
    after = balances(trace, 4, initial, len(groups))
    assert [sum(points) for points in after] == [4 * initial] * len(groups)
    assert min(min(points) for points in after) >= 0


def test_points_are_conserved_in_calbench() -> None:
    after = balances(play_calbench(drawn(*UNIFORM_0), DsmWelfare), 5, 100, 5)
    assert {sum(points) for points in after} == {500}
    assert after[-1] != [100] * 5


def test_a_responder_pays_for_its_scores_and_is_rewarded_for_the_chosen_one() -> None:
    trace = play_booths(Fair(booths=("...", "213."), groups=((0, 1),)), Dsm)
    # Seat 1 scores 9, 10 and 8 and pays 2 + 1 + 3; option 1 is taken, and R = (11 - 10) + (min(3, 3) - 1).
    assert trace.final_state["agreed"] == [1]
    assert balances(trace, 2, 100, 1) == [[103, 97]]


# --- noise ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("let us meet", "Invalid JSON"),
        ('{"kind":"propose","agreement":0,"option":1}', "'propose' found"),
        ('{"kind":"proposals","agreement":0,"plans":[{"id":0,"option":0}]}', "only the initiator sends proposals"),
        ('{"kind":"decision","agreement":0,"plan":0,"option":0}', "only the initiator sends decision"),
        ('{"kind":"scores","agreement":7,"scores":{},"points":0}', "it is about agreement 7"),
        ('{"kind":"scores","agreement":0,"scores":{"0":11},"points":0}', "they are not about the plans"),
        ('{"kind":"scores","agreement":0,"scores":{"0":12,"1":1},"points":0}', "a score is not among 0 to 11"),
        ('{"kind":"scores","agreement":0,"scores":{"0":10,"1":11},"points":2}', "it pays 2 points where 1 are due"),
        ('{"kind":"scores","agreement":0,"scores":{"0":10,"1":11},"points":-1}', "greater than or equal to 0"),
    ],
)
def test_a_forged_or_broken_message_is_ignored_and_noted(content: str, why: str) -> None:
    trace = play_booths(Fair(booths=("..", "..", ".."), groups=((0, 2, 1),)), [Dsm(), Dsm(), Heckler([content])])
    assert any(why in note for note in notes(trace)), notes(trace)
    assert trace.final_state["agreed"] == [None]


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ('{"kind":"proposals","agreement":0,"plans":[{"id":0,"option":9}]}', "there is no option 9"),
        ('{"kind":"proposals","agreement":0,"plans":[{"id":0,"option":null}]}', "plan 0 is not for this seat"),
        (
            '{"kind":"proposals","agreement":0,"plans":[{"id":0,"option":1},{"id":0,"option":2}]}',
            "it repeats a plan",
        ),
        (
            '{"kind":"proposals","agreement":0,"plans":[{"id":0,"option":1,"displacements":[{"agreement":5,"option":0}]}]}',
            "agreement 5 is not one that its sender and its reader have",
        ),
        ('{"kind":"decision","agreement":0,"plan":0,"option":0}', "plan 0 is not one that this seat was offered"),
        ('{"kind":"decision","agreement":0,"plan":null,"option":2}', "without a plan"),
    ],
)
def test_a_senseless_move_of_the_initiator_is_ignored_and_noted(script: str, why: str) -> None:
    trace = play_booths(Fair(booths=("...", "..."), groups=((0, 1),)), [Heckler([script]), Dsm()])
    assert why in notes(trace)[0]
    assert trace.final_state["booths"] == ["...", "..."]


def test_an_initiator_is_held_to_its_offers_and_to_the_first_decision() -> None:
    script = [
        '{"kind":"proposals","agreement":0,"plans":[{"id":0,"option":0},{"id":1,"option":2}]}',
        '{"kind":"decision","agreement":0,"plan":0,"option":0}',  # which seat 1 cannot
        '{"kind":"decision","agreement":0,"plan":1,"option":1}',  # which is not what was offered
        '{"kind":"decision","agreement":0,"plan":1,"option":2,"reward":50}',
        '{"kind":"decision","agreement":0,"plan":1,"option":2}',
        '{"kind":"decision","agreement":0,"plan":null,"option":null}',
    ]
    trace = play_booths(Fair(booths=("...", "#.."), groups=((0, 1),)), [Heckler(script), Dsm()])
    assert trace.final_state["booths"] == ["...", "#.a"]
    assert notes(trace)[:4] == [
        "plan 0 is not one that this seat was offered and can carry out",
        "plan 1 is not one that this seat was offered and can carry out",
        "it pays 50 points where 0 are due",
        "the decision was announced before",
    ]


def test_the_first_scores_count() -> None:
    script = [
        '{"kind":"scores","agreement":0,"scores":{"0":11,"1":0},"points":0}',
        '{"kind":"scores","agreement":0,"scores":{"0":0,"1":11},"points":0}',
    ]
    trace = play_booths(Fair(booths=("..", ".."), groups=((0, 1),)), [Dsm(), Heckler(script)])
    assert trace.final_state["booths"] == ["a.", ".."]


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.text(alphabet="..12#", min_size=5, max_size=5), min_size=4, max_size=4),
    st.sets(st.integers(0, 3), min_size=1, max_size=3),
    st.sampled_from([DsmWelfare, DsmPrivate]),
    st.booleans(),
    st.integers(0, 10**6),
)
def test_noise_in_some_seats_never_makes_another_submit_an_invalid_batch(
    booths: list[str], noisy: set[int], make: type[Dsm], need_to_know: bool, seed: int
) -> None:
    fair = Fair(booths=tuple(booths), groups=((0, 1), (2, 0, 3), (1, 3, 2), (3, 0), (1, 0, 2, 3)))
    noise = NoiseStrategy.of(Booths(), quiet=0.1, messages=6)
    seats = [noise() if seat in noisy else make(need_to_know=need_to_know) for seat in range(4)]
    trace = play_booths(fair, seats, seed=seed)
    assert at_fault(trace) <= noisy


@settings(max_examples=10, deadline=None)
@given(
    st.sets(st.integers(0, 4), min_size=1, max_size=4), st.sampled_from([DsmWelfare, DsmPrivate]), st.integers(0, 999)
)
def test_noise_in_calbench_never_makes_another_submit_an_invalid_batch(
    noisy: set[int], make: type[Dsm], seed: int
) -> None:
    noise = NoiseStrategy.of(CalBench(), quiet=0.1, messages=6)
    seats = [noise() if seat in noisy else make() for seat in range(5)]
    trace = play_calbench(drawn(*UNIFORM_0), seats, seed=seed)
    assert at_fault(trace) <= noisy


@pytest.mark.parametrize("make", [DsmWelfare, DsmPrivate])
def test_it_keeps_what_the_framework_asks_of_a_strategy(make: type[Dsm]) -> None:
    check_strategy(make, Booths).raise_if_failed()
