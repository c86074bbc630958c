"""The game-agnostic core of Cheaptalk: channels, phases, strategies, the referee and the trace."""

from framework.agreement import AgreementView, Option, Settled
from framework.channels import AllAgentChat, Channel, DirectMessage, ParticipantChat, Table
from framework.game import Ballot, Game, Metric, Phase, Rules, Settlement, Stage, Validator, speakers
from framework.messages import Action, Batch, Conflict, Frozen, Observation, Post, Round, Send, Turn
from framework.referee import Limits, Referee, Seating, play
from framework.strategy import ModelFailure, Params, SeatStart, Strategy
from framework.topology import Topology, TopologySpec
from framework.trace import Event, MetricValue, SeatEvent, Trace, Usage, read_trace, write_trace

__all__ = [
    "Action",
    "AgreementView",
    "AllAgentChat",
    "Ballot",
    "Batch",
    "Channel",
    "Conflict",
    "DirectMessage",
    "Event",
    "Frozen",
    "Game",
    "Limits",
    "Metric",
    "MetricValue",
    "ModelFailure",
    "Observation",
    "Option",
    "Params",
    "ParticipantChat",
    "Phase",
    "Post",
    "Referee",
    "Round",
    "Rules",
    "SeatEvent",
    "SeatStart",
    "Seating",
    "Send",
    "Settled",
    "Settlement",
    "Stage",
    "Strategy",
    "Table",
    "Topology",
    "TopologySpec",
    "Trace",
    "Turn",
    "Usage",
    "Validator",
    "play",
    "read_trace",
    "speakers",
    "write_trace",
]
