"""Who a message reaches on each channel, whom it wakes, and why it may not be sent."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import FrozenInstanceError, dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework import AllAgentChat, Channel, DirectMessage, ParticipantChat, Round, Send, Table, Topology

TABLE = Table(6, Topology.ring(6), Round(index=0, participants=(1, 2, 4), speakers=(4, 1, 2)))
seats = st.integers(0, 5)


@given(seats, seats)
def test_a_direct_message_reaches_the_addressed_seat_and_wakes_it(sender: int, to: int):
    assert DirectMessage().audience(sender, to, TABLE) == {to}
    assert DirectMessage().activates(to, TABLE)


@given(seats, seats)
def test_a_direct_message_follows_the_edges_of_the_topology(sender: int, to: int):
    refused = DirectMessage().refuse(sender, Send(channel="dm", content="", to=to), TABLE)
    assert (refused is None) == ((sender - to) % 6 in (1, 5))


@given(seats)
def test_a_participant_chat_reaches_the_other_participants_and_wakes_nobody(sender: int):
    chat = ParticipantChat()
    assert chat.audience(sender, None, TABLE) == {1, 2, 4} - {sender}
    assert not any(chat.activates(seat, TABLE) for seat in range(6))
    assert (chat.refuse(sender, Send(channel=chat.name, content=""), TABLE) is None) == (sender in (1, 2, 4))


@given(seats)
def test_a_chat_of_all_reaches_and_wakes_everyone_and_knows_no_topology(sender: int):
    chat = AllAgentChat()
    assert chat.audience(sender, None, TABLE) == set(range(6)) - {sender}
    assert all(chat.activates(seat, TABLE) for seat in range(6))
    assert chat.refuse(sender, Send(channel=chat.name, content=""), TABLE) is None


def test_a_refusal_is_one_sentence_with_the_values_that_it_names():
    conflict = DirectMessage().refuse(0, Send(channel="dm", content="", to=3), TABLE)
    assert conflict is not None
    assert (conflict.rule, conflict.message) == ("no_edge", "Seat 0 has no connection to seat 3.")
    assert conflict.data == {"channel": "dm", "to": 3}
    conflict = ParticipantChat("huddle").refuse(0, Send(channel="huddle", content=""), TABLE)
    assert conflict is not None
    assert conflict.message == "Seat 0 is not a participant of this round and cannot use huddle."


def test_a_channel_is_a_value_and_may_be_named_anew():
    assert DirectMessage() == DirectMessage("dm")
    assert DirectMessage("whisper").name == "whisper"
    with pytest.raises(FrozenInstanceError):
        DirectMessage().name = "other"  # type: ignore[misc]


@dataclass(frozen=True, slots=True)
class Neighbours(Channel):
    """Reaches whom the topology joins to the sender: all that a channel has to give is its audience."""

    name: str = "neighbours"

    def audience(self, sender: int, to: int | None, table: Table) -> Set[int]:
        return set(table.topology.neighbours(sender))


def test_a_channel_of_ones_own_needs_an_audience_rule_only():
    channel = Neighbours()
    assert channel.audience(0, None, TABLE) == {1, 5}
    assert channel.refuse(0, Send(channel=channel.name, content=""), TABLE) is None
    assert not channel.activates(1, TABLE)


@pytest.mark.parametrize("name", ["", "a b", "a:b", "a/b", "é", "a\n"])
def test_a_name_that_cannot_be_a_topic_is_refused_where_it_is_given(name: str):
    with pytest.raises(ValueError, match="cannot be a topic; use letters, digits"):
        ParticipantChat(name)


@pytest.mark.parametrize("name", ["dm", "group-chat", "a_b", "v1.2", "k=v"])
def test_a_name_that_can_be_a_topic_is_taken(name: str):
    assert AllAgentChat(name).name == name
