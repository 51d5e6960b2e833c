"""Four processes that ask Discord for anything, each by a client of its own, on one PostgreSQL database and real sockets."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import discord
import pytest
from aiohttp import web
from discord.http import Route

from adapters.discord.client.api import RestClient, SendingPaused
from bot.delivery.rate_limits import PlatformCall, RateLimits, SharedLimits
from bot.errors import Delayed, Reach
from bot.models import Abilities, Method
from bot.service.platforms import Cluster
from bot.store.postgres.store import PostgresStore
from tests.stores.postgres_server import emptied_aside

PROCESSES = 4
LEDGER = PlatformCall(Method.POST, "discord:1", "1", Abilities(per_second=45))


def channel() -> Route:
    """Return a look at a channel; a route has its address from when it is made."""
    return Route("GET", "/channels/{channel_id}", channel_id=1)


@pytest.fixture
async def came(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[list[float]]:
    """Give when each request came to a server that takes all."""
    times: list[float] = []

    async def handle(request: web.Request) -> web.Response:
        times.append(time.monotonic())
        return web.json_response({})

    app = web.Application()
    app.router.add_route("*", "/{rest:.*}", handle)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    monkeypatch.setattr(discord.http.Route, "BASE", f"http://127.0.0.1:{runner.addresses[0][1]}")
    yield times
    await runner.cleanup()


@pytest.fixture
async def clients(postgres: str, tmp_path: Path) -> AsyncIterator[Sequence[tuple[RestClient, Cluster]]]:
    async with AsyncExitStack() as stack:
        made = []
        for name in ("one", "two", "three", "four"):
            store = PostgresStore(await emptied_aside(postgres), tmp_path, most=4)
            await store.open()
            stack.push_async_callback(store.close)
            cluster = Cluster(name, store.leases, store.budgets, store.processes)
            made.append((RestClient("a.b.c", cluster=cluster), cluster))
            stack.push_async_callback(made[-1][0].close)
        yield made


async def test_four_processes_together_ask_discord_no_more_than_it_takes(
    clients: Sequence[tuple[RestClient, Cluster]], came: list[float]
) -> None:
    async def asks(client: RestClient) -> None:
        left = 7
        while left:
            try:
                await client.request(channel())
                left -= 1
            except SendingPaused as error:  # on a busy machine moments pass unused
                await asyncio.sleep(error.retry_after)

    async with asyncio.timeout(120):
        await asyncio.gather(*(asks(client) for client, _ in clients for _ in range(6)))
    assert len(came) == PROCESSES * 6 * 7
    assert all(later - before > 1.0 for before, later in zip(came, came[50:], strict=False))


async def test_what_the_ledger_counted_is_not_counted_again_and_what_comes_after_it_is(
    clients: Sequence[tuple[RestClient, Cluster]], came: list[float]
) -> None:
    client, cluster = clients[0]
    limits = SharedLimits(cluster.budgets, RateLimits())
    slept: list[float] = []

    async def pause(seconds: float) -> None:
        slept.append(seconds)

    def now() -> datetime:
        return datetime(2026, 4, 1, tzinfo=UTC)

    assert await limits.wait(LEDGER, now, pause, timedelta(seconds=5)) is None
    await client.request(channel())  # that of the ledger's call
    for _ in range(40):
        await limits.wait(LEDGER, now, pause, timedelta(seconds=5))  # a second and more of turns
    began = len(came)
    await client.request(channel())
    await asyncio.wait_for(client.request(channel()), 30)
    assert len(came) == began + 2


async def test_nothing_is_asked_while_another_process_was_told_to_wait(
    clients: Sequence[tuple[RestClient, Cluster]], came: list[float]
) -> None:
    (_, first), (second, _) = clients[:2]
    now = datetime.now(UTC)
    asked = Delayed("Discord asks for a pause.", reach=Reach.PLATFORM, retry_after=timedelta(minutes=1))
    await SharedLimits(first.budgets, RateLimits()).rest(LEDGER, Reach.PLATFORM, now + timedelta(minutes=1), now, asked)
    with pytest.raises(SendingPaused) as caught:
        await second.request(channel())
    assert caught.value.retry_after > 50
    assert came == []


async def test_where_the_database_is_gone_nothing_is_asked(
    clients: Sequence[tuple[RestClient, Cluster]], came: list[float]
) -> None:
    client, cluster = clients[0]
    await cluster.budgets.connections.close()  # type: ignore[attr-defined]
    with pytest.raises(SendingPaused):
        await client.request(channel())
    assert came == []
