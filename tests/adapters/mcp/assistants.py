"""Assistants that ask by the official client, in this process."""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from mcp.client.client import Client
from mcp_types import CallToolResult, TextContent

from adapters.mcp.server import LONGEST_CALL, Asked, AssistantServer
from bot.models import AssistantAccess
from tests.bot.handlers.askers import Asker

READS = AssistantAccess(workspace="slack:T1", channel="C1", person="U-ada")
WRITES = AssistantAccess(workspace="slack:T1", channel="C1", person="U-ada", may_write=True)


@asynccontextmanager
async def asking(asker: Asker, access: AssistantAccess = READS, mode: str = "auto") -> AsyncIterator[Client]:
    """Ask the context of who asks as `access` says; "legacy" is the protocol of before July 2026.

    The client holds each result against the schema that the server gave.
    """

    async with asking_several(asker, access, mode=mode) as (client,):
        yield client


@asynccontextmanager
async def asking_several(
    asker: Asker, *accesses: AssistantAccess, mode: str = "auto", patience: float = LONGEST_CALL
) -> AsyncIterator[list[Client]]:
    """Ask the same server as several."""

    async def reader(asked: Asked) -> AssistantAccess:
        place: int = asked.lifespan_context["place"]
        return accesses[place]

    async with AsyncExitStack() as stack:
        clients = []
        made = AssistantServer(asker.context, reader, lambda: asker.now, patience=patience)
        for place in range(len(accesses)):
            server = made.server()
            server.lifespan = _placed(place)
            clients.append(await stack.enter_async_context(Client(server, mode=mode)))
        yield clients


def _placed(place: int) -> Any:
    @asynccontextmanager
    async def lifespan(_server: object) -> AsyncIterator[dict[str, int]]:
        yield {"place": place}

    return lifespan


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
