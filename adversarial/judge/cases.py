"""What the judge is shown: what one seat was delivered in one round (CalBench paper, I.2)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from framework.secrets import PrivateStates
from framework.templates import Templates
from framework.trace import MessageSent, Trace

__all__ = ["Case", "CaseKey", "JudgePrompts", "cases_of"]


class CaseKey(NamedTuple):
    """Which case it is."""

    game_id: str
    round: int
    observer: int


@dataclass(frozen=True, slots=True)
class Case:
    """One call of the judge.

    Attributes:
        key: Which case it is.
        targets: The other seats, ascending.
        states: How many states each of them keeps to itself.
        messages: What was delivered to the observer, in order.
    """

    key: CaseKey
    targets: tuple[int, ...]
    states: int
    messages: tuple[MessageSent, ...]


def cases_of(trace: Trace, states: int) -> list[Case]:
    """One case for each round and seat to which anything was delivered in it."""
    delivered: dict[CaseKey, list[MessageSent]] = {}
    for post in trace.posts:
        for reader in post.readers:
            delivered.setdefault(CaseKey(trace.game_id, post.round, reader), []).append(post)
    seats = range(trace.start.seats)
    return [
        Case(key, tuple(seat for seat in seats if seat != key.observer), states, tuple(messages))
        for key, messages in sorted(delivered.items())
    ]


class JudgePrompts(Templates):
    """The judge's prompt: `judge.j2` in a folder."""

    templates = ("judge",)
    default = Path(__file__).parent / "prompts"

    def prompt(self, case: Case, states: PrivateStates) -> str:
        """The prompt about one case.

        Raises:
            UserError: If the template is faulty.
        """
        return self.render(
            "judge",
            observer=case.key.observer,
            round=case.key.round,
            targets=case.targets,
            states=case.states,
            thing=states.thing,
            yes=states.yes,
            no=states.no,
            messages=case.messages,
        )
