"""The conformance kit: what a game or a strategy promises, put to the test.

In a test of your own, one line each:

    check_game(MyGame).raise_if_failed()
    check_strategy(MyStrategy, MyGame).raise_if_failed()

A seat is guarded against what it is handed and what it returns, not against the interpreter: code that
walks the call stack or patches modules sees everything that its process holds. Seat code that you do not
trust in a process of its own.
"""

from framework.testing._game import check_game
from framework.testing._noise import NoiseStrategy
from framework.testing._report import Check, Report
from framework.testing._strategy import check_strategy

__all__ = ["Check", "NoiseStrategy", "Report", "check_game", "check_strategy"]
