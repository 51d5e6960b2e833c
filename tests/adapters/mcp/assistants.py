"""Assistants that ask by the official client, in this process."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp.client.client import Client
from mcp_types import CallToolResult, TextContent

from adapters.mcp.server import Asked, AssistantServer
from bot.models import AssistantAccess
from tests.bot.handlers.askers import Asker

READS = AssistantAccess(workspace="slack:T1", channel="C1", person="U-ada")
WRITES = AssistantAccess(workspace="slack:T1", channel="C1", person="U-ada", may_write=True)


@asynccontextmanager
async def asking(asker: Asker, access: AssistantAccess = READS, mode: str = "auto") -> AsyncIterator[Client]:
    """Ask the context of who asks as `access` says; "legacy" is the protocol of before July 2026.

    The client holds each result against the schema that the server gave.
    """

    async def reader(_asked: Asked) -> AssistantAccess:
        return access

    server = AssistantServer(asker.context, reader, lambda: asker.now).server()
    async with Client(server, mode=mode) as client:
        yield client


def text(result: CallToolResult) -> str:
    """What a result says in text."""
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


async def told(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool that works; what it tells in text is the same as its values."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text(result)
    values: dict[str, Any] = result.structured_content
    assert json.loads(text(result)) == values
    return values


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    """Call a tool that does not work, and return the sentences."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    assert result.structured_content is None
    return text(result)
