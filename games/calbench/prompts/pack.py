"""The messages that a seat of CalBench gets, from templates (paper, A.2 and A.3)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, JsonValue

from framework import Conflict, Move, Prompts, Question, SeatStart
from games.calbench.observation import CalendarObservation
from games.calbench.prompts.answers import envelope, read_envelope

__all__ = ["CalBenchPrompts"]

_BY_PHASE = {"voluntary": "voluntary", "decision": "decision"}


class CalBenchPrompts(Prompts[CalendarObservation]):
    """The system prompt in nine sections, and the messages of a round.

    | template | when |
    | --- | --- |
    | `system` | once, before the first round |
    | `round_start` | a participant's first turn of a round |
    | `contact` | the first turn of a seat outside the meeting that a message has reached |
    | `turn` | every further turn of talk |
    | `voluntary`, `decision` | those phases |
    | `retry` | a batch was rejected |
    | `reflection` | after a round, once for each other seat, outside the conversation |
    """

    templates = ("system", "round_start", "contact", "turn", "voluntary", "decision", "retry", "reflection")
    default = Path(__file__).parent / "standard"

    def system(self, start: SeatStart) -> str:
        return self.render("system", start=start)

    def message(self, observation: CalendarObservation, first: bool, conflict: Conflict | None = None) -> str:
        template = "retry" if conflict else self._template_for(observation, first)
        return self.render(template, seen=observation, turn=observation.turn, conflict=conflict)

    @staticmethod
    def _template_for(observation: CalendarObservation, first: bool) -> str:
        if observation.phase in _BY_PHASE:
            return _BY_PHASE[observation.phase]
        if not first:
            return "turn"
        return "round_start" if observation.turn.participates else "contact"

    def answer_type(self, start: SeatStart) -> type[BaseModel]:
        return envelope(start.channels)

    def read(self, data: JsonValue) -> Move:
        reply = read_envelope(data)
        return Move(reply.thinking, tuple([call.action() for call in reply.actions]))

    def questions(self, observation: CalendarObservation) -> Sequence[Question]:
        slots = len(observation.calendar)
        return [
            Question(target, self.render("reflection", target=target, slots=slots), slots)
            for target in range(observation.turn.seats)
            if target != observation.seat
        ]
