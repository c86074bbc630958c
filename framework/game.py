"""What an author declares: a game's channels, phases, validators and metrics."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, NamedTuple, TypeVar, cast

from pydantic import BaseModel, JsonValue, ValidationError

from framework.channels import Channel
from framework.messages import Action, Batch, Config, Conflict, Observation, Round, Turn
from framework.prompts import Prompts
from framework.topology import Topology, TopologySpec
from framework.trace import Event, MetricValue, Trace

if TYPE_CHECKING:
    from framework.analysis import Analysis, Drawing
    from framework.evidence import EvidenceTable
    from framework.pages.model import PageModel
    from framework.ratings import Rated
    from framework.secrets import PrivateStates, Secret

__all__ = ["Ballot", "Game", "Metric", "Phase", "Rules", "Settlement", "Stage", "Validator", "speakers"]

StateT = TypeVar("StateT")
ScenarioT = TypeVar("ScenarioT", bound=BaseModel)


class Rules(Config):
    """The knobs of a game that are not part of a scenario. A game subclasses it.

    Attributes:
        channels: Names of the channels that are open: the communication condition.
        topology: Who may address whom.
    """

    channels: tuple[str, ...] = ()
    topology: TopologySpec = TopologySpec()


@dataclass(frozen=True, slots=True)
class Stage:
    """Where the referee is, for rules that choose who acts.

    Attributes:
        seats: Number of seats.
        round: The current round.
        active: Seats outside the round that a message has made active in it, ascending.
    """

    seats: int
    round: Round
    active: tuple[int, ...] = ()


def speakers(stage: Stage) -> tuple[int, ...]:
    """The round's participants in speaker order."""
    return stage.round.speakers


Validator = Callable[[StateT, int, Batch], Conflict | None]
"""A rule that a batch has to keep: it returns the conflict, or None."""


@dataclass(frozen=True, slots=True)
class Ballot:
    """What a phase collected.

    Attributes:
        phase: Name of the phase.
        round: The round.
        batches: The valid batches, by seat in the order in which they were asked.
        failed: Seats that were asked and submitted no valid batch, in that order.
        active: Seats outside the round that are active in it, ascending.
    """

    phase: str
    round: Round
    batches: Mapping[int, Batch]
    failed: tuple[int, ...] = ()
    active: tuple[int, ...] = ()


class Settlement(NamedTuple):
    """The state after a phase, and what to write into the trace about it."""

    state: Any
    events: Sequence[Event]


