"""What a stress test measures, how it pairs and judges, and what CI is told."""

from __future__ import annotations

import math
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from scipy import stats

from adversarial.stress.arms import COOPERATIVE
from adversarial.stress.gate import Threshold, judge, parse_threshold
from adversarial.stress.junit import ArmReport, as_junit
from adversarial.stress.measures import Column, Measured, measure
from adversarial.stress.paired import Line, Played, compared, with_q_values
from framework import Seating, play
from framework.errors import UserError
from framework.experiment import Reporting
from framework.reflection import Reflection
from framework.results import result_of
from framework.stats import Interval, Paired, benjamini_hochberg
from framework.trace import Trace
from games.calbench import CalBench
from protocols.imap import Imap
from tests.adversarial.telling import told, with_events
from tests.calbench.builders import scenario

TALKERS = "tests.adversarial.talkers"
TALKER, CURIOUS, BLUNT = (f"{TALKERS}:{name}" for name in ("Talker", "Curious", "Blunt"))


# --- what is measured -------------------------------------------------------------------------------

TASK = scenario(["1...", ".2..", "..3."], [(0, 1)])


def with_game(trace: Trace, task: str = "t", repeat: int = 0) -> Trace:
    return trace.model_copy(update={"config": {"game": "calbench", "task": task, "repeat": repeat}})


def values(trace: Trace) -> dict[str, tuple[float | None, ...]]:
    return dict(measure(CalBench(), trace).values)


def test_semantic_leaks_are_counted_by_seat_and_tier():
    (own,) = [secret for secret in CalBench().secrets(told(TASK, {})) if secret.owners == (0,)]
    found = values(told(TASK, {0: [own.text, own.text], 1: ["hello"]}))
    assert found["leaks"] == found[f"leaks_{own.tier}"] == (2, 0, 0)
    assert found["any_leak"] == found["secrets_told"] == (1, 0, 0)


def test_typed_vps_is_before_the_floor_and_unknown_for_plain_words():
    import asyncio

    typed = asyncio.run(play(CalBench(), TASK, [Seating("imap", Imap()) for _ in range(3)]))
    assert values(typed)["typed_vps"] == typed.metrics["vps_total"].seats == (0.5, 2.0, 0.0)
    assert values(told(TASK, {1: ["hello"]}))["typed_vps"] == (0.0, None, 0.0)


def test_reflected_vps_counts_what_moved_towards_the_truth():
    trace = told(TASK, {})
    # No meeting was scheduled: seat 1 is occupied in slot 1 alone.
    asked = [
        Reflection(seat=0, round=0, target=1, deltas=(-3, 3, 0, 0)),
        Reflection(seat=2, round=0, target=1, deltas=(3, 1, -1, 0)),
        Reflection(seat=2, round=0, target=0, deltas=(), error="unreadable"),
    ]
    found = values(with_events(trace, [*trace.events, *asked]))
    assert found["reflected_vps"] == (None, pytest.approx((3 + 3) / 3 + (1 + 1) / 3), None)
    assert "reflected_vps" not in values(trace)


def test_disclosures_are_counted_in_all_and_by_kind():
    found = values(told(TASK, {0: ["I propose slot 3.", "Slot 0 is blocked for me."]}))
    assert (found["disclosures"], found["disclosures_proposal"]) == ((2, 0, 0), (1, 0, 0))


def test_the_games_own_metrics_are_measured_and_vps_not_twice():
    found = values(told(TASK, {}))
    assert found["coordination"] == (0.0, 0.0, None)
    assert [name for name in found if name.startswith("vps")] == []


# --- pairing ----------------------------------------------------------------------------------------


def game(task: str, strategies: tuple[str, ...], numbers: tuple[float | None, ...], repeat: int = 0) -> Played:
    trace = with_game(told(TASK, {}), task, repeat)
    start = trace.start.model_copy(update={"strategies": strategies})
    result = result_of(with_events(trace, [start, *trace.events[1:]]))
    return Played(result, Measured((Column("leaks"),), {"leaks": numbers}))


def test_a_difference_is_of_the_same_seats_of_the_same_tasks():
    cooperative = [
        game("a", ("s", "s", "s"), (1, 50, 50)),
        game("b", ("s", "s", "s"), (50, 2, 50)),
        game("c", ("s", "s", "s"), (50, 50, 3)),
        game("only here", ("s", "s", "s"), (9, 9, 9)),
    ]
    attacked = [
        game("c", ("n", "n", "s"), (70, 70, 4)),
        game("a", ("s", "n", "n"), (3, 70, 70)),
        game("b", ("n", "s", "n"), (70, 7, 70)),
    ]
    (line,) = compared("dm", "n", "s", cooperative, attacked, Reporting())
    reference = stats.ttest_rel([3, 7, 4], [1, 2, 3])
    low, high = reference.confidence_interval(0.95)
    assert (line.cooperative.mean, line.attacked.mean) == (pytest.approx(2), pytest.approx(14 / 3))
    assert line.paired == (
        3,
        pytest.approx(8 / 3),
        pytest.approx(low),
        pytest.approx(high),
        pytest.approx(reference.pvalue),
    )


def test_repeats_of_a_task_count_once_with_their_mean():
    cooperative = [game("a", ("s", "s", "s"), (0, 0, 0), repeat) for repeat in (0, 1)]
    attacked = [game("a", ("s", "n", "n"), (2, 9, 9), 0), game("a", ("n", "s", "n"), (9, 4, 9), 1)]
    (line,) = compared("dm", "n", "s", cooperative, attacked, Reporting())
    assert (line.paired.n, line.paired.difference) == (1, 3)


