"""What one process does at a time: jobs under a lease, of two processes."""

import asyncio
from collections.abc import Callable
from datetime import timedelta

import pytest

from bot.errors import StoreError
from bot.ports.runner import Job
from bot.ports.shared.processes import Leases
from bot.service.leased import WorkLease, under_lease
from bot.store.single_process import SoleLeases
from tests.fakes.patience import PATIENCE
from tests.stores.instead import instead

LONG, SHORT = timedelta(hours=1), timedelta(milliseconds=300)


async def until(happened: Callable[[], object]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not happened():  # noqa: ASYNC110 - looked at from outside
            await asyncio.sleep(0.005)


class Work:
    """Something that goes on until a test lets it end."""

    def __init__(self) -> None:
        self.begun = self.ended = 0
        self.stopped = False
        self.may_end = asyncio.Event()

    async def run(self) -> None:
        self.begun += 1
        try:
            await self.may_end.wait()
            self.ended += 1
        except asyncio.CancelledError:
            self.stopped = True
            raise


def job(work: Work, lease: WorkLease) -> Job:
    return under_lease(Job("tick", timedelta(seconds=1), work.run), lease)


async def test_one_process_works_and_the_other_has_nothing_to_do() -> None:
    leases, work = SoleLeases(), Work()
    work.may_end.set()
    ours, theirs = WorkLease(leases, "clock", "one", LONG), WorkLease(leases, "clock", "two", LONG)

    await job(work, ours).run()
    await job(work, theirs).run()
    await job(work, ours).run()

    assert (work.begun, work.ended) == (2, 2)
    assert ours.is_held
    assert not theirs.is_held


async def test_who_ends_gives_it_back_and_begins_nothing_more() -> None:
    leases, work = SoleLeases(), Work()
    work.may_end.set()
    ours, theirs = WorkLease(leases, "clock", "one", LONG), WorkLease(leases, "clock", "two", LONG)
    await job(work, ours).run()

    await ours.end()
    await job(work, ours).run()
    await job(work, theirs).run()

    assert work.begun == 2
    assert theirs.is_held


async def test_what_still_runs_keeps_it_until_it_has_ended() -> None:
    leases, work = SoleLeases(), Work()
    ours = WorkLease(leases, "clock", "one", LONG)
    running = asyncio.ensure_future(job(work, ours).run())
    await until(lambda: work.begun)

    await ours.end()
    assert [each.holder for each in await leases.held()] == ["one"]
    work.may_end.set()
    await running
    assert await leases.held() == []


async def test_it_is_prolonged_while_work_goes_on() -> None:
    leases, work = SoleLeases(), Work()
    ours, theirs = WorkLease(leases, "clock", "one", SHORT), WorkLease(leases, "clock", "two", SHORT)
    running = asyncio.ensure_future(job(work, ours).run())
    await until(lambda: work.begun)
    first = (await leases.held())[0].until
    held = await leases.held()
    async with asyncio.timeout(PATIENCE):
        while held[0].until < first + SHORT:
            await asyncio.sleep(0.01)
            held = await leases.held()

    await job(work, theirs).run()
    work.may_end.set()
    await running
    assert (work.begun, work.ended) == (1, 1)


async def test_work_is_stopped_at_once_when_the_lease_is_lost() -> None:
    leases, work = SoleLeases(), Work()
    ours = WorkLease(leases, "clock", "one", SHORT)
    running = asyncio.ensure_future(job(work, ours).run())
    await until(lambda: work.begun)
    await leases.give_back((await leases.held())[0])
    await leases.take("clock", "two", LONG)

    async with asyncio.timeout(PATIENCE):
        await running
    assert work.stopped
    assert not ours.is_held


async def test_work_is_stopped_when_the_store_is_away_for_as_long_as_the_lease_lasts() -> None:
    inner, work, away = SoleLeases(), Work(), False

    async def take(name: str, holder: str, span: timedelta) -> object:
        if away:
            raise StoreError("The database is away.")
        return await inner.take(name, holder, span)

    leases: Leases = instead(inner, take=take)
    ours = WorkLease(leases, "clock", "one", SHORT)
    running = asyncio.ensure_future(job(work, ours).run())
    await until(lambda: work.begun)
    away = True
    async with asyncio.timeout(PATIENCE):
        await running
    assert work.stopped
    with pytest.raises(StoreError):
        await job(work, ours).run()


async def test_an_error_of_the_work_is_the_jobs() -> None:
    async def fail() -> None:
        raise ValueError("no")

    lease = WorkLease(SoleLeases(), "clock", "one", LONG)
    with pytest.raises(ValueError, match="no"):
        await under_lease(Job("tick", LONG, fail), lease).run()


async def test_a_job_that_is_cancelled_ends_before_the_lease_is_given_back() -> None:
    leases, work = SoleLeases(), Work()
    ours = WorkLease(leases, "clock", "one", LONG)
    running = asyncio.ensure_future(job(work, ours).run())
    await until(lambda: work.begun)
    await ours.end()
    running.cancel()
    await asyncio.wait([running])

    assert work.stopped
    assert await leases.held() == []
