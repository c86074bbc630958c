"""What crosses a seat's boundary is frozen, and reads back as what it was."""

from __future__ import annotations

import pickle
from typing import Literal

import pytest
from pydantic import ValidationError

from framework import Action, Conflict, Frozen, Observation, Post, Round, Send, Turn
from framework.messages import AnyAction, UnknownAction, batch_of
from tests.core.toy import Pick, Repaint, ToyObservation

ROUND = Round(index=2, participants=(0, 1, 3), speakers=(3, 0, 1))
TURN = Turn(seat=1, seats=4, round=ROUND, phase="talk", sweep=1, sweeps=3, channels=("dm",), reachable=(0, 3))
POST = Post(id=0, channel="dm", sender=0, to=1, round=2, content="hello")


class Holder(Frozen):
    """Holds any action."""

    action: AnyAction


@pytest.mark.parametrize(
    "item",
    [Send(channel="dm", content="x", to=1), POST, Conflict(rule="r", message="m"), ROUND, TURN, Observation(turn=TURN)],
    ids=lambda item: type(item).__name__,
)
def test_nothing_that_crosses_the_boundary_can_be_changed_or_extended(item: Frozen):
    for name in type(item).model_fields:
        with pytest.raises(ValidationError, match="frozen"):
            setattr(item, name, None)
    with pytest.raises(ValidationError):
        type(item)(**{**dict(item), "surplus": 1})


def test_observations_are_values_that_hash_and_pickle():
    one = ToyObservation(turn=TURN, inbox=(POST,), secret=(1, 2), colour="red")
    assert len({one, one.model_copy(), pickle.loads(pickle.dumps(one))}) == 1


def test_an_observation_says_where_its_seat_is():
    seen = Observation(turn=TURN, inbox=(POST,))
    assert (seen.seat, seen.phase, seen.round, seen.others) == (1, "talk", ROUND, (0, 3))
    assert seen.turn.participates
    assert not TURN.model_copy(update={"seat": 2}).participates
    assert (seen.agreement, seen.describe()) == (None, "seat 1, round 2, phase talk")


def test_a_log_line_of_an_observation_holds_nothing_private():
    assert repr(ToyObservation(turn=TURN, inbox=(POST,), secret=(7,), colour="red")) == (
        "<ToyObservation seat=1 round=2 phase=talk>"
    )


@pytest.mark.parametrize(("sweep", "last"), [(0, False), (1, False), (2, True)])
def test_a_turn_knows_when_the_budget_ends(sweep: int, last: bool):
    assert TURN.model_copy(update={"sweep": sweep}).last is last


def test_a_batch_is_what_is_left_of_a_move_without_its_messages():
    pick, paint, send = Pick(digit=1), Repaint(colour="red"), Send(channel="dm", content="x", to=0)
    assert batch_of([send, pick, send, paint]) == (pick, paint)


@pytest.mark.parametrize("action", [Send(channel="dm", content="x", to=1), Pick(digit=3), Repaint(colour="green")])
def test_an_action_of_any_kind_reads_back_as_its_own_class(action: Action):
    back = Holder.model_validate_json(Holder(action=action).model_dump_json())
    assert back.action == action
    assert type(back.action) is type(action)


@pytest.mark.parametrize(
    "data",
    [
        '{"type": "unheard_of", "a": [1, {"b": null}]}',
        '{"type": "toy_pick"}',
        '{"type": "toy_pick", "digit": 1, "x": 2}',
    ],
)
def test_an_action_that_fits_no_known_class_is_kept_with_all_its_fields(data: str):
    back = Holder.model_validate_json(f'{{"action": {data}}}')
    assert isinstance(back.action, UnknownAction)
    assert Holder.model_validate_json(back.model_dump_json()) == back


def test_of_two_classes_with_one_name_the_one_whose_fields_fit_is_taken():
    class Lift(Action):
        type: Literal["test_twin"] = "test_twin"
        floor: int

    class Drop(Action):
        type: Literal["test_twin"] = "test_twin"
        height: float

    assert Holder.model_validate({"action": {"type": "test_twin", "height": 1.5}}).action == Drop(height=1.5)
    assert Holder.model_validate({"action": {"type": "test_twin", "floor": 1}}).action == Lift(floor=1)
