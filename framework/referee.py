"""Plays one game: drives the phases, asks seats to move, validates, publishes, applies, records."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from opentelemetry.trace import TracerProvider
from pydantic import BaseModel, JsonValue

from framework._clock import Clock
from framework._floor import Floor, Limits, Spot
from framework._intake import introduce, writable
from framework.game import Ballot, Game, Phase, Stage
from framework.messages import Action, Batch, Conflict, Observation, Round, Turn
from framework.player import Failure, Player, Reply, Request, patience
from framework.runtime import Switchboard
from framework.strategy import SeatStart, Strategy
from framework.topology import Topology
from framework.trace import (
    BatchRejected,
    DecideEnd,
    DecideStart,
    Event,
    GameAborted,
    GameEnd,
    GameStart,
    IllegalPublish,
    Note,
    PhaseStart,
    RoundStart,
    Trace,
    TurnEnd,
    TurnStart,
)

__all__ = ["Limits", "Referee", "Seating", "play"]


@dataclass(frozen=True, slots=True)
class Seating:
    """A strategy in a seat: its registered name and an instance made for this seat of this game."""

    name: str
    strategy: Strategy[Any]


class _Aborted(Exception):
    def __init__(self, event: GameAborted) -> None:
        super().__init__(event.error)
        self.event = event


class Referee:
    """Plays one scenario of a game once.

    Args:
        game: The rules.
        scenario: The scenario.
        seating: One strategy a seat, in seat order.
        seed: Seed of this playing: all randomness in it comes from here.
        game_id: Unique id of this playing.
        config: What the trace states of the run.
        limits: What one seat may do in one move.
        observer: Called with every event as it happens, for progress.
        tracer_provider: Where OpenTelemetry spans go; None makes none.

    Raises:
        ValueError: If the number of strategies is not the number of seats.
    """

    def __init__(
        self,
        game: Game[Any, Any],
        scenario: BaseModel,
        seating: Sequence[Seating],
        *,
        seed: int = 0,
        game_id: str = "",
        config: Mapping[str, JsonValue] | None = None,
        limits: Limits | None = None,
        observer: Callable[[Event], None] | None = None,
        tracer_provider: TracerProvider | None = None,
    ) -> None:
        self._game, self._scenario, self._seating = game, scenario, seating
        self._seats = game.seats(scenario)
        if len(seating) != self._seats:
            raise ValueError(f"{game.name} needs {self._seats} strategies for this scenario, got {len(seating)}")
        self._seed, self._game_id, self._config = seed, game_id, dict(config or {})
        self._limits = limits or Limits()
        self._observer = observer
        self._channels = {c.name: c for c in game.channels if c.name in game.rules.channels}
        self._board = Switchboard(tracer_provider)
        self._topology: Topology = game.topology(scenario)
        if self._topology.seats != self._seats:
            raise ValueError(
                f"the topology of {game.name} joins {self._topology.seats} seats, and this scenario has {self._seats}; "
                "build it for the scenario's seats"
            )
        self._floor = Floor(self._channels, self._topology, self._board, self._limits, self._log)
        self._rounds = game.rounds(scenario)
        self._phases = game.phases()
        self._state: Any = game.start(scenario)
        self._players: list[Player] = []
        self._clock = Clock()
        self._events: list[Event] = []
        self._spot = Spot(Round(index=-1, participants=(), speakers=()))

    async def play(self) -> Trace:
        """Play to the end, or to the failure that aborts the game; either way the trace is complete."""
        started = datetime.now(UTC)
        try:
            outcome = await self._play_rounds()
        finally:
            try:
                await self._dismiss()
            finally:
                await self._board.close()
        self._log(outcome)
        return self._finish(started)

    async def _play_rounds(self) -> GameEnd | GameAborted:
        try:
            await self._begin()
            for round in self._rounds:
                await self._play_round(round)
        except _Aborted as abort:
            return abort.event
        except Exception as error:
            return self._own_failure(error)
        return GameEnd(rounds=len(self._rounds))

    async def _dismiss(self) -> None:
        """End the game for every seat; what fails now is written down and changes nothing."""
        self._clock.close()
        for seat, player in enumerate(self._players):
            player.cut_off()
            reply = await player.end()
            for event in reply.record.events:
                self._log(event)
            if reply.failure is not None:
                data: dict[str, JsonValue] = {"error": reply.failure.error, "detail": reply.failure.detail}
                self._log(Note(seat=seat, round=self._spot.round.index, kind="end_game_failed", data=data))
        self._log_intrusions()

    def _finish(self, started: datetime) -> Trace:
        final: dict[str, JsonValue] = {}
        try:
            final = self._game.final(self._state)
            trace = self._trace(started, final)
            metrics = self._game.score(trace) if trace.aborted is None else {}
        except Exception as error:
            self._log(self._own_failure(error))
            return self._trace(started, final)
        return trace.model_copy(update={"metrics": metrics})

    def _trace(self, started: datetime, final: dict[str, JsonValue]) -> Trace:
        return Trace(
            game_id=self._game_id,
            config=self._config,
            events=tuple(self._events),
            final_state=final,
            started_at=started,
            ended_at=datetime.now(UTC),
        )

    def _own_failure(self, error: Exception) -> GameAborted:
        what = f"{type(error).__name__} in the harness or in the rules of {self._game.name}: {error}"
        return GameAborted(boundary="harness", error=writable(what), detail=writable(traceback.format_exc()))

    def _log(self, event: Event) -> None:
        self._events.append(event)
        if self._observer is not None:
            self._observer(event)

    @staticmethod
    def _abort(seat: int, failure: Failure) -> _Aborted:
        abort = GameAborted(
            boundary=failure.boundary, seat=seat, error=failure.error, detail=failure.detail, stop=failure.stop
        )
        return _Aborted(abort)

    # --- the game -------------------------------------------------------------------------------

    async def _begin(self) -> None:
        game, scenario = self._game, self._scenario
        complete = len(self._topology.edges) == self._seats * (self._seats - 1) // 2
        self._log(
            GameStart(
                game=game.name,
                seed=self._seed,
                seats=self._seats,
                rounds=len(self._rounds),
                channels=tuple(self._channels),
                topology=None if complete else self._topology.edges,
                strategies=tuple(seating.name for seating in self._seating),
                adversarial=tuple(s for s, seating in enumerate(self._seating) if seating.strategy.adversarial),
                facts=game.facts(scenario),
                scenario=scenario,
            )
        )
        for seat, seating in enumerate(self._seating):
            self._players.append(Player(seating.strategy, self.seat_start(seat), self._seed, self._limits.seconds))
        await self._board.open(self._players)
        for seat in range(self._seats):
            await self._register(seat)

    def seat_start(self, seat: int) -> SeatStart:
        """What a seat is told before the first round, for those who ask before play."""
        return SeatStart(
            game=self._game.name,
            seat=seat,
            seats=self._seats,
            rounds=len(self._rounds),
            retries=max((phase.retries for phase in self._phases), default=0),
            sweeps=max((phase.sweeps for phase in self._phases), default=1),
            channels=tuple(self._channels),
            view=self._game.view(self._state, seat),
            facts=self._game.public_facts(self._scenario),
            messages=self._limits.messages,
            chars=self._limits.chars,
            prompts=self._game.prompts(),
        )

    async def _register(self, seat: int) -> None:
        reply = await self._players[seat].start()
        name, view = self._seating[seat].name, self._game.view(self._state, seat)
        try:
            event = introduce(seat, name, self._seating[seat].strategy, view)
        except Exception as error:
            what = f"seat {seat} ({name}): its params or its system prompt cannot be read: {error}"
            raise self._abort(seat, Failure("strategy", writable(what), writable(traceback.format_exc()))) from error
        self._log(event)
        self._take(seat, reply)

    async def _play_round(self, round: Round) -> None:
        self._spot = Spot(round)
        self._state = self._game.begin(self._state, round)
        self._log(RoundStart(round=round))
        for phase in self._phases:
            await self._play_phase(phase)
        for seat, player in enumerate(self._players):
            if player.wants_round_ends:
                request = Request("end_round", self._observe(seat, phase=self._phases[-1]), 0)
                self._take(seat, await self._ask(seat, request))
        await self._board.end_round()

    async def _play_phase(self, phase: Phase[Any]) -> None:
        spot = self._spot
        spot.phase, spot.sweep = phase.name, 0
        self._log(PhaseStart(round=spot.round.index, phase=phase.name))
        answers: dict[int, Batch | None] = {}
        for spot.sweep in range(phase.sweeps):
            said = self._floor.posts
            for seat in self._actors(phase):
                await self._hear(seat, phase, answers)
            if phase.activation:
                for seat in range(self._seats):
                    if seat in spot.reached:  # since its own last turn
                        await self._hear(seat, phase, answers)
            if phase.until_quiet and self._floor.posts == said:
                break
        if phase.settle is not None:
            batches = {seat: batch for seat, batch in answers.items() if batch is not None}
            failed = tuple(seat for seat, batch in answers.items() if batch is None) if phase.actions else ()
            ballot = Ballot(phase.name, spot.round, batches, failed, tuple(sorted(spot.active)))
            settlement = phase.settle(self._state, ballot)
            self._state = settlement.state
            for event in settlement.events:
                self._log(event)

    def _actors(self, phase: Phase[Any]) -> Sequence[int]:
        return phase.actors(Stage(self._seats, self._spot.round, tuple(sorted(self._spot.active))))

    async def _hear(self, seat: int, phase: Phase[Any], answers: dict[int, Batch | None]) -> None:
        """Ask a seat to move; of several valid batches in a phase, its last one counts."""
        batch = await self._turn(seat, phase)
        answers[seat] = answers.get(seat) if batch is None else batch

    # --- one move -------------------------------------------------------------------------------

    def _observe(self, seat: int, phase: Phase[Any], attempt: int = 0) -> Observation:
        turn = Turn(
            seat=seat,
            seats=self._seats,
            round=self._spot.copy_for(seat),
            phase=phase.name,
            sweep=self._spot.sweep,
            sweeps=phase.sweeps,
            channels=tuple(name for name in phase.channels if name in self._channels),
            reachable=self._topology.neighbours(seat),
            attempt=attempt,
            retries=phase.retries,
        )
        return self._game.observe(self._state, turn)

    async def _turn(self, seat: int, phase: Phase[Any]) -> Batch | None:
        """One move of one seat, with its retries.

        Returns:
            The valid batch; None if there is none, also where the phase asks for none.
        """
        self._spot.reached.discard(seat)
        kind: Literal["act", "retry"] = "act"
        conflict: Conflict | None = None
        for attempt in range(phase.retries + 1):
            request = Request(kind, self._observe(seat, phase, attempt), self._board.published_to(seat), conflict)
            reply = await self._ask(seat, request)
            actions = self._take(seat, reply, phase, attempt)
            if actions is None:
                return None
            batch = await self._floor.carry_out(seat, phase, self._spot, actions)
            if not phase.actions:
                return None
            found = next((c for rule in phase.validators if (c := rule(self._state, seat, batch))), None)
            if found is None:
                return batch
            conflict = found.model_copy(deep=True)  # the trace keeps the other one
            kind = "retry"
            spot = self._spot
            self._log(
                BatchRejected(
                    round=spot.round.index,
                    phase=phase.name,
                    seat=seat,
                    attempt=attempt,
                    conflict=found,
                    actions=batch,
                )
            )
        return None

    async def _ask(self, seat: int, request: Request) -> Reply:
        """A seat's answer; a seat that is not stopped by its time limit is given up."""
        seconds = self._limits.seconds
        try:
            with self._clock.limit(patience(seconds)):
                reply: Reply = await self._board.ask(seat, request)
        except TimeoutError as error:
            what = f"seat {seat} ({self._seating[seat].name}): did not stop when its {seconds:g} s were over"
            raise self._abort(seat, Failure("strategy", what, "")) from error
        return reply

    def _take(
        self, seat: int, reply: Reply, phase: Phase[Any] | None = None, attempt: int = 0
    ) -> tuple[Action, ...] | None:
        """Record what came back from a seat, and abort where it failed."""
        if phase is not None:
            self._log_move(seat, reply, phase, attempt)
        for event in reply.record.events:
            self._log(event)
        self._log_intrusions()
        if reply.failure is not None:
            raise self._abort(seat, reply.failure)
        return reply.actions

    def _log_intrusions(self) -> None:
        for intrusion in self._board.intrusions():
            self._log(IllegalPublish(sender=intrusion.sender, topic=intrusion.target, content=intrusion.content))

    def _log_move(self, seat: int, reply: Reply, phase: Phase[Any], attempt: int) -> None:
        spot, record = self._spot, reply.record
        where: dict[str, Any] = {"round": spot.round.index, "phase": phase.name, "turn": spot.sweep, "seat": seat}
        asked = {**where, "inbox": reply.inbox, "prompt": record.prompt}
        moved = {
            **where,
            "actions": self._floor.kept(reply.actions or ()),
            "thinking": record.thinking,
            "usage": record.usage,
            "latency": round(reply.latency, 6),
        }
        if phase.actions:
            view = self._game.view(self._state, seat) if attempt == 0 else ""
            self._log(DecideStart(**asked, attempt=attempt, view=view))
            self._log(DecideEnd(**moved, attempt=attempt))
        else:
            self._log(TurnStart(**asked))
            self._log(TurnEnd(**moved))


async def play(game: Game[Any, Any], scenario: BaseModel, seating: Sequence[Seating], **options: Any) -> Trace:
    """Play one scenario of a game once; the options are those of `Referee`."""
    return await Referee(game, scenario, seating, **options).play()
