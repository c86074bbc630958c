"""The kit passes what keeps its promises and finds each way in which a game or a strategy breaks one."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from framework import (
    Action,
    Conflict,
    DirectMessage,
    Game,
    Observation,
    Params,
    Send,
    Strategy,
    Topology,
    Trace,
    Turn,
)
from framework.testing import Check, NoiseStrategy, Report, check_game, check_strategy
from framework.trace import BatchApplied, InvalidAction, MessageSent, TurnEnd
from tests.core.broken import BROKEN_GAMES
from tests.core.table import Script, Staged, run, scenario, talk
from tests.core.toy import DIGITS, Pick, Proposer, Repaint, Toy, ToyObservation, ToyScenario, ToyState


def failures(report: Report) -> dict[str, str]:
    return {check.name: check.detail for check in report.failures}


# --- what keeps its promises --------------------------------------------------------------------


def test_a_sound_game_passes_with_and_without_strategies_of_its_own():
    check_game(Toy).raise_if_failed()
    check_game(Toy(), strategies=Proposer).raise_if_failed()
    check_game(Toy, scenario(2, (0, 1)), [Proposer, Script]).raise_if_failed()


def test_a_sound_strategy_passes():
    check_strategy(Proposer, Toy).raise_if_failed()
    check_strategy(lambda: Proposer(), Toy(), scenario(3, (0, 1, 2)), seed=5).raise_if_failed()
    check_strategy(NoiseStrategy.of(Toy()), Toy).raise_if_failed()


async def test_the_kit_can_be_called_where_an_event_loop_runs():
    check_game(Toy, scenario(2, (0, 1))).raise_if_failed()


def test_a_report_says_what_was_checked_and_how_often_a_batch_was():
    report = check_game(Toy, strategies=Proposer)
    assert str(report).splitlines()[:2] == ["game toy", "pass  channels exist"]
    (note,) = [check.detail for check in report.checks if check.name == "batches apply whole or not at all"]
    applied, rejected = (int(word) for word in note.split() if word.isdigit())
    assert applied > 10
    assert rejected > 10


def test_a_report_that_failed_names_each_broken_promise():
    report = Report("game x", (Check("a", True), Check("b", False, "broken"), Check("c", False, "torn")))
    assert not report.ok
    with pytest.raises(AssertionError, match=r"game x breaks 2 promise\(s\)\n- b: broken\n- c: torn"):
        report.raise_if_failed()


def test_a_game_without_a_suite_needs_a_scenario():
    class Bare(Toy):
        default_suite = ""

    with pytest.raises(ValueError, match="toy ships no scenario in a default suite; give one to the check"):
        check_game(Bare)
    with pytest.raises(ValueError, match="give one to the check"):
        check_strategy(Proposer, Bare)
    check_game(Bare, scenario(2, (0, 1))).raise_if_failed()


# --- games that break a promise -----------------------------------------------------------------


@pytest.mark.parametrize(("game", "check", "complaint"), BROKEN_GAMES)
def test_a_game_that_breaks_a_promise_is_found(game: Callable[[], Game[Any, Any]], check: str, complaint: str):
    found = failures(check_game(game()))
    assert check in found, found
    assert complaint in found[check]


def test_a_game_that_shows_what_was_said_to_others_is_found():
    class Leaky(Toy):
        """Puts the last post of the game into everybody's observation."""

        heard = ""

        def observe(self, state: ToyState, turn: Turn) -> ToyObservation:
            return ToyObservation(turn=turn, secret=(), colour=Leaky.heard)

        def topology(self, scenario: ToyScenario) -> Topology:
            return super().topology(scenario)

    @dataclass(frozen=True, slots=True)
    class Ears(DirectMessage):
        """Listens where a rule is asked, as a game's own code might."""

        def refuse(self, sender: int, message: Send, table: Any) -> Conflict | None:
            refused = super(Ears, self).refuse(sender, message, table)
            if refused is None:
                Leaky.heard = message.content
            return refused

    Leaky.channels = (Ears(), *Toy.channels[1:])
    found = failures(check_game(Leaky))
    assert "which was not sent to it" in found["posts stay in their audience"]


