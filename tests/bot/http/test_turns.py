"""Hosts that all processes on one PostgreSQL database ask in turn, each by a client of its own, over real sockets."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path

import pytest
from aiohttp import web as aiohttp_web

from bot.errors import SourceUnavailable
from bot.http.client import Http, Politeness, Request
from bot.http.turns import SharedTurns
from bot.settings.sources import ArxivSettings
from bot.sources.arxiv.source import politeness
from bot.sources.github.api import GitHubApi
from bot.store.postgres.store import PostgresStore
from tests.fakes.web import Answer, Web
from tests.stores.postgres_server import emptied_aside

HOUR = timedelta(hours=1)


class Process:
    """One of the processes: its turns, its clients, and a clock that only sleeping moves."""

    def __init__(self, store: PostgresStore, name: str, stack: AsyncExitStack) -> None:
        self.store, self.slept, self.now = store, list[float](), 0.0
        self.turns = SharedTurns(store.leases, store.budgets, name, sleep=self.sleep, clock=lambda: self.now)
        self._stack = stack

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        await asyncio.sleep(min(seconds, 0.02))

    def http(self, web: Web, **polite: float) -> Http:
        host = web.url.removeprefix("http://")
        shared = Politeness(connections=1, shared="arxiv", retries=0, seconds_between=polite.get("seconds_between", 0.0))
        made = Http(user_agent="Broadsheet/test", politeness={host: shared}, turns=self.turns)
        self._stack.push_async_callback(made.close)
        return made


@pytest.fixture
async def processes(postgres: str, tmp_path: Path) -> AsyncIterator[Sequence[Process]]:
    async with AsyncExitStack() as stack:
        made = []
        for name in ("one", "two", "three", "four"):
            store = PostgresStore(await emptied_aside(postgres), tmp_path, most=2)
            await store.open()
            stack.push_async_callback(store.close)
            made.append(Process(store, name, stack))
        yield made


@pytest.fixture
async def busy() -> AsyncIterator[tuple[Web, list[int]]]:
    """Give a server that takes a while for each request, and how many were under way as each of them came."""
    under_way, seen = 0, list[int]()

    async def handle(request: aiohttp_web.Request) -> aiohttp_web.Response:
        nonlocal under_way
        under_way += 1
        seen.append(under_way)
        await asyncio.sleep(0.03)
        under_way -= 1
        return aiohttp_web.Response(text="{}")

    app = aiohttp_web.Application()
    app.router.add_get("/", handle)
    runner = aiohttp_web.AppRunner(app)
    await runner.setup()
    site = aiohttp_web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    fake = Web()
    fake.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield fake, seen
    await runner.cleanup()


async def test_one_request_at_a_time_is_under_way_over_all_processes(
    processes: Sequence[Process], busy: tuple[Web, list[int]]
) -> None:
    web, under_way = busy
    clients = [each.http(web) for each in processes] + [processes[0].http(web)]  # two in one process too

    async def asks(http: Http) -> None:
        for _ in range(3):
            await http.fetch(Request(url=f"{web.url}/"))

    async with asyncio.timeout(60):
        await asyncio.gather(*map(asks, clients))
    assert under_way == [1] * 15


async def test_requests_of_two_processes_are_as_far_apart_as_the_host_wants(processes: Sequence[Process], web: Web) -> None:
    web.answer("/", Answer("{}"))
    one, two = processes[:2]
    await one.http(web, seconds_between=30.0).fetch(Request(url=f"{web.url}/"))
    await two.http(web, seconds_between=30.0).fetch(Request(url=f"{web.url}/"))
    assert one.slept == []
    (slept,) = two.slept
    assert 25 < slept < 30.2


async def test_a_turn_that_would_take_longer_than_a_minute_is_left_to_later(processes: Sequence[Process], web: Web) -> None:
    web.answer("/", Answer("{}"))
    one, two = (each.http(web, seconds_between=3600.0) for each in processes[:2])
    await one.fetch(Request(url=f"{web.url}/"))
    with pytest.raises(SourceUnavailable, match="left alone") as caught:
        await two.fetch(Request(url=f"{web.url}/"))
    assert caught.value.retry_after is not None
    assert HOUR - timedelta(minutes=1) < caught.value.retry_after < HOUR + timedelta(seconds=1)
    assert len(web.asked) == 1


@pytest.mark.parametrize("status", [429, 503, 403])
async def test_what_asked_one_process_to_wait_is_asked_by_no_other(
    processes: Sequence[Process], web: Web, status: int
) -> None:
    web.answer("/", Answer("", status, {"Retry-After": "3600"}))
    one, two = (each.http(web) for each in processes[:2])
    for client in (one, two):
        with pytest.raises(SourceUnavailable) as caught:
            await client.fetch(Request(url=f"{web.url}/"))
        assert caught.value.retry_after is not None
        assert caught.value.retry_after > HOUR - timedelta(minutes=1)
    assert len(web.asked) == 1


async def test_after_a_request_that_failed_others_have_their_turn(processes: Sequence[Process], web: Web) -> None:
    web.answer("/", Answer("", 404), Answer("{}"))
    one, two = (each.http(web) for each in processes[:2])
    with pytest.raises(SourceUnavailable):
        await one.fetch(Request(url=f"{web.url}/"))
    assert (await two.fetch(Request(url=f"{web.url}/"))).body == b"{}"
    assert await processes[0].store.leases.held() == []


async def test_who_waits_in_vain_for_another_process_is_told_so(processes: Sequence[Process], web: Web) -> None:
    assert await processes[0].store.leases.take("host:arxiv", "one", HOUR)
    with pytest.raises(SourceUnavailable, match="by other processes all the time"):
        await processes[1].http(web).fetch(Request(url=f"{web.url}/"))
    assert web.asked == []


async def test_where_the_database_is_gone_nobody_is_asked(processes: Sequence[Process], web: Web) -> None:
    await processes[0].store.close()
    with pytest.raises(SourceUnavailable, match="gives no turn"):
        await processes[0].http(web).fetch(Request(url=f"{web.url}/"))
    assert web.asked == []
    await processes[0].turns.rest("arxiv", HOUR, "429")  # and a rest that cannot be kept is no failure


def test_arxiv_is_asked_in_turn_at_all_its_hosts() -> None:
    assert {each.shared for each in politeness(ArxivSettings()).values()} == {"arxiv"}


async def test_searches_of_github_are_counted_over_all_processes(processes: Sequence[Process], web: Web) -> None:
    web.answer("/search/repositories", Answer("{}"))
    one, two = processes[:2]
    apis = [GitHubApi(each.http(web), web.url, "") for each in (one, two)]
    for number in range(11):
        await apis[number % 2].search((("q", "x"),))
    assert len(one.slept) + len(two.slept) <= 1
    assert [seconds for seconds in one.slept if seconds > 6.1] == []
    await apis[1].search((("q", "x"),))
    assert two.slept[-1] > 0


async def test_searches_that_are_used_up_for_one_process_are_so_for_all(processes: Sequence[Process], web: Web) -> None:
    date = "Tue, 14 Nov 2023 22:13:20 GMT"  # 1,700,000,000 seconds after the epoch
    used_up = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1700000900", "Date": date}
    web.answer("/search/repositories", Answer("{}", headers=used_up))
    one, two = (GitHubApi(each.http(web), web.url, "") for each in processes[:2])
    await one.search((("q", "x"),))
    with pytest.raises(SourceUnavailable) as caught:
        await two.search((("q", "x"),))
    assert caught.value.retry_after is not None
    assert caught.value.retry_after > timedelta(seconds=840)
    assert len(web.asked) == 1


async def test_a_refused_search_lets_no_other_process_search(processes: Sequence[Process], web: Web) -> None:
    web.answer("/search/repositories", Answer('{"message": "slow down"}', 429, {"Retry-After": "600"}))
    for each in processes[:2]:
        with pytest.raises(SourceUnavailable):
            await GitHubApi(each.http(web), web.url, "").search((("q", "x"),))
    assert len(web.asked) == 1
