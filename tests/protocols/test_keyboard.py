"""Lines from a pipe, as a person would type them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from protocols.keyboard import Keyboard


@dataclass
class Pipe:
    """A keyboard, and the fingers on it."""

    keyboard: Keyboard
    keys: int

    def type(self, text: str) -> None:
        os.write(self.keys, text.encode())


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    reads, writes = os.pipe()
    yield Pipe(Keyboard(reads), writes)
    for descriptor in (reads, writes):
        try:
            os.close(descriptor)
        except OSError:
            continue


async def test_lines_come_one_at_a_time_without_their_ends(pipe: Pipe) -> None:
    pipe.type("one\ntwo\r\n\n  three")
    os.close(pipe.keys)
    assert [await pipe.keyboard.line() for _ in range(5)] == ["one", "two", "", "  three", None]


async def test_a_question_that_is_given_up_leaves_the_answer_to_the_next(pipe: Pipe) -> None:
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(pipe.keyboard.line(), 0.01)
    later = asyncio.create_task(pipe.keyboard.line())
    await asyncio.sleep(0)
    pipe.type("mine\n")
    assert await later == "mine"


async def test_who_has_waited_longest_is_answered_first(pipe: Pipe) -> None:
    questions = [asyncio.create_task(pipe.keyboard.line()) for _ in range(3)]
    await asyncio.sleep(0)
    pipe.type("a\nb\nc\n")
    assert await asyncio.gather(*questions) == ["a", "b", "c"]


async def test_what_is_no_text_is_replaced_and_never_a_crash(pipe: Pipe) -> None:
    os.write(pipe.keys, b"\xff\xfestitches\n")
    assert await pipe.keyboard.line() == "\ufffd\ufffdstitches"


def test_another_loop_can_go_on_after_the_first_was_closed(pipe: Pipe) -> None:
    async def give_up() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(pipe.keyboard.line(), 0.01)

    async def ask() -> str | None:
        answer = asyncio.create_task(pipe.keyboard.line())
        await asyncio.sleep(0)
        pipe.type("here\n")
        return await answer

    asyncio.run(give_up())
    assert asyncio.run(ask()) == "here"
