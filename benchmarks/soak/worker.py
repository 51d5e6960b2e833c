"""A process that posts until everything is settled. It is there to be killed.

It prints "ready" when its database is open, and ends with 0.
"""

import asyncio
import logging
import sys
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks.soak.plain import Plain
from benchmarks.soak.plant import TOPIC, DigestOfSize
from benchmarks.soak.presses import Readers
from benchmarks.soak.stands import messenger_of
from benchmarks.soak.tls import trust
from benchmarks.soak.work import SCALE, Strategy, Work, read
from bot.delivery import Deliverer, DeliveryContext, DeliverySettings, Preparer, Scheduler, notice_restored
from bot.digest.request import Layouts, RequestBuilder
from bot.errors import StoreError
from bot.models import Layout
from bot.ports.facts import HEARTBEAT
from bot.ports.messenger import Messenger
from bot.service.heartbeat_file import read_alive, write_alive
from bot.store.sqlite.store import SqliteStore

log = logging.getLogger(__name__)

PAUSE = 0.05  # seconds between two looks at what is to be done
BEAT = 60.0 / SCALE
_FOREVER = timedelta(days=3650)


class Service:
    """What the service does with its ledger, in a loop each."""

    def __init__(self, work: Work, store: SqliteStore, messenger: Messenger) -> None:
        settings = DeliverySettings(
            timeout=timedelta(seconds=work.timeout),
            lease=timedelta(seconds=work.lease),
            quarantine=timedelta(seconds=work.quarantine),
            first_wait=timedelta(seconds=work.first_wait),
            longest_wait=timedelta(seconds=work.longest_wait),
            workers=work.workers,
        )
        context = DeliveryContext(store, store.ledger, {messenger.platform: messenger}, settings)
        self._work = work
        self._store = store
        self._ahead = timedelta(seconds=work.begins - time.time() if work.begins else 0.0)
        self._scheduler = Scheduler(context)
        self._preparer = Preparer(
            context,
            DigestOfSize(work.crowd()),
            RequestBuilder(store.workspaces, {TOPIC.name: TOPIC}, layouts=Layouts(Layout.THREAD)),
        )
        self._deliverer = Deliverer(context)
        told = (work.presses, work.presses_begin, work.presses_take)
        self._readers = Readers(store, messenger, settings, *told) if work.presses else None

    def now(self) -> datetime:
        """Return what its clock shows."""
        return datetime.now(UTC) + self._ahead

    async def run(self, until: Callable[[], Awaitable[bool]] | None = None) -> None:
        """Go on until everything is settled, and whatever is awaited has come about."""
        if self._work.print_first:
            await self._print()
        steps = (self._beat, self._print, self._deliver, self._reconcile, *(self._readers.loops() if self._readers else ()))
        loops = [asyncio.create_task(self._again(each)) for each in steps]
        try:
            while not await self._is_settled() or (until is not None and not await until()):
                await asyncio.wait(loops, timeout=PAUSE)
                for each in loops:
                    if each.done():
                        each.result()
        finally:
            for each in loops:
                each.cancel()
            await asyncio.gather(*loops, return_exceptions=True)

    async def _again(self, step: Callable[[], Awaitable[object]]) -> None:
        while True:
            try:
                await step()
            except StoreError as error:
                log.warning("%s", error)
            await asyncio.sleep(PAUSE)

    async def _beat(self) -> None:
        """Say that it lives, as bot.app does: first in the database."""
        now = self.now()
        await self._store.facts.set(HEARTBEAT, now.isoformat())
        await asyncio.to_thread(write_alive, self._store.path, now)
        await asyncio.sleep(BEAT)

    async def _print(self) -> None:
        await self._scheduler.tick(self.now())
        await self._preparer.prepare_due(self.now())

    async def _deliver(self) -> None:
        await self._deliverer.deliver_due(self.now)

    async def _reconcile(self) -> None:
        await self._deliverer.reconcile(self.now)
        await self._deliverer.send_notices(self.now)

    async def _is_settled(self) -> bool:
        now, store = self.now(), self._store
        if now <= self._work.crowd().due:
            return False
        try:
            # In the order in which work goes on, so that none slips by between two questions.
            if await store.ledger.subscriptions_due(now, limit=1):
                return False
            counts = await store.ledger.counts()
            if any(counts[state] for state in ("due", "pending", "sending")):
                return False
            if self._readers is not None and not await self._readers.are_quiet():
                return False
            return not await store.ledger.unsettled_deliveries(now + _FOREVER, limit=1)
        except StoreError as error:
            log.warning("%s", error)
            return False


async def run(work: Work) -> None:
    """Do the work."""
    if work.trusted:
        trust(work.trusted)
    store = SqliteStore(Path(work.database), exclusive=True)
    async with messenger_of(work, store) as messenger:
        if work.strategy is not Strategy.LEDGER:
            plain = Plain(Path(work.database), messenger, work.strategy)
            print("ready", flush=True)
            await plain.post_all(work.crowd().deliveries(), work.workers)
            return
        await store.open()
        try:
            alive = await asyncio.to_thread(read_alive, store.path)
            service = Service(work, store, messenger)
            await notice_restored(store.facts, alive, service.now())
            print("ready", flush=True)
            await service.run()
        finally:
            await store.close()


def main(arguments: list[str]) -> None:
    """Do the work that the one argument says."""
    logging.basicConfig(level=logging.ERROR)
    asyncio.run(run(read(arguments[0])))


if __name__ == "__main__":
    main(sys.argv[1:])
