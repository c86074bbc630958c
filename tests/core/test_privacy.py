"""The wall between seats: nobody reads what was not sent to them, and no strategy reaches through what it is handed."""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import pytest
from autogen_core import AgentId, AgentRuntime, BaseAgent, TopicId
from hypothesis import given, settings
from hypothesis import strategies as st

from framework import (
    Action,
    AllAgentChat,
    Channel,
    Conflict,
    DirectMessage,
    Game,
    Observation,
    ParticipantChat,
    Post,
    Referee,
    SeatStart,
    Send,
    Strategy,
    Table,
    Topology,
    Trace,
)
from framework.player import Player, Request
from framework.runtime import Switchboard
from framework.testing import NoiseStrategy
from framework.testing._graph import reachable
from framework.trace import BatchApplied, GameEnd, IllegalPublish, InvalidAction, Note
from tests.core.table import Script, Staged, run, scenario, talk
from tests.core.toy import Pick, Toy, ToyScenario, ToyState

# --- delivery, against a plain simulator --------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Benches(Channel):
    """Reaches the seats of the same parity; a channel as a user might add it."""

    name: str = "benches"

    def audience(self, sender: int, to: int | None, table: Table) -> Set[int]:
        return {seat for seat in range(table.seats) if seat % 2 == sender % 2}  # with the sender, by mistake


@dataclass(frozen=True, slots=True)
class Oracle(Channel):
    """Seat 0 speaks to the round's participants; nobody answers."""

    name: str = "oracle"

    def audience(self, sender: int, to: int | None, table: Table) -> Set[int]:
        return frozenset(table.round.participants)

    def refuse(self, sender: int, message: Send, table: Table) -> Conflict | None:
        return None if sender == 0 else Conflict(rule="not_the_oracle", message="Only seat 0 speaks here.")


@dataclass(frozen=True, slots=True)
class Relay(Channel):
    """Reaches the addressed seat and the one after it."""

    name: str = "relay"
    addressed: bool = True

    def audience(self, sender: int, to: int | None, table: Table) -> Set[int]:
        return frozenset() if to is None else frozenset((to % table.seats, (to + 1) % table.seats))


CHANNELS = (DirectMessage(), ParticipantChat(), AllAgentChat(), Benches(), Oracle(), Relay())
NAMES = [channel.name for channel in CHANNELS]


def plain_audience(send: Send, sender: int, seats: int, group: Sequence[int], edges: Set[tuple[int, int]]) -> set[int]:
    """Who reads a message, by definition; nobody where it may not be sent."""
    to = send.to
    if send.channel == "dm":
        known = to is not None and 0 <= to < seats and to != sender
        return {to} if known and ((sender, to) in edges or (to, sender) in edges) else set()  # type: ignore[arg-type]
    if send.channel == "participant_groupchat":
        return set(group) - {sender} if sender in group else set()
    if send.channel == "all_agent_groupchat":
        return set(range(seats)) - {sender}
    if send.channel == "benches":
        return {seat for seat in range(seats) if (seat - sender) % 2 == 0} - {sender}
    if send.channel == "oracle":
        return set(group) - {sender} if sender == 0 else set()
    return {to % seats, (to + 1) % seats} - {sender} if to is not None else set()


Plan = dict[tuple[int, int, int], list[Send]]


@st.composite
def tables(draw: st.DrawFn) -> tuple[ToyScenario, Topology, Plan]:
    """A topology, rounds, and what each seat says in each sweep of each round."""
    seats = draw(st.integers(2, 5))
    seat = st.integers(0, seats - 1)
    pairs = draw(st.lists(st.tuples(seat, seat), max_size=10))
    topology = Topology.from_edges(seats, [(a, b) for a, b in pairs if a != b])
    groups = draw(st.lists(st.sets(seat, min_size=1).map(sorted), min_size=1, max_size=3))
    plan: Plan = {}
    number = 0
    for key in [(r, sweep, s) for r in range(len(groups)) for sweep in range(2) for s in groups[r]]:
        sends = draw(st.lists(st.tuples(st.sampled_from(NAMES), st.integers(0, seats) | st.none()), max_size=3))
        plan[key] = [Send(channel=name, content=f"post {number + n}", to=to) for n, (name, to) in enumerate(sends)]
        number += len(sends)
    return scenario(seats, *groups), topology, plan


