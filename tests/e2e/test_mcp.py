"""Assistants ask over standard input and output, as their programs start the command; the service knows nothing of it."""

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from adapters.cli.exits import Exit
from tests.adapters.mcp.assistants import refused, told
from tests.e2e.desk import ENTRY, Desk
from tests.fakes.forked import ROOT
from tests.fakes.patience import PATIENCE

AT = ("--now", "2026-04-01T04:20:00+00:00")


@pytest.mark.long
async def test_an_assistant_asks_by_the_official_client_while_another_process_writes(desk: Desk) -> None:
    await desk.run("collect")
    assert (await desk.run("digest", "gpu-systems", "--record")).status == Exit.OK
    environ = {**os.environ, "HOME": str(desk.folder), "PYTHONPATH": str(ROOT), "BROADSHEET_EMBEDDINGS__USE": "off"}
    started = StdioServerParameters(
        command=sys.executable, args=["-c", ENTRY, *AT, "mcp", "--write"], env=environ, cwd=desk.folder
    )
    async with Client(stdio_client(started), mode="auto") as client:
        digest = await told(client, "digest")
        first = digest["entries"][0]["key"]
        card = await told(client, "show", item="1")
        why, _ = await asyncio.gather(told(client, "why", item=first, topic="gpu-systems"), desk.run("save", first))
        followed = await told(client, "follow", what='"KV cache"')
        assert "There is no topic" in await refused(client, "why", item=first, topic="cooking")
    assert digest["coverage"]["line"].startswith("508 seen")
    assert card["entries"][0]["key"] == first
    assert any("Posted here on" in sentence for sentence in why["entries"][0]["says"])
    assert followed["says"][0] == "KV cache is followed here now"
    assert "KV cache" in (await desk.run("list")).out


@asynccontextmanager
async def spoken_to(desk: Desk) -> AsyncIterator[Process]:
    """The command, spoken to in the protocol's own lines."""
    environ = {"PATH": os.environ["PATH"], "HOME": str(desk.folder), "PYTHONPATH": str(ROOT)}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", ENTRY, *AT, "mcp"), cwd=desk.folder, env=environ, stdin=PIPE, stdout=PIPE, stderr=PIPE
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def say(process: Process, method: str, number: int | None = None, **params: Any) -> None:
    assert process.stdin is not None
    message = {"jsonrpc": "2.0", "method": method, "params": params} | ({} if number is None else {"id": number})
    process.stdin.write(json.dumps(message).encode() + b"\n")
    await process.stdin.drain()


async def hear(process: Process) -> dict[str, Any]:
    assert process.stdout is not None
    async with asyncio.timeout(PATIENCE):
        found: dict[str, Any] = json.loads(await process.stdout.readline())
    return found


async def greet(process: Process) -> None:
    client = {"name": "test", "version": "1"}
    await say(process, "initialize", 0, protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
    assert (await hear(process))["result"]["serverInfo"]["name"] == "broadsheet"
    await say(process, "notifications/initialized")


async def test_what_is_no_message_and_what_is_cancelled_hold_nothing_up_and_the_end_of_input_ends_it(desk: Desk) -> None:
    await desk.run("collect")
    async with spoken_to(desk) as process:
        assert process.stdin is not None
        await greet(process)
        process.stdin.write(b"no JSON\n\xff\xfe\n" + b"x" * 3_000_000 + b"\n")
        for number in range(1, 41):
            await say(process, "tools/call", number, name="search", arguments={"query": "cache OR graph OR model"})
            await say(process, "notifications/cancelled", requestId=number)
        await say(process, "tools/call", 99, name="topics", arguments={})
        while (found := await hear(process)).get("id") != 99:
            pass
        assert found["result"]["structuredContent"]["says"][0].endswith("topics")
        out, err = await asyncio.wait_for(process.communicate(b""), PATIENCE)
    assert process.returncode == Exit.OK
    assert b"Traceback" not in err
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in out.splitlines())


async def test_it_ends_when_it_is_told_to_though_its_client_reads_nothing(desk: Desk) -> None:
    await desk.run("collect")
    async with spoken_to(desk) as process:
        await greet(process)
        for number in range(1, 200):
            await say(process, "tools/list", number)  # more than a pipe holds
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(PATIENCE):
            await process.wait()
        assert process.returncode == Exit.OK


async def test_what_stands_in_its_way_is_said_in_a_sentence(desk: Desk) -> None:
    nothing = await desk.run("mcp")
    assert (nothing.status, nothing.out) == (Exit.SETTINGS, "")
    assert "There is no database at" in nothing.err
    both = await desk.run("mcp", "--channel", "C1")
    assert (both.status, both.out) == (Exit.USAGE, "")
    assert "Name a --workspace" in both.err


async def test_where_nobody_talks_to_it_it_says_who_should(desk: Desk) -> None:
    await desk.run("collect")
    nobody = await desk.shell("mcp < /dev/null")
    assert (nobody.status, nobody.out) == (Exit.USAGE, "")
    assert nobody.err.startswith("broadsheet: An assistant's program starts this command")


async def test_the_service_imports_nothing_of_it_and_it_says_what_is_missing(desk: Desk) -> None:
    await desk.run("collect")
    code = (
        "import sys; sys.modules['mcp'] = None; import adapters.cli.platforms, bot.service.runner, adapters.web.server;"
        "import adapters.health.server, adapters.slack.connection.platform, adapters.discord.connection.platform;"
        "assert not [name for name in sys.modules if name.startswith(('adapters.mcp', 'mcp_types', 'starlette'))];"
        f"sys.argv = ['broadsheet', 'mcp']; {ENTRY}"
    )
    environ = {"PATH": os.environ["PATH"], "HOME": str(desk.folder), "PYTHONPATH": str(ROOT)}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", code), cwd=desk.folder, env=environ, stdout=PIPE, stderr=PIPE
    )
    out, err = await asyncio.wait_for(process.communicate(), PATIENCE)
    assert (process.returncode, out) == (Exit.SETTINGS, b"")
    assert b"pip install mcp" in err
