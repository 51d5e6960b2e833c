"""A write that was committed though its answer was lost: who does it again does nothing twice."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from bot.errors import StoreError
from bot.models import DeliveryState, OccurrenceState
from bot.store.postgres.store import PostgresStore
from tests.bot.store.postgres.opened import two
from tests.conftest import NOW
from tests.contract.made import digest, paper
from tests.contract.test_ledger import DAY, LEASE, occurrence, part, subscribed


class Line:
    """A line to the server that passes one statement on, and breaks before its answer."""

    def __init__(self, host: str, port: int) -> None:
        self.server = (host, port)
        self.breaks_at = b""

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass on what both sides say."""
        answers, there = await asyncio.open_connection(*self.server)
        back = asyncio.create_task(self._passed(answers, writer))
        with contextlib.suppress(OSError):
            while said := await reader.read(65536):
                is_last = bool(self.breaks_at) and self.breaks_at in said
                if is_last:
                    self.breaks_at = b""
                    back.cancel()
                    await asyncio.wait([back])
                there.write(said)
                await there.drain()
                if is_last:
                    await answers.read(1)  # it has been done
                    break
        for each in (there, writer):
            each.close()
        await asyncio.wait([back])

    async def _passed(self, answers: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while said := await answers.read(65536):
                writer.write(said)
                await writer.drain()
        writer.close()

    async def lost(self, statement: bytes, write: Callable[[], Awaitable[object]]) -> object:
        """Write so that the answer is lost, and then again; return what the second one says."""
        self.breaks_at = statement
        with pytest.raises(StoreError, match="was lost"):
            await write()
        return await write()


@contextlib.asynccontextmanager
async def over_a_line(address: str, folder: Path) -> AsyncIterator[tuple[PostgresStore, Line]]:
    """Open a store whose connections go over the line."""
    given = conninfo_to_dict(address)
    line = Line(str(given["host"]), int(given["port"] or 5432))
    async with await asyncio.start_server(line.connected, "127.0.0.1", 0) as listening:
        port = listening.sockets[0].getsockname()[1]
        store = PostgresStore(make_conninfo(address, host="127.0.0.1", port=port), folder)
        await store.open()
        try:
            yield store, line
        finally:
            await store.close()


async def test_what_was_done_though_its_answer_was_lost_is_not_done_twice(postgres: str, tmp_path: Path) -> None:
    async with two(postgres, tmp_path / "a") as (one, _), over_a_line(postgres, tmp_path / "b") as (store, line):
        of = await subscribed(one)
        due = occurrence(of)
        assert await line.lost(b"COMMIT", lambda: store.ledger.open_occurrences([due], of, NOW + DAY)) == 0
        closed, made = replace(due, state=OccurrenceState.MADE), replace(digest(0.5), subscription=of.id)
        close = lambda: store.ledger.close_occurrence(closed, NOW, digest=made, deliveries=[part(due)])  # noqa: E731
        assert await line.lost(b"COMMIT", close) is False
        (given,) = await one.ledger.due_deliveries(NOW)
        assert await line.lost(b"update deliveries", lambda: store.ledger.claim(given, NOW, LEASE)) is None
        (lost,) = await one.ledger.unsettled_deliveries(NOW + 2 * LEASE)
        held = await store.ledger.claim(lost, NOW + 2 * LEASE, LEASE)
        assert held is not None, "its lease ran out"
        done = replace(held, state=DeliveryState.DONE, message="m1")
        assert await line.lost(b"update deliveries", lambda: store.ledger.record(done)) is False
        assert [each.message for each in await one.ledger.deliveries("T1")] == ["m1"]
        assert len(await one.digests.past("T1", of.channel)) == 1

        known = {paper(1).key: None}
        assert await line.lost(b"COMMIT", lambda: store.items.add([paper(1)], NOW, known=known)) is False
        assert [item.key for _, item in await one.items.arrived(0)] == [paper(1).key]
        assert await one.maintenance.check() == []
