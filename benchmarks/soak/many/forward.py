"""Passes connections on: `python -m benchmarks.soak.many.forward FROM TO PORT …` listens at FROM and connects to TO."""

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial


@asynccontextmanager
async def forwarding(source: str, target: str, ports: Sequence[int]) -> AsyncIterator[None]:
    """Pass on what comes in at the ports of one address to the same ports of another, while the block lasts."""
    async with AsyncExitStack() as stack:
        for port in ports:
            await stack.enter_async_context(await asyncio.start_server(partial(_pass, target, port), source, port))
        yield


async def _pass(host: str, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Pass on what comes in on a connection, and what comes back."""
    theirs, ours = await asyncio.open_connection(host, port)

    async def way(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while some := await source.read(1 << 16):
                target.write(some)
                await target.drain()
        target.close()

    await asyncio.gather(way(reader, ours), way(theirs, writer))


async def _for_ever(source: str, target: str, ports: Sequence[int]) -> None:
    async with forwarding(source, target, ports):
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_for_ever(sys.argv[1], sys.argv[2], [int(each) for each in sys.argv[3:]]))