def test_strategies_that_do_not_play_to_the_end_are_found():
    class Falling(Script):
        async def act(self, observation: Observation) -> Sequence[Action]:
            raise ValueError("I fell")

    found = failures(check_game(Toy, strategies=Falling))
    assert "raised ValueError: I fell" in found["the given strategies play to the end"]
    assert "noise never breaks the game" not in found


# --- strategies that break a promise ------------------------------------------------------------


class Base(Strategy[ToyObservation]):
    """Does nothing wrong."""

    async def act(self, observation: ToyObservation) -> Sequence[Action]:
        return ()


class NoParams(Base):
    def __init__(self) -> None:
        pass


class SetParams(Params):
    found: Any = frozenset({1})


class OddParams(Base):
    params_type = SetParams


class Lonely(Base):
    """Cannot bear to be left out of a round."""

    async def act(self, observation: ToyObservation) -> Sequence[Action]:
        if not observation.turn.participates:
            raise RuntimeError("why me")
        return ()


class Trusting(Base):
    """Takes every message for one of its own protocol's."""

    async def act(self, observation: ToyObservation) -> Sequence[Action]:
        for post in observation.inbox:
            json.loads(post.content)["step"].bit_length()
        if observation.phase == "pick":
            return [Pick(digit=0)]
        to = observation.others
        return [Send(channel="dm", content='{"step": 1}', to=to[0])] if to and observation.turn.sweep == 0 else ()


class Impatient(Base):
    """Does not take no for an answer."""

    async def act(self, observation: ToyObservation) -> Sequence[Action]:
        if observation.phase != "pick":
            return ()
        return [Pick(digit=next(digit for digit in range(DIGITS) if digit not in observation.secret))]

    async def retry(self, observation: ToyObservation, conflict: Conflict) -> Sequence[Action] | None:
        raise RuntimeError(f"no: {conflict.message}")


class Clocked(Base):
    ticks = itertools.count()

    async def act(self, observation: ToyObservation) -> Sequence[Action]:
        return [Repaint(colour="red"), Pick(digit=next(self.ticks) % 10)] if observation.phase == "pick" else ()


class Diary(Base):
    ticks = itertools.count()

    async def act(self, observation: ToyObservation) -> Sequence[Action]:
        self.record.thinking = str(next(self.ticks))
        return ()


class Wordy(Base):
    async def act(self, observation: ToyObservation) -> Any:
        return "send"


class Stuffed(Base):
    async def act(self, observation: ToyObservation) -> Any:
        return [None]


class Pushy(Base):
    async def act(self, observation: ToyObservation) -> Sequence[Action]:
        observation.__dict__["secret"] = ()
        return ()


class Spendthrift(Base):
    async def act(self, observation: ToyObservation) -> Sequence[Action]:
        random.random()
        return ()


