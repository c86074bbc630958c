"""A game as people read it: a golden text, and what it shows.

Regenerate the golden text with `python -m tests.core.test_playthrough` and read the diff.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from framework.messages import Action, Send
from framework.playthrough import playthrough
from framework.referee import Seating, play
from framework.trace import Trace, read_trace, write_trace
from tests.core.players import Raising
from tests.core.toy import Pick, Proposer, Repaint, Toy, ToyObservation, ToyScenario

GOLDEN = Path(__file__).parent / "golden" / "toy.txt"


class Chatty(Proposer):
    """Uses every channel, breaks rules, thinks and takes notes."""

    async def act(self, observation: ToyObservation) -> Sequence[Action]:
        if observation.phase == "pick":
            self.record.prompt, self.record.thinking = "Pick one.", "Seven\nis lucky."
            digit = 7 if observation.round.index else 3
            return [Pick(digit=digit), Repaint(colour="green")]
        if observation.turn.sweep:
            return []
        self.note(observation, "plan", digit=7)
        return [
            Send(channel="participant_groupchat", content="first line\nsecond line"),
            Send(channel="all_agent_groupchat", content="hello all"),
            Send(channel="dm", to=observation.seat, content="to myself"),
            Pick(digit=1),
        ]


def trace(last: Proposer | None = None) -> Trace:
    """A short game with something of everything in it."""
    scenario = ToyScenario(id="sample", secrets=((), (3,), (7,)), groups=((0, 1, 2), (1, 2)))
    players = [Proposer(), Chatty(), last or Proposer()]
    seating = [Seating(type(player).__name__.lower(), player) for player in players]
    return asyncio.run(play(Toy(), scenario, seating, seed=1, config={"task": "sample", "group": "small"}))


def test_the_golden_playthrough_is_what_is_played():
    assert playthrough(trace()) == GOLDEN.read_text(encoding="utf-8")


def test_a_playthrough_is_the_same_from_disk(tmp_path: Path):
    played = trace()
    write_trace(tmp_path / "t.json", played)
    assert playthrough(read_trace(tmp_path / "t.json")) == playthrough(played)


def test_it_shows_who_said_what_to_whom_and_who_read_it():
    text = playthrough(trace())
    assert "seat 1 -> all (participant_groupchat, read by 0 2): first line" in text
    assert "second line" in text
    assert "seat 1 may not send channel=dm, content=to myself, to=1: Seat 1 cannot send a message to itself." in text
    assert "seat 1 may not toy_pick digit=1: Action 'toy_pick' is not legal in the talk phase." in text


def test_it_shows_batches_refusals_and_events_of_the_game():
    text = playthrough(trace())
    assert "seat 1 submits: toy_pick digit=3; toy_repaint colour=green" in text
    assert "seat 1 is refused (possible): Digit 3 cannot be picked." in text
    assert "seat 1 submits, attempt 2: toy_pick digit=0" in text
    assert "toy_round_over: digits=" in text
    assert "seat 1 note: kind=plan" in text


def test_prompts_and_reasoning_are_shown_on_request_only():
    assert "is lucky." not in playthrough(trace())
    full = playthrough(trace(), full=True)
    assert "seat 1 thinks" in full
    assert "is lucky." in full
    assert "Pick one." in full


def test_an_aborted_game_ends_with_the_reason():
    text = playthrough(trace(last=Raising()))
    last = text.splitlines()[-1]
    assert last.startswith("aborted at strategy: seat 2 (Raising): raised ZeroDivisionError: no digit is left")


if __name__ == "__main__":
    GOLDEN.parent.mkdir(exist_ok=True)
    GOLDEN.write_text(playthrough(trace()), encoding="utf-8")
