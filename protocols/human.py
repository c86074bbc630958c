"""A seat that a person plays, in the terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import ClassVar

from pydantic import TypeAdapter, ValidationError

from framework import Action, Conflict, FocalView, Observation, Params, Post, Strategy
from framework.messages import AnyAction
from framework.printing import printable
from framework.strategy import SeatLeft
from protocols.keyboard import keyboard

__all__ = ["Human", "HumanParams"]

_Actions = TypeAdapter(tuple[AnyAction, ...])


class HumanParams(Params):
    """Parameters of `Human`.

    Attributes:
        reasoning: Whether to ask for reasons as well; they go to the trace and to no other seat.
        private: Whether to wait until the person is alone, and to clear the screen afterwards, where two people
            share a terminal.
    """

    reasoning: bool = False
    private: bool = False


class Human(Strategy[Observation]):
    """Shows what the seat may know, and asks for a move.

    Where a game offers a focal view, a move is one of its options, by name or number. Elsewhere it is a JSON
    list of actions; an empty line passes.
    """

    params_type: ClassVar[type[Params]] = HumanParams
    interactive: ClassVar[bool] = True

    async def act(self, observation: Observation) -> Sequence[Action]:
        return await self._move(observation, "")

    async def retry(self, observation: Observation, conflict: Conflict) -> Sequence[Action] | None:
        return await self._move(observation, f"That did not count: {conflict.message}")

    async def _move(self, observation: Observation, remark: str) -> Sequence[Action]:
        seat = f"seat {observation.seat}"
        if self.params.private:
            _show(f"\nIt is the turn of {seat}. Press Enter when nobody else sees the screen.")
            await _line("")
        _show("\n".join(["", f"--- You are {seat} ---", *map(_shown, observation.inbox), observation.describe()]))
        if remark:
            _show(remark)
        view = observation.focal
        actions = await (_actions(observation.phase) if view is None else _option(view))
        if self.params.reasoning:
            self.record.thinking = await _line("Why? ")
        if self.params.private:
            _show("\033[2J\033[H")
        return actions


def _show(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _shown(post: Post) -> str:
    said = printable(post.content).replace("\n", "\n    ")  # else a message could pass for several
    return f"seat {post.sender} on {post.channel}: {said}"


async def _line(question: str) -> str:
    """A line that the person types.

    Raises:
        SeatLeft: If there is nobody to type one.
    """
    print(question, end="", file=sys.stderr, flush=True)
    line = await keyboard.line()
    if line is None:
        raise SeatLeft("nobody is at the keyboard; play at a terminal, and add --resume to go on")
    return line.strip()


async def _option(view: FocalView) -> Sequence[Action]:
    options = view.options
    for number, option in enumerate(options, 1):
        _show(f"  {number}  {option}")
    while True:
        said = await _line(f"Your choice (1 to {len(options)}): ")
        if said.isdecimal() and 1 <= int(said) <= len(options):
            return view.choose(options[int(said) - 1])
        chosen = next((option for option in options if option.casefold() == said.casefold()), None)
        if chosen is not None:
            return view.choose(chosen)
        _show(f"{said!r} is none of them.")


async def _actions(phase: str) -> Sequence[Action]:
    while True:
        said = await _line(f"Your actions in phase {phase}, as a JSON list; Enter passes: ")
        if not said:
            return ()
        try:
            return _Actions.validate_python(json.loads(said))
        except (json.JSONDecodeError, ValidationError) as error:
            _show(f"That is not a list of actions: {str(error).splitlines()[0]}")
