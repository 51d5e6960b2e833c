"""Assistants over HTTP: who is answered, and as whom; what is refused, and that nobody is held up."""

import asyncio
import json
import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any

import aiohttp
import mcp_types as types
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server import Server, ServerRequestContext
from mcp.shared._httpx_utils import create_mcp_http_client

from adapters.mcp.http import AT_ONCE, LARGEST, AssistantEndpoint, Patience, access_of, serving
from adapters.rate_limit import RateLimit
from bot.errors import SettingsError, StoreError
from bot.models import AssistantAccess, AssistantToken
from tests.conftest import NOW

ADA, BOB, GONE = "bsm_ada", "bsm_bob", "bsm_gone"
ASK = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "whose", "arguments": {}}}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@dataclass
class Place:
    """An endpoint with two tokens, of which each is told its workspace; `gate` holds up who asks for that."""

    held: dict[str, AssistantToken] = field(
        default_factory=lambda: {
            text: AssistantToken(name=text, hashed=text, access=AssistantAccess(workspace=workspace), made_at=NOW)
            for text, workspace in ((ADA, "slack:T1"), (BOB, "slack:T2"))
        }
    )
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    waiting: int = 0
    url: str = ""

    async def token_of(self, text: str) -> AssistantToken | None:
        if text == "bsm_broken":
            raise StoreError("The disk is gone: /data/secret.")
        return self.held.get(text)

    @property
    def server(self) -> Server[Any]:
        async def tools(_context: object, _params: object) -> types.ListToolsResult:
            return types.ListToolsResult(tools=[types.Tool(name="whose", input_schema={"type": "object"})])

        async def call(asked: ServerRequestContext[Any, Any], params: types.CallToolRequestParams) -> types.CallToolResult:
            if params.name == "wait":
                self.waiting += 1
                try:
                    await self.gate.wait()
                finally:
                    self.waiting -= 1
            return types.CallToolResult(content=[types.TextContent(type="text", text=(await access_of(asked)).workspace)])

        return Server("place", on_list_tools=tools, on_call_tool=call)


@asynccontextmanager
async def opened(place: Place, **given: Any) -> AsyncIterator[Place]:
    patience = given.pop("patience", Patience())
    endpoint = AssistantEndpoint(place.token_of, place.server, patience=patience, **given)
    async with serving(endpoint, "127.0.0.1", 0, patience) as (host, port):
        place.url = f"http://{host}:{port}/mcp"
        yield place


@pytest.fixture
async def place() -> AsyncIterator[Place]:
    async with opened(Place()) as made:
        yield made


async def posted(place: Place, asked: object = ASK, token: str = ADA, **headers: str) -> tuple[int, dict[str, str], str]:
    """Return status, headers and body."""
    body = asked if isinstance(asked, bytes) else json.dumps(asked).encode()
    sent = {**ACCEPT, "Content-Type": "application/json", "Authorization": f"Bearer {token}", **headers}
    sent = {name.replace("_", "-"): value for name, value in sent.items() if value}
    async with aiohttp.ClientSession() as session, session.post(place.url, data=body, headers=sent) as answer:
        return answer.status, dict(answer.headers), await answer.text()


def said(body: str) -> str:
    return str(json.loads(body)["error"]["message"])


async def test_the_official_client_is_answered_as_whom_its_token_stands_for(place: Place) -> None:
    for mode, token, workspace in (("legacy", ADA, "slack:T1"), ("auto", ADA, "slack:T1"), ("auto", BOB, "slack:T2")):
        async with create_mcp_http_client({"Authorization": f"Bearer {token}"}) as http:
            async with Client(streamable_http_client(place.url, http_client=http), mode=mode) as client:
                assert [each.name for each in (await client.list_tools()).tools] == ["whose"]
                result = await client.call_tool("whose", {})
                assert [each.text for each in result.content if isinstance(each, types.TextContent)] == [workspace]


async def test_no_session_of_one_token_is_known_to_another(place: Place) -> None:
    status, headers, _ = await posted(place, {**ASK, "method": "initialize", "params": INITIALIZE})
    assert status == 200
    assert "mcp-session-id" not in {name.lower() for name in headers}
    _, _, body = await posted(place, token=BOB, Mcp_Session_Id="anything")
    assert "slack:T2" in body
    assert "slack:T1" not in body


INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


async def test_who_shows_no_token_that_holds_is_refused(place: Place) -> None:
    for authorization, error in (
        ("", False),
        (f"Bearer {GONE}", True),
        ("Bearer", True),
        ("Bearer ", True),
        (f"Basic {ADA}", True),
        (ADA, True),
        (f"Bearer {ADA}x", True),
        (f"Bearer {ADA} {ADA}", True),
    ):
        status, headers, body = await posted(place, Authorization=authorization)
        assert status == 401
        assert headers["WWW-Authenticate"] == 'Bearer realm="broadsheet"' + (', error="invalid_token"' if error else "")
        assert "token" in said(body)


