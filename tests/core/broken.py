"""Games that break one promise each, with the check that finds it and what it says."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from framework import (
    AllAgentChat,
    Ballot,
    Conflict,
    DirectMessage,
    Event,
    Game,
    Metric,
    MetricValue,
    Phase,
    Round,
    Settlement,
    Topology,
    Trace,
    Turn,
)
from framework.messages import Batch
from framework.trace import BatchApplied
from tests.core.toy import DIGITS, Pick, Toy, ToyObservation, ToyScenario, ToyState, settle


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
