import asyncio
import gc
import logging
from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise

import pytest

from bot.errors import StoreError
from bot.ports.runner import Job, Watch
from bot.service.runner import LocalRunner, settled
from tests.fakes.patience import PATIENCE

SOON = timedelta(milliseconds=20)


async def run_until(
    happened: Callable[[], object], runner: LocalRunner, jobs: list[Job], watches: list[Watch] | None = None
) -> None:
    """Let it run until that has happened, and then come to its end."""
    async with asyncio.timeout(PATIENCE):
        task = asyncio.create_task(runner.run(jobs, watches or []))
        while not happened():  # noqa: ASYNC110 - looked at from outside
            await asyncio.sleep(0.005)
        runner.stop()
        await task


async def test_a_job_runs_at_once_and_again_or_after_its_interval() -> None:
    ran: list[str] = []

    async def tick(name: str) -> None:
        ran.append(name)

    jobs = [
        Job("often", SOON, lambda: tick("often"), at_once=True),
        Job("once", timedelta(hours=1), lambda: tick("once"), at_once=True),
        Job("later", timedelta(hours=1), lambda: tick("later")),
    ]
    await run_until(lambda: ran.count("often") >= 3, LocalRunner(), jobs)

    assert ran.count("often") >= 3
    assert ran.count("once") == 1
    assert "later" not in ran


async def test_a_job_that_fails_is_logged_and_runs_again(caplog: pytest.LogCaptureFixture) -> None:
    tries: list[int] = []

    async def fail() -> None:
        tries.append(1)
        raise ValueError("no")

    with caplog.at_level(logging.ERROR):
        await run_until(lambda: len(tries) >= 2, LocalRunner(), [Job("failing", SOON, fail, at_once=True)])

    assert "job failing failed" in caplog.text


async def test_a_failure_that_was_foreseen_is_told_in_its_sentence(caplog: pytest.LogCaptureFixture) -> None:
    async def fail() -> None:
        raise StoreError("The disk is full.")

    job = Job("collect", timedelta(hours=1), fail, at_once=True)
    await run_until(lambda: "job collect failed" in caplog.text, LocalRunner(), [job])

    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == [
        "job collect failed: The disk is full."
    ]
    assert "Traceback" not in caplog.text


async def test_a_job_never_runs_beside_itself() -> None:
    inside = most = ended = 0

    async def slow() -> None:
        nonlocal inside, most, ended
        inside += 1
        most = max(most, inside)
        await asyncio.sleep(0.1)
        inside -= 1
        ended += 1

    await run_until(lambda: ended >= 3, LocalRunner(), [Job("slow", SOON, slow, at_once=True)])

    assert most == 1


async def test_stopping_lets_a_running_job_end() -> None:
    begun: list[bool] = []
    ended: list[bool] = []

    async def slow() -> None:
        begun.append(True)
        await asyncio.sleep(0.3)
        ended.append(True)

    await run_until(lambda: begun, LocalRunner(), [Job("slow", timedelta(hours=1), slow, at_once=True)])

    assert ended == [True]


async def test_a_job_that_takes_too_long_to_end_is_cancelled_without_a_fuss(caplog: pytest.LogCaptureFixture) -> None:
    begun: list[bool] = []
    ended: list[str] = []

    async def endless() -> None:
        begun.append(True)
        try:
            await asyncio.sleep(3600)
        finally:
            ended.append("cleaned up")

    runner = LocalRunner(grace=timedelta(seconds=0.1))
    await run_until(lambda: begun, runner, [Job("endless", timedelta(hours=1), endless, at_once=True)])

    assert ended == ["cleaned up"]
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


async def test_a_job_is_asked_to_begin_nothing_further_and_may_end_in_its_own_time() -> None:
    asked = asyncio.Event()
    begun: list[bool] = []
    told: list[str] = []

    async def deliver() -> None:
        begun.append(True)
        await asked.wait()
        await asyncio.sleep(0.3)
        told.append("sent what it held")

    job = Job("deliver", timedelta(hours=1), deliver, at_once=True, stop=asked.set, grace=timedelta(seconds=PATIENCE))
    await run_until(lambda: begun, LocalRunner(grace=timedelta(seconds=0.05)), [job])

    assert told == ["sent what it held"]


async def test_what_goes_on_is_begun_again_after_it_failed_or_ended(caplog: pytest.LogCaptureFixture) -> None:
    script: list[Exception | None] = [StoreError("The disk is full."), ValueError("no"), None]
    begun: list[float] = []

    async def watch() -> None:
        begun.append(asyncio.get_running_loop().time())
        if script:
            error = script.pop(0)
            if error:
                raise error
            return
        await asyncio.Event().wait()

    await run_until(lambda: len(begun) == 4, LocalRunner(first_wait=SOON), [], [Watch("listening", watch)])

    assert [record.getMessage() for record in caplog.records] == [
        "listening failed: The disk is full.",
        "listening failed",
        "listening has ended, and is begun again",
    ]


async def test_each_failure_in_a_row_is_waited_for_longer() -> None:
    begun: list[float] = []

    async def watch() -> None:
        begun.append(asyncio.get_running_loop().time())
        raise StoreError("The disk is full.")

    await run_until(lambda: len(begun) >= 6, LocalRunner(first_wait=SOON), [], [Watch("listening", watch)])

    # 20 ms, 40, 80, 160, 320, of each up to half left out: never sooner, however busy the machine is.
    waited = [later - earlier for earlier, later in pairwise(begun)][:5]
    assert all(each >= 0.99 * SOON.total_seconds() * 2**number / 2 for number, each in enumerate(waited))


async def test_what_goes_on_is_cancelled_at_the_end_and_cleans_up() -> None:
    begun: list[bool] = []
    told: list[str] = []

    async def watch() -> None:
        begun.append(True)
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.05)
            told.append("closed")

    await run_until(lambda: begun, LocalRunner(), [], [Watch("listening", watch)])

    assert told == ["closed"]


def test_what_is_in_memory_when_a_service_begins_is_looked_at_by_no_collection_until_it_ends() -> None:
    assert gc.get_freeze_count() == 0
    with settled():
        stays = gc.get_freeze_count()
        gc.collect()
        assert stays == gc.get_freeze_count() > 10_000
    assert gc.get_freeze_count() == 0
