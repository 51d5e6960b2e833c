"""A platform that could not be opened joins the service when it can be."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime

import pytest

from bot.errors import Delayed
from bot.ports.messenger import Messenger
from bot.ports.runner import Watch
from bot.service.jobs import listening
from bot.service.platforms import PendingPlatform, Platform, why_closed
from bot.service.runner import LocalRunner
from tests.conftest import NOW
from tests.fakes.patience import PATIENCE
from tests.fakes.transcript import BOTH, Clock, Transcript

DOWN = "It is down."


class Chat:
    """A platform whose watches end as they are told."""

    def __init__(self, *watches: Callable[[], Awaitable[None]]) -> None:
        self.messenger: Messenger = Transcript(Clock(NOW), BOTH)
        self._watches = watches
        self.said = ""

    @property
    def watches(self) -> Sequence[Watch]:
        return [Watch(f"watch {number}", run) for number, run in enumerate(self._watches)]

    def trouble(self, now: datetime) -> str:
        return self.said


class Harness:
    """Opens a platform, unless it is down; remembers what is open."""

    def __init__(self, platform: Chat) -> None:
        self.platform = platform
        self.down: Exception | None = Delayed(DOWN)
        self.open = False
        self.messengers: dict[str, Messenger] = {}
        self.pending = PendingPlatform("chat", self.opening, self.messengers, DOWN)

    @asynccontextmanager
    async def opening(self) -> AsyncIterator[Platform]:
        if self.down is not None:
            raise self.down
        self.open = True
        try:
            yield self.platform
        finally:
            self.open = False

    async def run(self) -> None:
        (watch,) = self.pending.watches
        await watch.run()


async def for_ever() -> None:
    await asyncio.Event().wait()


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not is_so():  # noqa: ASYNC110
            await asyncio.sleep(0.001)


async def test_it_says_why_it_is_not_open_and_joins_when_it_is() -> None:
    harness = Harness(Chat(for_ever))
    assert harness.pending.trouble(NOW) == DOWN
    harness.down = Delayed("It is still down.")
    with pytest.raises(Delayed):
        await harness.run()
    assert harness.pending.trouble(NOW) == "It is still down."
    assert harness.messengers == {}

    harness.down = None
    running = asyncio.create_task(harness.run())
    await until(lambda: bool(harness.messengers))
    assert harness.pending.trouble(NOW) == ""
    harness.platform.said = "Nobody is heard."
    assert harness.pending.trouble(NOW) == "Nobody is heard."
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert (harness.open, harness.messengers) == (False, {})


async def test_once_open_it_stays_so_and_what_fails_of_it_is_begun_again() -> None:
    begun: list[str] = []

    async def fails() -> None:
        begun.append("first")
        raise Delayed("The line was cut.")

    async def other() -> None:
        begun.append("other")
        await for_ever()

    harness = Harness(Chat(other, fails))
    harness.down = None
    running = asyncio.create_task(harness.run())
    await until(lambda: len(begun) == 3)
    assert sorted(begun) == ["first", "first", "other"]
    assert (harness.open, list(harness.messengers)) == (True, ["chat"])
    running.cancel()
    await asyncio.wait([running])
    assert (harness.open, harness.messengers) == (False, {})


async def test_a_platform_that_needs_no_watch_stays_open() -> None:
    harness = Harness(Chat())
    harness.down = None
    running = asyncio.create_task(harness.run())
    await until(lambda: harness.open)
    assert not running.done()
    running.cancel()
    await asyncio.wait([running])
    assert not harness.open


async def test_the_runner_tries_it_again() -> None:
    harness = Harness(Chat(for_ever))
    runner = LocalRunner()
    running = asyncio.create_task(runner.run([], harness.pending.watches))
    harness.down = None
    await until(lambda: harness.open)
    runner.stop()
    await running
    assert not harness.open


def test_what_nobody_foresaw_is_told_without_its_words() -> None:
    assert why_closed(TypeError("xoxb-1 is bad")) == "It cannot be opened (TypeError); the log says more."
    assert why_closed(TimeoutError()) == "It did not open in time."


async def test_trouble_is_logged_when_it_begins_and_when_it_is_over(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "bot.service.jobs")
    chat = Chat()
    (job,) = listening({"chat": chat.trouble}, lambda: NOW)
    for chat.said in ("", DOWN, DOWN, "", ""):
        await job.run()
    assert caplog.messages == [f"chat: nobody is heard. {DOWN}", "chat: people are heard again"]
    assert listening({}, lambda: NOW) == []


async def test_of_e_mail_the_log_says_whether_mails_can_be_sent(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "bot.service.jobs")
    chat = Chat()
    (job,) = listening({"email": chat.trouble}, lambda: NOW)
    for chat.said in (DOWN, ""):
        await job.run()
    assert caplog.messages == [f"email: no mail is sent. {DOWN}", "email: mails can be sent again"]
