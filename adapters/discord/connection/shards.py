"""Which of Discord's shards this process holds, where several processes share them.

The shards are parted into ranges, each under a lease whose name tells the range and how many shards there are, so that all
agree on that number by the leases that hold. A process takes ranges up to its share, renews their leases, and has closed the
shards of a lease that it could not renew before another one can take it: no shard is ever held by two.
"""

import asyncio
import logging
import math
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import pairwise

from bot.errors import BotError, StoreError
from bot.models import Lease, Pace
from bot.ports.shared.processes import Budgets
from bot.service.platforms import Cluster

log = logging.getLogger(__name__)

RANGES = 16  # at most: so many processes can hold shards
_LEASE = "discord shards "  # and the range
_COUNT = "discord shard count"  # the lease of who takes a first range: alone it may choose how many shards there are
_COUNTING = timedelta(seconds=30)
_LOST = "the lease of its shards could not be renewed"
_PATIENCE = timedelta(seconds=20)  # of a turn that is kept: the connection is open while it waits


@dataclass(frozen=True, slots=True)
class LeaseTimes:
    """How long a range is leased, in seconds."""

    span: float = 45.0
    renewed: float = 10.0  # between renewals, and between looks at what others hold
    margin: float = 15.0  # before the end of a lease, in which its shards are closed; that takes up to seven
    silent: float = 60.0  # after which a process that shows no life has no share any more
    idle: float = 60.0  # after which a range that nobody took is taken beyond the share
    kept: float = 600.0  # for which nothing is given back then: who should have had it does not take it


LEASE_TIMES = LeaseTimes()


@dataclass(frozen=True, slots=True, order=True)
class ShardRange:
    """Some of the shards, the last one included."""

    first: int
    last: int
    count: int  # of all shards

    @property
    def ids(self) -> range:
        """Their numbers."""
        return range(self.first, self.last + 1)

    @property
    def lease(self) -> str:
        """The name of their lease."""
        return f"{_LEASE}{self}"

    def __str__(self) -> str:
        return f"{self.first}-{self.last}/{self.count}"


