"""Leases, budgets and processes of a store that one service at a time works on: kept in its memory."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from bot.models import Lease, Pace, ProcessState, Rest


class SoleLeases:
    """bot.ports.shared.processes.Leases."""

    def __init__(self) -> None:
        self._held: dict[str, Lease] = {}
        self._token = 0

    async def take(self, name: str, holder: str, span: timedelta) -> Lease | None:
        """As in the port."""
        now, before = datetime.now(UTC), self._held.get(name)
        if before is not None and before.holder == holder and before.until > now:
            self._held[name] = replace(before, until=now + span)
            return self._held[name]
        if before is not None and before.until > now:
            return None
        self._token += 1
        self._held[name] = Lease(name, holder, self._token, now + span)
        return self._held[name]

    async def give_back(self, lease: Lease) -> None:
        """As in the port."""
        if (held := self._held.get(lease.name)) is not None and held.token == lease.token:
            del self._held[lease.name]

    async def held(self, beginning: str = "") -> Sequence[Lease]:
        """As in the port."""
        now = datetime.now(UTC)
        found = (each for name, each in self._held.items() if name.startswith(beginning) and each.until > now)
        return sorted(found, key=lambda each: each.name)


class SoleBudgets:
    """bot.ports.shared.processes.Budgets. Calls are paced where they are made: bot.delivery.rate_limits, bot.http.pace."""

    def __init__(self) -> None:
        self._rests: dict[str, Rest] = {}
        self._spent: dict[str, tuple[int, datetime]] = {}

    async def reserve(self, paces: Sequence[Pace], rests: Collection[str] = (), *, patience: timedelta) -> timedelta:
        """Return that it may be made now: nobody else asks."""
        return timedelta(0)

    async def rest(self, place: str, span: timedelta, reason: str = "") -> None:
        """As in the port."""
        until, before = datetime.now(UTC) + span, self._rests.get(place)
        if before is None or before.until < until:
            self._rests[place] = Rest(place, until, reason)

    async def rests(self) -> Sequence[Rest]:
        """As in the port."""
        now = datetime.now(UTC)
        self._rests = {place: rest for place, rest in self._rests.items() if rest.until > now}
        return [self._rests[place] for place in sorted(self._rests)]

    async def spend(self, key: str, amount: int, most: int, span: timedelta) -> bool:
        """As in the port."""
        now = datetime.now(UTC)
        spent, until = self._spent.get(key, (0, now))
        spent, until = (0, now + span) if until <= now else (spent, until)
        if amount > 0 and spent + amount > most:
            return False
        self._spent[key] = max(spent + amount, 0), until
        return True

    async def spent(self, key: str) -> int:
        """As in the port."""
        spent, until = self._spent.get(key, (0, datetime.now(UTC)))
        return spent if until > datetime.now(UTC) else 0


class SoleProcesses:
    """bot.ports.shared.processes.Processes."""

    def __init__(self, leases: SoleLeases) -> None:
        self._leases = leases
        self._there: dict[str, ProcessState] = {}

    async def beat(self, process: ProcessState) -> None:
        """As in the port."""
        self._there[process.id] = replace(process, beat=datetime.now(UTC))

    async def every(self, silent: timedelta = timedelta(minutes=10)) -> Sequence[ProcessState]:
        """As in the port."""
        since = datetime.now(UTC) - silent
        return sorted((each for each in self._there.values() if each.beat >= since), key=lambda each: (each.begun, each.id))

    async def remove(self, process: str) -> None:
        """As in the port."""
        self._there.pop(process, None)
        for lease in await self._leases.held():
            if lease.holder == process:
                await self._leases.give_back(lease)
