"""What goes on after an acknowledgement is followed to its end."""

import asyncio
from datetime import timedelta

import pytest

from adapters.chat.context import BackgroundTasks


async def test_what_is_under_way_is_waited_for_and_what_it_begins_too() -> None:
    tasks, done = BackgroundTasks(), []

    async def later(name: str) -> None:
        await asyncio.sleep(0)
        done.append(name)

    async def first() -> None:
        await later("first")
        tasks.start(later("second"), "going on")

    tasks.start(first(), "beginning")
    await tasks.finish()
    assert (done, len(tasks)) == (["first", "second"], 0)


async def test_what_does_not_end_is_given_up(caplog: pytest.LogCaptureFixture) -> None:
    tasks, ended = BackgroundTasks(), asyncio.Event()

    async def endless() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    tasks.start(endless(), "waiting for ever")
    await asyncio.sleep(0)
    await tasks.finish(timedelta(seconds=0.01))
    assert ended.is_set()
    assert "waiting for ever was not done in time" in caplog.text


async def test_what_fails_is_logged_and_reaches_nobody(caplog: pytest.LogCaptureFixture) -> None:
    tasks = BackgroundTasks()

    async def failing() -> None:
        raise ValueError("nobody foresaw it")

    tasks.start(failing(), "answering a command")
    await tasks.finish()
    assert "answering a command failed" in caplog.text
    assert "nobody foresaw it" in caplog.text
