"""Distributed score-based multi-round mechanism: one seat offers, all score, and points change hands (paper, D.3).

| step | message | from -> to | content |
| --- | --- | --- | --- |
| 1 | `proposals` | initiator -> each responder | `L` plans: an option, and what earlier agreements would move for it |
| 2 | `scores` | responder -> initiator | a satisfaction level `0..D-1` for each plan, and the points it pays |
| 3 | `decision` | initiator -> each responder | the chosen plan and the responder's reward, or no plan |

The initiator is the party of lowest id. Steps 1 and 2 are a sub-round, with the next `L` untried plans; they are
repeated until a plan suits everyone, or once only where `exhaustive` is off. An option that is held by an earlier
agreement can be offered together with a displacement of that agreement; its parties that are no parties of the
round are responders as well; what does not affect them costs them nothing. A recipient sees only the displacements
of agreements that it is in. With `need_to_know`, ours, such an additional responder is shown no option and no plan
but those that it has to score. With `p` parties, `n` sub-rounds, `x_k` such additional
responders in sub-round `k` and `y` in the chosen plan, an agreement takes

    n * 2 (p - 1) + 2 (x_1 + ... + x_n) + (p - 1) + y

messages. The chosen plan is that of least total scoring cost `C(s) = D - s - 1` over all who score it, the initiator
among them; the lowest option on a tie. Where everyone scores every plan, that is the greatest sum of scores. All who
are affected apply it, parties with their decision and others in the voluntary phase; without a chosen plan a seat
submits nothing.

Points: with the decision a responder pays the scoring cost of every non-zero score that it gave to the initiator,
and the initiator pays each responder of the chosen plan a reward. Nobody pays more than it has. Each seat notes its
books in the trace (`points`), the initiator also the size and utility of each offer set (`offer_set`).

Source: CalBench paper, D.3, tables 9 and 10, after Farhadi and Jennings (2021).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveInt, model_validator

from framework import Action, AgreementView, Observation, Params, SeatStart, Send
from protocols._dsm_messages import Decision, Displacement, Message, Plan, Proposals, Scores
from protocols._dsm_scoring import (
    Offer,
    choose_offers,
    offers_of,
    reward,
    satisfaction,
    scoring_cost,
    success,
    utility,
)
from protocols.typed import Received, TypedProtocol, direct

__all__ = [
    "Dsm",
    "DsmParams",
    "DsmPrivate",
    "DsmPrivateParams",
    "DsmWelfare",
    "Offer",
    "choose_offers",
    "reward",
    "satisfaction",
    "scoring_cost",
    "success",
    "utility",
]


class DsmParams(Params):
    """Parameters of `Dsm`, named as in table 9; the defaults are those of DSM-Welfare.

    Attributes:
        L_min: Least size of an offer set, unless fewer offers are left.
        L_max: Greatest size of an offer set.
        beta: Penalty for an offer set in which nothing suits everyone.
        theta: Weight of the privacy cost of an offer.
        w_soc: Weight of social welfare.
        c_priv: Privacy cost of an offer.
        cascade_depth: How many earlier agreements may move for one offer; 0 offers no displacement.
        displacement_targets: How many ways to move an earlier agreement are considered.
        exhaustive: Whether further offer sets follow one in which nothing suits everyone.
        need_to_know: Whether a seat that is no party of the round is shown only what it has to score.
        D: Number of satisfaction levels.
        initial_points: Points of each seat before the first round.
    """

    L_min: PositiveInt = 1
    L_max: PositiveInt = 12
    beta: NonNegativeFloat = 1.0
    theta: NonNegativeFloat = 0.0
    w_soc: NonNegativeFloat = 1.0
    c_priv: NonNegativeFloat = 1.0
    cascade_depth: NonNegativeInt = 2
    displacement_targets: NonNegativeInt = 4
    exhaustive: bool = True
    need_to_know: bool = False
    D: int = Field(default=12, ge=2)
    initial_points: NonNegativeInt = 100

    @model_validator(mode="after")
    def _ordered(self) -> DsmParams:
        if self.L_min > self.L_max:
            raise ValueError(f"L_min is {self.L_min} and L_max is {self.L_max}; L_min may not be greater")
        return self


class DsmPrivateParams(DsmParams):
    """Parameters with the defaults of DSM-Private."""

    L_max: PositiveInt = 2
    beta: NonNegativeFloat = 0.25
    theta: NonNegativeFloat = 10.0
    w_soc: NonNegativeFloat = 0.25
    cascade_depth: NonNegativeInt = 1
    displacement_targets: NonNegativeInt = 2
    exhaustive: bool = False


@dataclass(frozen=True, slots=True)
class _Scored:
    """A plan that this seat was offered, the score that it gave, and how many plans came with it."""

    option: int | None
    moves: Mapping[int, int]
    score: int
    offered: int
    liked: int

    def due(self, D: int) -> int:
        """The reward for this seat if the plan is chosen."""
        return reward(self.score, self.liked, self.offered, D)


@dataclass
class _Bidding:
    """What an initiator keeps in a round.

    Attributes:
        untried: Offers that have not been made, best first.
        made: Offers that have been made; their places are the ids of plans.
        live: Ids of the plans on the table.
        shown: Ids of the live plans that each responder was shown.
        scores: Scores of the live plans, by responder.
        paid: Points that each responder pays at the decision.
    """

    untried: list[Offer]
    made: list[Offer] = field(default_factory=list)
    live: range = range(0)
    shown: dict[int, tuple[int, ...]] = field(default_factory=dict)
    scores: dict[int, Mapping[int, int]] = field(default_factory=dict)
    paid: dict[int, int] = field(default_factory=dict)


class Dsm(TypedProtocol[Message]):
    """Offers as much as is worth its privacy, scores what it is offered, and keeps books of points."""

    vocabulary = Message
    params_type = DsmParams

    async def start_game(self, start: SeatStart) -> None:
        self._seat = start.seat
        self._points: int = self.params.initial_points

    async def start_round(self, observation: Observation) -> None:
        self._bidding: _Bidding | None = None
        self._scored: dict[int, _Scored] = {}
        self._owed = 0
        self._over = False
        self._option: int | None = None
        self._moves: Mapping[int, int] = {}

    def talk(self, observation: Observation, view: AgreementView, received: Sequence[Received[Message]]) -> list[Send]:
        sends: list[Send] = []
        for post, payload in received:
            why = self._objection(view, post.sender, payload)
            if why:
                self.ignore(observation, post, why)
            elif isinstance(payload, Proposals):
                sends.append(direct(post.sender, self._score(view, payload)))
            elif isinstance(payload, Decision):
                self._conclude(observation, view, payload)
            elif self._bidding is not None:
                self._bidding.scores[post.sender] = payload.scores
                self._bidding.paid[post.sender] = self._bidding.paid.get(post.sender, 0) + payload.points
        return [*sends, *self._lead(observation, view)] if self._seat == view.parties[0] else sends

    def catch_up(self, observation: Observation, view: AgreementView, received: Sequence[Received[Message]]) -> None:
        for post, payload in received:
            final = isinstance(payload, Decision)
            why = self._objection(view, post.sender, payload) if final else "it came when the talk was over"
            if why or not isinstance(payload, Decision):
                self.ignore(observation, post, why)
            else:
                self._conclude(observation, view, payload)

    def decide(self, view: AgreementView) -> Sequence[Action]:
        return () if self._option is None else view.commit(self._option, self._moves)

    def assist(self, view: AgreementView) -> Sequence[Action]:
        return view.move(self._moves) if self._moves else ()

    # --- what is not acted upon -----------------------------------------------------------------

    def _objection(self, view: AgreementView, sender: int, payload: Message) -> str:
        """Why a payload is not acted upon; empty if it is."""
        if payload.agreement != view.id:
            return f"it is about agreement {payload.agreement}, the round is about {view.id}"
        if isinstance(payload, Scores):
            return self._objection_to_scores(sender, payload)
        if sender != view.parties[0]:
            return f"only the initiator sends {payload.kind}"
        if self._over:
            return "the decision was announced before"
        if isinstance(payload, Decision):
            return self._objection_to_decision(payload)
        ids = [plan.id for plan in payload.plans]
        if len(set(ids)) < len(ids) or not self._scored.keys().isdisjoint(ids):
            return "it repeats a plan"
        return next((why for plan in payload.plans if (why := self._objection_to_plan(view, sender, plan))), "")

    def _objection_to_plan(self, view: AgreementView, sender: int, plan: Plan) -> str:
        options = [displacement.option for displacement in plan.displacements]
        if plan.option is not None:
            options.append(plan.option)
        strange = [option for option in options if not 0 <= option < len(view.options)]
        if strange:
            return f"there is no option {strange[0]}"
        if self._seat in view.parties and plan.option is None:
            return f"plan {plan.id} is not for this seat"
        for displacement in plan.displacements:
            settled = view.settled.get(displacement.agreement)
            if settled is None or sender not in settled.parties:
                return f"agreement {displacement.agreement} is not one that its sender and its reader have"
        return "" if options else f"plan {plan.id} has no option"

    def _objection_to_scores(self, sender: int, payload: Scores) -> str:
        bidding = self._bidding
        if bidding is None or self._over or sender not in bidding.shown or sender in bidding.scores:
            return "these scores are not awaited"
        if set(payload.scores) != set(bidding.shown[sender]):
            return "they are not about the plans that were proposed"
        if not all(0 <= score < self.params.D for score in payload.scores.values()):
            return f"a score is not among 0 to {self.params.D - 1}"
        due = self._cost(payload.scores.values())
        return "" if payload.points <= due else f"it pays {payload.points} points where {due} are due"

    def _objection_to_decision(self, payload: Decision) -> str:
        if payload.plan is None:
            bare = payload.option is None and payload.reward == 0
            return "" if bare else "it names an option or a reward without a plan"
        scored = self._scored.get(payload.plan)
        if scored is None or scored.score == 0 or scored.option != payload.option:
            return f"plan {payload.plan} is not one that this seat was offered and can carry out"
        due = scored.due(self.params.D)
        return "" if payload.reward <= due else f"it pays {payload.reward} points where {due} are due"

    # --- what a responder does ------------------------------------------------------------------

    def _score(self, view: AgreementView, payload: Proposals) -> Scores:
        scores: dict[int, int] = {}
        moves: dict[int, dict[int, int]] = {}
        for plan in payload.plans:
            moves[plan.id] = {displacement.agreement: displacement.option for displacement in plan.displacements}
            taken = plan.option if self._seat in view.parties else None
            scores[plan.id] = satisfaction(view.price(taken, moves[plan.id]), self.params.D)
        liked = sum(score > 0 for score in scores.values())
        for plan in payload.plans:
            self._scored[plan.id] = _Scored(plan.option, moves[plan.id], scores[plan.id], len(scores), liked)
        points = min(self._cost(scores.values()), self._points - self._owed)
        self._owed += points
        return Scores(agreement=view.id, scores=scores, points=points)

    def _conclude(self, observation: Observation, view: AgreementView, payload: Decision) -> None:
        self._over = True
        if payload.plan is not None:
            scored = self._scored[payload.plan]
            self._option, self._moves = scored.option, scored.moves
        initiator = view.parties[0]
        self._book(observation, view, {initiator: self._owed}, {initiator: payload.reward})

    # --- what an initiator does -----------------------------------------------------------------

    def _lead(self, observation: Observation, view: AgreementView) -> list[Send]:
        """The next step: wait, offer, or decide."""
        if self._over:
            return []
        bidding = self._bidding
        if bidding is None:
            bidding = self._bidding = _Bidding(self._offers(observation, view))
        elif len(bidding.scores) < len(bidding.shown):
            return []
        elif (chosen := self._best(view, bidding)) is not None:
            return self._announce(observation, view, bidding, chosen)
        if not bidding.untried or (bidding.made and not self.params.exhaustive):
            return self._announce(observation, view, bidding, None)
        sends = self._offer(observation, view, bidding)
        return sends or self._lead(observation, view)  # who has nobody to ask has its answer

    def _offers(self, observation: Observation, view: AgreementView) -> list[Offer]:
        """All offers whose responders this seat can reach, best first."""
        params, reachable = self.params, set(observation.turn.reachable)
        offers = offers_of(view, params.D, params.cascade_depth, params.displacement_targets)
        return [offer for offer in offers if offer.others(view) <= reachable]

    def _offer(self, observation: Observation, view: AgreementView, bidding: _Bidding) -> list[Send]:
        free = sum(option.held_by == "free" for option in view.options) / len(view.options)
        satisfactions = [offer.satisfaction for offer in bidding.untried]
        size, worth = choose_offers(satisfactions, free, len(view.parties) - 1, self.params)
        self.note(observation, "offer_set", size=size, utility=worth, untried=len(bidding.untried))
        bidding.live = range(len(bidding.made), len(bidding.made) + size)
        bidding.made += bidding.untried[:size]
        del bidding.untried[:size]
        bidding.shown, bidding.scores = {}, {}
        sends = []
        others = {seat for id in bidding.live for seat in bidding.made[id].others(view)}
        for seat in [*view.parties[1:], *sorted(others)]:
            plans = self._plans_for(seat, view, bidding)
            bidding.shown[seat] = tuple(plan.id for plan in plans)
            sends.append(direct(seat, Proposals(agreement=view.id, plans=plans)))
        return sends

    def _plans_for(self, seat: int, view: AgreementView, bidding: _Bidding) -> tuple[Plan, ...]:
        """The live plans as a seat may see them."""
        plans = []
        open_to_it = self._sees_options(seat, view)
        for id in bidding.live:
            offer = bidding.made[id]
            moves = offer.seen_by(seat, view)
            if open_to_it or moves:
                shown = tuple([Displacement(agreement=agreement, option=to) for agreement, to in moves.items()])
                plans.append(Plan(id=id, option=offer.option if open_to_it else None, displacements=shown))
        return tuple(plans)

    def _sees_options(self, seat: int, view: AgreementView) -> bool:
        return seat in view.parties or not self.params.need_to_know

    def _best(self, view: AgreementView, bidding: _Bidding) -> int | None:
        """The live plan that suits everyone at the least total scoring cost, the lowest option on a tie."""
        best: tuple[int, int, int] | None = None
        for id in bidding.live:
            offer = bidding.made[id]
            scores = [offer.satisfaction, *(given[id] for given in bidding.scores.values() if id in given)]
            if min(scores) > 0:
                rank = (self._cost(scores), offer.option, id)
                best = rank if best is None else min(best, rank)
        return None if best is None else best[2]

    def _announce(
        self, observation: Observation, view: AgreementView, bidding: _Bidding, chosen: int | None
    ) -> list[Send]:
        """Decide on a plan, or on none, and settle the points."""
        self._over = True
        offer = None if chosen is None else bidding.made[chosen]
        readers = list(view.parties[1:])
        if offer is not None:
            self._option, self._moves = offer.option, offer.moves
            readers += sorted(offer.others(view))
        received = {seat: bidding.paid.get(seat, 0) for seat in readers}
        purse = self._points + sum(received.values())
        rewards: dict[int, int] = {}
        sends = []
        for seat in readers:
            rewards[seat] = 0 if chosen is None else min(purse, self._due(bidding, seat, chosen))
            purse -= rewards[seat]
            option = offer.option if offer is not None and self._sees_options(seat, view) else None
            sends.append(direct(seat, Decision(agreement=view.id, plan=chosen, option=option, reward=rewards[seat])))
        self._book(observation, view, rewards, received)
        return sends

    def _due(self, bidding: _Bidding, seat: int, chosen: int) -> int:
        scores = bidding.scores[seat]
        return reward(scores[chosen], sum(score > 0 for score in scores.values()), len(scores), self.params.D)

    # --- points ---------------------------------------------------------------------------------

    def _cost(self, scores: Iterable[int]) -> int:
        return sum(scoring_cost(score, self.params.D) for score in scores)

    def _book(
        self, observation: Observation, view: AgreementView, paid: Mapping[int, int], received: Mapping[int, int]
    ) -> None:
        self._points += sum(received.values()) - sum(paid.values())
        self.note(
            observation,
            "points",
            agreement=view.id,
            paid={str(seat): points for seat, points in paid.items()},
            received={str(seat): points for seat, points in received.items()},
            balance=self._points,
        )


class DsmWelfare(Dsm):
    """DSM with the defaults of table 9: wide offer sets, and on to the next until one suits everyone."""


class DsmPrivate(Dsm):
    """DSM that makes one narrow offer set and leaves it at that."""

    params_type = DsmPrivateParams