def shard_ranges(count: int) -> Sequence[ShardRange]:
    """Return the ranges into which so many shards are parted, alike to one shard, at most RANGES."""
    parts = min(count, RANGES)
    ends = [count * part // parts for part in range(parts + 1)]
    return [ShardRange(first, end - 1, count) for first, end in pairwise(ends)]


def read_range(lease: str) -> ShardRange | None:
    """Return the range that a lease of that name is of; None for any other lease."""
    found = re.fullmatch(rf"{_LEASE}(\d+)-(\d+)/(\d+)", lease)
    return ShardRange(*map(int, found.groups())) if found else None


class IdentifyTurns:
    """Gives each IDENTIFY its turn, over all processes.

    Discord takes one in five seconds of the shards whose number leaves the same remainder by its `max_concurrency`
    (docs.discord.com/developers/events/gateway#sharding-max-concurrency).
    """

    def __init__(self, budgets: Budgets, at_once: int, interval: float) -> None:
        """`at_once` is Discord's max_concurrency, the interval in seconds."""
        self._budgets, self._at_once, self._interval = budgets, max(at_once, 1), timedelta(seconds=interval)

    async def wait(self, shard: int) -> None:
        """Wait for the turn of a shard; while the store says nothing, nobody has one."""
        pace = Pace(f"discord identify {shard % self._at_once}", self._interval)
        while True:
            try:
                wait = await self._budgets.reserve([pace], patience=_PATIENCE)
            except StoreError as error:
                log.warning("Shard %d waits to be identified: %s", shard, error)
                await asyncio.sleep(1)
                continue
            if wait <= _PATIENCE:
                await asyncio.sleep(wait.total_seconds())
                return
            await asyncio.sleep(min((wait - _PATIENCE).total_seconds(), 5.0))  # nothing was counted


@dataclass(slots=True, eq=False)
class _Held:
    """A range that this process holds."""

    lease: Lease
    until: float  # when the lease ends at the earliest, by the monotonic clock
    given_up: asyncio.Event = field(default_factory=asyncio.Event)
    task: "asyncio.Task[None] | None" = None


class ShardLeases:
    """Takes ranges of shards, and has them listened with for as long as they are this process's."""

    def __init__(
        self,
        cluster: Cluster,
        wanted: Callable[[], Awaitable[int]],
        listen: Callable[[ShardRange], Awaitable[None]],
        times: LeaseTimes = LEASE_TIMES,
    ) -> None:
        """`wanted` tells how many shards there are to be where nobody holds any, and raises a BotError.

        `listen` listens with a range until it is cancelled, and has closed its shards then.
        """
        self._cluster, self._wanted, self._listen, self._times = cluster, wanted, listen, times
        self._held: dict[ShardRange, _Held] = {}
        self._free: dict[ShardRange, float] = {}  # since when each range is nobody's, as far as we saw
        self._keeps_until = -math.inf
        self.trouble = ""  # why the leases cannot be looked at now

    @property
    def held(self) -> Sequence[ShardRange]:
        """The ranges that are this process's now."""
        return sorted(self._held)

    def give_up(self) -> None:
        """Give all of them back; how many shards there are is agreed anew where nobody has any then."""
        for each in self._held.values():
            each.given_up.set()

    async def run(self) -> None:
        """Hold this process's share until this is cancelled; then all of it is closed, and given back."""
        try:
            while True:
                try:
                    async with asyncio.timeout(self._times.span):
                        await self._look()
                    self.trouble = ""
                except (BotError, TimeoutError) as error:
                    why, before = str(error) or "the database does not answer", self.trouble
                    self.trouble = why
                    if why != before:
                        log.warning("Discord's shards cannot be shared out now: %s", why)
                await asyncio.sleep(self._times.renewed if self._held else self._times.renewed / 5)
        finally:
            self.give_up()
            if tasks := [each.task for each in self._held.values() if each.task]:
                await asyncio.wait(tasks)

    async def _look(self) -> None:
        leases = await self._cluster.leases.held(_LEASE)
        if self._held:
            count = next(iter(self._held)).count
            await self._share(count, leases)
        elif (lease := await self._cluster.leases.take(_COUNT, self._cluster.process, _COUNTING)) is not None:
            try:
                leases = await self._cluster.leases.held(_LEASE)
                others = [found for each in leases if (found := read_range(each.name)) is not None]
                await self._share(others[0].count if others else await self._wanted(), leases)
            finally:
                await self._cluster.leases.give_back(lease)

    async def _share(self, count: int, leases: Sequence[Lease]) -> None:
        """Take what is free up to this process's share; give one range back where it has more, and another one less."""
        every, living = shard_ranges(count), await self._living()
        taken = {each.name for each in leases}
        free = [each for each in every if each.lease not in taken and each not in self._held]
        await self._take_some(free, math.ceil(len(every) / len(living)))
        holders = Counter(each.holder for each in leases)
        least = len(every) // len(living)
        waits = any(holders[each] < least for each in living if each != self._cluster.process)
        if waits and not free and len(self._held) > math.ceil(len(every) / len(living)):
            self._give_one_back()

    async def _take_some(self, free: Sequence[ShardRange], share: int) -> None:
        """Take free ranges up to the share, and beyond it those that nobody took for long."""
        now = time.monotonic()
        self._free = {each: self._free.get(each, now) for each in free}
        for each in free:
            if len(self._held) < share:
                await self._take(each)
            elif now - self._free[each] >= self._times.idle and await self._take(each):
                self._keeps_until = now + self._times.kept

    def _give_one_back(self) -> None:
        if time.monotonic() < self._keeps_until:
            return
        given = max(self._held)
        log.info("Discord's shards %s are given back: another process has fewer", given)
        self._held[given].given_up.set()

    async def _living(self) -> set[str]:
        """Return the processes that hold shards, or could; this one is one of them."""
        every = await self._cluster.processes.every(timedelta(seconds=self._times.silent))
        return {each.id for each in every if "gateway" in each.roles} | {self._cluster.process}

    async def _take(self, shards: ShardRange) -> bool:
        if (leased := await self._leased(shards)) is None:
            return False
        held = self._held[shards] = _Held(*leased)
        held.task = asyncio.create_task(self._hold(shards, held), name=f"holding Discord's shards {shards}")
        return True

    async def _hold(self, shards: ShardRange, held: _Held) -> None:
        """Listen with the range while its lease is ours; then close its shards, and give the lease back."""
        listening = asyncio.ensure_future(self._listen(shards))
        try:
            await self._kept(shards, held)
        finally:
            listening.cancel()
            await asyncio.wait({listening})
            del self._held[shards]
            await self._give_back(held)

    async def _kept(self, shards: ShardRange, held: _Held) -> None:
        """Renew the lease until the range is given up, or is to be closed as the lease may end soon."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._pause(held)):
                    await held.given_up.wait()
                return
            try:
                async with asyncio.timeout(self._pause(held)):
                    lease = await self._leased(shards)
            except (BotError, TimeoutError) as error:
                if self._pause(held) > 0:
                    continue
                log.error("Discord's shards %s are closed: %s (%s)", shards, _LOST, type(error).__name__)  # noqa: TRY400
                return
            if lease is None:
                log.error("Discord's shards %s are closed: another process has their lease", shards)
                return
            held.lease, held.until = lease

    def _pause(self, held: _Held) -> float:
        """Return for how many seconds a wait or a renewal may last before the range's shards are to be closed."""
        left = held.until - self._times.margin - time.monotonic()
        return max(min(self._times.renewed, left), 0.0)

    async def _leased(self, shards: ShardRange) -> tuple[Lease, float] | None:
        """Take or prolong the range's lease; return it and when it ends at the earliest, None where another one's holds."""
        asked = time.monotonic()  # before the database counts from
        lease = await self._cluster.leases.take(shards.lease, self._cluster.process, timedelta(seconds=self._times.span))
        return None if lease is None else (lease, asked + self._times.span)

    async def _give_back(self, held: _Held) -> None:
        """Let another process take the range at once; where that cannot be said, its lease ends by itself."""
        with suppress(BotError, TimeoutError):
            async with asyncio.timeout(self._times.renewed):
                await self._cluster.leases.give_back(held.lease)
