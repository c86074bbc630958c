"""What a declared table reads from messages."""

from __future__ import annotations

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.evidence import EvidenceTable, GameEvidence, Heard, Rule, Talk, gather
from tests.privacy.talking import TABLE, Asked, Line, Told, trace_of

ASK = {"kind": "asked", "slots": [2, 0]}
YES_NO = {"kind": "answered", "yes": [True, False]}


def gathered(*lines: Line, slots: int = 4) -> GameEvidence:
    return gather(Talk.of(trace_of(lines, slots=slots)), TABLE)


def heard(*lines: Line, slots: int = 4) -> list[tuple[int, int, int, float]]:
    """(observer, target, slot, evidence) of each update."""
    return [(u.observer, u.target, u.slot, u.evidence) for u in gathered(*lines, slots=slots).updates]


def test_an_answer_is_about_the_slots_that_its_reader_asked_for():
    assert heard(Line(0, 0, (1,), ASK), Line(0, 1, (0,), YES_NO)) == [(0, 1, 2, 1.0), (0, 1, 0, 0.0)]


def test_an_answer_that_says_more_than_was_asked_counts_only_for_what_was_asked():
    more = {"kind": "answered", "yes": [True, False, True, True]}
    assert len(heard(Line(0, 0, (1,), ASK), Line(0, 1, (0,), more))) == 2


@pytest.mark.parametrize(
    "question",
    [
        pytest.param(Line(0, 2, (1,), ASK), id="asked by someone else"),
        pytest.param(Line(0, 0, (2,), ASK), id="asked of someone else"),
        pytest.param(Line(0, 1, (0,), ASK), id="asked by the one who answers"),
    ],
)
def test_an_answer_without_its_question_gives_nothing_away(question):
    assert heard(question, Line(0, 1, (0,), YES_NO)) == []


def test_a_question_of_an_earlier_round_is_over():
    assert heard(Line(0, 0, (1,), ASK), Line(1, 1, (0,), YES_NO)) == []


def test_the_latest_question_is_the_one_that_is_answered():
    again = {"kind": "asked", "slots": [3]}
    assert heard(Line(0, 0, (1,), ASK), Line(0, 0, (1,), again), Line(0, 1, (0,), YES_NO)) == [(0, 1, 3, 1.0)]


def test_slots_that_do_not_exist_are_left_out():
    said = {"kind": "told", "slots": [-1, 4, 3], "beliefs": [1.0, 1.0, 0.0]}
    assert heard(Line(0, 1, (0,), said)) == [(0, 1, 3, 0.0)]


@pytest.mark.parametrize(
    "content",
    [
        "I could do Tuesday.",
        "",
        "[1, 2]",
        '{"kind": "told", "slots": [0]',
        {"kind": "shouted", "slots": [0]},
        {"kind": "told", "slots": "0", "beliefs": [1.0]},
        {"kind": "told", "slots": [True], "beliefs": [1.0]},
        {"kind": "told", "slots": [0.5], "beliefs": [1.0]},
        {"slots": [0], "beliefs": [1.0]},
    ],
)
def test_what_is_not_a_known_message_gives_nothing_away_and_is_counted(content):
    found = gathered(Line(0, 1, (0,), content))
    assert found.updates == ()
    assert found.unread == (0, 1, 0)


def test_a_kind_that_gives_nothing_away_is_read_all_the_same():
    found = gathered(Line(0, 1, (0,), ASK))
    assert (found.updates, found.unread) == ((), (0, 0, 0))


def test_fields_that_the_table_does_not_name_are_no_obstacle():
    assert heard(Line(0, 1, (0,), {"kind": "told", "agreement": 7, "slots": [1], "beliefs": [1.0]})) == [(0, 1, 1, 1.0)]


@given(st.text() | st.recursive(st.none() | st.integers() | st.text(), st.lists, max_leaves=5).map(str))
def test_no_content_is_an_error(content):
    assert gathered(Line(0, 1, (0,), content)).unread == (0, 1, 0)


def test_two_rules_for_one_kind_are_refused():
    with pytest.raises(ValueError, match="two rules for one kind"):
        EvidenceTable(slots=lambda start: 1, rules=(Rule(message=Asked), Rule(message=Asked)))


@pytest.mark.parametrize("strength", [0.0, 1.5])
def test_a_strength_that_is_no_share_is_refused(strength):
    with pytest.raises(ValueError, match=r"outside \(0, 1\]"):
        EvidenceTable(slots=lambda start: 1, rules=(Rule(message=Told, strength=strength),))


def test_a_message_without_a_kind_of_its_own_is_refused():
    class Nameless(Heard):
        pass

    with pytest.raises(TypeError, match="literal of one word"):
        EvidenceTable(slots=lambda start: 1, rules=(Rule(message=Nameless),)).sources  # noqa: B018


def test_a_table_of_a_single_kind_works():
    class Only(Heard):
        kind: Literal["only"] = "only"

    table = EvidenceTable(slots=lambda start: 1, rules=(Rule(message=Only, slots=lambda said, _: (0,)),))
    assert table.read('{"kind": "only"}') == Only()
    assert table.read('{"kind": "other"}') is None
