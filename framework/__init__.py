"""The game-agnostic core of Cheaptalk: channels, phases, strategies, the referee and the trace."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from framework.agreement import AgreementView, Option, Settled
    from framework.channels import AllAgentChat, Channel, DirectMessage, ParticipantChat, Table
    from framework.focal import ANYONE, Association, FocalView, Knowledge
    from framework.game import Ballot, Game, Metric, Phase, Rules, Settlement, Stage, Validator, speakers
    from framework.messages import Action, Batch, Conflict, Frozen, Observation, Post, Round, Send, Turn
    from framework.prompts import Move, Prompts, Question
    from framework.referee import Limits, Referee, Seating, play
    from framework.strategy import ModelFailure, Params, SeatStart, Strategy
    from framework.topology import Topology, TopologySpec
    from framework.trace import Event, MetricValue, SeatEvent, Trace, Usage, read_trace, write_trace

__all__ = [
    "ANYONE",
    "Action",
    "AgreementView",
    "AllAgentChat",
    "Association",
    "Ballot",
    "Batch",
    "Channel",
    "Conflict",
    "DirectMessage",
    "Event",
    "FocalView",
    "Frozen",
    "Game",
    "Knowledge",
    "Limits",
    "Metric",
    "MetricValue",
    "ModelFailure",
    "Move",
    "Observation",
    "Option",
    "Params",
    "ParticipantChat",
    "Phase",
    "Post",
    "Prompts",
    "Question",
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

_MODULES = ("agreement", "messages", "topology", "channels", "trace", "game", "strategy", "referee", "focal", "prompts")


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for: `cheaptalk --help` must not wait for AutoGen."""
    if name in __all__:
        for module in map(import_module, (f"framework.{module}" for module in _MODULES)):
            if name in module.__all__:
                value = globals()[name] = getattr(module, name)
                return value
    raise AttributeError(f"module 'framework' has no attribute {name!r}")
