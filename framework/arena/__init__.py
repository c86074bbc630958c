"""An arena: players meet by rating, game after game, and a ledger keeps what became of it."""

from framework.arena.arena import Arena, ArenaStopped, play_arena
from framework.arena.config import ArenaConfig, parse_arena, read_arena
from framework.arena.ledger import Ledger, Match
from framework.arena.matchmaking import Pairing, choose_players, seat_players

__all__ = [
    "Arena",
    "ArenaConfig",
    "ArenaStopped",
    "Ledger",
    "Match",
    "Pairing",
    "choose_players",
    "parse_arena",
    "play_arena",
    "read_arena",
    "seat_players",
]
