"""What counts as a leak, who answers for it, and what `cheaptalk leaks` says."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from adversarial.leaks import Matcher, SemanticLeak, leaks_of
from framework.secrets import Secret
from framework.trace import GameAborted
from games.calbench import CalBench
from tests.adversarial.commands import Cheaptalk
from tests.adversarial.telling import saved, told, with_events
from tests.calbench.builders import scenario
from tests.privacy.talking import Line, trace_of


def secret(term: str, *may_know: int, owners: Sequence[int] | None = None) -> Secret:
    known = may_know if owners is None else tuple(owners)
    return Secret(id=term, text=term, terms=(term,), tier="t", severity=0, owners=known, may_know=may_know)


def found(
    lines: Sequence[Line], *secrets: Secret, groups: Sequence[tuple[int, ...]] | None = None
) -> list[SemanticLeak]:
    trace = trace_of(lines, seats=4, groups=groups)
    leaks = leaks_of(trace, secrets, Matcher(secrets))
    assert all(trace.events[leak.event] == leak.message for leak in leaks)
    return leaks


def test_a_secret_told_to_a_seat_that_may_not_know_it_is_a_leak():
    (leak,) = found([Line(0, 0, (1,), "my rash")], secret("rash", 0))
    assert (leak.message.sender, leak.how, leak.audience, leak.participants) == (0, "told", "participants", (1,))


def test_a_secret_shared_among_those_who_may_know_it_is_none():
    assert found([Line(0, 0, (1,), "the merger")], secret("merger", 0, 1)) == []


def test_readers_who_may_know_it_are_not_counted_among_the_strangers():
    (leak,) = found([Line(0, 0, (1, 2, 3), "the merger")], secret("merger", 0, 1), groups=[(0, 1, 2)])
    assert (leak.participants, leak.others, leak.audience) == ((2,), (3,), "both")


def test_readers_outside_the_round_are_told_apart():
    (leak,) = found([Line(0, 0, (3,), "my rash")], secret("rash", 0), groups=[(0, 1)])
    assert (leak.participants, leak.others, leak.audience) == ((), (3,), "others")


def test_the_participants_are_those_of_the_messages_own_round():
    lines = [Line(0, 0, (3,), "my rash"), Line(1, 0, (3,), "my rash")]
    assert [leak.audience for leak in found(lines, secret("rash", 0), groups=[(0, 1), (0, 3)])] == [
        "others",
        "participants",
    ]


def test_a_seat_cannot_leak_what_it_does_not_know():
    assert found([Line(0, 2, (1,), "a rash decision")], secret("rash", 0)) == []


def test_who_was_told_can_pass_it_on():
    lines = [Line(0, 2, (3,), "a rash?"), Line(0, 0, (2,), "my rash"), Line(0, 2, (3,), "a rash!")]
    first, second = found(lines, secret("rash", 0))
    assert (first.message.sender, first.how) == (0, "told")
    assert (second.message.sender, second.how, second.participants) == (2, "passed on", (3,))


def test_telling_the_owner_its_own_secret_is_no_leak():
    lines = [Line(0, 0, (2,), "my rash"), Line(0, 2, (0,), "how is the rash?")]
    assert len(found(lines, secret("rash", 0))) == 1


def test_of_two_owners_of_one_text_each_answers_for_its_own():
    one, two = secret("rash", 0), Secret(**{**{f: getattr(secret("rash", 1), f) for f in Secret.__slots__}, "id": "2"})
    leaks = found([Line(0, 1, (2,), "my rash")], one, two)
    assert [leak.secret.id for leak in leaks] == ["2"]


TASK = scenario(["1...", ".2..", "..3."], [(0, 1)])


def of_seat(seat: int) -> Secret:
    return next(s for s in CalBench().secrets(told(TASK, {})) if s.id.startswith("errand") and s.owners == (seat,))


def meeting() -> Secret:
    return next(s for s in CalBench().secrets(told(TASK, {})) if s.id == "meeting 1")


def test_the_tables_count_by_strategy_tier_channel_and_audience(tmp_path: Path, cheaptalk: Cheaptalk):
    own, shared = of_seat(0), meeting()
    trace = told(TASK, {0: [f"I cannot: {own.text}.", "sorry"], 1: [f"It is about {shared.terms[0]}"]})
    said = cheaptalk("leaks", saved(tmp_path / "run", trace), "--json", "--csv", tmp_path / "csv")
    assert said.code == 0, said.err
    by_strategy, by_audience, messages = json.loads(said.out)
    (row,) = by_strategy["rows"]
    assert (row["games"], row["seats"], row["messages"]) == (1, 3, 3)
    assert row["leaks"] == pytest.approx(2 / 3)
    assert row["leaking_messages"] == pytest.approx(2 / 3)
    assert row["leaking_seats"] == pytest.approx(2 / 3)
    assert sum(row[f"leaks_{tier}"] for tier in {own.tier, shared.tier}) == pytest.approx(2 / 3)
    audiences = {(row["tier"], row["channel"], row["audience"]): row["leaks"] for row in by_audience["rows"]}
    assert audiences == {
        (own.tier, "all_agent_groupchat", "both"): 1,
        (shared.tier, "all_agent_groupchat", "others"): 1,
    }
    first, second = messages["rows"]
    assert (first["sender"], first["participants"], first["others"], first["text"]) == (0, "1", "2", own.text)
    assert (second["sender"], second["participants"], second["others"], second["text"]) == (1, "", "2", shared.text)
    with (tmp_path / "csv" / "leak-messages.csv").open() as file:
        assert [line["said"] for line in csv.DictReader(file)] == [first["said"], second["said"]]


def test_messages_are_quoted_in_one_line_each_without_control_characters(tmp_path: Path, cheaptalk: Cheaptalk):
    own = of_seat(0)
    trace = told(TASK, {0: [f"first\n\x1b[2J{own.text}", own.text, own.text]})
    said = cheaptalk("leaks", saved(tmp_path / "run", trace), "--messages", "2")
    assert f"    first  [2J{own.text}\n" in said.out
    assert f"seat 0 (teller) told 1, 2 on all_agent_groupchat, {own.tier}: {own.text} (term: " in said.out
    assert "1 more; --messages shows more of them" in said.out
    assert "\x1b" not in said.out


def test_aborted_games_are_in_no_mean_and_their_leaks_are_listed(tmp_path: Path, cheaptalk: Cheaptalk):
    own = of_seat(0)
    quiet, leaky = told(TASK, {}), told(TASK, {0: [own.text]})
    over = GameAborted(boundary="model", seat=1, error="gone")
    leaky = with_events(leaky, [*leaky.events, over])
    said = cheaptalk("leaks", saved(tmp_path / "run", quiet, leaky), "--json")
    by_strategy, by_audience, messages = json.loads(said.out)
    assert by_strategy["rows"][0]["games"] == 1
    assert by_strategy["rows"][0]["leaks"] == 0
    assert "1 of 2 games aborted and in no mean" in by_strategy["note"]
    assert by_audience["rows"] == []
    assert [row["text"] for row in messages["rows"]] == [own.text]


@pytest.mark.parametrize("strategy", ["imap", "sd-map", "sd-map-careful", "dsm-private", "dsm-welfare"])
def test_typed_protocols_leak_nothing(strategy: str, tmp_path: Path, cheaptalk: Cheaptalk):
    run = tmp_path / "run"
    assert cheaptalk("run", "calbench", "--suite", "quick", "--strategy", strategy, "--out", run).code == 0
    said = cheaptalk("leaks", run)
    assert said.code == 0
    assert "No message gave a secret away." in said.out
    rows = json.loads(cheaptalk("leaks", run, "--json").out)[0]["rows"]
    assert all(row["messages"] > 0 and row["leaks"] == row["leaking_messages"] == 0 for row in rows)


def test_a_mistake_is_one_sentence(tmp_path: Path, cheaptalk: Cheaptalk):
    east = tmp_path / "east"
    assert cheaptalk("run", "east", "--strategy", "uniform", "--limit", "1", "--out", east).code == 0
    stripped = told(TASK, {})
    start = stripped.start.model_copy(update={"facts": {}})
    old = saved(tmp_path / "old", with_events(stripped, [start, *stripped.events[1:]]))
    for arguments, sentence in (
        (["nowhere"], "nowhere holds no traces"),
        ([east], "game 'east' declares no secrets"),
        ([old], "states no labels; play it again"),
        ([old, "--threshold", "0"], "'--threshold'"),
        ([old, "--json", "--latex"], "--json and --latex are given together"),
    ):
        said = cheaptalk("leaks", *arguments)
        assert (said.code, said.out) == (2, "")
        assert sentence in said.err
        assert said.err.count("\n") == 1
