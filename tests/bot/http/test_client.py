"""The HTTP door against a real server on the loopback interface."""

import asyncio
import gzip
import time
import zlib
from collections.abc import AsyncIterator, Callable
from itertools import pairwise
from typing import Any

import pytest

from bot.errors import NetworkFault, SourceUnavailable
from bot.http.client import Http, Politeness, Request
from tests.effort import effort
from tests.fakes.patience import PATIENCE
from tests.fakes.web import Answer, Asked, Web

Open = Callable[..., Http]


class Clock:
    """Time that passes only when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def door(clock: Clock) -> AsyncIterator[Open]:
    opened: list[Http] = []

    def open_(**settings: object) -> Http:
        given = {"user_agent": "Broadsheet/1 (+https://example.org)", "sleep": clock.sleep, "clock": clock, **settings}
        opened.append(Http(**given))  # type: ignore[arg-type]
        return opened[-1]

    yield open_
    for http in opened:
        await http.close()


def host(web: Web) -> str:
    return web.url.removeprefix("http://")


# --- asking and answering ------------------------------------------------------------------------------------------


async def test_an_answer_comes_back_with_lower_case_headers_and_its_address(web: Web, door: Open) -> None:
    web.answer("/x", Answer(b"hello", headers={"ETag": '"1"'}))
    got = await door().fetch(Request(url=web.url + "/x", params=(("q", "a b"), ("q", "c&d"))))
    assert (got.status, got.body, got.headers["etag"], got.url) == (200, b"hello", '"1"', web.url + "/x?q=a%20b&q=c%26d")
    assert web.asked[0].headers["user-agent"] == "Broadsheet/1 (+https://example.org)"


async def test_parameters_join_those_that_the_address_has(web: Web, door: Open) -> None:
    web.answer("/x", Answer(b""))
    await door().fetch(Request(url=web.url + "/x?a=1", params=(("b", "2"),)))
    assert web.asked[0].query == {"a": "1", "b": "2"}


async def test_a_body_is_posted_as_json(web: Web, door: Open) -> None:
    web.answer("/v1", Answer(b"{}"))
    await door().fetch(Request(url=web.url + "/v1", method="POST", json={"a": ["é"]}))
    assert (web.asked[0].method, web.asked[0].body) == ("POST", '{"a":["é"]}'.encode())
    assert web.asked[0].headers["content-type"] == "application/json"


async def test_a_status_that_is_accepted_is_an_answer(web: Web, door: Open) -> None:
    web.answer("/x", Answer(b"slow down", 429, {"X-RateLimit-Remaining": "0"}))
    got = await door().fetch(Request(url=web.url + "/x"), accept=frozenset({200, 304, 429}))
    assert (got.status, got.body, got.headers["x-ratelimit-remaining"]) == (429, b"slow down", "0")


@pytest.mark.parametrize("status", [201, 204, 304, 400, 401, 403, 404, 410, 418, 429, 451, 501, 599])
async def test_any_other_status_is_one_clear_error_after_one_request(web: Web, door: Open, status: int) -> None:
    web.answer("/x", Answer(b"", status))
    with pytest.raises(SourceUnavailable, match=rf"127\.0\.0\.1.*/x answered {status}"):
        await door().fetch(Request(url=web.url + "/x"))
    assert len(web.asked) == 1


async def test_cookies_are_never_kept(web: Web, door: Open) -> None:
    web.answer("/x", Answer(b"", headers={"Set-Cookie": "id=1; Path=/"}))
    http = door()
    await http.fetch(Request(url=web.url + "/x"))
    await http.fetch(Request(url=web.url + "/x"))
    assert "cookie" not in web.asked[1].headers


async def test_the_environments_proxy_is_not_used(web: Web, door: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    web.answer("/x", Answer(b"direct"))
    assert (await door().fetch(Request(url=web.url + "/x"))).body == b"direct"


async def test_a_configured_proxy_is_asked_for_everything(web: Web, door: Open) -> None:
    web.rule(lambda asked: Answer(b"through the proxy"))
    got = await door(proxy=web.url).fetch(Request(url="http://feed.example/x"))
    assert (got.body, web.asked[0].headers["host"]) == (b"through the proxy", "feed.example")


@pytest.mark.parametrize(
    "url",
    ["", "x", "ftp://example.org/", "file:///etc/passwd", "http://", "http://[::1", "https://exa mple.org/", "http://\x00/"],
)
async def test_what_is_no_web_address_is_refused_before_anything_is_asked(door: Open, url: str) -> None:
    with pytest.raises(SourceUnavailable, match="not a web address"):
        await door().fetch(Request(url=url))


# --- failures that pass --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "failure", [Answer(status=500), Answer(status=502), Answer(status=503), Answer(status=504), Answer(reset=True)]
)
async def test_a_failure_that_passes_is_tried_again(web: Web, door: Open, clock: Clock, failure: Answer) -> None:
    web.answer("/x", failure, failure, Answer(b"at last"))
    http = door(politeness={"127.0.0.1": Politeness(seconds_between=0, retries=2)})
    assert (await http.fetch(Request(url=web.url + "/x"))).body == b"at last"
    assert len(web.asked) == 3
    assert len(clock.slept) == 2
    assert all(0 <= slept <= bound for slept, bound in zip(clock.slept, (1, 2), strict=True))


async def test_a_failure_that_stays_is_told_after_the_retries(web: Web, door: Open) -> None:
    web.answer("/x", Answer(status=503))
    with pytest.raises(SourceUnavailable, match="answered 503 Service Unavailable") as told:
        await door(politeness={host(web): Politeness(seconds_between=0, retries=3)}).fetch(Request(url=web.url + "/x"))
    assert len(web.asked) == 4
    assert type(told.value) is SourceUnavailable


async def test_a_host_that_is_not_there_is_told_in_words(door: Open) -> None:
    with pytest.raises(SourceUnavailable, match=r"http://127\.0\.0\.1:9/ could not be reached"):
        await door().fetch(Request(url="http://127.0.0.1:9/"))


@pytest.mark.usefixtures("unknown_names")
async def test_what_of_the_network_failed_is_known(web: Web, door: Open, unused_tcp_port: int) -> None:
    async def fault_at(url: str, **given: Any) -> NetworkFault | None:
        with pytest.raises(SourceUnavailable) as told:
            await door(**given).fetch(Request(url=url))
        return told.value.fault

    web.answer("/proxied", Answer(status=407))
    closed = f"127.0.0.1:{unused_tcp_port}"
    assert await fault_at(f"http://{closed}/") is NetworkFault.CONNECTION
    assert await fault_at("http://broadsheet.invalid/") is NetworkFault.NAME
    assert await fault_at("http://broadsheet.invalid/", guarded=True) is NetworkFault.NAME
    assert await fault_at(web.url.replace("http:", "https:")) is NetworkFault.TLS
    assert await fault_at("https://papers.example/", proxy=web.url) is NetworkFault.PROXY
    assert await fault_at("https://papers.example/", proxy=f"http://{closed}") is NetworkFault.CONNECTION
    assert await fault_at(web.url + "/nothing-here") is None, "it was reached"


async def test_a_post_is_not_repeated_once_it_may_have_been_read(web: Web, door: Open) -> None:
    web.answer("/x", Answer(reset=True))
    with pytest.raises(SourceUnavailable, match="broke off the connection"):
        await door().fetch(Request(url=web.url + "/x", method="POST", json=1))
    assert len(web.asked) == 1


@pytest.mark.parametrize("status", [403, 429, 503])
async def test_a_short_retry_after_is_waited_for(web: Web, door: Open, clock: Clock, status: int) -> None:
    web.answer("/x", Answer(status=status, headers={"Retry-After": "7"}), Answer(b"ok"))
    http = door(politeness={host(web): Politeness(seconds_between=0)})
    assert (await http.fetch(Request(url=web.url + "/x"))).body == b"ok"
    assert clock.slept == [pytest.approx(7)]


@pytest.mark.parametrize("status", [403, 429, 503])
async def test_a_long_retry_after_is_handed_on_instead(web: Web, door: Open, clock: Clock, status: int) -> None:
    web.answer("/x", Answer(status=status, headers={"Retry-After": "3600"}))
    with pytest.raises(SourceUnavailable) as told:
        await door().fetch(Request(url=web.url + "/x"))
    assert told.value.retry_after is not None
    assert told.value.retry_after.total_seconds() == 3600
    assert (len(web.asked), clock.slept) == (1, [])


async def test_a_limit_without_a_time_is_not_tried_again(web: Web, door: Open) -> None:
    web.answer("/x", Answer(b"Rate exceeded.", 429))
    with pytest.raises(SourceUnavailable, match="429 Too Many Requests") as told:
        await door().fetch(Request(url=web.url + "/x"))
    assert told.value.retry_after is None
    assert len(web.asked) == 1


async def test_others_to_the_same_host_rest_too_while_it_asked_for_rest(web: Web, door: Open, clock: Clock) -> None:
    web.answer("/x", Answer(status=503, headers={"Retry-After": "30"}), Answer(b"x"))
    web.answer("/y", Answer(b"y"))
    http = door(politeness={host(web): Politeness(seconds_between=0, connections=1)})
    began = clock.now
    await asyncio.gather(http.fetch(Request(url=web.url + "/x")), http.fetch(Request(url=web.url + "/y")))
    assert web.asked[0].path == "/x"
    assert clock.now - began >= 30


# --- politeness ----------------------------------------------------------------------------------------------------


async def test_hosts_that_share_a_politeness_share_its_pause_and_its_connection(web: Web, door: Open, clock: Clock) -> None:
    port = host(web).rpartition(":")[2]
    moments: list[float] = []
    busy = most = 0

    def rule(asked: Asked) -> Answer:
        moments.append(clock.now)
        return Answer(b"")

    web.rule(rule)
    shared = Politeness(seconds_between=3, connections=1)
    http = door(politeness={f"127.0.0.1:{port}": shared, f"localhost:{port}": shared})

    async def ask(name: str) -> None:
        nonlocal busy, most
        busy += 1
        most = max(most, busy)
        await http.fetch(Request(url=f"http://{name}:{port}/"))
        busy -= 1

    await asyncio.gather(*(ask(name) for name in ("127.0.0.1", "localhost") * 3))
    assert len(moments) == 6
    assert min(later - earlier for earlier, later in pairwise(moments)) >= 3


async def test_the_pause_is_kept_on_a_real_clock_too(web: Web) -> None:
    web.rule(lambda asked: Answer(b""))
    http = Http(user_agent="x", politeness={"127.0.0.1": Politeness(seconds_between=0.1, connections=1)})
    began = time.monotonic()
    await asyncio.gather(*(http.fetch(Request(url=web.url)) for _ in range(4)))
    assert time.monotonic() - began >= 0.29  # never sooner, however busy the machine is
    await http.close()


async def test_equal_but_separate_politenesses_do_not_wait_for_each_other(web: Web, door: Open, clock: Clock) -> None:
    web.rule(lambda asked: Answer(b""))
    port = host(web).rpartition(":")[2]
    http = door(politeness={"127.0.0.1": Politeness(seconds_between=3), "localhost": Politeness(seconds_between=3)})
    await http.fetch(Request(url=f"http://127.0.0.1:{port}/"))
    await http.fetch(Request(url=f"http://localhost:{port}/"))
    assert clock.slept == []


async def test_no_more_connections_than_allowed_are_open_at_once(web: Web) -> None:
    moments: list[float] = []

    def rule(asked: Asked) -> Answer:
        moments.append(time.monotonic())
        return Answer(b"", delay=0.15)

    web.rule(rule)
    http = Http(user_agent="x", politeness={"127.0.0.1": Politeness(seconds_between=0, connections=2)})
    await asyncio.gather(*(http.fetch(Request(url=web.url)) for _ in range(4)))
    assert moments[2] - moments[0] >= 0.14  # the third is asked when the first is answered: never sooner
    await http.close()


# --- redirects -----------------------------------------------------------------------------------------------------


async def test_a_redirect_is_followed_and_the_new_address_told(web: Web, door: Open) -> None:
    web.answer("/old", Answer(status=301, headers={"Location": "/new?x=1"}))
    web.answer("/new", Answer(b"here"))
    got = await door().fetch(Request(url=web.url + "/old", headers={"Authorization": "Bearer abc"}))
    assert (got.body, got.url) == (b"here", web.url + "/new?x=1")
    assert web.asked[1].headers["authorization"] == "Bearer abc"


async def test_credentials_do_not_travel_to_another_host(web: Web, door: Open) -> None:
    port = host(web).rpartition(":")[2]
    web.answer("/old", Answer(status=302, headers={"Location": f"http://localhost:{port}/new"}))
    web.answer("/new", Answer(b"here"))
    headers = {"Authorization": "Bearer abc", "X-Api-Key": "k", "Private-Token": "t", "If-None-Match": '"1"'}
    await door().fetch(Request(url=web.url + "/old", headers=headers))
    assert not {"authorization", "x-api-key", "private-token"} & set(web.asked[1].headers)
    assert web.asked[1].headers["if-none-match"] == '"1"'


async def test_a_circle_of_redirects_ends(web: Web, door: Open) -> None:
    web.answer("/x", Answer(status=302, headers={"Location": "/x"}))
    with pytest.raises(SourceUnavailable, match="redirected more than 5 times"):
        await door().fetch(Request(url=web.url + "/x"))
    assert len(web.asked) == 6


@pytest.mark.parametrize("where", ["", "ftp://example.org/", "javascript:alert(1)", "http://[", "file:///etc/passwd"])
async def test_a_redirect_to_what_is_no_web_address_is_refused(web: Web, door: Open, where: str) -> None:
    web.answer("/x", Answer(status=302, headers={"Location": where}))
    with pytest.raises(SourceUnavailable, match=r"web address|moved"):
        await door().fetch(Request(url=web.url + "/x"))


async def test_a_post_is_not_redirected(web: Web, door: Open) -> None:
    web.answer("/x", Answer(status=307, headers={"Location": "/y"}))
    with pytest.raises(SourceUnavailable, match="has moved"):
        await door().fetch(Request(url=web.url + "/x", method="POST", json=1))
    assert len(web.asked) == 1


# --- size and time -------------------------------------------------------------------------------------------------


async def test_a_compressed_answer_is_inflated(web: Web, door: Open) -> None:
    text = b"news " * 1000
    web.answer("/gzip", Answer(gzip.compress(text), headers={"Content-Encoding": "gzip"}))
    web.answer("/two", Answer(gzip.compress(text) + gzip.compress(b"more"), headers={"Content-Encoding": "gzip"}))
    web.answer("/zlib", Answer(zlib.compress(text), headers={"Content-Encoding": "deflate"}))
    web.answer("/none", Answer(b"", headers={"Content-Encoding": "gzip"}))
    http = door()
    assert (await http.fetch(Request(url=web.url + "/gzip"))).body == text
    assert (await http.fetch(Request(url=web.url + "/two"))).body == text + b"more"
    assert (await http.fetch(Request(url=web.url + "/zlib"))).body == text
    assert (await http.fetch(Request(url=web.url + "/none"))).body == b""


@pytest.mark.parametrize("size", [1001, 100_000])
async def test_a_larger_body_is_cut_off(web: Web, door: Open, size: int) -> None:
    web.answer("/x", Answer(b"x" * size))
    with pytest.raises(SourceUnavailable, match="larger than 1,000 bytes"):
        await door().fetch(Request(url=web.url + "/x"), max_bytes=1000)


async def test_a_body_of_just_the_size_is_taken(web: Web, door: Open) -> None:
    web.answer("/x", Answer(b"x" * 1000))
    web.answer("/gzip", Answer(gzip.compress(b"x" * 1000), headers={"Content-Encoding": "gzip"}))
    assert len((await door().fetch(Request(url=web.url + "/x"), max_bytes=1000)).body) == 1000
    assert len((await door().fetch(Request(url=web.url + "/gzip"), max_bytes=1000)).body) == 1000


async def test_a_compression_bomb_is_counted_inflated(web: Web, door: Open) -> None:
    bomb = gzip.compress(b"\0" * 200_000_000, 9)
    assert len(bomb) < 250_000
    web.answer("/x", Answer(bomb, headers={"Content-Encoding": "gzip"}))
    whole = effort(lambda: gzip.decompress(bomb), tries=1)
    began = time.process_time()
    with pytest.raises(SourceUnavailable, match="larger than 2,097,152 bytes"):
        await door().fetch(Request(url=web.url + "/x"), max_bytes=2**21)
    assert time.process_time() - began < whole  # which is all the zeros


@pytest.mark.parametrize(
    ("body", "encoding", "words"),
    [
        (b"not gzip", "gzip", "damaged"),
        (gzip.compress(b"x" * 9999, mtime=0)[:-12], "gzip", "cut off"),
        (gzip.compress(b"x", mtime=0) + b"rubbish", "gzip", "damaged"),
        (b"x", "br", "encoded as 'br'"),
        (b"x", "gzip, gzip", "encoded as"),
    ],
)
async def test_a_body_that_cannot_be_inflated_is_told(web: Web, door: Open, body: bytes, encoding: str, words: str) -> None:
    web.answer("/x", Answer(body, headers={"Content-Encoding": encoding}))
    with pytest.raises(SourceUnavailable, match=words):
        await door().fetch(Request(url=web.url + "/x"))


async def test_a_server_that_says_nothing_is_given_up(web: Web, door: Open) -> None:
    web.answer("/x", Answer(b"", delay=30))
    http = door(timeout=0.05, politeness={"127.0.0.1": Politeness(retries=0)})
    with pytest.raises(SourceUnavailable, match="did not answer in time"):
        await http.fetch(Request(url=web.url + "/x"))


# --- servers that break the rules ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "packed"),
    [
        (b"Transfer-Encoding: chunked", b"1\r\nx\r\n" * 20_000 + b"0\r\n\r\n"),
        (b"Content-Encoding: gzip\r\nConnection: close", gzip.compress(b"x" * 60_000_000, 9)),
    ],
    ids=["20,000 pieces in two packets", "60 MB in one packet"],
)
async def test_what_waits_beside_an_answer_that_came_at_once_gets_its_turns(
    door: Open, headers: bytes, packed: bytes
) -> None:
    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n" + headers + b"\r\n\r\n" + packed)
        await writer.drain()

    turns = 0

    async def wait_beside() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    server = await serve(speak)
    request = Request(url=f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/")
    fetching = asyncio.create_task(door().fetch(request, max_bytes=2**26))
    beside = asyncio.create_task(wait_beside())
    got = await fetching
    beside.cancel()
    assert set(got.body) == {ord("x")}
    assert turns >= 200
    server.close()


async def serve(speak: Callable[[asyncio.StreamReader, asyncio.StreamWriter], object]) -> asyncio.Server:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            await speak(reader, writer)  # type: ignore[misc]
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    return await asyncio.start_server(handle, "127.0.0.1", 0)


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"garbage\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 40_000 + b"\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 300_000 + b"\r\n\r\n",
        b"HTTP/1.1 999999 OK\r\n\r\n",
        b"HTTP/1.1 302 Found\r\nLocation: \xff\xfe\r\n\r\n",
        b"\x16\x03\x01\x00\x00",
    ],
)
async def test_an_answer_that_breaks_the_rules_is_one_clear_error(door: Open, said: bytes) -> None:
    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(said)
        await writer.drain()

    server = await serve(speak)
    port = server.sockets[0].getsockname()[1]
    with pytest.raises(SourceUnavailable, match=r"127\.0\.0\.1"):
        await door(timeout=2.0, politeness={"127.0.0.1": Politeness(retries=0)}).fetch(
            Request(url=f"http://127.0.0.1:{port}/")
        )
    server.close()


async def test_a_server_that_trickles_for_ever_is_cut_off_by_the_deadline(door: Open) -> None:
    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
        while True:
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.02)

    server = await serve(speak)
    port = server.sockets[0].getsockname()[1]
    http = door(timeout=1.0, deadline=0.3, politeness={"127.0.0.1": Politeness(retries=0)})
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(SourceUnavailable, match="did not answer in time"):
            await http.fetch(Request(url=f"http://127.0.0.1:{port}/"))
    server.close()


async def test_an_endless_answer_is_cut_off_by_its_size(door: Open) -> None:
    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(b"x" * 65536)
            await writer.drain()

    server = await serve(speak)
    port = server.sockets[0].getsockname()[1]
    with pytest.raises(SourceUnavailable, match="larger than"):
        await door().fetch(Request(url=f"http://127.0.0.1:{port}/"), max_bytes=2**20)
    server.close()


async def test_a_certificate_that_does_not_hold_is_told(door: Open, web: Web) -> None:
    with pytest.raises(SourceUnavailable, match="could not be reached"):
        await door(timeout=2.0).fetch(Request(url=web.url.replace("http:", "https:")))


async def test_the_door_goes_on_after_an_error(web: Web, door: Open) -> None:
    web.answer("/x", Answer(b"x" * 5000))
    http = door(politeness={"127.0.0.1": Politeness(seconds_between=0, connections=1)})
    for _ in range(5):
        with pytest.raises(SourceUnavailable):
            await http.fetch(Request(url=web.url + "/x"), max_bytes=1000)
    assert len((await http.fetch(Request(url=web.url + "/x"))).body) == 5000


async def test_a_cancelled_request_gives_its_place_back(web: Web, door: Open) -> None:
    web.answer("/slow", Answer(b"", delay=30))
    web.answer("/x", Answer(b"ok"))
    http = door(politeness={"127.0.0.1": Politeness(seconds_between=0, connections=1)})
    slow = asyncio.create_task(http.fetch(Request(url=web.url + "/slow")))
    async with asyncio.timeout(PATIENCE):
        while not web.asked:  # noqa: ASYNC110 - the fake sets no event
            await asyncio.sleep(0.01)
    slow.cancel()
    with pytest.raises(asyncio.CancelledError):
        await slow
    assert (await http.fetch(Request(url=web.url + "/x"))).body == b"ok"
