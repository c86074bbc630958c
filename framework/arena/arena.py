"""Plays the matches of an arena, rates each, and goes on from its ledger."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from uuid import UUID, uuid5

from framework._jobs import Common, Job, StorageError, play_group
from framework._runfolder import RunFolder, trace_name
from framework.arena.config import ArenaConfig, write_arena
from framework.arena.ledger import Ledger, Match
from framework.arena.matchmaking import Pairing, choose_players, seat_players
from framework.errors import UserError
from framework.experiment import Setup
from framework.ratings import Ladder
from framework.results import GameResult, read_result
from framework.runner import Progress, Tally
from framework.specs import StrategySpec
from framework.trace import TraceError

__all__ = ["CONFIG", "LEDGER", "Arena", "ArenaStopped", "play_arena"]

_NAMESPACE = UUID("0d0c1f2e-7c59-5a43-9a63-3f5d5a0e7b16")
LEDGER, CONFIG = "arena.sqlite", "arena.yaml"


class ArenaStopped(Exception):
    """An arena ended before its budget was spent; the message says how to go on.

    Attributes:
        interrupted: Whether the person at the keyboard stopped it.
    """

    def __init__(self, why: str, folder: Path, interrupted: bool = False) -> None:
        super().__init__(f"{why}; what was played is kept, go on with: cheaptalk arena {folder} --resume")
        self.interrupted = interrupted


def _seed(*parts: object) -> int:
    return int.from_bytes(hashlib.sha256("/".join(map(str, parts)).encode()).digest()[:6], "big")


def _player(spec: StrategySpec) -> str:
    """The name under which a member of the pool is rated."""
    return f"{spec.label} (adversarial)" if spec.build().adversarial else spec.label


class Arena:
    """An arena over its open ledger.

    Args:
        config: The arena.
        folder: Where it is.
        ledger: Its ledger.

    Raises:
        UserError: If the game, a task or a player cannot be had, or the game rates nobody.
    """

    def __init__(self, config: ArenaConfig, folder: Path, ledger: Ledger) -> None:
        self.config, self.folder, self.ledger = config, folder, ledger
        self._setup = Setup.of(config.experiment())
        game = type(self._setup.game)
        if not game.rated:
            raise UserError(f"game {config.game!r} declares nothing to rate players by; set `rated` on its class")
        self._specs = {spec.label: spec for spec in config.pool}
        self._players = {spec.label: _player(spec) for spec in config.pool}
        # Every seat has a player of its own: none is the default.
        self._common = Common.of(self._setup.experiment.model_copy(update={"strategy": None}))
        self.ladder = Ladder(game, ledger.ratings())
        self._played = ledger.played()

    def plan(self) -> list[Match]:
        """Make the next matches from the ratings as they are, and write them down."""
        first = self.ledger.count()
        found: list[Match] = []
        for number in range(first, min(first + self.config.at_once, self.config.games)):
            match = self._match(number, {name: self._played[name] for name in self._specs})
            self._played.update(set(match.seating))
            found.append(match)
        self.ledger.plan(found)
        return found

    def _match(self, number: int, played: dict[str, int]) -> Match:
        rng = random.Random(_seed(self.config.seed, "match", number))
        scenario = self._task(number)
        seats = self._setup.game.seats(self._setup.scenarios[scenario])
        pairing = Pairing(self.config.explore, self.config.distance)
        mmr = {name: self.ladder.mmr(self._players[name]) for name in played}
        players = choose_players(played, mmr, min(seats, len(played)), pairing, rng)
        task = self._setup.game.task_id(self._setup.scenarios[scenario])
        return Match(
            number=number,
            scenario=scenario,
            task=task,
            seating=seat_players(players, seats, rng),
            game_id=str(uuid5(_NAMESPACE, f"{self.config.key}/{number}")),
            trace=trace_name(number, task),
        )

    def _task(self, number: int) -> int:
        """The task of a match: all are played, in an order of chance, before one is played again."""
        turn, place = divmod(number, len(self._setup.scenarios))
        order = list(range(len(self._setup.scenarios)))
        random.Random(_seed(self.config.seed, "tasks", turn)).shuffle(order)
        return order[place]

    def play(self, matches: Sequence[Match]) -> Iterator[GameResult]:
        """Play matches that were planned, and rate them in order. A match whose trace is whole is not played again.

        Raises:
            StorageError: If a trace cannot be written.
            ArenaStopped: If a game says that no further one can be played.
        """
        found = {match.number: result for match in matches if (result := self._kept(match))}
        todo = [self._job(match) for match in matches if match.number not in found]
        found |= {result.number: result for result in (play_group(todo) if todo else ())}
        for match in matches:
            result = found[match.number]
            if result.abort is not None and result.abort.stop:
                raise ArenaStopped(result.abort.error, self.folder)
            self.ledger.settle(match, result, self.ladder.add(result))
            yield result

    def _kept(self, match: Match) -> GameResult | None:
        """The result of a match that an earlier sitting played and had no time to write down."""
        try:
            result = read_result(self.folder / match.trace)
        except TraceError:
            return None
        return None if result.game_id != match.game_id or (result.abort and result.abort.stop) else result

    def _job(self, match: Match) -> Job:
        scenario = self._setup.scenarios[match.scenario]
        return Job(
            common=self._common,
            number=match.number,
            task=match.task,
            group=self._setup.game.group(scenario),
            repeat=0,
            game_id=match.game_id,
            seed=_seed(self.config.seed, "game", match.number),
            seating=tuple(self._specs.get(name) or StrategySpec.parse(name) for name in match.seating),
            scenario=scenario,
            trace=self.folder.absolute() / match.trace,
        )


def play_arena(config: ArenaConfig, *, resume: bool = False, progress: Progress | None = None) -> Tally:
    """Play an arena until its budget of games is spent.

    Args:
        config: The arena; `out` names its folder.
        resume: Whether to go on with what is in the folder.
        progress: Told of every match that is over.

    Raises:
        UserError: If the arena does not fit, or its folder cannot be used.
        ArenaStopped: If it ended early.
    """
    folder = Path(config.out)
    with RunFolder(folder):
        if (folder / LEDGER).exists() and not resume:
            raise UserError(f"{folder} holds an arena already; add --resume to continue it, or give another --out")
        if not (folder / LEDGER).exists() and any((folder / "traces").iterdir()):
            raise UserError(f"{folder} holds traces and is not an arena's folder; give another --out")
        ledger = Ledger(folder / LEDGER)
        try:
            ledger.claim(config.identity())
            arena = Arena(config, folder, ledger)
            ledger.join(spec.label for spec in config.pool)
            write_arena(folder / CONFIG, config)
            return _play_all(arena, progress)
        except KeyboardInterrupt:
            raise ArenaStopped("interrupted", folder, interrupted=True) from None
        except StorageError as error:
            raise ArenaStopped(f"{folder} cannot be written ({error})", folder) from error
        finally:
            ledger.close()


def _play_all(arena: Arena, progress: Progress | None) -> Tally:
    ledger, games = arena.ledger, arena.config.games

    def tally() -> Tally:
        return Tally(ledger.count() - ledger.count("planned"), games, ledger.count("aborted"))

    while matches := ledger.matches("planned") or arena.plan():
        for _ in arena.play(matches):
            if progress is not None:
                progress(tally())
    return tally()
