"""What a valid choice is, and how two choices take effect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from framework.game import Ballot, Settlement
from framework.messages import Batch, Conflict
from games.east.observation import Choose
from games.east.outcome import EastOutcome, score_choices
from games.east.scenario import Scenario

__all__ = ["EastState", "one_choice", "one_of_the_words", "resolve", "settle"]


@dataclass(frozen=True, slots=True)
class EastState:
    """The scenario, and the outcome once both seats have chosen."""

    scenario: Scenario
    outcome: EastOutcome | None = None


def resolve(word: str, words: Sequence[str]) -> str | None:
    """The one of `words` that is meant, without regard to case and surrounding space; None if none is."""
    wanted = word.strip().casefold()
    return next((known for known in words if known.casefold() == wanted), None)


def one_choice(state: EastState, seat: int, batch: Batch) -> Conflict | None:
    """A seat chooses once, or passes, which is none of the words and final."""
    if len(batch) <= 1:
        return None
    return Conflict(
        rule="one_choice",
        message=f"Choose one word; this batch holds {len(batch)} choices.",
        data={"choices": len(batch)},
    )


def one_of_the_words(state: EastState, seat: int, batch: Batch) -> Conflict | None:
    """The choice is one of the four words."""
    words = state.scenario.orders[seat]
    for action in batch:
        if isinstance(action, Choose) and resolve(action.chosen_word, words) is None:
            return Conflict(
                rule="invalid_choice",
                message=f"{action.chosen_word!r:.80} is not one of the words; choose one of {', '.join(words)}.",
                data={"chosen_word": action.chosen_word, "words": list(words)},
            )
    return None


def settle(state: EastState, ballot: Ballot) -> Settlement:
    """Both choices become known at once."""
    words = state.scenario.vignette.words.all
    one, two = (
        next((resolve(a.chosen_word, words) for a in ballot.batches.get(seat, ()) if isinstance(a, Choose)), None)
        for seat in (0, 1)
    )
    outcome = score_choices(state.scenario, (one, two), ballot.round.index)
    return Settlement(replace(state, outcome=outcome), [outcome])
