"""SD-MAP: what it agrees on, what it says, how it bumps and repairs, and what it does with noise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from framework import Action, AgreementView
from framework.testing import NoiseStrategy, check_strategy
from framework.trace import BatchRejected, DecideEnd
from games.calbench import CalBench
from games.calbench.events import ConsistencyViolation
from protocols.sdmap import SdMap, SdMapCareful, SdMapParams
from tests.calbench.builders import scenario
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
    trace = play_calbench(scenario, SdMap)
    assert outcome(trace, scenario) == Outcome((1, 3, 2, 5, 6), (3, 2, 2, 3, 1), (20, 9, 11, 7, 7))


@needs_reference
@pytest.mark.parametrize("setting", ["uniform", "varied"])
def test_it_does_what_the_reference_did_on_every_task(setting: str) -> None:
    differing = [
        task.scenario.task_id
        for task in reference(setting)
        if outcome(play_calbench(task.scenario, SdMap), task.scenario) != task.outcomes["sd-map"]
    ]
    assert differing == []


marks = st.text(alphabet="..123#", min_size=6, max_size=6)


@settings(max_examples=40, deadline=None)
@given(st.lists(marks, min_size=3, max_size=3), st.permutations([0, 1, 2]))
def test_it_agrees_on_the_first_option_that_nobody_rules_out_in_as_many_messages_as_the_paper_counts(
    booths: list[str], speakers: list[int]
) -> None:
    can = [{booth for booth, mark in enumerate(text) if mark != "#"} for text in booths]
    common = sorted(set.intersection(*can))
    tried = [booth for booth in sorted(can[0]) if not common or booth <= common[0]]
    trace = play_booths(Fair(booths=tuple(booths), groups=(tuple(speakers),)), SdMap)
    counts = kinds(trace, 0)
    assert counts["propose"] == counts["reply"] == 2 * len(tried)
    assert counts["confirm"] + counts["fail"] == 2
    assert len(trace.posts) == 2 * 2 * len(tried) + 2
    landed = bool(common) and all(text[common[0]] == "." or "." in text for text in booths)
    assert trace.final_state["agreed"] == [common[0] if landed else None]


def test_messages_say_nothing_but_feasibility() -> None:
    for payload in said(play_calbench(drawn(*UNIFORM_0), SdMap)):
        assert set(payload) - {"round", "sender", "to"} <= {"kind", "agreement", "option", "status"}
        assert payload.get("status", "PENDING") in ("PENDING", "IMPOSSIBLE")


def test_a_confirmation_in_the_last_sweep_counts_for_those_who_have_spoken() -> None:
    fair = Fair(booths=("..", ".."), groups=((1, 0),))
    trace = play_booths(fair, SdMap, sweeps=2)
    assert [payload["kind"] for payload in said(trace)] == ["propose", "reply", "confirm"]
    assert trace.final_state["agreed"] == [0]


def test_without_an_agreement_it_submits_nothing_and_does_not_guess() -> None:
    trace = play_booths(Fair(booths=("#1.", ".#.", "..#"), groups=((0, 1, 2),)), SdMap)
    assert kinds(trace, 0)["fail"] == 2
    assert all(not event.actions for event in trace.of(DecideEnd))


def test_the_plain_protocol_promises_an_option_from_which_nothing_can_give_way_and_the_careful_one_does_not() -> None:
    fair = Fair(booths=("..", "1#"), groups=((0, 1),))
    plain, careful = play_booths(fair, SdMap), play_booths(fair, SdMapCareful)
    assert kinds(plain, 0) == {"propose": 1, "reply": 1, "confirm": 1}
    assert kinds(careful, 0) == {"propose": 2, "reply": 2, "fail": 1}
    assert plain.final_state["booths"] == ["a.", "1#"]
    assert careful.final_state["booths"] == ["..", "1#"]
    assert not list(plain.of(BatchRejected))


# --- bumping and repair -----------------------------------------------------------------------------

PAIR_THEN_TRIO = Fair(booths=("..###", "...##", ".####", ".####", "....."), groups=((0, 1), (0, 2, 3), (0, 4)))


def test_an_agreement_with_fewer_others_gives_way_and_ties_keep_it() -> None:
    trace = play_booths(PAIR_THEN_TRIO, SdMap)
    assert trace.final_state["agreed"] == [1, 0, None]
    pairs = Fair(booths=("..###", "...##", ".####"), groups=((0, 1), (0, 2)))
    assert play_booths(pairs, SdMap).final_state["agreed"] == [0, None]


@pytest.mark.parametrize(
    ("sd_model", "bumped"),
    [({}, False), ({2: 2.0}, True), ({1: 2.0, 2: 2.0}, False), ({1: 0.5}, True), ({0: 9.0}, False)],
)
def test_the_difficulty_model_weighs_the_other_parties_and_not_the_seat_itself(
    sd_model: dict[int, float], bumped: bool
) -> None:
    pairs = Fair(booths=("..###", "...##", ".####"), groups=((0, 1), (0, 2)))
    trace = play_booths(pairs, lambda: SdMapCareful(sd_model=sd_model))
    assert trace.final_state["agreed"] == ([1, 0] if bumped else [0, None])


def test_the_difficulty_model_reads_from_a_configuration_with_text_keys() -> None:
    assert SdMapParams.model_validate({"sd_model": {"2": 2}}).sd_model == {2: 2.0}
    with pytest.raises(ValueError, match="greater than or equal to 0"):
        SdMapParams.model_validate({"sd_model": {"2": -1}})


def test_a_bump_is_repaired_in_the_talk_of_the_next_round_and_counts_as_the_paper_says() -> None:
    trace = play_booths(PAIR_THEN_TRIO, SdMap)
    repair = ["propose_reschedule", "reschedule_reply", "confirm_reschedule"]
    assert not set(kinds(trace, 1)) & set(repair)
    # Seat 0 leads the bumped agreement itself, so nobody has to ask.
    assert [kinds(trace, 2)[kind] for kind in repair] == [1, 1, 1]
    assert kinds(trace, 2)["reschedule_request"] == 0


def test_who_does_not_lead_the_bumped_agreement_asks_and_non_parties_move_in_their_own_phase() -> None:
    fair = Fair(booths=("...##", "..###", ".####", ".####", "....."), groups=((0, 1), (1, 2, 3), (1, 4)))
    trace = play_booths(fair, SdMap)
    assert trace.final_state["agreed"] == [1, 0, None]
    repair = [payload["kind"] for payload in said(trace) if "reschedule" in str(payload["kind"])]
    assert repair == ["reschedule_request", "propose_reschedule", "reschedule_reply", "confirm_reschedule"]
    booths: Any = trace.final_state["booths"]
    assert booths[0] == ".a.##"
    assert [event.seat for event in trace.of(DecideEnd) if event.round == 2 and event.phase == "favours"] == [0]


def test_a_repair_and_the_new_agreement_never_promise_the_same_option_and_a_repair_is_made_once() -> None:
    fair = Fair(booths=("....", "#...", "#.##", "#.##", "...."), groups=((0, 1), (0, 2, 3), (0, 4), (0, 4)))
    trace = play_booths(fair, SdMap)
    assert trace.final_state["agreed"] == [3, 1, 2, 0]
    assert kinds(trace, 2)["confirm_reschedule"] == 1
    assert not any("reschedule" in str(kind) for kind in kinds(trace, 3))


def test_an_unrepaired_bump_leaves_the_agreement_where_it_was() -> None:
    fair = Fair(booths=("..###", ".####", ".####", ".####", "....."), groups=((0, 1), (0, 2, 3), (0, 4)))
    plain, careful = play_booths(fair, SdMap), play_booths(fair, SdMapCareful)
    assert kinds(plain, 2)["fail_reschedule"] == 1
    assert plain.final_state["agreed"] == [None, 0, None]
    assert kinds(careful, 1)["fail_reschedule"] == 1
    # What gives way in the round is kept: the new agreement is the one that does not come about.
    assert careful.final_state["agreed"] == [0, None, 1]


class Absent(SdMap):
    """Promises, but does not come to the second agreement."""

    def decide(self, view: AgreementView) -> Sequence[Action]:
        return () if view.id == 2 else super().decide(view)


def test_a_repair_ends_where_it_began_when_what_it_was_bumped_for_came_to_nothing() -> None:
    task = scenario(["....", ".###", "....", "....", "#..."], [(0, 1), (0, 2, 3), (0, 4)])
    trace = play_calbench(task, [SdMap(), SdMap(), Absent(), SdMap(), SdMap()])
    repair = [payload for payload in said(trace) if "reschedule" in str(payload["kind"])]
    assert (repair[-1]["kind"], repair[-1]["option"]) == ("confirm_reschedule", 0)
    calendars: Any = trace.final_state["calendars"]
    assert [calendar[0] and calendar[0].get("meeting_id") for calendar in calendars[:2]] == [1, 1]


@pytest.mark.parametrize(("make", "violations", "scheduled"), [(SdMap, 1, 1), (SdMapCareful, 0, 2)])
def test_in_calbench_only_a_repair_in_the_same_round_saves_the_bumped_meeting(
    make: type[SdMap], violations: int, scheduled: int
) -> None:
    task = scenario(["..##", "....", ".1##", ".###"], [(0, 1), (0, 2, 3)])
    trace = play_calbench(task, make)
    assert len(list(trace.of(ConsistencyViolation))) == violations
    slots: Any = trace.final_state["slot_by_meeting"]
    assert len(slots) == scheduled


def test_repairs_send_as_many_messages_as_the_paper_counts() -> None:
    # Agreement 0 of seats 0, 1 and 2 gives way to that of 1, 2, 3 and 4; seats 1 and 2 both ask for its repair.
    fair = Fair(booths=("..1.#", ".#...", ".....", ".####", ".####"), groups=((0, 1, 2), (1, 2, 3, 4)))
    trace = play_booths(fair, SdMapCareful)
    counts = kinds(trace, 1)
    assert trace.final_state["agreed"] == [2, 0]
    tried = 2  # options 1, which is closed to seat 1, and 2
    assert counts["reschedule_request"] == 2
    assert counts["propose_reschedule"] == counts["reschedule_reply"] == 2 * tried
    assert counts["confirm_reschedule"] == 2
    assert len([payload for payload in said(trace) if payload["round"] == 1]) == (2 * 3 + 3) + 2 + (2 * 2 * tried + 2)


# --- noise ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("let us meet", "Invalid JSON"),
        ('{"kind":"costs","agreement":0,"costs":[1]}', "'costs' found"),
        ('{"kind":"propose","agreement":0,"option":0,"label":"dentist"}', "Extra inputs"),
        ('{"kind":"propose","agreement":7,"option":0}', "agreement 7 is not one that"),
        ('{"kind":"propose","agreement":0,"option":1}', "only the initiator sends propose"),
        ('{"kind":"confirm","agreement":0,"option":2}', "only the initiator sends confirm"),
        ('{"kind":"reply","agreement":0,"option":3,"status":"PENDING"}', "this reply is not awaited"),
        ('{"kind":"fail_reschedule","agreement":0}', "agreement 0 is not one that"),
    ],
)
def test_a_forged_or_broken_message_is_ignored_and_noted(content: str, why: str) -> None:
    fair = Fair(booths=(".1..", "....", "...."), groups=((0, 1),))
    quiet = play_booths(fair, [SdMap(), SdMap(), Heckler([])])
    # The heckler is no party; it is heard only if somebody speaks to it, so it takes a party's seat in a second fair.
    loud = play_booths(Fair(booths=fair.booths, groups=((2, 0, 1),)), [SdMap(), SdMap(), Heckler([content])])
    assert any(why in note for note in notes(loud)), notes(loud)
    assert quiet.final_state["agreed"] == [0]
    assert loud.final_state["agreed"] == [None]


def test_an_initiator_that_contradicts_itself_is_held_to_the_first_outcome() -> None:
    script = [
        '{"kind":"propose","agreement":0,"option":2}',
        '{"kind":"propose","agreement":0,"option":9}',
        '{"kind":"propose","agreement":0,"option":2}',
        '{"kind":"confirm","agreement":0,"option":1}',
        '{"kind":"confirm","agreement":0,"option":2}',
        '{"kind":"fail","agreement":0}',
    ]
    trace = play_booths(Fair(booths=("...", "..."), groups=((0, 1),)), [Heckler(script), SdMap()])
    assert trace.final_state["booths"] == ["...", "..a"]
    assert notes(trace)[:4] == [
        "there is no option 9",
        "it was proposed before",
        "this seat has not answered PENDING to option 1 last",
        "the outcome was announced before",
    ]


def test_the_first_reply_counts() -> None:
    script = [
        '{"kind":"reply","agreement":0,"option":0,"status":"PENDING"}',
        '{"kind":"reply","agreement":0,"option":0,"status":"IMPOSSIBLE"}',
    ]
    trace = play_booths(Fair(booths=("..", ".."), groups=((0, 1),)), [SdMap(), Heckler(script)])
    assert trace.final_state["booths"] == ["a.", ".."]


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.text(alphabet="..12#", min_size=5, max_size=5), min_size=4, max_size=4),
    st.sets(st.integers(0, 3), min_size=1, max_size=3),
    st.sampled_from([SdMap, SdMapCareful]),
    st.integers(0, 10**6),
)
def test_noise_in_some_seats_never_makes_another_submit_an_invalid_batch(
    booths: list[str], noisy: set[int], make: type[SdMap], seed: int
) -> None:
    fair = Fair(booths=tuple(booths), groups=((0, 1), (2, 0, 3), (1, 3, 2), (3, 0), (1, 0, 2, 3)))
    noise = NoiseStrategy.of(Booths(), quiet=0.1, messages=6)
    trace = play_booths(fair, [noise() if seat in noisy else make() for seat in range(4)], seed=seed)
    assert at_fault(trace) <= noisy


@settings(max_examples=10, deadline=None)
@given(st.sets(st.integers(0, 4), min_size=1, max_size=4), st.sampled_from([SdMap, SdMapCareful]), st.integers(0, 999))
def test_noise_in_calbench_never_makes_another_submit_an_invalid_batch(
    noisy: set[int], make: type[SdMap], seed: int
) -> None:
    noise = NoiseStrategy.of(CalBench(), quiet=0.1, messages=6)
    seats = [noise() if seat in noisy else make(sd_model={seed % 5: 0.5}) for seat in range(5)]
    trace = play_calbench(drawn(*UNIFORM_0), seats, seed=seed)
    assert at_fault(trace) <= noisy


@pytest.mark.parametrize("make", [SdMap, SdMapCareful])
def test_it_keeps_what_the_framework_asks_of_a_strategy(make: type[SdMap]) -> None:
    check_strategy(make, Booths).raise_if_failed()
