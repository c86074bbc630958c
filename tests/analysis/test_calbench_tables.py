"""CalBench's tables: a game by hand, slow obvious computations on real games, and scipy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

import pytest
from scipy import stats as scipy_stats

from framework import Action, Observation, Send, Trace
from framework.analysis import ALL, Findings, Gathered, by_strategy, gather_runs
from framework.experiment import Experiment, Reporting
from framework.runner import run
from framework.specs import StrategySpec
from framework.stats import Interval, benjamini_hochberg, bootstrap_mean, wilson
from framework.trace import read_trace
from games.calbench import CalBench
from games.calbench.actions import Reschedule, Schedule
from games.calbench.analysis import ANALYSES
from games.calbench.analysis.facts import game_facts
from games.calbench.analysis.speakers import MEASURES, effects
from games.calbench.events import CalendarBatch, MeetingResolved
from games.calbench.scenario import Scenario
from tests.calbench.builders import scenario
from tests.core.table import Script
from tests.core.table import run as play

REPORTING = Reporting(resamples=100)
BY_NAME = {analysis.name: analysis for analysis in ANALYSES}
CHATTY = "tests.analysis.players:Chatty"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in which two protocols share the table, so that many meetings fail."""
    path = tmp_path_factory.mktemp("runs") / "mixed"
    seats = {0: StrategySpec.parse("dsm"), 1: StrategySpec.parse("dsm-private")}
    strategy = StrategySpec.parse("dsm-welfare")
    run(Experiment(game="calbench", strategy=strategy, seats=seats, rotate=True, repeats=2, out=str(path)))
    return path


@pytest.fixture(scope="module")
def gathered(folder: Path) -> Gathered:
    return gather_runs([folder], [analysis.read for analysis in ANALYSES])


@pytest.fixture(scope="module")
def traces(folder: Path) -> list[Trace]:
    return [read_trace(path) for path in sorted((folder / "traces").iterdir())]


def table(gathered: Gathered, name: str) -> Findings:
    analysis = BY_NAME[name]
    return analysis.findings(gathered.seen(analysis.read), REPORTING)


def lines(found: Findings) -> dict[tuple[object, object], dict[str, object]]:
    """The rows by setting and strategy, each by column."""
    rows = [dict(zip((field.name for field in found.fields), row, strict=True)) for row in found.rows]
    return {(row["setting"], row["strategy"]): row for row in rows}


def mean(value: object) -> float:
    assert isinstance(value, Interval)
    return value.mean


# --- a game by hand ---------------------------------------------------------------------------------

TASK = scenario(["1...", "2...", "...."], [(1, 0), (1, 2)])
"""Seat 1 speaks first in both meetings. Every slot but 0 is free for everyone, so the optimum costs nothing."""


def decide(observation: Observation) -> Sequence[Action]:
    """Meeting 1 goes into slot 0, at a cost of 1 and 2; of meeting 2 the participants want different slots."""
    seat, number = observation.seat, observation.round.index
    if observation.turn.channels:
        if observation.turn.sweep or seat == 2:
            return []
        return [Send(channel="dm", to=to, content="I propose slot 0") for to in observation.others]
    if number == 0:
        move = Reschedule(item_id=100 * seat, from_slot=0, to_slot=3, justification="room for a meeting")
        return [move, Schedule(meeting_id=1, slot=0)]
    return [Schedule(meeting_id=2, slot=seat)]


async def test_the_facts_of_a_small_game_are_those_of_a_hand_computation():
    trace = await play(CalBench(), TASK, [Script(decide) for _ in range(3)])
    facts = game_facts(trace)
    assert facts is not None
    assert facts.kept == (1, 1, 0)
    assert facts.source == "typed"  # seat 2 said nothing, so what it gave away is known
    found = [(m.seat, m.index, m.first, m.scheduled, m.messages, m.excess) for m in facts.meetings]
    assert found == [
        (0, 0, False, True, 1, 1.0),
        (1, 0, True, True, 1, 2.0),
        (1, 1, True, False, 1, None),
        (2, 1, False, False, 0, None),
    ]
    assert [m.vps for m in facts.meetings] == [None, None, None, 0.0]  # prose is not typed


# --- against slow obvious computations --------------------------------------------------------------


def seats_of(traces: Sequence[Trace], setting: str, strategy: str) -> list[tuple[Trace, int]]:
    return [
        (trace, seat)
        for trace in traces
        if setting in (trace.config["group"], ALL)
        for seat, name in enumerate(trace.start.strategies)
        if strategy in (name, ALL)
    ]


