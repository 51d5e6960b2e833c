"""What a running service knows of itself."""

import asyncio
import logging
from collections import Counter
from dataclasses import replace
from datetime import date, datetime, timedelta

import pytest

from bot.errors import StoreError
from bot.models import Change, Delivery, DeliveryState, Occurrence, OccurrenceState, Schedule, Subscription
from bot.ports.runner import Job
from bot.service.measurements import Measurements, count_writes
from tests.stores.memory import MemoryStore


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


# --- what is counted while the ledger is written


DAY = date(2026, 4, 1)


def occurrence(now: datetime, day: int = 1, **given: object) -> Occurrence:
    return Occurrence(
        subscription="s1",
        workspace="slack:T1",
        channel="C1",
        topic="kv",
        day=DAY.replace(day=day),
        due=now,
        **given,  # type: ignore[arg-type]
    )


async def subscribed(store: MemoryStore, now: datetime) -> Subscription:
    subscription = Subscription(id="s1", workspace="slack:T1", channel="C1", topic="kv", schedule=Schedule(), baseline=now)
    change = Change(workspace="slack:T1", at=now, person="U1", what="subscription")
    return await store.workspaces.save_subscription(subscription, change, replaces=0)


async def test_what_becomes_of_digests_is_counted_once_each(now: datetime) -> None:
    store, counts = MemoryStore(), Counter[str]()
    ledger = count_writes(store.ledger, counts)
    subscription = await subscribed(store, now)
    found = [
        occurrence(now, 1, state=OccurrenceState.SKIPPED, reason="overtaken"),
        occurrence(now, 2, late=True),
        occurrence(now, 3),
    ]
    for _ in range(2):
        await ledger.open_occurrences(found, subscription, now + timedelta(days=1))
    for _ in range(2):
        await ledger.close_occurrence(replace(found[1], state=OccurrenceState.MADE), now)
        await ledger.close_occurrence(replace(found[2], state=OccurrenceState.EMPTY), now)

    assert +counts == {"skipped": 1, "made": 1, "late": 1, "empty": 1}


async def test_each_outcome_of_a_try_is_counted_when_it_is_recorded(now: datetime) -> None:
    store, counts = MemoryStore(), Counter[str]()
    ledger = count_writes(store.ledger, counts)
    due = occurrence(now)
    await ledger.open_occurrences([due], await subscribed(store, now), now + timedelta(days=1))
    delivery = Delivery(
        id="d1",
        occurrence=("s1", DAY, 0),
        workspace="slack:T1",
        channel="C1",
        topic="kv",
        payload="text",
        due=now,
        next_at=now,
    )
    await ledger.close_occurrence(replace(due, state=OccurrenceState.MADE), now, deliveries=[delivery])

    (waiting,) = await ledger.due_deliveries(now)
    held = await ledger.claim(waiting, now, timedelta(seconds=45))
    assert held is not None
    assert await ledger.record(replace(held, state=DeliveryState.AMBIGUOUS))
    (unsettled,) = await ledger.unsettled_deliveries(now)
    again = await ledger.claim(unsettled, now, timedelta(seconds=45))
    assert again is not None
    assert await ledger.record(replace(again, state=DeliveryState.DONE))
    assert not await ledger.record(replace(held, state=DeliveryState.FAILED))  # another holds it by now

    assert +counts == {"made": 1, "ambiguous": 1, "posted": 1}