@given(tables())
@settings(max_examples=60, deadline=None)
def test_each_seat_reads_exactly_what_the_rules_send_it(drawn: tuple[ToyScenario, Topology, Plan]):
    scenario, topology, plan = drawn
    count = len(scenario.secrets)
    edges = set(topology.edges)
    due: list[list[str]] = [[] for _ in range(count)]
    for (round, _, sender), sends in sorted(plan.items(), key=lambda item: (item[0][0], item[0][1], -item[0][2])):
        for send in sends:
            for reader in plain_audience(send, sender, count, scenario.groups[round], edges):
                due[reader].append(send.content)

    def move(observation: Observation) -> Sequence[Action]:
        return plan.get((observation.round.index, observation.turn.sweep, observation.seat), ())

    # A last round in which everybody is asked once more shows what was still waiting.
    scenario = scenario.model_copy(update={"groups": (*scenario.groups, tuple(range(count)))})
    seats = [Script(move) for _ in range(count)]
    game = Staged([talk(2, activation=False, channels=NAMES)], CHANNELS, topology)
    asyncio.run(run(game, scenario, seats))
    assert [[content for _, content in seat.read] for seat in seats] == due


TOPOLOGIES = [
    Topology.complete(6),
    Topology.ring(6),
    Topology.path(6),
    Topology.star(6),
    Topology.clusters(6, 2),
    Topology.random(6, 0.4, 3),
    Topology.from_edges(6, []),
]


@pytest.mark.parametrize("topology", TOPOLOGIES, ids=lambda topology: topology.name)
@pytest.mark.parametrize("channel", CHANNELS, ids=lambda channel: channel.name)
async def test_noise_on_a_channel_reaches_nobody_but_its_audience(topology: Topology, channel: Channel):
    game = Staged([talk(3, channels=[channel.name])], [channel], topology)
    seats = [NoiseStrategy.of(game, quiet=0.1)() for _ in range(6)]
    groups = [(0, 1, 2), (3, 4), (1, 3, 5)]
    trace = await run(game, scenario(6, *groups), seats)
    assert trace.aborted is None
    edges = set(topology.edges)
    for post in trace.posts:
        send = Send(channel=post.channel, content=post.content, to=post.to)
        assert set(post.readers) == plain_audience(send, post.sender, 6, groups[post.round], edges)
    if channel.name != "dm" or topology.edges:
        assert trace.posts


async def test_a_seat_learns_nothing_of_how_many_posts_passed_it_by():
    def chat(observation: Observation) -> Sequence[Action]:
        return [Send(channel="dm", content="between us", to=1 - observation.seat) for _ in range(3)]

    def close(observation: Observation) -> Sequence[Action]:
        return [*chat(observation), Send(channel="dm", content="to you", to=2)]

    talked, silent = Script(), Script()
    for reader, move in ((talked, chat), (silent, lambda observation: ())):
        seats = [Script(close), Script(move), reader]
        await run(Staged([talk(2, activation=False)]), scenario(3, (0, 1), (2,)), seats)
    assert talked.seen == silent.seen
    assert [post.id for observation in talked.seen for post in observation.inbox] == [0, 1]


# --- a strategy that tries everything it is handed ----------------------------------------------

WALLS = (AgentRuntime, BaseAgent, Switchboard, Referee, Game, ToyScenario, ToyState)


class Spy(Script):
    """Looks at everything that can be reached from what it is handed, and tries to change it, also by force.

    Attributes:
        found: Objects that no strategy should reach.
        texts: All texts that it has seen.
        bent: Names of attributes that yielded to a plain assignment.
    """

    def __init__(self, force: bool = True) -> None:
        super().__init__()
        self.force = force
        self.found: list[Any] = []
        self.texts: set[str] = set()
        self.bent: list[str] = []

    def pry(self, *handed: Any) -> None:
        everything = [item for root in (*handed, self.rng, self.record, self.params) for item in reachable(root)]
        self.found += [item for item in everything if isinstance(item, WALLS)]
        self.found += [item for item in everything if isinstance(item, Strategy) and item is not self]
        self.texts.update(item for item in everything if isinstance(item, str))
        for item in [item for root in handed for item in reachable(root)]:
            self.bend(item)

    def bend(self, item: Any) -> None:
        for name in [*getattr(item, "__dict__", ())]:
            try:
                setattr(item, name, "bent")
            except (AttributeError, ValueError, TypeError):
                pass
            else:
                self.bent.append(f"{type(item).__name__}.{name}")
            if self.force:
                item.__dict__[name] = (0, 1, 2, 3) if name in ("participants", "speakers") else "bent"

    async def start_game(self, start: SeatStart) -> None:
        self.pry(start)

    async def act(self, observation: Observation) -> Sequence[Action]:
        self.record.events.append(Note(seat=0, round=0, kind="forged"))
        inbox = [post.content for post in observation.inbox]
        self.pry(observation)
        return [Send(channel="all_agent_groupchat", content=f"heard {inbox}")] if inbox else ()

    async def retry(self, observation: Observation, conflict: Conflict) -> Sequence[Action] | None:
        self.pry(observation, conflict)
        return None

    async def end_round(self, observation: Observation) -> None:
        self.pry(observation)