async def test_a_token_in_the_address_is_none(place: Place) -> None:
    place.url += f"?access_token={ADA}"
    assert (await posted(place, Authorization=""))[0] == 401


async def test_what_was_revoked_is_refused_at_once(place: Place) -> None:
    assert (await posted(place))[0] == 200
    del place.held[ADA]
    assert (await posted(place))[0] == 401
    assert (await posted(place, token=BOB))[0] == 200


async def test_a_page_that_a_browser_was_led_here_by_is_refused(place: Place) -> None:
    given: list[tuple[dict[str, str], int]] = [
        ({"Host": "papers.evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example:80"}, 421),
        ({"Host": "localhost:9"}, 200),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost.evil.example:1"}, 403),
        ({"Origin": "http://localhost:6274"}, 200),
        ({"Content_Type": "text/plain"}, 400),
    ]
    for headers, status in given:
        assert (await posted(place, **headers))[0] == status


async def test_who_has_no_token_writes_nothing_into_the_log(place: Place, caplog: pytest.LogCaptureFixture) -> None:
    for headers in ({"Host": "papers.evil.example"}, {"Origin": "https://evil.example"}):
        await posted(place, Authorization="", **headers)
    assert "evil" not in caplog.text


async def test_a_name_of_its_own_is_answered_where_it_is_given() -> None:
    async with opened(Place(), hosts=("papers.lab.example",)) as place:
        for headers, status in (
            ({"Host": "papers.lab.example", "Origin": "https://papers.lab.example"}, 200),
            ({"Host": "papers.lab.example", "Origin": "https://other.lab.example"}, 403),
            ({"Host": "papers.lab.example.evil.example"}, 421),
        ):
            assert (await posted(place, **headers))[0] == status


async def test_other_ways_and_addresses_lead_nowhere(place: Place) -> None:
    headers = {**ACCEPT, "Authorization": f"Bearer {ADA}"}
    async with aiohttp.ClientSession() as session:
        for method, path, status in (
            ("GET", "/mcp", 405),
            ("DELETE", "/mcp", 405),
            ("OPTIONS", "/mcp", 405),
            ("POST", "/", 404),
            ("POST", "/mcp/", 404),
            ("GET", "/sse", 404),
        ):
            given = {**headers, "Content-Type": "application/json"}
            async with session.request(method, place.url.removesuffix("/mcp") + path, headers=given) as answer:
                assert (method, path, answer.status) == (method, path, status)


async def test_what_is_no_request_is_told_so_and_nothing_falls_over(place: Place) -> None:
    for body in [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"jsonrpc": "2.0"}', b"[" * 30_000, b"1e999"]:
        status, _, _ = await posted(place, body)
        assert 400 <= status < 500, body[:20]
    assert (await posted(place))[0] == 200


JUNK: tuple[Any, ...] = (
    None,
    True,
    -1,
    10**30,
    "",
    "x" * 500,
    "\u202e",
    [],
    [[]],
    {},
    {"a": {}},
    "tools/call",
    "initialize",
)
HEADERS: dict[str, tuple[str, ...]] = {
    "MCP_Protocol_Version": ("2024-11-05", "2025-06-18", "2026-07-28", "9999-01-01", "x"),
    "MCP_Method": ("tools/call", "tools/list", "x"),
    "MCP_Name": ("whose", "x"),
    "Mcp_Session_Id": ("x", "../"),
    "Accept": ("*/*", "text/html", "application/json"),
    "Last_Event_Id": ("1",),
}


def mangled(random: Random) -> bytes:
    """Return a request of which a field, or some bytes, are something else."""
    asked: dict[str, Any] = json.loads(
        json.dumps(random.choice((ASK, {**ASK, "method": "initialize", "params": INITIALIZE})))
    )
    for place in random.choices((asked, asked["params"]), k=random.randint(0, 2)):
        place[random.choice([*place, "_meta", "id"])] = random.choice(JUNK)
    body = bytearray(json.dumps(asked).encode())
    for _ in range(random.choice((0, 0, 1, 3))):
        body[random.randrange(len(body))] = random.randrange(256)
    return bytes(body)


async def test_mangled_requests_are_answered_and_nothing_falls_over(caplog: pytest.LogCaptureFixture) -> None:
    random = Random(3)
    async with opened(Place(), limit=RateLimit(10_000)) as place:
        found: Counter[int] = Counter()
        for _ in range(300):
            headers = {name: random.choice(values) for name, values in HEADERS.items() if random.random() < 0.15}
            found[(await posted(place, mangled(random), **headers))[0]] += 1
        assert (await posted(place))[0] == 200
    assert [status for status in found if status >= 500] == []
    assert found[200] > 20
    assert not [each for each in caplog.records if each.exc_info]


async def test_a_request_is_of_a_bounded_size(place: Place) -> None:
    assert (await posted(place, b" " * (LARGEST + 1)))[0] == 413
    assert (await posted(place, json.dumps(ASK).encode() + b" " * 60_000))[0] == 200