def test_completion_conditioned_regret(gathered: Gathered, traces: list[Trace]):
    found = lines(table(gathered, "completion"))
    assert set(found) == {
        (s, p) for s in ("uniform", "varied", ALL) for p in ("dsm", "dsm-private", "dsm-welfare", ALL)
    }
    for (setting, strategy), line in found.items():
        seats = seats_of(traces, str(setting), str(strategy))
        whole = [(t, s) for t, s in seats if t.metrics["completed"].seats[s] == 1.0]
        excess = [t.metrics["excess"].seats[s] or 0.0 for t, s in whole]
        own = [len(Scenario.model_validate(t.start.scenario).meetings_of(s)) for t, s in whole]
        assert (line["seats"], line["complete"]) == (len(seats), len(whole))
        assert line["completion"] == wilson(len(whole), len(seats))
        if whole:
            a_meeting = [e / n for e, n in zip(excess, own, strict=True)]
            assert line["excess"] == bootstrap_mean(a_meeting, [t.game_id for t, _ in whole], resamples=100)
            assert line["regret"] == wilson(sum(e > 0 for e in excess), len(whole))
            regretful = [each for each in a_meeting if each > 0]
            if regretful:
                assert mean(line["excess_of_regret"]) == pytest.approx(fmean(regretful))


def cost_of(trace: Trace, seat: int, index: int) -> float | None:
    """What a seat paid in a round beyond its part of the optimum, if the meeting was scheduled."""
    task = Scenario.model_validate(trace.start.scenario)
    resolved = next(event for event in trace.of(MeetingResolved) if event.round == index)
    lost = any(e.type == "consistency_violation" and e.meeting_id == resolved.meeting_id for e in trace.events)  # type: ignore[attr-defined]
    if not resolved.scheduled or lost:
        return None
    paid = sum(event.cost for event in trace.of(CalendarBatch) if event.round == index and event.seat == seat)
    item = task.calendars[seat].item_at(task.oracle.slots[index])
    return float(paid - (item.cost if item is not None else 0))


def test_first_speaker_effects_on_cost_are_scipys_paired_t_over_seats(gathered: Gathered, traces: list[Trace]):
    found = lines(table(gathered, "first-speaker"))
    tests = {}
    for (setting, strategy), line in found.items():
        firsts, laters = [], []
        for trace, seat in seats_of(traces, str(setting), str(strategy)):
            task = Scenario.model_validate(trace.start.scenario)
            costs: dict[bool, list[float]] = {True: [], False: []}
            for index, meeting in enumerate(task.meetings):
                if seat in meeting.participants and (cost := cost_of(trace, seat, index)) is not None:
                    costs[meeting.speaker_order[0] == seat].append(cost)
            if costs[True] and costs[False]:
                firsts.append(fmean(costs[True]))
                laters.append(fmean(costs[False]))
        assert line["excess_pairs"] == len(firsts)
        if len(firsts) > 1:
            expected = scipy_stats.ttest_rel(firsts, laters)
            interval = line["excess"]
            assert isinstance(interval, Interval)
            assert interval.mean == pytest.approx(fmean(firsts) - fmean(laters))
            if not math.isnan(expected.pvalue):
                low, high = expected.confidence_interval()
                assert (interval.low, interval.high) == pytest.approx((low, high))
                tests[setting, strategy] = float(expected.pvalue)
    assert len(tests) > 3
    q = dict(zip(tests, benjamini_hochberg(list(tests.values())), strict=True))
    same = [group for group in tests if found[group]["excess_q"] == pytest.approx(q[group])]
    assert len(tests) == len([line for line in found.values() if line["excess_pairs"] != 0])
    assert same == list(tests)


def test_q_values_are_within_a_measure_over_strategies_settings_and_totals(gathered: Gathered):
    read = BY_NAME["first-speaker"].read
    groups = by_strategy(gathered.seen(read), totals=True)
    assert len(groups) == 4 * 3  # the family of the paper: models and all of them, in each setting and in all
    for measure in MEASURES:
        found = effects(groups, measure, REPORTING)
        p = [effect.paired.p if effect.paired else math.nan for effect in found.values()]
        assert [effect.q for effect in found.values()] == pytest.approx(benjamini_hochberg(p), nan_ok=True)


def test_vps_of_the_rounds_sums_to_that_of_the_game(gathered: Gathered, traces: list[Trace]):
    for game, trace in zip(gathered.seen(game_facts), traces, strict=True):
        assert game.facts is not None
        rounds = trace.start.rounds
        for seat in range(trace.start.seats):
            inside = [m.vps for m in game.facts.of(seat)]
            total = trace.metrics["vps_total"].seats[seat]
            assert None not in inside
            assert total is not None
            assert sum(v or 0 for v in inside) <= total + 1e-9
            assert rounds == 5


