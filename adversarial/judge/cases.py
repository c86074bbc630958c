"""What the judge is shown: what one seat was delivered in one round (CalBench paper, I.2)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from framework.errors import UserError
from framework.secrets import PrivateStates
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


class JudgePrompts:
    """The judge's prompt: `judge.j2` in a folder, and what it includes.

    Args:
        folder: The folder; our own wording by default.

    Raises:
        UserError: If the template is missing.
    """

    default = Path(__file__).parent / "prompts"
    template = "judge.j2"

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or self.default
        if not (self.folder / self.template).is_file():
            raise UserError(f"prompts {self.folder}: there is no {self.template}; copy our own from {self.default}")

    @cached_property
    def hash(self) -> str:
        """SHA-256 of all templates of the folder, by name."""
        digest = hashlib.sha256()
        for path in sorted(self.folder.glob("*.j2")):
            digest.update(path.name.encode() + b"\n" + path.read_bytes())
        return digest.hexdigest()

    def render(self, case: Case, states: PrivateStates) -> str:
        """The prompt about one case.

        Raises:
            UserError: If the template is faulty.
        """
        from jinja2 import TemplateError

        try:
            text = self._environment.get_template(self.template).render(
                observer=case.key.observer,
                round=case.key.round,
                targets=case.targets,
                states=case.states,
                thing=states.thing,
                yes=states.yes,
                no=states.no,
                messages=case.messages,
            )
        except TemplateError as error:
            line = getattr(error, "lineno", None)
            where = self.template if line is None else f"{self.template} line {line}"
            raise UserError(f"prompts {self.folder}: {where}: {error}; correct the template") from error
        return str(text).strip()

    @cached_property
    def _environment(self) -> Any:
        from jinja2 import FileSystemLoader, StrictUndefined
        from jinja2.sandbox import ImmutableSandboxedEnvironment

        return ImmutableSandboxedEnvironment(
            loader=FileSystemLoader(self.folder), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
        )
