"""The kit passes what keeps its promises and finds each way in which a game or a strategy breaks one."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import pytest

from framework import (
    Action,
    AllAgentChat,
    Ballot,
    Conflict,
    DirectMessage,
    Event,
    Game,
    Metric,
    MetricValue,
    Observation,
    Params,
    Phase,
    Round,
    Send,
    Settlement,
    Strategy,
    Topology,
    Trace,
    Turn,
)
from framework.messages import Batch
from framework.testing import Check, NoiseStrategy, Report, check_game, check_strategy
from framework.trace import BatchApplied, InvalidAction, MessageSent, TurnEnd
from tests.core.table import Script, Staged, run, scenario, talk
from tests.core.toy import DIGITS, Pick, Proposer, Repaint, Toy, ToyObservation, ToyScenario, ToyState, settle


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


class DoubledChannel(Toy):
    channels = (*Toy.channels, DirectMessage())


class UndeclaredChannel(Toy):
    def phases(self) -> Sequence[Phase[ToyState]]:
        first, second = super().phases()
        return [replace(first, channels=(*first.channels, "telepathy")), second]


class Mute(Toy):
    def phases(self) -> Sequence[Phase[ToyState]]:
        first, second = super().phases()
        return [replace(first, sweeps=0), second]


class TwinPhases(Toy):
    def phases(self) -> Sequence[Phase[ToyState]]:
        return [replace(phase, name="same") for phase in super().phases()]


class RulesWithoutActions(Toy):
    def phases(self) -> Sequence[Phase[ToyState]]:
        first, second = super().phases()
        return [replace(first, retries=3), second]


class StrangerInTheRound(Toy):
    def rounds(self, scenario: ToyScenario) -> Sequence[Round]:
        return [Round(index=0, participants=(0, 9), speakers=(0, 9))]


class ForgottenSpeaker(Toy):
    def rounds(self, scenario: ToyScenario) -> Sequence[Round]:
        return [Round(index=0, participants=(0, 1), speakers=(0,))]


class MisnumberedRounds(Toy):
    def rounds(self, scenario: ToyScenario) -> Sequence[Round]:
        return [round.model_copy(update={"index": 7}) for round in super().rounds(scenario)]


class SmallTopology(Toy):
    def topology(self, scenario: ToyScenario) -> Topology:
        return Topology.complete(2)


class Blabbing(Toy):
    """Tells every seat the secret of seat 0."""

    def public_facts(self, scenario: ToyScenario) -> dict[str, Any]:
        return {"of_seat_0": list(scenario.secrets[0])}


class Overlooking(Toy):
    """Shows each seat its neighbour's secret."""

    def observe(self, state: ToyState, turn: Turn) -> ToyObservation:
        secret = state.secrets[(turn.seat + 1) % turn.seats]
        return ToyObservation(turn=turn, secret=secret, colour=state.colours[turn.seat])


class SmugPerturb(Toy):
    """Changes nothing, so that nothing can leak."""

    def perturb(self, scenario: ToyScenario, seat: int, rng: random.Random) -> ToyScenario:
        return scenario


class Unseeded(Toy):
    draws = itertools.count()

    def final(self, state: ToyState) -> dict[str, Any]:
        return {"draw": next(self.draws)}


class Global(Toy):
    def facts(self, scenario: ToyScenario) -> dict[str, Any]:
        return {"half": random.random() < 2}


class Fragile(Toy):
    """Trips over a digit that does not exist."""

    def phases(self) -> Sequence[Phase[ToyState]]:
        def exact(state: ToyState, seat: int, batch: Batch) -> Conflict | None:
            for action in batch:
                if isinstance(action, Pick):
                    _ = range(DIGITS)[action.digit]
            return None

        first, second = super().phases()
        return [first, replace(second, validators=(exact, *second.validators))]


class ListObservation(ToyObservation):
    notes: list[int] = []


class Listing(Toy):
    def observe(self, state: ToyState, turn: Turn) -> ToyObservation:
        return ListObservation(turn=turn, secret=state.secrets[turn.seat], colour="", notes=[1])


class ThawedObservation(ToyObservation):
    model_config = {"frozen": False, "extra": "forbid"}


class Thawed(Toy):
    def observe(self, state: ToyState, turn: Turn) -> ToyObservation:
        return ThawedObservation(turn=turn, secret=state.secrets[turn.seat], colour="")


