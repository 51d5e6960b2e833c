"""A few seconds of the real runner while the clock jumps, and while something blocks the event loop."""

import asyncio
import time
from datetime import datetime, timedelta
from typing import Any

import apscheduler.schedulers.base
import pytest
from blockbuster import BlockBuster

from bot.models import OccurrenceState
from bot.ports.runner import Job
from tests.e2e.clock_jumps import DAY, HOUR, Running, kept, posted, rounds, served, subscribe


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Running:
    running = Running()

    class Set(datetime):
        """The scheduling library asks the system by itself."""

        @classmethod
        def now(cls, tz: Any = None) -> "Set":
            return cls.fromtimestamp(running().timestamp(), tz)

    monkeypatch.setattr(apscheduler.schedulers.base, "datetime", Set)
    return running


ON_TIME, LATE, SKIPPED = (OccurrenceState.MADE, False), (OccurrenceState.MADE, True), (OccurrenceState.SKIPPED, True)


@pytest.mark.parametrize(
    ("jump", "outcome"),
    [(HOUR, [LATE]), (DAY, [SKIPPED, ON_TIME]), (-HOUR, [ON_TIME]), (-DAY, [ON_TIME, ON_TIME])],
    ids=["an hour ahead", "a day ahead", "an hour back", "a day back"],
)
async def test_a_clock_that_jumps_and_is_set_right_again_posts_each_day_once_and_says_what_is_late(
    clock: Running, jump: timedelta, outcome: list[tuple[OccurrenceState, bool]]
) -> None:
    async with served(clock) as month:
        clock.ahead += jump
        clock.go()
        await asyncio.sleep(1.3)
        if jump == -HOUR:
            await rounds(month)  # nothing is due in them
        else:
            await posted(month)
        clock.ahead -= jump
        await posted(month)
        await asyncio.sleep(1.5)  # the hour, or the day, comes again
        await rounds(month)
    assert await kept(month) == outcome


async def test_a_machine_that_slept_for_eight_hours_posts_what_it_missed_once_and_marks_it_as_late(clock: Running) -> None:
    async with served(clock) as month:
        clock.ahead += 8 * HOUR
        clock.go()
        await posted(month)
        await rounds(month)
    assert await kept(month) == [LATE]


@pytest.mark.parametrize("jump", [HOUR, DAY], ids=["an hour", "a day"])
async def test_after_a_clock_was_set_back_the_service_goes_on_at_once(clock: Running, jump: timedelta) -> None:
    async with served(clock) as month:
        clock.go()
        await posted(month)
        clock.ahead -= jump
        await subscribe(month, "C2")
        await posted(month, posts=2)
    assert await kept(month) == [ON_TIME, ON_TIME]


async def test_a_digest_that_is_due_while_something_blocks_the_loop_is_posted_once_when_it_goes_on(
    clock: Running, nothing_blocks_the_loop: BlockBuster
) -> None:
    blocked: list[float] = []

    async def block() -> None:
        begun = time.monotonic()
        time.sleep(5)  # noqa: ASYNC251 - that is what is tried here
        blocked.append(time.monotonic() - begun)

    nothing_blocks_the_loop.deactivate()
    async with served(clock, Job("blocking", DAY, block, at_once=True)) as month:
        clock.go()
        await posted(month)
        await rounds(month)
    assert len(blocked) == 1
    assert await kept(month) == [ON_TIME]