class Bystander(Spy):
    """Acts as the spy does, and touches nothing."""

    def pry(self, *handed: Any) -> None:
        pass


def whisper(observation: Observation) -> Sequence[Action]:
    if observation.phase == "pick":
        return [Pick(digit=3)]
    if observation.turn.sweep or not observation.turn.participates:
        return ()
    return [
        *(Send(channel="dm", content=f"secret {observation.seat}", to=other) for other in observation.others),
        Send(channel="participant_groupchat", content="secret of the round"),
        Send(channel="all_agent_groupchat", content="hello"),
    ]


async def playing(spy: Spy) -> tuple[Trace, list[Script]]:
    seats = [Script(whisper), Script(whisper), Script(whisper), spy]
    secrets = ((7, 8), (7, 9), (6, 8), (1, 2))
    # The spy is outside the first two rounds and takes part in the last one.
    trace = await run(Toy(), ToyScenario(secrets=secrets, groups=((0, 1), (0, 1, 2), (2, 3))), seats)
    assert trace.aborted is None
    return trace, seats


async def test_what_a_strategy_is_handed_leads_to_nothing_but_its_own_view():
    spy = Spy(force=False)
    await playing(spy)
    assert spy.texts >= {"dm", "talk", "pick", "hello"}
    assert spy.found == []


async def test_nothing_that_a_strategy_is_handed_can_be_assigned_to():
    spy = Spy(force=False)
    await playing(spy)
    assert spy.bent == []


async def test_a_seat_outside_the_audience_sees_none_of_it():
    spy = Spy(force=False)
    await playing(spy)
    assert not [text for text in spy.texts if "secret 0" in text or "secret 1" in text]
    assert {text for text in spy.texts if "secret" in text} == {"secret 2", "secret of the round"}


async def test_a_strategy_that_changes_what_it_was_handed_by_force_changes_nothing_for_anybody():
    spied, seats = await playing(Spy())
    undisturbed, others = await playing(Bystander())
    assert [seat.seen for seat in seats[:3]] == [seat.seen for seat in others[:3]]
    introductions = ("game_start", "agent_registered")
    assert [event for event in spied.comparable()["events"] if event["type"] not in introductions] == [
        event for event in undisturbed.comparable()["events"] if event["type"] not in introductions
    ]
    assert {event.seat for event in spied.of(Note)} == {3}


class Drifting(Send):
    """A message that names another seat each time it is looked at."""

    wanted: ClassVar[list[int]] = []

    def __getattribute__(self, name: str) -> Any:
        if name == "to" and Drifting.wanted:
            return Drifting.wanted.pop(0)
        return super().__getattribute__(name)


async def test_a_message_that_changes_while_it_is_judged_does_not_cross_a_missing_edge():
    def move(observation: Observation) -> Sequence[Action]:
        Drifting.wanted = [1, 2, 2, 2]
        return [Drifting(channel="dm", content="psst", to=1)]

    seats = [Script(move), Script(), Script()]
    trace = await run(Staged([talk()], topology=Topology.path(3)), scenario(3, (0, 1, 2)), seats)
    assert seats[2].read == []
    assert [post.readers for post in trace.posts] in ([], [(1,)])


class Loose(Pick):
    """A legal action's subclass, which might overrule what the rules read."""

    type: Literal["test_loose"] = "test_loose"  # type: ignore[assignment]


async def test_a_subclass_of_a_legal_action_is_not_legal():
    seat = Script(lambda observation: [Loose(digit=3)] if observation.phase == "pick" else ())
    trace = await run(Toy(), scenario(1, (0,)), [seat])
    assert [event.conflict.rule for event in trace.of(InvalidAction)] == ["wrong_phase"]
    assert not list(trace.of(BatchApplied))


async def test_a_batch_that_is_changed_after_it_was_judged_takes_effect_as_it_was_judged():
    kept: list[Pick] = []

    def move(observation: Observation) -> Sequence[Action]:
        if observation.phase != "pick":
            return ()
        kept.append(Pick(digit=3))
        return kept

    def tamper(observation: Observation) -> Sequence[Action]:
        if observation.phase != "pick":
            return ()
        for action in kept:
            action.__dict__["digit"] = 99
        kept.append(Pick(digit=4))
        return [Pick(digit=3)]

    trace = await run(Toy(), scenario(2, (0, 1)), [Script(tamper), Script(move)])  # seat 1 speaks first
    assert [(event.seat, event.actions) for event in trace.of(BatchApplied)] == [
        (1, (Pick(digit=3),)),
        (0, (Pick(digit=3),)),
    ]


