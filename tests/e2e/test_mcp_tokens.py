"""Assistants ask by tokens, over HTTP and over pipes: from the command that gives one to the one that ends it."""

import asyncio
import json
import os
import re
import signal
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.exceptions import MCPError

from adapters.cli.exits import Exit
from bot.app import LOCAL
from bot.store.sqlite.store import SqliteStore
from tests.adapters.mcp.assistants import refused, told
from tests.conftest import NOW
from tests.e2e.desk import ENTRY, Desk
from tests.fakes.digests import GPU
from tests.fakes.forked import ROOT
from tests.fakes.patience import PATIENCE
from tests.fakes.web import Web

AT = ("--now", "2026-04-01T04:20:00+00:00")


@asynccontextmanager
async def served(desk: Desk) -> AsyncIterator[str]:
    """The command over HTTP, until the block ends; yields its address."""
    environ = {"PATH": os.environ["PATH"], "HOME": str(desk.folder), "PYTHONPATH": str(ROOT)}
    environ["BROADSHEET_EMBEDDINGS__USE"] = "off"
    arguments = (sys.executable, "-c", ENTRY, *AT, "mcp", "--http", "--port", "0")
    process = await asyncio.create_subprocess_exec(*arguments, cwd=desk.folder, env=environ, stdout=PIPE, stderr=PIPE)
    assert process.stderr is not None
    try:
        async with asyncio.timeout(PATIENCE):
            while not (found := re.search(r"answered at (http://\S+/mcp)", (await process.stderr.readline()).decode())):
                assert process.returncode is None
        yield found[1]
        process.send_signal(signal.SIGTERM)
        out, err = await asyncio.wait_for(process.communicate(), PATIENCE)
        assert (process.returncode, out) == (Exit.OK, b"")
        assert b"bsm_" not in err
        assert b"Traceback" not in err
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


@asynccontextmanager
async def asking(url: str, token: str) -> AsyncIterator[Client]:
    async with create_mcp_http_client({"Authorization": f"Bearer {token}"}) as http:
        async with Client(streamable_http_client(url, http_client=http), mode="auto") as client:
            yield client


async def status(url: str, token: str) -> int:
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
    async with aiohttp.ClientSession(headers=headers) as session:
        async with session.post(url, json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"}) as answer:
            return answer.status


async def given(desk: Desk, *arguments: str) -> str:
    ran = await desk.run("mcp", "token", "create", *arguments)
    assert (ran.status, "told nowhere again" in ran.err) == (Exit.OK, True), ran.err
    return ran.out.strip()


@pytest.fixture
async def posted(desk: Desk) -> Desk:
    """A desk where a digest was posted in the terminal."""
    desk.database.parent.mkdir()
    store = SqliteStore(desk.database)
    await store.open()
    await store.items.add([each.ranked.item for each in GPU.entries], NOW)
    await store.digests.save(LOCAL, LOCAL, GPU, NOW)
    await store.close()
    return desk


@pytest.mark.long
async def test_a_token_asks_over_http_while_the_command_writes_and_is_refused_once_it_is_revoked(
    posted: Desk,
) -> None:
    desk = posted
    reads, writes = await given(desk, "reader"), await given(desk, "writer", "--write")
    async with served(desk) as url:
        async with asking(url, reads) as reader, asking(url, writes) as writer:
            digest = await told(reader, "digest")
            key = digest["entries"][0]["key"]
            assert "may read and not write" in await refused(reader, "save", item=key)
            assert [each.name for each in (await reader.list_tools()).tools if each.name in ("save", "follow")] == []
            await told(writer, "save", item=key)
            assert key.partition(":")[2] in (await desk.run("saved")).out
            assert (await desk.run("mcp", "token", "revoke", "writer")).status == Exit.OK
            assert [await status(url, each) for each in (reads, writes, "bsm_guessed")] == [200, 401, 401]
    listed = json.loads((await desk.run("mcp", "token", "list", "--json")).out)
    assert [(each["name"], each["may_write"], bool(each["revoked_at"])) for each in listed] == [
        ("reader", False, False),
        ("writer", True, True),
    ]
    assert [each["used_on"] for each in listed] == ["2026-04-01"] * 2


async def test_a_token_in_the_environment_says_for_whom_the_assistant_asks_until_it_is_revoked(
    posted: Desk, web: Web
) -> None:
    desk = posted
    token = await given(desk, "desk")
    file = desk.folder / "token"
    file.write_text(f"{token}\n")
    environ = {"HOME": str(desk.folder), "PYTHONPATH": str(ROOT), "BROADSHEET_MCP_TOKEN_FILE": str(file)}
    environ |= {"BROADSHEET_LLM__ENABLED": "1", "BROADSHEET_LLM__MODEL": "m", "BROADSHEET_LLM__BASE_URL": f"{web.url}/v1"}
    started = StdioServerParameters(command=sys.executable, args=["-c", ENTRY, *AT, "mcp"], env=environ, cwd=desk.folder)
    async with Client(stdio_client(started), mode="auto") as client:
        assert (await told(client, "topics"))["says"]
        await told(client, "show", item=GPU.entries[0].ranked.item.key)
        assert web.asked == [], "no assistant spends what the digests have for a model"
        assert (await desk.run("mcp", "token", "revoke", "desk")).status == Exit.OK
        with pytest.raises(MCPError, match="opens nothing any more"):
            await client.call_tool("topics", {})
    ended = await desk.run("mcp", BROADSHEET_MCP_TOKEN=token)
    assert (ended.status, ended.out) == (Exit.SETTINGS, "")
    assert "opens nothing, or not any more" in ended.err
    assert (await desk.run("topics", BROADSHEET_MCP_TOKEN=token)).status == Exit.OK


async def test_what_cannot_be_is_said_in_a_sentence(posted: Desk) -> None:
    desk = posted
    assert (await desk.run("mcp", "token", "list")).out.startswith("No assistant has a token")
    token = await given(desk, "desk")
    for arguments, status, said in (
        (("mcp", "token", "create", "desk"), Exit.USAGE, "There is a token named desk"),
        (("mcp", "token", "create", "x", "--workspace", "slack:T9"), Exit.USAGE, "Nothing is subscribed in slack:T9"),
        (("mcp", "token", "create", "x", "--channel", "C1"), Exit.USAGE, "Name a --workspace"),
        (("mcp", "token", "revoke", "other"), Exit.USAGE, "No token of that name"),
        (("mcp", "--http", "--write"), Exit.USAGE, "each request's token"),
        (("mcp", "--http", "--host", "192.0.2.1"), Exit.SETTINGS, "cannot be answered at 192.0.2.1, port 8766"),
    ):
        ran = await desk.run(*arguments)
        assert (arguments, ran.status) == (arguments, status)
        assert said in ran.err
    lost = await desk.run("mcp", BROADSHEET_MCP_TOKEN=" ")
    assert (lost.status, "is given, but empty" in lost.err) == (Exit.SETTINGS, True)
    both = await desk.run("mcp", "--write", BROADSHEET_MCP_TOKEN=token)
    assert (both.status, "Leave out the options" in both.err) == (Exit.USAGE, True)
    assert "desk · local · local" in (await desk.run("mcp", "token", "list")).out