def test_messages_by_meeting_and_by_role_are_those_of_the_posts(gathered: Gathered, traces: list[Trace]):
    by_meeting = table(gathered, "talk-by-meeting")
    for row in by_meeting.rows:
        _, setting, strategy, place, n, messages = row
        assert isinstance(place, int)
        sent = []
        for trace, seat in seats_of(traces, str(setting), str(strategy)):
            meeting = Scenario.model_validate(trace.start.scenario).meetings[place - 1]
            if seat in meeting.participants:
                sent.append(sum(post.sender == seat and post.round == place - 1 for post in trace.posts))
        assert n == len(sent)
        assert mean(messages) == pytest.approx(fmean(sent))
    roles = lines(table(gathered, "talk-by-role"))
    for key, line in roles.items():
        seats = seats_of(traces, str(key[0]), str(key[1]))
        meetings = [(t, s, m) for t, s in seats for m in Scenario.model_validate(t.start.scenario).meetings_of(s)]
        first = [
            sum(post.sender == s and post.round == m.id - 1 for post in t.posts)
            for t, s, m in meetings
            if m.speaker_order[0] == s
        ]
        assert line["first_n"] == len(first)
        assert mean(line["first"]) == pytest.approx(fmean(first))
        assert line["later_n"] == len(meetings) - len(first)


def test_burden_and_moved_meetings_are_the_means_of_their_metrics(gathered: Gathered, traces: list[Trace]):
    burden, moved = lines(table(gathered, "burden")), lines(table(gathered, "prior-meetings"))
    for key, line in burden.items():
        seats = seats_of(traces, str(key[0]), str(key[1]))
        games = {trace.game_id: trace for trace, _ in seats}
        assert mean(line["fairness"]) == pytest.approx(fmean(t.metrics["fairness"].seats[s] or 0 for t, s in seats))
        assert mean(line["gini"]) == pytest.approx(fmean(t.metrics["gini"].game or 0 for t in games.values()))
        assert mean(line["most_burden"]) == pytest.approx(
            fmean(t.metrics["most_burden"].game or 0 for t in games.values())
        )
        counts = [t.metrics["prior_moved"].seats[s] or 0 for t, s in seats]
        assert mean(moved[key]["prior_moved"]) == pytest.approx(fmean(counts))
        assert moved[key]["seats_that_moved"] == wilson(sum(c > 0 for c in counts), len(counts))


def test_what_seats_say_of_their_beliefs_takes_the_place_of_typed_messages(tmp_path: Path):
    strategy = StrategySpec(name=CHATTY, params={"reflect": True})
    run(Experiment(game="calbench", strategy=strategy, limit=1, out=str(tmp_path / "run")))
    (path,) = (tmp_path / "run" / "traces").iterdir()
    facts = game_facts(read_trace(path))
    assert facts is not None
    assert facts.source == "reflected"
    # Four observers are surer by a whole slot of each of 16 that they are taken: that is true of the taken ones.
    trace = read_trace(path)
    total = trace.metrics["vps_reflected_total"].seats
    for seat in range(5):
        own = [m.vps for m in facts.of(seat)]
        assert all(value is not None and value % 4 == 0 and 0 < value <= 64 for value in own)
        assert sum(value or 0 for value in own) <= (total[seat] or 0)


def test_an_aborted_game_is_in_no_table(tmp_path: Path, folder: Path, gathered: Gathered):
    paths = sorted((folder / "traces").iterdir())
    (tmp_path / "traces").mkdir()
    for number, path in enumerate(paths):
        text = path.read_bytes()
        if number == 0:
            head, _, _ = text.partition(b'"final_state"')
            end = b'{"type":"game_aborted","boundary":"model","error":"gone"}],"final_state":{},"metrics":{},'
            times = text[text.index(b'"started_at"') :]
            text = head.rstrip(b",").rstrip(b"]") + b"," + end + times
        (tmp_path / "traces" / path.name).write_bytes(text)
    short = gather_runs([tmp_path], [analysis.read for analysis in ANALYSES])
    assert sum(result.abort is not None for run in short.runs for result in run.results) == 1
    for name in ("completion", "burden", "first-speaker", "talk-by-meeting"):
        whole, rest = table(gathered, name), table(short, name)
        assert rest.rows != whole.rows
        assert {row[1:3] for row in rest.rows} <= {row[1:3] for row in whole.rows}
