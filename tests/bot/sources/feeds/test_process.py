"""The process that reads a feed ends, whatever the feed does, and takes nothing else with it."""

import asyncio
import contextlib
import json
import os
import signal
import tracemalloc
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.errors import SourceChanged, SourceError, SourceUnavailable
from bot.sources.feeds.source import read_in_process

ATTRIBUTES = b"<rss><channel><item " + b" ".join(b'a%d="1"' % n for n in range(100_000)) + b"/></channel></rss>"
PATIENT = 600.0  # seconds of wall clock; where the verdict is of something else, a busy machine must not give another
NESTED = b"<rss><channel><item><description>" + b"<b>" * 300_000
LAUGHS = (  # straight to the reader, past the check for a DOCTYPE
    b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha">'
    + b"".join(b'<!ENTITY %c "%s">' % (98 + n, b"&%c;" % (97 + n) * 10) for n in range(9))
    + b"]><rss><channel><title>&j;</title><item><link>https://a.example</link></item></channel></rss>"
)


@pytest.fixture
async def rounds() -> AsyncIterator[list[None]]:
    """One entry for each time that the event loop came round."""
    counted: list[None] = []

    async def watch() -> None:
        while True:
            await asyncio.sleep(0.005)
            counted.append(None)

    watching = asyncio.create_task(watch())
    yield counted
    watching.cancel()


_others: set[str] = set()  # processes that other tests of this run keep for themselves


@pytest.fixture(autouse=True)
def others() -> None:
    _others.clear()
    _others.update(children())


def children() -> set[str]:
    """Return the processes of ours that began with the test."""
    found: set[str] = set()
    for task in Path(f"/proc/{os.getpid()}/task").iterdir():
        with contextlib.suppress(OSError):  # a thread may end while its entry is read
            found.update((task / "children").read_text().split())
    return found - _others


@pytest.mark.parametrize("body", [ATTRIBUTES, NESTED, LAUGHS], ids=["attributes", "nested", "laughs"])
async def test_a_feed_that_costs_too_much_ends_its_reader_not_us(body: bytes, rounds: list[None]) -> None:
    tracemalloc.start()
    with contextlib.suppress(SourceError):
        json.loads(await read_in_process(body, "https://a.example/feed", "", wall_clock=2))
    assert len(rounds) > 2  # to read it here would be one
    assert tracemalloc.get_traced_memory()[1] < 30_000_000  # bytes; of our own making, whatever else the process holds
    tracemalloc.stop()
    assert children() == set()


async def test_a_feed_that_needs_too_much_processor_time_is_told() -> None:
    with pytest.raises(SourceChanged, match="more time or memory than any feed should need"):
        await read_in_process(ATTRIBUTES, "https://a.example/feed", "", wall_clock=PATIENT)


async def test_a_feed_that_takes_too_long_is_told() -> None:
    with pytest.raises(SourceUnavailable, match=r"longer than 0\.5 seconds"):  # it needs all the processor time it may have
        await read_in_process(ATTRIBUTES, "https://a.example/feed", "", wall_clock=0.5)


async def test_a_feed_that_needs_too_much_memory_is_told() -> None:
    # As objects more than the process may hold, and full after a fifth of the processor time that it may have.
    body = b'{"items": [' + b'{"":0},' * 4_000_000 + b"1]}"
    answer = await read_in_process(body, "https://a.example/feed", "", wall_clock=PATIENT)
    assert json.loads(answer) == {"error": "too large once unpacked"}


async def first_child() -> str:
    async with asyncio.timeout(PATIENT):
        while not (found := children()):  # noqa: ASYNC110 (another process comes to life; nothing here can tell)
            await asyncio.sleep(0.01)
    return found.pop()


async def test_a_reader_that_dies_is_told() -> None:
    reading = asyncio.create_task(read_in_process(ATTRIBUTES, "https://a.example/feed", "", wall_clock=PATIENT))
    os.kill(int(await first_child()), signal.SIGKILL)
    with pytest.raises(SourceChanged, match="more time or memory than any feed should need"):
        await reading


async def test_a_cancelled_reading_leaves_no_process_behind() -> None:
    reading = asyncio.create_task(read_in_process(ATTRIBUTES, "https://a.example/feed", ""))
    await first_child()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert children() == set()


async def test_many_at_once_take_their_turn() -> None:
    feed = b'{"items": [{"id": "1", "url": "https://a.example/1"}]}'
    most = 0

    async def watch() -> None:
        nonlocal most
        while True:
            most = max(most, len(children()))
            await asyncio.sleep(0.005)

    watching = asyncio.create_task(watch())
    answers = await asyncio.gather(
        *(read_in_process(feed, "https://a.example/feed", "", wall_clock=PATIENT) for _ in range(6))
    )
    watching.cancel()
    assert [len(json.loads(answer)["entries"]) for answer in answers] == [1] * 6
    assert 1 <= most <= 2


async def test_the_reader_sees_nothing_of_our_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONSTARTUP", "/nonexistent")
    monkeypatch.setenv("PYTHONPATH", "/nonexistent")
    monkeypatch.setenv("PYTHONMALLOC", "rubbish that would stop an interpreter")
    answer = await read_in_process(b'{"items": []}', "https://a.example/feed", "", wall_clock=PATIENT)
    assert json.loads(answer)["entries"] == []