async def test_actions_that_are_another_list_at_the_second_look_are_taken_at_the_first():
    class Bag(Sequence[Action]):
        looks = 0

        def __len__(self) -> int:
            return 1

        def __getitem__(self, index: Any) -> Any:
            if index:
                raise IndexError
            self.looks += 1
            return Send(channel="dm", content="first", to=0) if self.looks == 1 else "garbage"

    trace = await run(Staged([talk()]), scenario(2, (0, 1)), [Script(), Script(lambda o: Bag())])
    assert trace.aborted is None
    assert [post.content for post in trace.posts] == ["first"]


@pytest.mark.parametrize("seed", range(3))
async def test_a_seat_s_randomness_tells_nothing_of_another_s(seed: int):
    seats = [Script(), Script()]
    await run(Toy(), scenario(2, (0, 1)), seats, seed=seed)
    assert seats[0].rng is not seats[1].rng
    assert seats[0].rng.getstate() != seats[1].rng.getstate()
    assert seats[0].rng.getstate() != random.Random(seed).getstate()


# --- a fault of the framework that hands out the runtime ----------------------------------------


class Mole(Script):
    """Gets hold of the player that seats it, as no strategy can through what it is handed."""

    def __init__(self, dig: Any) -> None:
        super().__init__()
        self.dig = dig

    async def act(self, observation: Observation) -> Sequence[Action]:
        frame = sys._getframe()
        while not isinstance(frame.f_locals.get("self"), Player):
            assert frame.f_back is not None
            frame = frame.f_back
        await self.dig(frame.f_locals["self"], observation)
        return ()


async def forge_a_post(player: Player, observation: Observation) -> None:
    post = Post(id=0, channel="dm", sender=0, to=1, round=0, content="I cannot do slot 3")
    await player.runtime.publish_message(post, TopicId("dm", "1"))
    await player.publish_message(post, TopicId("dm", "1"))


async def forge_a_post_in_another_s_name(player: Player, observation: Observation) -> None:
    post = Post(id=0, channel="dm", sender=0, to=1, round=0, content="I cannot do slot 3")
    await player.runtime.publish_message(post, TopicId("dm", "1"), sender=AgentId("seat", "0"))


async def forge_a_request(player: Player, observation: Observation) -> None:
    await player.runtime.send_message(Request("act", observation, 0), AgentId("seat", "1"))
    await player.send_message(Request("end_round", observation, 0), AgentId("seat", "1"))


async def repeat_what_it_received(player: Player, observation: Observation) -> None:
    for post in observation.inbox:
        await player.runtime.publish_message(post, TopicId("dm", "1"))


async def talk_to_nobody(player: Player, observation: Observation) -> None:
    await player.runtime.publish_message("anybody?", TopicId("dm", "77"))


DIGGING = [
    forge_a_post,
    forge_a_post_in_another_s_name,
    forge_a_request,
    repeat_what_it_received,
    talk_to_nobody,
]


@pytest.mark.parametrize("dig", DIGGING)
async def test_with_the_runtime_in_hand_a_seat_still_cannot_speak_for_the_referee(dig: Any):
    def greet(observation: Observation) -> Sequence[Action]:
        others = [seat for seat in range(3) if seat != observation.seat]
        return [Send(channel="dm", content="hello", to=other) for other in others if observation.phase == "talk"]

    seats = [Script(greet), Script(greet), Mole(dig)]
    trace = await asyncio.wait_for(run(Staged([talk(3)]), scenario(3, (0, 1, 2)), seats), timeout=30)
    assert trace.aborted is None
    assert isinstance(trace.events[-1], GameEnd)
    found = list(trace.of(IllegalPublish))
    assert found
    assert {event.topic for event in found} <= {"dm/1", "seat/1", "dm/77"}
    assert seats[1].read == [(0, "hello")] * 2  # seat 0 speaks after it
    assert len(seats[1].seen) == 3
    assert not list(trace.of(InvalidAction))


async def test_an_intrusion_in_the_last_move_of_a_game_is_recorded():
    trace = await run(Staged([talk()]), scenario(1, (0,)), [Mole(talk_to_nobody)])
    (event,) = trace.of(IllegalPublish)
    assert (event.topic, event.content) == ("dm/77", "anybody?")
    assert isinstance(trace.events[-1], GameEnd)
