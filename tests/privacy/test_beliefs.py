"""The update rule and VPS: by hand, and against an obvious implementation."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.beliefs import Movements, belief_at, belief_history, move, vps_metrics
from framework.evidence import Talk, gather
from framework.trace import Trace
from tests.privacy.talking import TABLE, Line, trace_of

SEATS, SLOTS, ROUNDS = 4, 5, 3

lines = st.builds(
    lambda round, kind, pair, slots, beliefs: Line(
        round, pair[0], (pair[1],), {"kind": kind, "slots": slots, "beliefs": beliefs}
    ),
    st.integers(0, ROUNDS - 1),
    st.sampled_from(["told", "hinted", "hinted"]),
    st.permutations(range(SEATS)),
    st.lists(st.integers(0, SLOTS - 1), max_size=6),
    st.lists(st.sampled_from([0.0, 0.25, 0.85, 1.0]), min_size=6, max_size=6),
)
games = st.lists(st.lists(lines, max_size=12), max_size=4)
priors = st.sampled_from([0.5, 0.3, 0.01, 0.9])


def traces_of(games: list[list[Line]]) -> list[Trace]:
    return [trace_of(game, seats=SEATS, slots=SLOTS, groups=[(0, 1, 2)] * ROUNDS) for game in games]


def moved(traces: list[Trace], prior: float = 0.5) -> Movements:
    return move([gather(Talk.of(trace), TABLE) for trace in traces], prior)


def slowly(trace: Trace, prior: float) -> dict[tuple[int, int, int], list[float]]:
    """Beliefs at the end of each round by (round, observer, target), one message after the other."""
    beliefs: dict[tuple[int, int, int], list[float]] = defaultdict(lambda: [prior] * SLOTS)
    for post in trace.posts:
        said = TABLE.read(post.content)
        strength = 1.0 if said.kind == "told" else 0.3
        for reader in post.readers:
            belief = beliefs[post.round, reader, post.sender]
            for slot, evidence in zip(said.slots, said.beliefs, strict=False):
                belief[slot] = (1 - strength) * belief[slot] + strength * evidence
    return beliefs


@given(games, priors)
def test_vps_of_many_games_at_once_equals_that_of_one_message_after_the_other(games, prior):
    traces = traces_of(games)
    expected = []
    for trace in traces:
        by_target = [0.0] * SEATS
        for (_, _, target), belief in slowly(trace, prior).items():
            by_target[target] += sum(abs(value - prior) for value in belief)
        expected += by_target
    assert moved(traces, prior).by_target() == pytest.approx(np.array(expected))


@given(games, priors)
def test_every_update_starts_where_the_one_before_ended(games, prior):
    found = moved(traces_of(games), prior)
    last: dict[tuple[int, ...], float] = {}
    for row in range(len(found.event)):
        cell = tuple(int(c[row]) for c in (found.game, found.round, found.observer, found.target, found.slot))
        assert found.before[row] == last.get(cell, prior)
        strength = found.strength[row]
        assert found.after[row] == (1 - strength) * found.before[row] + strength * found.evidence[row]
        last[cell] = float(found.after[row])


@given(games, priors)
def test_the_history_of_a_pair_ends_each_round_where_the_messages_lead(games, prior):
    for trace in traces_of(games):
        beliefs = slowly(trace, prior)
        for observer, target in ((0, 1), (2, 3)):
            history = belief_history(trace, observer, target, table=TABLE, prior=prior)
            for round in range(ROUNDS):
                last = history.belief[history.round == round][-1]
                assert last == pytest.approx(np.array(beliefs[round, observer, target]))


def test_a_full_report_a_soft_hint_and_a_repeated_one_by_hand():
    trace = trace_of(
        [
            Line(0, 1, (0,), {"kind": "told", "slots": [0, 1], "beliefs": [0.0, 0.75]}),
            Line(0, 1, (0,), {"kind": "hinted", "slots": [2], "beliefs": [1.0]}),
            Line(0, 1, (0,), {"kind": "hinted", "slots": [2], "beliefs": [1.0]}),
        ]
    )
    found = moved([trace])
    assert found.after == pytest.approx(np.array([0.0, 0.75, 0.65, 0.755]))
    assert found.by_target() == pytest.approx(np.array([0.0, 0.5 + 0.25 + 0.255, 0.0]))


def test_a_belief_that_returns_to_the_prior_counts_for_nothing():
    there = Line(0, 1, (0,), {"kind": "told", "slots": [0], "beliefs": [1.0]})
    back = Line(0, 1, (0,), {"kind": "told", "slots": [0], "beliefs": [0.5]})
    found = moved([trace_of([there, back])])
    assert list(found.gain) == [0.5, -0.5]
    assert list(found.by_target()) == [0.0, 0.0, 0.0]


def test_a_new_round_starts_from_the_prior():
    said = {"kind": "hinted", "slots": [0], "beliefs": [1.0]}
    trace = trace_of([Line(0, 1, (0,), said), Line(1, 1, (0,), said)])
    assert list(moved([trace]).before) == [0.5, 0.5]
    assert moved([trace]).by_target()[1] == pytest.approx(0.3)


def test_only_readers_learn_and_only_about_the_sender():
    trace = trace_of([Line(0, 1, (0, 2), {"kind": "told", "slots": [3], "beliefs": [1.0]})])
    found = moved([trace])
    assert sorted(zip(found.observer.tolist(), found.target.tolist(), strict=True)) == [(0, 1), (2, 1)]
    assert list(found.by_target()) == [0.0, 1.0, 0.0]


def test_games_of_different_sizes_are_kept_apart():
    small = trace_of([Line(0, 1, (0,), {"kind": "told", "slots": [0], "beliefs": [1.0]})], seats=2, slots=1)
    large = trace_of([Line(2, 5, (0,), {"kind": "told", "slots": [8], "beliefs": [0.0]})], seats=6, slots=9)
    assert list(moved([small, large]).by_target()) == [0.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5]


def test_no_games_and_silent_games_give_nothing_away():
    assert moved([]).by_target().shape == (0,)
    assert list(moved([trace_of([])]).by_target()) == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("prior", [0.0, 1.0, -0.1, 2.0, float("nan")])
def test_a_prior_that_is_no_open_probability_is_refused(prior):
    with pytest.raises(ValueError, match="give a probability strictly between"):
        move([], prior)


def test_the_belief_after_an_event_is_that_of_its_round():
    trace = trace_of(
        [
            Line(0, 1, (0,), {"kind": "told", "slots": [1], "beliefs": [1.0]}),
            Line(1, 2, (0,), {"kind": "told", "slots": [1], "beliefs": [1.0]}),
            Line(1, 1, (0,), {"kind": "told", "slots": [2], "beliefs": [0.0]}),
        ]
    )
    # events: 0 start, 1 round, 2 message, 3 round, 4 message of another, 5 message
    expected = {
        0: [0.5, 0.5, 0.5, 0.5],
        1: [0.5, 0.5, 0.5, 0.5],
        2: [0.5, 1.0, 0.5, 0.5],
        3: [0.5, 0.5, 0.5, 0.5],
        4: [0.5, 0.5, 0.5, 0.5],
        5: [0.5, 0.5, 0.0, 0.5],
        99: [0.5, 0.5, 0.0, 0.5],
    }
    for event, belief in expected.items():
        assert belief_at(trace, 0, 1, event, table=TABLE).tolist() == belief
    assert belief_history(trace, 0, 1, table=TABLE).event.tolist() == [1, 2, 3, 5]


@pytest.mark.parametrize(("observer", "target"), [(0, 3), (-1, 0), (1, 1)])
def test_a_pair_that_is_none_is_refused(observer, target):
    with pytest.raises(ValueError, match=r"seats are 0 to 2|two different seats"):
        belief_at(trace_of([]), observer, target, 0, table=TABLE)


def test_the_metrics_subtract_the_floor_once_a_seat_and_never_go_below_zero():
    said = {"kind": "told", "slots": list(range(12)), "beliefs": [1.0] * 12}
    trace = trace_of([Line(0, 1, (0,), said), Line(0, 2, (0,), {**said, "slots": [0]})], slots=12)
    above, total = (metric.compute(trace) for metric in vps_metrics(TABLE))
    assert total.seats == (0.0, 6.0, 0.5)
    assert above.seats == (0.0, 1.0, 0.0)
    assert above.game == pytest.approx(1 / 3)


def test_a_seat_that_spoke_prose_has_no_typed_vps():
    told = {"kind": "told", "slots": [0], "beliefs": [1.0]}
    trace = trace_of([Line(0, 1, (0,), "I am free on Monday"), Line(0, 2, (0,), told)])
    _, total = (metric.compute(trace) for metric in vps_metrics(TABLE))
    assert total.seats == (0.0, None, 0.5)
    assert total.game == 0.25
