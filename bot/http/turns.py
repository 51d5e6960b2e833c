"""Turns at what all processes on one database share: a host that wants one connection, a budget of searches."""

import asyncio
import logging
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from bot.errors import SourceUnavailable, StoreError
from bot.http.pace import Clock, Sleep
from bot.models import Lease, Pace
from bot.ports.shared.processes import Budgets, Leases

PATIENCE = timedelta(seconds=60)  # what must wait for longer is asked another time
_LOOK = 0.5  # seconds between two looks whether another process has ended its request
_ON_THE_WAY = 0.1  # seconds by which one request may be held up, so that the next is still far enough behind it
_MARGIN = timedelta(seconds=5)  # by which a lease outlasts the longest request

log = logging.getLogger(__name__)


class SharedTurns:
    """Gives turns over all processes. What has a name here is asked by nobody else meanwhile."""

    def __init__(
        self,
        leases: Leases,
        budgets: Budgets,
        process: str,
        *,
        sleep: Sleep = asyncio.sleep,
        clock: Clock = time.monotonic,
    ) -> None:
        """`process` is the id of this one, which holds its leases."""
        self._leases, self._budgets, self._process = leases, budgets, process
        self._sleep, self._clock = sleep, clock
        self._locks: dict[str, asyncio.Lock] = {}  # a lease is a process's: within it these part the turns

    @asynccontextmanager
    async def turn(self, name: str, seconds_between: float, longest: float) -> AsyncIterator[None]:
        """Let the block be the only one of its name, and begin so many seconds after the one before; `longest` bounds it.

        Raises SourceUnavailable where that would take longer than a minute, or the host asked to be left alone for longer.
        """
        async with self._locks.setdefault(name, asyncio.Lock()):
            span = max(timedelta(seconds=longest), PATIENCE) + _MARGIN
            lease = await self._taken(name, span)
            try:
                await self.moment(
                    name, Pace(f"host:{name}", timedelta(seconds=seconds_between and seconds_between + _ON_THE_WAY))
                )
                lease = await self._taken(name, span)
                yield
            finally:
                await self._given_back(lease)

    async def moment(self, name: str, pace: Pace) -> None:
        """Wait until one more request of that name may be made; raises SourceUnavailable where that takes too long."""
        try:
            wait = await self._budgets.reserve([pace], [f"host:{name}"], patience=PATIENCE)
        except StoreError as error:
            raise _no_turn(name, error) from error
        if wait > PATIENCE:
            raise SourceUnavailable(f"{name} asked to be left alone for a while", retry_after=wait)
        if wait > timedelta(0):
            await self._sleep(wait.total_seconds())

    async def rest(self, name: str, span: timedelta, reason: str) -> None:
        """Let nobody ask for so long: what the host itself asked for."""
        try:
            await self._budgets.rest(f"host:{name}", span, reason)
        except StoreError as error:
            log.warning("no other process knows that %s asked to be left alone: %s", name, error)

    async def _taken(self, name: str, span: timedelta) -> Lease:
        ends = self._clock() + PATIENCE.total_seconds()
        while True:
            try:
                lease = await self._leases.take(f"host:{name}", self._process, span)
            except StoreError as error:
                raise _no_turn(name, error) from error
            if lease is not None:
                return lease
            if self._clock() > ends:
                raise SourceUnavailable(f"{name} is being asked by other processes all the time", retry_after=PATIENCE)
            await self._sleep(random.uniform(_LOOK / 2, _LOOK))

    async def _given_back(self, lease: Lease) -> None:
        try:
            await self._leases.give_back(lease)
        except StoreError as error:  # it ends by itself
            log.warning("the turn at %s could not be given back: %s", lease.name, error)


def _no_turn(name: str, error: StoreError) -> SourceUnavailable:
    return SourceUnavailable(f"{name} cannot be asked, as the database gives no turn: {error}")
