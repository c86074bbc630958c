"""A small game that has everything: channels, activation, batches with retries, secrets and metrics.

Each seat holds a secret set of digits that it cannot pick. In each round two or more seats talk, then
each of them picks a digit; the round succeeds if all picked the same.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from framework.channels import AllAgentChat, DirectMessage, ParticipantChat
from framework.game import Ballot, Game, Metric, Phase, Rules, Settlement
from framework.messages import Action, Batch, Conflict, Frozen, Observation, Round, Send, Turn
from framework.strategy import SeatStart, Strategy
from framework.trace import BatchApplied, Event, MetricValue, Trace

DIGITS = 10


class Pick(Action):
    """Take a digit for the current round."""

    type: Literal["toy_pick"] = "toy_pick"
    digit: int


class Repaint(Action):
    """Change the colour of the seat, which means nothing."""

    type: Literal["toy_repaint"] = "toy_repaint"
    colour: Literal["red", "green"]


class ToyScenario(Frozen):
    """Secrets are the digits that a seat cannot pick; groups are the participants of each round."""

    id: str = "toy"
    secrets: tuple[tuple[int, ...], ...]
    groups: tuple[tuple[int, ...], ...]


class ToyRules(Rules):
    """The knobs of the toy."""

    channels: tuple[str, ...] = ("dm", "participant_groupchat", "all_agent_groupchat")
    sweeps: int = 4
    retries: int = 2


class ToyRoundOver(Event):
    """What a round came to."""

    type: Literal["toy_round_over"] = "toy_round_over"
    round: int
    digits: tuple[int | None, ...]
    agreed: bool


@dataclass(frozen=True)
class ToyState:
    """The secrets and the score so far."""

    secrets: tuple[tuple[int, ...], ...]
    colours: tuple[str, ...]
    agreed: int = 0


class ToyObservation(Observation):
    """A seat's own secret."""

    secret: tuple[int, ...]
    colour: str

    def describe(self) -> str:
        return f"{super().describe()}; cannot pick {', '.join(map(str, self.secret)) or 'nothing'}"


def one_pick(state: ToyState, seat: int, batch: Batch) -> Conflict | None:
    """A batch holds exactly one pick."""
    picks = [action for action in batch if isinstance(action, Pick)]
    if len(picks) == 1:
        return None
    return Conflict(rule="one_pick", message=f"Pick exactly one digit, not {len(picks)}.", data={"picks": len(picks)})


def possible(state: ToyState, seat: int, batch: Batch) -> Conflict | None:
    """The digit exists and is not one of the seat's secrets."""
    for action in batch:
        if isinstance(action, Pick) and (action.digit in state.secrets[seat] or not 0 <= action.digit < DIGITS):
            return Conflict(
                rule="possible", message=f"Digit {action.digit} cannot be picked.", data={"digit": action.digit}
            )
    return None


def settle(state: ToyState, ballot: Ballot) -> Settlement:
    """Valid batches take effect; the round agrees if all participants picked one digit."""
    colours = list(state.colours)
    digits: dict[int, int] = {}
    events: list[Event] = []
    for seat, batch in ballot.batches.items():
        for action in batch:
            if isinstance(action, Pick):
                digits[seat] = action.digit
            elif isinstance(action, Repaint):
                colours[seat] = action.colour
        events.append(BatchApplied(round=ballot.round.index, phase=ballot.phase, seat=seat, actions=batch))
    picked = tuple(digits.get(seat) for seat in ballot.round.participants)
    agreed = None not in picked and len(set(picked)) == 1
    events.append(ToyRoundOver(round=ballot.round.index, digits=picked, agreed=agreed))
    return Settlement(replace(state, colours=tuple(colours), agreed=state.agreed + agreed), events)


def agreed_share(trace: Trace) -> MetricValue:
    """Rounds that agreed over rounds."""
    rounds = list(trace.of(ToyRoundOver))
    return MetricValue(game=sum(event.agreed for event in rounds) / len(rounds) if rounds else None)


def messages(trace: Trace) -> MetricValue:
    """Messages that each seat sent."""
    senders = [post.sender for post in trace.posts]
    counts = tuple(float(senders.count(seat)) for seat in range(trace.start.seats))
    return MetricValue(game=sum(counts), seats=counts)


