"""A clock limits waits as `asyncio.timeout` does, one after another."""

from __future__ import annotations

import asyncio

import pytest

from framework._clock import Clock


async def test_a_wait_that_is_over_in_time_is_left_alone():
    clock = Clock()
    for _ in range(3):
        with clock.limit(5):
            await asyncio.sleep(0)
        assert not clock.expired
    clock.close()


async def test_a_wait_that_takes_too_long_is_stopped():
    clock = Clock()
    with pytest.raises(TimeoutError), clock.limit(0.01):
        await asyncio.Event().wait()
    assert clock.expired
    assert asyncio.current_task().cancelling() == 0


async def test_a_later_wait_is_measured_from_its_own_beginning():
    clock = Clock()
    with clock.limit(0.05):
        await asyncio.sleep(0.03)
    with clock.limit(0.05):
        await asyncio.sleep(0.03)  # the first wait's time would be over by now
    assert not clock.expired
    with pytest.raises(TimeoutError), clock.limit(0.05):
        await asyncio.Event().wait()


async def test_a_shorter_limit_counts_though_a_longer_one_came_first():
    clock = Clock()
    with clock.limit(60):
        await asyncio.sleep(0)
    with pytest.raises(TimeoutError), clock.limit(0.01):
        await asyncio.Event().wait()


async def test_between_two_waits_nothing_is_stopped():
    clock = Clock()
    with clock.limit(0.01):
        await asyncio.sleep(0)
    await asyncio.sleep(0.03)
    assert not clock.expired


async def test_without_a_limit_a_wait_may_take_any_time():
    clock = Clock()
    with clock.limit(None):
        await asyncio.sleep(0.01)
    assert not clock.expired


async def test_a_cancellation_from_outside_stays_one():
    clock = Clock()

    async def wait():
        with clock.limit(60):
            await asyncio.Event().wait()

    task = asyncio.create_task(wait())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not clock.expired


async def test_a_task_that_swallows_its_cancellation_is_seen_to_be_late():
    clock = Clock()
    with clock.limit(0.01):
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0)
    assert clock.expired
    assert asyncio.current_task().cancelling() == 0
