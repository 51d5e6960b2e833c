"""What a running service knows of itself."""

import asyncio
import logging
from datetime import timedelta

import pytest

from bot.errors import StoreError
from bot.ports.store import Job
from bot.service.measurements import Measurements


async def test_a_job_is_noted_when_it_ends_well_and_when_it_fails() -> None:
    times = iter(range(10))
    measurements = Measurements(lambda: next(times))
    script: list[Exception | None] = [None, StoreError("The disk is full.")]

    async def run() -> None:
        if error := script.pop(0):
            raise error

    job = measurements.watched(Job("tick", timedelta(seconds=15), run))
    assert measurements.jobs["tick"].ended is None

    await job.run()
    with pytest.raises(StoreError):
        await job.run()

    gone = measurements.jobs["tick"]
    assert (gone.succeeded, gone.ended) == (1, 2)
    assert (gone.runs, gone.failures) == (2, 1)


async def test_a_loop_that_is_held_up_is_measured_and_reported(caplog: pytest.LogCaptureFixture) -> None:
    late = [0.0, 1.25]
    clock = 100.0
    measurements = Measurements(lambda: clock)

    async def sleep(seconds: float) -> None:
        nonlocal clock
        if not late:
            raise asyncio.CancelledError
        clock += seconds + late.pop(0)

    with caplog.at_level(logging.WARNING), pytest.raises(asyncio.CancelledError):
        await measurements.measure(sleep)

    assert measurements.blocked == 1
    assert measurements.lag == 1.25
    assert [record.getMessage()[:36] for record in caplog.records] == ["the event loop was held up for 1.2 s"]