@dataclass(frozen=True, kw_only=True)
class Phase(Generic[StateT]):
    """A part of a round.

    Attributes:
        name: Its name, as seats and traces see it.
        actors: Who acts, in order.
        channels: Names of the channels that are open in it.
        actions: The legal action types besides messages; empty for a phase of talk only.
        sweeps: The turn budget: passes over the actors.
        until_quiet: End after a whole sweep in which nobody sent a message.
        activation: Whether seats that a message has made active speak as well.
        retries: How often a rejected batch may be submitted anew.
        validators: The rules that a batch must keep, asked in order until one objects.
        settle: How the collected batches take effect; None if the phase changes nothing.
    """

    name: str
    actors: Callable[[Stage], Sequence[int]] = speakers
    channels: tuple[str, ...] = ()
    actions: tuple[type[Action], ...] = ()
    sweeps: int = 1
    until_quiet: bool = False
    activation: bool = False
    retries: int = 0
    validators: tuple[Validator[StateT], ...] = ()
    settle: Callable[[StateT, Ballot], Settlement] | None = None


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A pure function of a finished trace.

    Attributes:
        name: Its key in traces and CSVs.
        title: Its heading in tables.
        better: Which direction is better; `neither` for a plain count.
        compute: The function. It gives the same value for a trace that was read back from disk.
        percent: Whether tables show it as a percentage.
        share: Whether it is a yes or no, 1 or 0 for each seat where it is by seat and otherwise for the game, so
            that its mean is a share, with the interval of one.
        headline: Whether the printed table has a column for it; CSVs have all.
        complete: Whether a strategy has a value only where each of its seats has one: those that have none would
            have changed the mean.
    """

    name: str
    title: str
    better: Literal["lower", "higher", "neither"]
    compute: Callable[[Trace], MetricValue]
    percent: bool = False
    share: bool = False
    headline: bool = True
    complete: bool = False


class Game(ABC, Generic[ScenarioT, StateT]):
    """The rules of a game.

    A state is an immutable value: a phase returns a new one, so that a batch applies as a whole or not
    at all. An instance holds rules only and plays any number of scenarios.

    Attributes:
        name: Name of the game.
        title: Its name for people.
        rules_type: The class of its knobs.
        scenario_type: The class of its scenarios.
        channels: All channels that it knows.
        metrics: Its metrics, in the order of the columns of its table.
        evidence: What its typed messages give away, for VPS; None if it has no such measure.
        rated: What players are rated by; nobody is rated by default.
        suites: Names of the suites that ship with it, with one line about each.
        default_suite: The suite that a run takes if none is named.
        default_strategy: The strategy that takes seats to which none is assigned.
        rules: The knobs in force.
    """

    name: ClassVar[str]
    title: ClassVar[str] = ""
    rules_type: ClassVar[type[Rules]] = Rules
    scenario_type: ClassVar[type[BaseModel]]
    channels: ClassVar[tuple[Channel, ...]] = ()
    metrics: ClassVar[tuple[Metric, ...]] = ()
    evidence: ClassVar[EvidenceTable | None] = None
    rated: ClassVar[tuple[Rated, ...]] = ()
    suites: ClassVar[Mapping[str, str]] = {}
    default_suite: ClassVar[str] = ""
    default_strategy: ClassVar[str] = ""

    def __init__(self, rules: Rules | None = None) -> None:
        self.rules: Any = self.rules_type() if rules is None else rules
        known = {channel.name for channel in self.channels}
        for name in self.rules.channels:
            if name not in known:
                remedy = f"use some of {', '.join(sorted(known))}" if known else "it has none, leave them out"
                raise ValueError(f"channel {name!r} is unknown to {self.name}; {remedy}")

    @abstractmethod
    def suite(self, name: str, seed: int) -> Sequence[ScenarioT]:
        """The scenarios of a shipped suite, from a seed."""

    @abstractmethod
    def start(self, scenario: ScenarioT) -> StateT:
        """The state before the first round."""

    @abstractmethod
    def seats(self, scenario: ScenarioT) -> int:
        """Number of seats."""

    @abstractmethod
    def rounds(self, scenario: ScenarioT) -> Sequence[Round]:
        """The rounds, in order."""

    @abstractmethod
    def phases(self) -> Sequence[Phase[StateT]]:
        """The phases of every round, in order, under the rules in force."""

    @abstractmethod
    def observe(self, state: StateT, turn: Turn) -> Observation:
        """What the seat may know at this turn. Posts are added where they arrive."""

    @abstractmethod
    def task_id(self, scenario: ScenarioT) -> str:
        """Id of a scenario, unique in its suite."""

    def begin(self, state: StateT, round: Round) -> StateT:
        """The state when a round begins; unchanged by default."""
        return state

    def topology(self, scenario: ScenarioT) -> Topology:
        """Who may address whom."""
        spec: TopologySpec = self.rules.topology
        return spec.build(self.seats(scenario))

    def group(self, scenario: ScenarioT) -> str:
        """The setting under which tables list a scenario, for instance `varied`."""
        return ""

    def facts(self, scenario: ScenarioT) -> dict[str, JsonValue]:
        """What the trace states of a scenario besides the scenario itself."""
        return {}

    def public_facts(self, scenario: ScenarioT) -> dict[str, JsonValue]:
        """What every seat is told before the first round."""
        return {}

    def perturb(self, scenario: ScenarioT, seat: int, rng: random.Random) -> ScenarioT | None:
        """The same scenario with other secrets of one seat, for the conformance kit.

        What the other seats are handed before anybody has spoken must not change with it.

        Returns:
            A valid scenario; None where the game offers no way, which is the default.
        """
        return None

    def view(self, state: StateT, seat: int) -> str:
        """A seat's own state, as text for people."""
        return ""

    def prompts(self) -> Prompts[Any] | None:
        """How the game speaks to a language model; None if models cannot play it."""
        return None

    def final(self, state: StateT) -> dict[str, JsonValue]:
        """The game's summary of how it ended."""
        return {}

    def page(self, trace: Trace, path: Path | None = None) -> PageModel:
        """What the pages show of a playing of this game: grids, cards, small tables, and labels of events.

        They show rounds, turns, messages, batches and beliefs of every game anyway, and by default no more.

        Args:
            trace: The playing, finished or aborted.
            path: The trace's file, beside which the game may have kept more; None for a trace in memory.
        """
        from framework.pages.model import PageModel

        return PageModel()

    def secrets(self, trace: Trace) -> Sequence[Secret]:
        """The texts of a playing that not everyone may know; none by default.

        Raises:
            ValueError: With one sentence, if the trace's secrets are not known here.
        """
        return ()

    def private_states(self, trace: Trace) -> PrivateStates | None:
        """The yes-or-no states that each seat of a finished playing kept to itself; None where there are none."""
        return None

    def disclosures(self, trace: Trace) -> Sequence[Mapping[str, int]]:
        """How often each seat said what about its own states in plain words, by kind; nothing by default."""
        return ()

    @classmethod
    def analyses(cls) -> Sequence[Analysis[Any]]:
        """The tables that `cheaptalk report` prints of this game, besides those that it prints of every game."""
        return ()

    @classmethod
    def drawings(cls) -> Sequence[Drawing[Any]]:
        """The figures that `cheaptalk plot` draws of this game, besides those that it draws of every game."""
        return ()

    def generate(self, config: Mapping[str, JsonValue]) -> Sequence[ScenarioT]:
        """Scenarios from the settings of the game's own generator, `seed` among them.

        Raises:
            ValueError: With one sentence about the faulty setting.
        """
        raise ValueError(f"{self.name} generates nothing from a config; use one of its suites")

    def write_tasks(self, path: Path, scenarios: Sequence[ScenarioT]) -> None:
        """Write scenarios as one JSON object a line; `read_tasks` reads them back."""
        with path.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{scenario.model_dump_json()}\n" for scenario in scenarios)

    def read_tasks(self, path: Path) -> Sequence[ScenarioT]:
        """Scenarios from a file of one JSON object a line.

        Raises:
            ValueError: With one sentence about the first faulty task.
        """
        scenarios: list[ScenarioT] = []
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            try:
                scenarios.append(cast(ScenarioT, self.scenario_type.model_validate_json(line)))
            except ValidationError as error:
                first = error.errors()[0]
                where = ".".join(str(part) for part in first["loc"]) or "the line as a whole"
                raise ValueError(f"{path} line {number}: {first['msg']} at {where}; correct the task") from error
        return scenarios

    def score(self, trace: Trace) -> dict[str, MetricValue]:
        """All metrics of a finished trace."""
        return {metric.name: metric.compute(trace) for metric in self.metrics}
