"""What goes on after an acknowledgement is followed to its end."""

import asyncio
from datetime import timedelta

import pytest

from adapters.tasks import Work


async def test_what_is_under_way_is_waited_for_and_what_it_begins_too() -> None:
    work, done = Work(), []

    async def later(name: str) -> None:
        await asyncio.sleep(0)
        done.append(name)

    async def first() -> None:
        await later("first")
        work.begin(later("second"), "going on")

    work.begin(first(), "beginning")
    await work.finish()
    assert (done, work.under_way) == (["first", "second"], 0)


async def test_what_does_not_end_is_given_up(caplog: pytest.LogCaptureFixture) -> None:
    work, ended = Work(), asyncio.Event()

    async def endless() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    work.begin(endless(), "waiting for ever")
    await asyncio.sleep(0)
    await work.finish(timedelta(seconds=0.01))
    assert ended.is_set()
    assert "waiting for ever was not done in time" in caplog.text


async def test_what_fails_is_logged_and_reaches_nobody(caplog: pytest.LogCaptureFixture) -> None:
    work = Work()

    async def failing() -> None:
        raise ValueError("nobody foresaw it")

    work.begin(failing(), "answering a command")
    await work.finish()
    assert "answering a command failed" in caplog.text
    assert "nobody foresaw it" in caplog.text
