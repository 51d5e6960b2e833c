"""The runner of one process among several on a database: interval jobs as in one that is alone, and lanes beside them."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta

from bot.errors import StoreError, Superseded
from bot.ports.runner import Job, Watch
from bot.service.jobs import SENDING
from bot.service.lanes import LaneWorker
from bot.service.leased import WorkLease
from bot.service.presence import PRESENT, Presence
from bot.service.runner import LocalRunner

log = logging.getLogger(__name__)

LEAVING = timedelta(seconds=2)  # that the database may take to be told that this process has ended


class LaneRunner:
    """bot.ports.runner.Runner, for a process that shares its work.

    Asked to stop, it begins nothing more, and hands back at once what it could go on with: its lanes and its leases. What is
    in flight at a platform it waits for.
    """

    def __init__(
        self,
        local: LocalRunner,
        presence: Presence,
        lanes: LaneWorker | None,
        leases: Sequence[WorkLease],
        expect_usable: Callable[[], Awaitable[None]],
        grace: timedelta = SENDING,
        *,
        look: timedelta = PRESENT,
    ) -> None:
        """`local` runs the jobs; whoever stops it stops this one. `lanes` is None where this process works on none.

        `expect_usable` raises Superseded where a newer version has changed the database so that this one must end; it is
        asked so often as `look` says.
        """
        self._local = local
        self._presence = presence
        self._lanes = lanes
        self._leases = leases
        self._expect_usable = expect_usable
        self._look = look
        self._superseded: Superseded | None = None
        self._grace = grace

    async def run(self, jobs: Sequence[Job], watches: Sequence[Watch] = ()) -> None:
        """Run the jobs, and work on lanes, until `stop`.

        Raises StoreError where the database cannot even be told, Superseded where this version had to end.
        """
        await self._presence.beat()
        beside = [
            asyncio.create_task(self._hand_back(), name="handing back"),
            asyncio.create_task(self._mind_version(), name="minding the version"),
        ]
        working = [Watch("working on lanes", self._lanes.run)] if self._lanes is not None else []
        try:
            await self._local.run(jobs, [*watches, *working])
        finally:
            for each in beside:
                each.cancel()
            await asyncio.gather(*beside, return_exceptions=True)
            await self._end()
        if self._superseded is not None:
            raise self._superseded

    def stop(self) -> None:
        """As in the port."""
        self._local.stop()

    async def _mind_version(self) -> None:
        """Stop, as if asked to, once a newer version has changed the database so that this one may not go on."""
        while self._superseded is None:
            await asyncio.sleep(self._look.total_seconds())
            try:
                await self._expect_usable()
            except Superseded as error:
                log.error("%s This process ends.", error)  # noqa: TRY400 - foreseen: the sentence says what to do
                self._superseded = error
                self.stop()
            except StoreError:  # it is away, which others tell
                continue

    async def _hand_back(self) -> None:
        await self._local.stopping.wait()
        if self._lanes is not None:
            self._lanes.stop()
        # Those under which something still runs are given back when that has ended.
        await asyncio.gather(*(each.end() for each in self._leases), return_exceptions=True)

    async def _end(self) -> None:
        """Wait for what is in flight, and tell the others that this process is gone."""
        if self._lanes is not None:
            self._lanes.stop()
            await self._lanes.ended(self._grace)
        try:
            async with asyncio.timeout(LEAVING.total_seconds()):
                await self._presence.leave()
        except (StoreError, TimeoutError):  # the others find out by its silence
            log.warning("the database could not be told that this process has ended; the others find out within a minute")