@dataclass
class Box:
    value: int = 0

    def __hash__(self) -> int:
        return 0


class BoxedObservation(ToyObservation):
    box: Box = Box()


class Boxed(Toy):
    def observe(self, state: ToyState, turn: Turn) -> ToyObservation:
        return BoxedObservation(turn=turn, secret=state.secrets[turn.seat], colour="", box=Box())


class StatefulObservation(ToyObservation):
    state: Any = None


class Stateful(Toy):
    """Hands out the whole state behind a field."""

    def observe(self, state: ToyState, turn: Turn) -> ToyObservation:
        return StatefulObservation(turn=turn, secret=state.secrets[turn.seat], colour="", state=state)


class LazyObservation(ToyObservation):
    _look: Callable[[], Any] = lambda: None

    @property
    def agreement(self) -> Any:
        return self._look


class Lazy(Toy):
    """Hands out a function that has the state in its closure."""

    def observe(self, state: ToyState, turn: Turn) -> ToyObservation:
        seen = LazyObservation(turn=turn, secret=state.secrets[turn.seat], colour="")
        seen._look = lambda: state.secrets[turn.seat]
        return seen


@dataclass(frozen=True, slots=True)
class Fickle(AllAgentChat):
    """Reaches other seats each time it is asked."""

    turns = itertools.count()

    def audience(self, sender: int, to: int | None, table: Any) -> Any:
        return frozenset(range(next(self.turns) % table.seats)) - {sender}


class FickleAudience(Toy):
    channels = (*Toy.channels[:2], Fickle())


class SetEvent(Event):
    type: Literal["test_set"] = "test_set"
    found: Any = None


class NamelessEvent(Event):
    found: int = 0


def settling(event: Callable[[], Event]) -> type[Toy]:
    class Settling(Toy):
        def phases(self) -> Sequence[Phase[ToyState]]:
            def write(state: ToyState, ballot: Ballot) -> Settlement:
                done = settle(state, ballot)
                return Settlement(done.state, [*done.events, event()])

            first, second = super().phases()
            return [first, replace(second, settle=write)]

    return Settling


def measuring(compute: Callable[[Trace], MetricValue], count: int = 1) -> type[Toy]:
    class Measuring(Toy):
        metrics = (Metric(name="m", title="m", better="lower", compute=compute),) * count

    return Measuring


NUMBERS = itertools.count()


def scribbling(trace: Trace) -> MetricValue:
    trace.final_state["scored"] = next(NUMBERS)
    return MetricValue(game=1.0)


def by_identity(trace: Trace) -> MetricValue:
    return MetricValue(game=float(isinstance(trace.start.scenario, ToyScenario)))


def ruled(*rules: Callable[[ToyState, int, Batch], Any]) -> type[Toy]:
    class Ruled(Toy):
        def phases(self) -> Sequence[Phase[ToyState]]:
            first, second = super().phases()
            return [first, replace(second, validators=(*rules, *second.validators))]

    return Ruled


FLIPS = itertools.cycle([None, Conflict(rule="mood", message="Not today.")])


class Mutable:
    """A state that changes in place."""

    def __init__(self, state: ToyState) -> None:
        self.secrets, self.colours, self.agreed = state.secrets, list(state.colours), 0


class InPlace(Toy):
    """Applies batches by changing the state, also while it judges them."""

    def __init__(self, judging: bool) -> None:
        super().__init__()
        self.judging = judging

    def start(self, scenario: ToyScenario) -> Any:
        return Mutable(super().start(scenario))

    def observe(self, state: Any, turn: Turn) -> ToyObservation:
        return ToyObservation(turn=turn, secret=state.secrets[turn.seat], colour=state.colours[turn.seat])

    def phases(self) -> Sequence[Phase[Any]]:
        def judge(state: Any, seat: int, batch: Batch) -> Conflict | None:
            if self.judging and batch:
                state.colours[seat] += "!"
            return None

        def apply(state: Any, ballot: Ballot) -> Settlement:
            for seat in ballot.batches:
                state.colours[seat] += "!"
            return Settlement(state, ())

        first, second = super().phases()
        return [first, replace(second, validators=(judge,), settle=apply if not self.judging else None)]


class Partial(Toy):
    """Applies the first action of a batch only."""

    def phases(self) -> Sequence[Phase[ToyState]]:
        def first_only(state: ToyState, ballot: Ballot) -> Settlement:
            events = [
                BatchApplied(round=0, phase="pick", seat=seat, actions=batch[:1])
                for seat, batch in ballot.batches.items()
            ]
            return Settlement(state, events)

        first, second = super().phases()
        return [first, replace(second, validators=(), settle=first_only)]


