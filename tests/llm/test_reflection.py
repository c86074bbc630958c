"""Reflection: asked apart from the conversation, read, refined, and set against the truth."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Sequence
from pathlib import Path

import pytest
from autogen_agentchat.agents import AssistantAgent
from autogen_core.models import LLMMessage
from hypothesis import given
from hypothesis import strategies as st

from framework import Seating, Trace, play
from framework.cli import main
from framework.reflection import Reflection, movement
from framework.reflection_tables import answers, targets
from framework.trace import Moved
from games.calbench import CalBench, Scenario
from games.calbench.history import calendars_by_round
from protocols.imap import Imap
from protocols.llm import LlmStrategy
from protocols.models import Token
from protocols.reflecting import expected_deltas
from tests.llm.fakes import Answer, FakeClient, first_free, seats

deltas = st.integers(-3, 3)


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return CalBench().suite("quick", 0)[0]


def reporting(numbers: str) -> Answer:
    """Plays `first_free` and reports the same about everyone."""

    def answer(messages: Sequence[LLMMessage]) -> str:
        return numbers if "This question is a measurement" in str(messages[-1].content) else first_free(messages)

    return answer


async def played(scenario: Scenario, client: FakeClient, reflect: bool = True) -> Trace:
    trace = await play(CalBench(), scenario, seats(scenario.num_agents, client, reflect=reflect))
    assert trace.aborted is None, trace.aborted
    return trace


OCCUPIED = json.dumps([3] * 16)


class TestMovement:
    def test_only_movement_towards_the_truth_is_calibrated(self) -> None:
        assert movement([3, -3, 2, -1, 0, 1], [True, True, False, False, True, True]) == pytest.approx((10 / 3, 5 / 3))

    @given(st.lists(st.tuples(deltas, st.booleans()), max_size=20))
    def test_it_agrees_with_counting_thirds_one_by_one(self, cells: list[tuple[int, bool]]) -> None:
        raw = calibrated = 0
        for delta, occupied in cells:
            for _ in range(abs(delta)):
                raw += 1
                calibrated += occupied if delta > 0 else not occupied
        found = movement([delta for delta, _ in cells], [occupied for _, occupied in cells])
        assert found == pytest.approx((raw / 3, calibrated / 3))

    def test_reports_of_another_length_are_refused(self) -> None:
        with pytest.raises(ValueError, match="1 changes for 2 states"):
            movement([1], [True, False])


class TestRefinement:
    def test_a_number_is_replaced_by_its_expectation_over_the_alternatives(self) -> None:
        first = Token(text="1", logprob=math.log(0.6), alternatives=(("1", math.log(0.6)), ("3", math.log(0.2))))
        tokens = [Token(text="[", logprob=0.0), first, Token(text="]", logprob=0.0)]
        assert expected_deltas(tokens, (1,)) == pytest.approx(((0.6 * 1 + 0.2 * 3) / 0.8,))

    def test_a_number_after_a_sign_of_its_own_is_weighed_with_the_sign(self) -> None:
        sign = Token(text=" -", logprob=math.log(0.75), alternatives=((" -", math.log(0.75)), (" 2", math.log(0.25))))
        digit = Token(text="3", logprob=math.log(0.5), alternatives=(("3", math.log(0.5)), ("1", math.log(0.5))))
        tokens = [Token(text="[", logprob=0.0), sign, digit, Token(text="]", logprob=0.0)]
        assert expected_deltas(tokens, (-3,)) == pytest.approx((0.75 * -2 + 0.25 * 2,))

    def test_without_alternatives_a_number_stays_as_it_is(self) -> None:
        tokens = [Token(text=text, logprob=0.0) for text in ("[", "-2", ", ", "0", "]")]
        assert expected_deltas(tokens, (-2, 0)) == (-2.0, 0.0)

    def test_tokens_that_do_not_spell_the_numbers_refine_nothing(self) -> None:
        assert expected_deltas([Token(text="[1]", logprob=0.0)], (2,)) == ()
        assert expected_deltas([], (2,)) == ()


async def test_each_seat_is_asked_about_each_other_seat_after_each_round(scenario: Scenario) -> None:
    trace = await played(scenario, FakeClient(reporting(OCCUPIED)))
    asked = [(said.round, said.seat, said.target) for said in trace.of(Reflection)]
    assert sorted(asked) == [(r, o, t) for r in range(5) for o in range(5) for t in range(5) if o != t]


async def test_reflection_leaves_no_mark_in_the_conversation_and_does_not_change_the_game(scenario: Scenario) -> None:
    client = FakeClient(reporting(OCCUPIED))
    asked = await played(scenario, client)
    for call in client.calls:
        assert all("measurement" not in str(message.content) for message in call[:-1])
        assert all(OCCUPIED not in str(message.content) for message in call)
    alone = await played(scenario, FakeClient(first_free), reflect=False)
    assert asked.final_state == alone.final_state
    assert next(event.prompt for event in asked.of(Reflection))


async def test_its_tokens_are_counted_apart_from_those_of_play(scenario: Scenario) -> None:
    asked = await played(scenario, FakeClient(reporting(OCCUPIED)))
    alone = await played(scenario, FakeClient(first_free), reflect=False)

    def used(trace: Trace) -> int:
        return sum(event.usage.prompt_tokens for event in trace.of(Moved) if event.usage)

    assert used(asked) == used(alone) > 0
    assert sum(said.prompt_tokens for said in asked.of(Reflection)) > 0


async def test_calibration_uses_the_calendars_as_they_were_when_the_round_ended(scenario: Scenario) -> None:
    trace = await played(scenario, FakeClient(reporting(OCCUPIED)))
    calendars = calendars_by_round(trace)
    states = CalBench().private_states(trace)
    for answer in answers(trace, states):
        said = answer.said
        occupied = sum(item is not None for item in calendars[said.round + 1][said.target].slots)
        assert answer.reported == pytest.approx((16.0, float(occupied)))
    by_target = targets(answers(trace, states), 5)
    assert [target.raw for target in by_target] == [16.0 * 4 * 5] * 5
    values = trace.metrics["vps_reflected"].seats
    assert values == pytest.approx(tuple(target.calibrated - 5 for target in by_target))


@pytest.mark.parametrize("reply", ["[1, 2]", json.dumps([4] * 16), "much more occupied", json.dumps(["x"] * 16)])
async def test_a_report_that_cannot_be_read_is_kept_with_its_error_and_counts_nothing(
    scenario: Scenario, reply: str
) -> None:
    trace = await played(scenario, FakeClient(reporting(reply)))
    said = list(trace.of(Reflection))
    assert all(event.error and not event.deltas and event.reply == reply for event in said)
    assert targets(answers(trace, CalBench().private_states(trace)), 5)[0].unreadable == 20


async def test_an_agent_is_asked_one_question_at_a_time_and_none_stays_in_its_conversation(scenario: Scenario) -> None:
    client = FakeClient(reporting(OCCUPIED), delay=0.001)
    agent = AssistantAgent("helper", model_client=client)
    table = [
        Seating("agent", LlmStrategy(from_agent=agent, reflect=True)),
        *(Seating("imap", Imap()) for _ in range(4)),
    ]
    trace = await play(CalBench(), scenario, table)
    assert trace.aborted is None, trace.aborted
    assert len(list(trace.of(Reflection))) == 4 * len(scenario.meetings)
    for call in client.calls:
        questions = [m for m in call if "This question is a measurement" in str(m.content)]
        assert questions in ([], [call[-1]])


async def test_a_seat_about_which_no_answer_could_be_read_has_no_vps_rather_than_none_given_away(
    scenario: Scenario,
) -> None:
    def answer(messages: Sequence[LLMMessage]) -> str:
        asked = str(messages[-1].content)
        if "This question is a measurement" not in asked:
            return first_free(messages)
        return "I will not say." if "the calendar of seat 1" in asked else OCCUPIED

    metrics = (await played(scenario, FakeClient(answer))).metrics
    for name in ("vps_reflected", "vps_reflected_total", "vps_reflected_raw"):
        values = metrics[name].seats
        assert [value is None for value in values] == [False, True, False, False, False]
        known = [value for value in values if value is not None]
        assert metrics[name].game == pytest.approx(sum(known) / 4)
    assert metrics["vps_reflected"].game


def test_the_command_writes_the_csv_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import asyncio

    from framework.trace import write_trace

    scenario = CalBench().suite("quick", 0)[0]
    trace = asyncio.run(played(scenario, FakeClient(reporting(OCCUPIED))))
    (tmp_path / "run" / "traces").mkdir(parents=True)
    write_trace(tmp_path / "run" / "traces" / "0.json", trace)
    with pytest.raises(SystemExit) as ended:
        main(["reflections", str(tmp_path / "run"), "--out", str(tmp_path / "csv")])
    assert ended.value.code == 0
    assert "llm" in capsys.readouterr().out
    with (tmp_path / "csv" / "reflection_beliefs.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 5 * 20 * 16
    assert sum(float(row["calibrated_vps_loss"]) for row in rows) == sum(int(row["truth"]) for row in rows)
    with (tmp_path / "csv" / "reflection_game_target_summary.csv").open() as file:
        summary = list(csv.DictReader(file))
    assert sum(float(row["raw_vps_loss_total"]) for row in summary) == pytest.approx(len(rows))