class Toy(Game[ToyScenario, ToyState]):
    """The toy game."""

    name = "toy"
    rules_type = ToyRules
    scenario_type = ToyScenario
    channels = (DirectMessage(), ParticipantChat(), AllAgentChat())
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(name="agreed", title="agreed", better="higher", compute=agreed_share, percent=True),
        Metric(name="messages", title="messages", better="lower", compute=messages),
    )
    suites = {"small": "two scenarios of four seats"}
    default_suite = "small"

    def suite(self, name: str, seed: int) -> Sequence[ToyScenario]:
        rng = random.Random(seed)
        return [self.make(rng, f"toy-{number}") for number in range(2)]

    @staticmethod
    def make(rng: random.Random, id: str = "toy", seats: int = 4, rounds: int = 3) -> ToyScenario:
        """A scenario in which each group shares digits that all its members can pick."""
        secrets = tuple(tuple(sorted(rng.sample(range(DIGITS), 2))) for _ in range(seats))
        groups = tuple(tuple(sorted({r % seats, (r + 1) % seats, (r + 2) % seats} - {3})) for r in range(rounds))
        return ToyScenario(id=id, secrets=secrets, groups=groups)

    def start(self, scenario: ToyScenario) -> ToyState:
        return ToyState(scenario.secrets, ("red",) * len(scenario.secrets))

    def seats(self, scenario: ToyScenario) -> int:
        return len(scenario.secrets)

    def rounds(self, scenario: ToyScenario) -> Sequence[Round]:
        return [
            Round(index=index, participants=group, speakers=tuple(reversed(group)), label=f"round {index}")
            for index, group in enumerate(scenario.groups)
        ]

    def phases(self) -> Sequence[Phase[ToyState]]:
        talk = Phase[ToyState](
            name="talk", channels=self.rules.channels, sweeps=self.rules.sweeps, until_quiet=True, activation=True
        )
        pick = Phase[ToyState](
            name="pick",
            actions=(Pick, Repaint),
            retries=self.rules.retries,
            validators=(one_pick, possible),
            settle=settle,
        )
        return [talk, pick]

    def observe(self, state: ToyState, turn: Turn) -> ToyObservation:
        return ToyObservation(turn=turn, secret=state.secrets[turn.seat], colour=state.colours[turn.seat])

    def task_id(self, scenario: ToyScenario) -> str:
        return scenario.id

    def perturb(self, scenario: ToyScenario, seat: int, rng: random.Random) -> ToyScenario:
        secrets = list(scenario.secrets)
        secrets[seat] = tuple(sorted(rng.sample(range(DIGITS), 3)))
        return scenario.model_copy(update={"secrets": tuple(secrets)})

    def view(self, state: ToyState, seat: int) -> str:
        return f"{state.colours[seat]}, cannot pick {state.secrets[seat]}"


class Proposer(Strategy[ToyObservation]):
    """The first speaker proposes its lowest digit to the others, who follow where they can."""

    async def start_game(self, start: SeatStart) -> None:
        self.digit: int | None = None

    async def start_round(self, observation: ToyObservation) -> None:
        self.digit = None

    async def act(self, observation: ToyObservation) -> Sequence[Action]:
        for post in observation.inbox:
            if post.sender == observation.round.speakers[0] and post.content.isdigit() and len(post.content) == 1:
                self.digit = int(post.content)
        first = observation.round.speakers[0] == observation.seat
        if observation.phase == "pick":
            return [Pick(digit=self.digit if self.digit is not None else self._lowest(observation))]
        if first and self.digit is None:
            self.digit = self._lowest(observation)
            return [Send(channel="dm", to=to, content=str(self.digit)) for to in observation.others]
        return []

    async def retry(self, observation: ToyObservation, conflict: Conflict) -> Sequence[Action] | None:
        return [Pick(digit=self._lowest(observation))]

    @staticmethod
    def _lowest(observation: ToyObservation) -> int:
        return next(digit for digit in range(DIGITS) if digit not in observation.secret)