class Forgiving(Toy):
    """Applies batches of seats that submitted none."""

    def phases(self) -> Sequence[Phase[ToyState]]:
        def apply(state: ToyState, ballot: Ballot) -> Settlement:
            return Settlement(state, [BatchApplied(round=0, phase="pick", seat=seat) for seat in ballot.failed])

        first, second = super().phases()
        return [first, replace(second, settle=apply)]


SECRETS = "secrets do not show in another seat's first observation"
VALUES = "observations are immutable values"
DISK = "the trace survives the disk"
METRICS = "metrics are pure and finite"
WHOLE = "batches apply whole or not at all"

BROKEN_GAMES: list[tuple[Callable[[], Game[Any, Any]], str, str]] = [
    (DoubledChannel, "channels exist", "two channels are named 'dm'"),
    (UndeclaredChannel, "channels exist", "phase 'talk' opens channel 'telepathy', which toy does not declare"),
    (Mute, "phases are sound", "phase 'talk' has 0 sweeps"),
    (TwinPhases, "phases are sound", "two phases are named 'same'"),
    (RulesWithoutActions, "phases are sound", "phase 'talk' validates batches and takes no actions"),
    (StrangerInTheRound, "rounds are within the seats", "participant 9 is no seat of 0..3"),
    (ForgottenSpeaker, "rounds are within the seats", "speakers (0,) are not the participants (0, 1)"),
    (MisnumberedRounds, "rounds are within the seats", "round 0 has index 7"),
    (SmallTopology, "rounds are within the seats", "the topology joins 2 seats and the scenario has 4"),
    (Blabbing, SECRETS, "a secret of seat 0 shows in what seat 1 is first handed"),
    (Overlooking, SECRETS, "a secret of seat 1 shows in what seat 0 is first handed"),
    (SmugPerturb, SECRETS, "perturb changes nothing that the seat itself sees"),
    (Unseeded, "the same seed plays the same game", "the final state, the metrics or the number of events differ"),
    (Global, "the global random state is left alone", "draws from the global random module"),
    (Fragile, "noise never breaks the game", "IndexError in the harness or in the rules of toy"),
    (Listing, VALUES, "the observation holds a list"),
    (Thawed, VALUES, "ThawedObservation.turn can be set"),
    (Boxed, VALUES, "Box.value can be set"),
    (Stateful, "nothing else is in reach", "its StatefulObservation leads to a ToyState"),
    (Lazy, "nothing else is in reach", "its function leads to a ToyState"),
    (FickleAudience, "audiences are the channels'", "on all_agent_groupchat reached"),
    (settling(lambda: SetEvent(found=frozenset({1}))), DISK, "event SetEvent comes back with other values"),
    (settling(lambda: NamelessEvent(type="n")), DISK, "event NamelessEvent comes back unknown"),
    (measuring(lambda trace: MetricValue(game=float(next(NUMBERS)))), METRICS, "for the same trace"),
    (measuring(lambda trace: MetricValue(game=float("inf"))), METRICS, "metric 'm' has the value inf"),
    (measuring(lambda trace: MetricValue(seats=(1.0, 2.0))), METRICS, "metric 'm' has 2 values for 4 seats"),
    (measuring(scribbling), METRICS, "scoring changed the trace"),
    (measuring(lambda trace: MetricValue(), 2), METRICS, "two metrics are named 'm'"),
    (measuring(by_identity), DISK, "the metrics of the trace that was read back are not those of the game"),
    (ruled(lambda state, seat, batch: next(FLIPS)), "rules are pure", "to the same batch"),
    (
        ruled(lambda state, seat, batch: "no" if batch else None),
        "conflicts are typed",
        "answers str; return a Conflict",
    ),
    (
        ruled(lambda state, seat, batch: Conflict(rule="r", message=" ") if batch else None),
        "conflicts are typed",
        "gives a conflict without a rule name or a sentence",
    ),
    (lambda: InPlace(True), WHOLE, "changed the state while it judged the batch"),
    (lambda: InPlace(False), WHOLE, "phase 'pick' settles by changing the state"),
    (Partial, WHOLE, "applied a part of the batch"),
    (Forgiving, WHOLE, "which has no valid one"),
]


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