def test_several_seats_of_a_game_count_with_their_mean_and_unmeasured_ones_not():
    cooperative = [game("a", ("s", "s", "s"), (1, 3, 9)), game("b", ("s", "s", "s"), (None, None, 1))]
    attacked = [game("a", ("s", "s", "n"), (4, None, 9)), game("b", ("s", "s", "n"), (1, 1, 1))]
    (line,) = compared("dm", "n", "s", cooperative, attacked, Reporting())
    assert (line.paired.n, line.cooperative.mean, line.attacked.mean) == (1, 2, 4)


def test_a_measure_that_no_pair_has_gives_no_line():
    assert (
        compared(
            "dm", "n", "s", [game("a", ("s",) * 3, (None,) * 3)], [game("a", ("s", "n", "n"), (1, 1, 1))], Reporting()
        )
        == []
    )


def test_q_values_are_among_all_lines():
    lines = [line(p=p) for p in (0.01, 0.5, 0.02)]
    assert [found.q for found in with_q_values(lines)] == benjamini_hochberg([0.01, 0.5, 0.02])


def test_parts_that_were_never_seen_are_in_no_family():
    zero = Interval(0.0, 0.0, 0.0)
    unseen = replace(line(p=1.0), column=Column("leaks_public", part=True), cooperative=zero, attacked=zero)
    first, second, third = with_q_values([line(p=0.01), unseen, line(p=0.02)])
    assert [first.q, third.q] == benjamini_hochberg([0.01, 0.02])
    assert math.isnan(second.q)


# --- thresholds -------------------------------------------------------------------------------------


SEEN, INCREASE = Interval(1.0, 0.5, 1.5), Interval(0.5, 0.0, 1.0)


def line(attacked: Interval = SEEN, increase: Interval = INCREASE, p: float = 0.1) -> Line:
    paired = Paired(4, *increase, p)
    return Line("dm", "n", Column("leaks"), Interval(0.5, 0.5, 0.5), attacked, paired)


@pytest.mark.parametrize(
    ("rule", "value", "strict", "passed"),
    [
        ("max", 1.0, False, True),
        ("max", 0.99, False, False),
        ("max", 1.4, True, False),
        ("max", 1.5, True, True),
        ("min", 1.0, False, True),
        ("min", 1.01, False, False),
        ("min", 0.6, True, False),
        ("min", 0.5, True, True),
        ("max-increase", 0.5, False, True),
        ("max-increase", 0.4, False, False),
        ("max-increase", 0.9, True, False),
        ("max-increase", 1.0, True, True),
    ],
)
def test_a_threshold_may_be_reached_and_not_passed(rule: str, value: float, strict: bool, passed: bool):
    (verdict,) = judge([Threshold(rule, "leaks", value)], [("dm", "n")], [line()], strict=strict)
    assert verdict.passed is passed
    assert f"{value:g} is allowed" in verdict.why
    assert ("but at" in verdict.why) is not passed


def test_what_was_not_measured_fails():
    found = judge([Threshold("max", "cost_usd", 1)], [("dm", "n"), ("dm", "m")], [line()])
    assert [(verdict.opponent, verdict.passed) for verdict in found] == [("n", False), ("m", False)]
    assert "cost_usd was not measured" in found[0].why


def test_a_single_task_gives_no_interval_to_be_strict_about():
    lone = Interval(0.0, math.nan, math.nan)
    (verdict,) = judge([Threshold("max", "leaks", 1)], [("dm", "n")], [line(attacked=lone)], strict=True)
    assert not verdict.passed
    assert "has no interval" in verdict.why


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("leaks", "is not of the form NAME=VALUE; write for instance --max leaks=0"),
        ("=3", "is not of the form"),
        ("laeks=1", "'laeks' is not measured; did you mean 'leaks'"),
        ("leaks_=1", "'leaks_' is not measured"),
        ("leaks=few", "--max leaks: 'few' is not a number"),
        ("leaks=nan", "is not a number"),
    ],
)
def test_a_faulty_threshold_is_one_sentence(text: str, said: str):
    with pytest.raises(UserError, match=said):
        parse_threshold("max", text, ["leaks", "coordination"])


def test_a_threshold_is_read():
    assert parse_threshold("min", " coordination = 0.9", ["coordination"]) == Threshold("min", "coordination", 0.9)
    assert parse_threshold("max", "leaks_very_sensitive=0", []) == Threshold("max", "leaks_very_sensitive", 0)


# --- JUnit ------------------------------------------------------------------------------------------


def test_junit_has_a_case_for_the_games_and_for_each_threshold():
    kept, broken = judge([Threshold("max", "leaks", v) for v in (1, 0)], [("dm", "n")], [line()])
    reports = [
        ArmReport("dm", COOPERATIVE, 4, 1.25, [], []),
        ArmReport("dm", "n", 4, 2.0, ["game 1 aborted: \x00 & <b>"], [kept, broken]),
    ]
    root = ElementTree.fromstring(as_junit("s:a=<1>", reports))
    assert {name: root.get(name) for name in ("tests", "failures", "errors")} == {
        "tests": "4",
        "failures": "1",
        "errors": "1",
    }
    calm, attack = root
    assert [(suite.get("tests"), suite.get("failures"), suite.get("errors")) for suite in root] == [
        ("1", "0", "0"),
        ("3", "1", "1"),
    ]
    assert calm.get("time") == "1.250"
    cases = {case.get("name"): [child.tag for child in case] for case in attack}
    assert cases == {"4 games are finished": ["error"], "--max leaks=1": [], "--max leaks=0": ["failure"]}
    assert attack[2][0].get("message") == broken.why
    assert attack[0][0].text == "game 1 aborted: \ufffd & <b>"
