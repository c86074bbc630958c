"""Scheduling-difficulty MAP: options are tried one by one, and only feasibility is told (paper, D.2).

To agree:

| step | message | from -> to | content |
| --- | --- | --- | --- |
| 1 | `propose` | initiator -> each responder | its next candidate, by index |
| 2 | `reply` | responder -> initiator | PENDING or IMPOSSIBLE |
| 3 | `confirm` | initiator -> each responder | the candidate, once all replies are PENDING |
| | `fail` | initiator -> each responder | there is no candidate left |

To repair an earlier agreement that was bumped:

| step | message | from -> to | content |
| --- | --- | --- | --- |
| 1 | `reschedule_request` | who bumps -> the bumped agreement's initiator | |
| 2 | `propose_reschedule` | that initiator -> its other parties | its next candidate |
| 3 | `reschedule_reply` | party -> that initiator | PENDING or IMPOSSIBLE |
| 4 | `confirm_reschedule` | that initiator -> its other parties | the candidate, once all replies are PENDING |
| | `fail_reschedule` | that initiator -> its other parties | there is no candidate left |

The initiator of an agreement is its party of lowest id. With `p` parties and `a` candidates tried, an agreement
takes `2 (p - 1) a + (p - 1)` messages; so does a repair, and one more for each party other than its initiator
that asks for it.

An option is PENDING if it is free, if something of the seat's own that can give way is there, or if an
earlier agreement is there that is bumped under the rule: the summed difficulty of its other parties is
strictly less than that of the new agreement's other parties. A repair bumps nothing; its last candidate is the
option that the agreement had, in case the seat that bumped it could not keep what it bumped it for.

Who bumps moves its own copy of the earlier agreement out of the way when it commits, and asks for the repair
at its first turn of talk in a later round. Current parties apply a repair with their decision, others in the
voluntary phase. A game may count an agreement as lost once its parties hold it at different options, as
CalBench does; `repair="same_round"` therefore asks before anyone decides, and whoever sees no repair
confirmed keeps the earlier agreement and submits nothing.

Source: CalBench paper, D.2 and table 10, after Modi and Veloso (2004). `SdMapCareful` is not in the paper.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pydantic import NonNegativeFloat, NonNegativeInt

from framework import Action, AgreementView, Observation, Params, SeatStart, Send
from protocols._sdmap_messages import (
    Answer,
    Confirm,
    Confirmation,
    ConfirmReschedule,
    Fail,
    FailReschedule,
    Failure,
    Message,
    Proposal,
    Propose,
    ProposeReschedule,
    Repair,
    Reply,
    RescheduleReply,
    RescheduleRequest,
    Status,
)
from protocols.typed import Received, TypedProtocol, direct, send_all

__all__ = ["Propose", "SdMap", "SdMapCareful", "SdMapCarefulParams", "SdMapParams"]


class SdMapParams(Params):
    """Parameters of `SdMap`.

    Attributes:
        sd_model: Scheduling difficulty of seats, not below 0; a seat that is not named has 1.
        look_for_landing: Whether PENDING is said only where what gives way has somewhere to go.
        repair: When a bumped agreement gets another option: in the talk of a later round, as in the paper,
            or in that of the same round, before anyone decides.
    """

    sd_model: Mapping[NonNegativeInt, NonNegativeFloat] = {}
    look_for_landing: bool = False
    repair: Literal["next_round", "same_round"] = "next_round"


class SdMapCarefulParams(SdMapParams):
    """As `SdMapParams`, with the defaults that keep what was promised."""

    look_for_landing: bool = True
    repair: Literal["next_round", "same_round"] = "same_round"


@dataclass
class _Search:
    """Where the walk over the candidates of one agreement stands, as one of its parties knows it.

    Attributes:
        candidates: What its initiator has yet to try; None for the other parties.
        tried: What was proposed.
        live: The option on the table, if this seat can take it.
        replies: What the other parties answered about it; the initiator's.
        over: Whether it has been confirmed or has failed.
        outcome: The confirmed option.
    """

    candidates: Iterator[int] | None = None
    tried: set[int] = field(default_factory=set)
    live: int | None = None
    replies: dict[int, Status] = field(default_factory=dict)
    over: bool = False
    outcome: int | None = None

    def end(self, outcome: int | None) -> None:
        """It is confirmed, or has failed with None."""
        self.over, self.live, self.outcome = True, None, outcome


class SdMap(TypedProtocol[Message]):
    """Tells only what is feasible, and lets an easier agreement give way to a harder one."""

    vocabulary = Message
    params_type = SdMapParams

    async def start_game(self, start: SeatStart) -> None:
        self._seat = start.seat
        self._bumped: dict[int, int] = {}  # earlier agreement -> the option that it had
        self._moves: dict[int, int] = {}  # earlier agreement -> the option that its repair agreed upon

    async def start_round(self, observation: Observation) -> None:
        self._searches: defaultdict[int, _Search] = defaultdict(_Search)
        self._requested: set[int] = set()
        if observation.agreement is not None:
            self._moves = self._due(observation.agreement)

    # --- talk -----------------------------------------------------------------------------------

    def talk(self, observation: Observation, view: AgreementView, received: Sequence[Received[Message]]) -> list[Send]:
        sends: list[Send] = []
        for post, payload in received:
            why = self._objection(view, post.sender, payload)
            if why:
                self.ignore(observation, post, why)
            else:
                sends += self._hear(view, post.sender, payload)
        if self._seat == view.parties[0]:
            self._open(view, view.id)
            sends += self._lead(view, view.id, view.parties)
        sends += self._ask_for_repairs(view)
        for id, settled in view.settled.items():
            if settled.parties[0] == self._seat:
                sends += self._lead(view, id, settled.parties)
        return sends

    def catch_up(self, observation: Observation, view: AgreementView, received: Sequence[Received[Message]]) -> None:
        for post, payload in received:
            final = isinstance(payload, Confirmation | Failure)
            why = self._objection(view, post.sender, payload) if final else "it came when the talk was over"
            if why:
                self.ignore(observation, post, why)
            else:
                self._hear(view, post.sender, payload)

    def _objection(self, view: AgreementView, sender: int, payload: Message) -> str:
        """Why a payload is not acted upon; empty if it is."""
        parties = self._parties(view, payload)
        if not parties:
            return f"agreement {payload.agreement} is not one that {payload.kind} can be about here and now"
        if self._seat not in parties or sender not in parties:
            return "its sender or its reader is not a party"
        search = self._searches[payload.agreement]
        if isinstance(payload, RescheduleRequest):
            return (
                "" if self._seat == parties[0] and search.candidates is None else "it is not for this seat, or repeated"
            )
        if isinstance(payload, Answer):
            awaited = search.candidates is not None and search.live == payload.option and sender not in search.replies
            return "" if awaited else "this reply is not awaited"
        if sender != parties[0]:
            return f"only the initiator sends {payload.kind}"
        if search.over:
            return "the outcome was announced before"
        if isinstance(payload, Proposal):
            if not 0 <= payload.option < len(view.options):
                return f"there is no option {payload.option}"
            return "it was proposed before" if payload.option in search.tried else ""
        if isinstance(payload, Confirmation) and payload.option != search.live:
            return f"this seat has not answered PENDING to option {payload.option} last"
        return ""

    @staticmethod
    def _parties(view: AgreementView, payload: Message) -> tuple[int, ...]:
        """The parties of the agreement that a payload is about; none where it cannot be about it."""
        if not isinstance(payload, Repair):
            return view.parties if payload.agreement == view.id else ()
        settled = view.settled.get(payload.agreement)
        return () if settled is None else settled.parties

    def _hear(self, view: AgreementView, sender: int, payload: Message) -> list[Send]:
        id = payload.agreement
        search = self._searches[id]
        if isinstance(payload, RescheduleRequest):
            self._open(view, id)
        elif isinstance(payload, Answer):
            search.replies[sender] = payload.status
        elif isinstance(payload, Proposal):
            search.tried.add(payload.option)
            search.live = payload.option if self._fits(view, id, payload.option) else None
            status: Status = "IMPOSSIBLE" if search.live is None else "PENDING"
            reply = Reply if id == view.id else RescheduleReply
            return [direct(sender, reply(agreement=id, option=payload.option, status=status))]
        else:
            self._end(view, id, payload.option if isinstance(payload, Confirmation) else None)
        return []

    # --- what an initiator does -----------------------------------------------------------------

    def _open(self, view: AgreementView, id: int) -> None:
        """Begin to look for an option, unless begun."""
        search = self._searches[id]
        if search.candidates is not None:
            return
        settled = view.settled.get(id)
        had = None if settled is None else self._bumped.get(id, settled.option)
        order = [option.index for option in view.options if option.index != had]
        if had is not None and self.params.repair == "next_round":
            order.append(had)
        search.candidates = iter(order)

    def _lead(self, view: AgreementView, id: int, parties: tuple[int, ...]) -> list[Send]:
        """The next step of a search that this seat leads: wait, propose, confirm or fail."""
        search, others = self._searches[id], parties[1:]
        if search.candidates is None or search.over:
            return []
        if search.live is not None:
            if len(search.replies) < len(others):
                return []
            if "IMPOSSIBLE" not in search.replies.values():
                option = search.live
                self._end(view, id, option)
                confirm = Confirm if id == view.id else ConfirmReschedule
                return send_all(others, confirm(agreement=id, option=option))
        search.live, search.replies = None, {}
        search.live = next((option for option in search.candidates if self._fits(view, id, option)), None)
        if search.live is None:
            self._end(view, id, None)
            return send_all(others, (Fail if id == view.id else FailReschedule)(agreement=id))
        propose = Propose if id == view.id else ProposeReschedule
        sends = send_all(others, propose(agreement=id, option=search.live))
        return sends or self._lead(view, id, parties)  # who has nobody to ask has its answer

    def _ask_for_repairs(self, view: AgreementView) -> list[Send]:
        """Requests for what this seat has bumped, once a round; it begins at once where it is the initiator."""
        sends: list[Send] = []
        for id in self._wanting(view):
            settled = view.settled.get(id)
            if settled is None or id in self._requested:
                continue
            self._requested.add(id)
            if settled.parties[0] == self._seat:
                self._open(view, id)
            else:
                sends.append(direct(settled.parties[0], RescheduleRequest(agreement=id)))
        return sends

    def _wanting(self, view: AgreementView) -> Collection[int]:
        if self.params.repair == "next_round":
            return self._bumped
        agreed = self._searches[view.id].outcome
        bumped = None if agreed is None else view.options[agreed].agreement
        return () if bumped is None else (bumped,)

    # --- what an option takes -------------------------------------------------------------------

    def _fits(self, view: AgreementView, id: int, option: int) -> bool:
        """Whether this seat says PENDING to an option for an agreement."""
        promised = self._promised(id)
        if option in promised:
            return False
        held = view.options[option]
        if held.held_by == "agreement" and held.agreement != id:
            if id != view.id or held.agreement is None or not self._bumps(view, held.agreement):
                return False
        elif held.held_by == "fixed":
            return False
        return not self.params.look_for_landing or self._has_room(view, {*promised, option})

    def _promised(self, id: int) -> set[int]:
        """The options that this seat has promised to other agreements than `id`."""
        talked = {search.live for other, search in self._searches.items() if other != id}
        agreed = {search.outcome for other, search in self._searches.items() if other != id}
        moves = {option for other, option in self._moves.items() if other != id}
        return {option for option in talked | agreed | moves if option is not None}

    def _bumps(self, view: AgreementView, earlier: int) -> bool:
        """Whether an earlier agreement is easier to move than the new one is to make (paper, D.2)."""
        settled = view.settled.get(earlier)
        return settled is not None and self._difficulty(settled.parties) < self._difficulty(view.parties)

    def _difficulty(self, parties: tuple[int, ...]) -> float:
        return math.fsum(self.params.sd_model.get(seat, 1.0) for seat in parties if seat != self._seat)

    @staticmethod
    def _has_room(view: AgreementView, targets: Collection[int]) -> bool:
        """Whether all that gives way at the targets has somewhere to go."""
        landings = sum(option.held_by == "free" and option.index not in targets for option in view.options)
        return landings >= sum(view.options[target].held_by == "own" for target in targets)

    # --- outcomes and batches -------------------------------------------------------------------

    def _end(self, view: AgreementView, id: int, outcome: int | None) -> None:
        self._searches[id].end(outcome)
        if id != view.id:
            self._bumped.pop(id, None)
            if outcome is not None:
                self._moves[id] = outcome

    def _due(self, view: AgreementView) -> dict[int, int]:
        """The agreed moves that this seat has yet to make and can make."""
        return {
            id: option
            for id, option in self._moves.items()
            if id in view.settled
            and view.settled[id].option != option
            and view.options[option].held_by in ("free", "own")
        }

    def decide(self, view: AgreementView) -> Sequence[Action]:
        option = self._searches[view.id].outcome
        if option is None:
            return ()
        moves = self._due(view)
        bumped = view.options[option].agreement
        away = bumped is not None and bumped not in moves
        if bumped is not None and away:
            refuge = self._refuge(view, {option, *moves.values()})
            if refuge is None or self.params.repair == "same_round":
                return ()
            moves[bumped] = refuge
        if not self._has_room(view, {option, *moves.values()}):
            return ()
        if bumped is not None and away:
            self._bumped.setdefault(bumped, option)
            self._moves.pop(bumped, None)
        return view.commit(option, moves)

    def assist(self, view: AgreementView) -> Sequence[Action]:
        moves = self._due(view)
        return view.move(moves) if moves and self._has_room(view, moves.values()) else ()

    @staticmethod
    def _refuge(view: AgreementView, targets: Collection[int]) -> int | None:
        """Where the copy of a bumped agreement waits for its repair: the lowest free option."""
        return next((o.index for o in view.options if o.held_by == "free" and o.index not in targets), None)


class SdMapCareful(SdMap):
    """SD-MAP that says PENDING only to what it can carry out, and repairs before anyone decides; ours."""

    params_type = SdMapCarefulParams