class Wrong(Base):
    async def act(self, observation: ToyObservation) -> Sequence[Action]:
        return [1 // 0]  # type: ignore[list-item]


ONE = Proposer()

BROKEN_STRATEGIES: list[tuple[Callable[[], Any], str, str]] = [
    (NoParams, "an instance a seat", "call super().__init__() in __init__"),
    (OddParams, "an instance a seat", "its params do not come back from JSON equal"),
    (lambda: ONE, "an instance a seat", "the factory gives the same instance twice"),
    (object, "an instance a seat", "the factory makes a object; subclass Strategy"),
    (Lonely, "plays against noise", "raised RuntimeError: why me"),
    (Trusting, "plays against noise", "strategy: seat"),
    (Trusting, "survives broken, late, doubled and forged messages", "strategy: seat"),
    (Impatient, "survives a refused batch", "raised RuntimeError: no: The first batch of seat"),
    (Clocked, "the same seed makes the same moves", "moves differently at the second playing"),
    (Diary, "the same seed makes the same moves", "the two traces differ"),
    (Wordy, "returns actions only", "a move returned str; return a list or a tuple of actions"),
    (Stuffed, "returns actions only", "a move holds a NoneType; return actions only"),
    (Pushy, "leaves what it is handed alone", "act changed the ToyObservation that it was handed"),
    (Spendthrift, "leaves the global random state alone", "draw from self.rng"),
]


def test_what_a_strategy_raises_is_said_once_with_its_line():
    (said,) = [check.detail for check in check_strategy(Wrong, Toy).checks if check.name == "plays against itself"]
    assert said.startswith("strategy: seat ")
    assert said.count("ZeroDivisionError") == 1
    assert "(test_conformance.py line " in said
    assert "Probe" not in said


@pytest.mark.parametrize(("strategy", "check", "complaint"), BROKEN_STRATEGIES)
def test_a_strategy_that_breaks_a_promise_is_found(strategy: Callable[[], Any], check: str, complaint: str):
    found = failures(check_strategy(strategy, Toy))
    assert check in found, found
    assert complaint in found[check]


def test_what_breaks_against_others_only_is_not_blamed_on_play_against_itself():
    assert "plays against itself" not in failures(check_strategy(Trusting, Toy))
    assert "plays against itself" not in failures(check_strategy(Impatient, Toy))


# --- noise --------------------------------------------------------------------------------------


async def noise(seed: int, **values: Any) -> Trace:
    game = Toy()
    seats = [NoiseStrategy.of(game, **values)() for _ in range(4)]
    return await run(game, game.suite("small", 0)[0], seats, seed=seed)


async def test_noise_tries_every_channel_seat_and_action_and_breaks_every_rule():
    traces = [await noise(seed, giant=0.1) for seed in range(12)]
    sent = [post for trace in traces for post in trace.posts]
    assert {post.channel for post in sent} == {"dm", "participant_groupchat", "all_agent_groupchat"}
    assert {post.to for post in sent if post.channel == "dm"} == {0, 1, 2, 3}
    refused = {event.conflict.rule for trace in traces for event in trace.of(InvalidAction)}
    assert refused >= {"closed_channel", "self_message", "unknown_seat", "no_recipient", "wrong_phase", "too_long"}
    applied = [action for trace in traces for event in trace.of(BatchApplied) for action in event.actions]
    assert {type(action) for action in applied} == {Pick, Repaint}


async def test_noise_repeats_itself_with_its_seed_and_not_without():
    assert (await noise(1)).comparable() == (await noise(1)).comparable()
    assert (await noise(1)).comparable() != (await noise(2)).comparable()


async def test_noise_speaks_like_the_protocol_that_it_overhears():
    kind = '{"kind": "offer", "slots": [1, 2], "nested": {"a": null}}'
    seats = [
        Script(lambda observation: [Send(channel="all_agent_groupchat", content=kind)]),
        NoiseStrategy(quiet=0.0),
        NoiseStrategy(quiet=0.0),
    ]
    trace = await run(Staged([talk(10)]), scenario(3, (0, 1, 2)), seats)
    contents = [post.content for post in trace.of(MessageSent) if post.sender and post.content.startswith('{"')]
    payloads = [json.loads(content) for content in contents]
    assert any(payload["kind"] == "offer" and payload.get("slots") == [1, 2] for payload in payloads)
    assert any(payload["kind"] == "offer" and payload.get("slots") != [1, 2] for payload in payloads)


async def test_noise_without_action_types_is_talk_only():
    seats = [NoiseStrategy(), NoiseStrategy()]
    trace = await run(Toy(), scenario(2, (0, 1)), seats)
    moved = [action for event in trace.of(TurnEnd) for action in event.actions]
    assert moved
    assert all(isinstance(action, Send) for action in moved)


def test_the_kit_leaves_no_loop_behind():
    check_game(Toy, scenario(2, (0, 1))).raise_if_failed()
    with pytest.raises(RuntimeError, match="no running event loop"):
        asyncio.get_running_loop()