async def test_each_token_has_so_many_requests_a_minute() -> None:
    async with opened(Place(), limit=RateLimit(3, lambda: 0.0)) as place:
        assert [(await posted(place))[0] for _ in range(4)] == [200, 200, 200, 429]
        assert (await posted(place, token=BOB))[0] == 200
        _, headers, body = await posted(place)
        assert headers["Retry-After"] == "10"
        assert "requests a minute" in said(body)


async def until(holds: Callable[[], bool]) -> None:
    for _ in range(500):
        if holds():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("that did not come about within 5 seconds")


WAIT: dict[str, Any] = {**ASK, "params": {"name": "wait", "arguments": {}}}


async def test_one_token_that_asks_for_much_at_once_holds_up_no_other(place: Place) -> None:
    asking = [asyncio.create_task(posted(place, WAIT)) for _ in range(AT_ONCE)]
    await until(lambda: place.waiting == AT_ONCE)
    assert (await posted(place))[0] == 429
    assert (await posted(place, token=BOB))[0] == 200
    place.gate.set()
    assert [status for status, _, _ in await asyncio.gather(*asking)] == [200] * AT_ONCE
    assert (await posted(place))[0] == 200


@pytest.mark.parametrize("version", ["2025-06-18", "2026-07-28"])
async def test_nobody_works_on_for_who_has_gone(place: Place, version: str) -> None:
    headers = {"MCP-Protocol-Version": version, "MCP-Method": "tools/call", "MCP-Name": "wait"}
    meta = {"io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientCapabilities": {}}
    asked = {**WAIT, "params": {**WAIT["params"], "_meta": meta}}
    asking = [asyncio.create_task(posted(place, asked, **headers)) for _ in range(AT_ONCE)]
    await until(lambda: place.waiting == AT_ONCE)
    for each in asking:
        each.cancel()
    await asyncio.wait(asking)
    await until(lambda: place.waiting == 0)
    await asyncio.sleep(0)
    assert (await posted(place))[0] == 200


async def test_what_is_being_answered_when_it_stops_is_told_so(caplog: pytest.LogCaptureFixture) -> None:
    async with opened(Place(), patience=Patience(stop=0)) as place:
        asking = asyncio.create_task(posted(place, WAIT))
        await until(lambda: place.waiting == 1)
    status, _, body = await asking
    assert (status, said(body), place.waiting) == (503, "This server stops. Ask again later.", 0)
    assert not [each for each in caplog.records if each.exc_info]


async def test_tokens_that_ask_at_the_same_time_are_each_answered_as_themselves(place: Place) -> None:
    asking = [asyncio.create_task(posted(place, WAIT, token)) for token in (ADA, BOB) * AT_ONCE]
    await until(lambda: place.waiting == 2 * AT_ONCE)
    place.gate.set()
    told = [[name for name in ("slack:T1", "slack:T2") if name in body] for _, _, body in await asyncio.gather(*asking)]
    assert told == [["slack:T1"], ["slack:T2"]] * AT_ONCE


async def test_an_answer_that_takes_too_long_is_given_up() -> None:
    async with opened(Place(), patience=Patience(answer=0.2)) as place:
        status, _, body = await posted(place, WAIT)
        assert (status, said(body)) == (504, "That took too long. Ask for less, or again later.")
        assert (await posted(place))[0] == 200


HEAD = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAuthorization: Bearer bsm_ada\r\n"


@pytest.mark.parametrize("sent", [b"", b"POST /mcp HT", HEAD, HEAD + b"Content-Length: 50\r\n\r\n{"])
async def test_a_slow_client_makes_room_in_the_end(sent: bytes) -> None:
    async with opened(Place(), patience=Patience(head=0.2)) as place:
        host, port = place.url.removeprefix("http://").removesuffix("/mcp").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(sent)
        async with asyncio.timeout(5):
            answer = await reader.read()
        assert answer == b"" or b" 408 " in answer.splitlines()[0]
        writer.close()
        assert (await posted(place))[0] == 200


async def test_a_fault_of_the_database_is_a_sentence_that_tells_no_path(place: Place) -> None:
    status, _, body = await posted(place, token="bsm_broken")
    assert status == 503
    assert "secret" not in body
    assert said(body) == "The database cannot be read just now. Ask again later."


async def test_no_log_has_a_token(place: Place, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        for token in (ADA, GONE, "bsm_broken"):
            await posted(place, token=token)
        await posted(place, b"{")
    ours = [each.getMessage() for each in caplog.records if not each.name.startswith(("asyncio", "aiohttp"))]
    assert not [each for each in ours if "bsm_" in each]


async def test_an_address_that_is_taken_is_told_in_a_sentence(place: Place) -> None:
    port = int(place.url.split(":")[2].removesuffix("/mcp"))
    for host, number in (("127.0.0.1", port), ("192.0.2.1", 0)):
        with pytest.raises(SettingsError, match=rf"Assistants cannot be answered at {host}, port {number}: "):
            async with serving(AssistantEndpoint(place.token_of, place.server), host, number):
                pass
