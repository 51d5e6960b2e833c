"""Discord's shards held by several processes: each by one at a time, whatever becomes of the processes and the database."""

import asyncio
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.discord.connection.gateway import GatewayTimeouts
from adapters.discord.connection.platform import DiscordPlatform, opened
from adapters.discord.connection.shards import RANGES, IdentifyTurns, LeaseTimes, read_range, shard_ranges
from bot.app import App, built
from bot.errors import StoreError
from bot.models import Lease, Pace, ProcessState
from bot.ports.shared.processes import Budgets, Leases, Processes
from bot.service.platforms import Cluster
from bot.store.postgres.store import PostgresStore
from bot.store.single_process import SoleBudgets, SoleLeases, SoleProcesses
from tests.conftest import NOW
from tests.e2e.discord_desk import settings_for, usual_addresses
from tests.e2e.test_discord_connection import until
from tests.e2e.watches import kept
from tests.fakes.discord import Channel, FakeDiscord, User, running
from tests.stores.postgres_server import emptied_aside

TIMES = LeaseTimes(span=2.0, renewed=0.1, margin=1.0, silent=1.0, idle=30.0)
SOON = GatewayTimeouts(look=0.02, again=0.1, identify=0.1, leases=TIMES)
SHARDS = 4
EVERY = list(range(SHARDS))


class PacedBudgets(SoleBudgets):
    """Paces over all who share it, as a database does."""

    def __init__(self) -> None:
        super().__init__()
        self.next: dict[str, float] = {}

    async def reserve(self, paces: Sequence[Pace], rests: Collection[str] = (), *, patience: timedelta) -> timedelta:
        now = asyncio.get_running_loop().time()
        at = max([now, *(self.next.get(each.place, now) for each in paces)])
        if at - now <= patience.total_seconds():
            self.next.update({each.place: at + each.interval.total_seconds() for each in paces})
        return timedelta(seconds=at - now)


class UnsureLeases:
    """The leases of a process whose database may be away, or that is killed: what it holds is never given back then."""

    def __init__(self, leases: Leases) -> None:
        self._leases = leases
        self.is_away = self.is_killed = False

    async def take(self, name: str, holder: str, span: timedelta) -> Lease | None:
        self._demand()
        return await self._leases.take(name, holder, span)

    async def give_back(self, lease: Lease) -> None:
        self._demand()
        await self._leases.give_back(lease)

    async def held(self, beginning: str = "") -> Sequence[Lease]:
        self._demand()
        return await self._leases.held(beginning)

    def _demand(self) -> None:
        if self.is_away or self.is_killed:
            raise StoreError("The database does not answer.")


@dataclass(slots=True)
class Running:
    """One process with the role gateway."""

    id: str
    leases: UnsureLeases
    platform: DiscordPlatform
    stack: AsyncExitStack
    is_over: bool = False

    async def stop(self) -> None:
        """End it in order."""
        self.is_over = True
        await self.stack.aclose()

    async def kill(self) -> None:
        """End it so that it gives nothing back."""
        self.leases.is_killed = True
        await self.stop()


@dataclass(slots=True)
class Scene:
    """Processes on one database, in a Discord with a server for each shard."""

    fake: FakeDiscord
    app: App
    anna: User
    rooms: list[Channel]  # one a server
    stack: AsyncExitStack
    leases: Leases = field(default_factory=SoleLeases)
    budgets: Budgets = field(default_factory=PacedBudgets)
    processes: Processes = field(init=False)

    def __post_init__(self) -> None:
        assert isinstance(self.leases, SoleLeases)
        self.processes = SoleProcesses(self.leases)

    async def begin(self, name: str, timeouts: GatewayTimeouts = SOON, store: PostgresStore | None = None) -> Running:
        """Begin a process; with a store, it agrees by that one with the others."""
        if store is not None:
            self.leases, self.budgets, self.processes = store.leases, store.budgets, store.processes
        leases, own = UnsureLeases(self.leases), await self.stack.enter_async_context(AsyncExitStack())
        cluster = Cluster(name, leases, self.budgets, self.processes)
        context = replace(self.app.platform_context(lambda: NOW), cluster=cluster)
        platform = await own.enter_async_context(opened(self.app.settings.discord, context, timeouts=timeouts))
        await own.enter_async_context(self.beating(name, leases))
        await own.enter_async_context(kept(platform.watches))
        return Running(name, leases, platform, own)

    @asynccontextmanager
    async def beating(self, name: str, leases: UnsureLeases) -> AsyncIterator[None]:
        """Show that a process lives."""

        async def beat() -> None:
            while True:
                if not leases.is_away:
                    await self.processes.beat(ProcessState(name, ("gateway",), "1", 1, "here", NOW, NOW))
                await asyncio.sleep(0.1)

        task = asyncio.create_task(beat())
        try:
            yield
        finally:
            task.cancel()

    async def shares(self) -> dict[str, int]:
        """Return how many ranges each process holds."""
        found: dict[str, int] = {}
        for each in await self.leases.held("discord shards "):
            found[each.holder] = found.get(each.holder, 0) + 1
        return found

    async def holds(self, **shares: int) -> None:
        """Wait until the processes have these shares, and every shard is connected."""

        async def so() -> bool:
            return await self.shares() == shares and self.fake.gateway.connected == EVERY

        await until(so)

    async def is_heard_once(self) -> None:
        """Let somebody ask in every server; each is answered by one process."""
        for room in self.rooms:
            before = len(self.fake.calls)
            asked = await self.fake.slash("digest topic list", user=self.anna, channel=room)
            assert asked.text
            assert sum(each.path.endswith("/callback") for each in self.fake.calls[before:]) == 1
        assert self.fake.gateway.doubled == []


@asynccontextmanager
async def scene(folder: Path, **settings: Any) -> AsyncIterator[Scene]:
    async with running() as fake, AsyncExitStack() as stack:
        fake.shards = SHARDS
        anna, rooms, shards = fake.user("Anna"), [], set(EVERY)
        while shards:
            guild = fake.guild(f"Lab {len(fake.guilds)}")
            shards.discard((guild.id >> 22) % SHARDS)
            rooms.append(fake.channel(guild, "papers"))
            fake.join(guild, anna)
        stack.enter_context(usual_addresses())
        app = await stack.enter_async_context(built(settings_for(fake, folder, **settings), exclusive=True))
        yield Scene(fake, app, anna, rooms, stack)


async def test_two_processes_share_the_shards_and_each_server_is_heard_once(tmp_path: Path) -> None:
    async with scene(tmp_path) as there:
        await asyncio.gather(there.begin("a"), there.begin("b"))
        await there.holds(a=2, b=2)
        await there.is_heard_once()
        assert there.fake.wrong == []


async def test_the_shards_of_a_process_that_was_killed_are_anothers_after_its_lease(tmp_path: Path) -> None:
    async with scene(tmp_path) as there:
        await there.begin("a")
        killed = await there.begin("b")
        await there.holds(a=2, b=2)
        await killed.kill()
        assert (await there.shares())["b"] == 2, "nothing was given back"
        await there.holds(a=4)
        await there.is_heard_once()


async def test_a_process_that_comes_takes_its_share_and_leaves_it_when_it_ends(tmp_path: Path) -> None:
    async with scene(tmp_path) as there:
        first = await there.begin("a")
        await there.holds(a=4)
        other = await there.begin("b")
        await there.holds(a=2, b=2)
        await there.is_heard_once()
        await other.stop()
        await there.processes.remove("b")
        await there.holds(a=4)
        await there.is_heard_once()
        await first.stop()
        assert await there.shares() == {}


async def test_shards_are_closed_before_the_end_of_a_lease_that_cannot_be_renewed(tmp_path: Path) -> None:
    async with scene(tmp_path) as there:
        cut_off = await there.begin("a")
        await there.holds(a=4)
        cut_off.leases.is_away = True
        await until(lambda: there.fake.gateway.connected == [])
        assert await there.shares() == {"a": 4}, "the leases hold still"
        assert "cannot be shared out" in cut_off.platform.trouble(NOW)
        await there.begin("b")
        await there.holds(b=4)
        cut_off.leases.is_away = False
        await there.holds(a=2, b=2)
        await until(lambda: cut_off.platform.trouble(NOW) == "")
        await there.is_heard_once()


async def test_processes_agree_by_a_postgresql_database(tmp_path: Path, postgres: str) -> None:
    await emptied_aside(postgres)
    async with scene(tmp_path) as there:
        there.fake.gateway.identify_every = 0.1
        stores = [PostgresStore(postgres, tmp_path / name) for name in ("a", "b")]
        for each in stores:
            await each.open()
            there.stack.push_async_callback(each.close)
        timeouts = replace(SOON, identify=0.6)
        await there.begin("a", timeouts, stores[0])
        killed = await there.begin("b", timeouts, stores[1])
        await there.holds(a=2, b=2)
        await there.is_heard_once()
        await killed.kill()
        await there.holds(a=4)
        await there.is_heard_once()
        assert there.fake.gateway.too_soon == 0


async def test_what_a_process_that_lives_does_not_take_is_anothers_after_a_while(tmp_path: Path) -> None:
    async with scene(tmp_path) as there, there.beating("b", UnsureLeases(there.leases)):
        await there.begin("a", replace(SOON, leases=replace(TIMES, idle=0.5)))
        await there.holds(a=4)
        await there.is_heard_once()


@pytest.mark.parametrize("at_once", [1, 2])
async def test_shards_of_all_processes_identify_in_their_turns(tmp_path: Path, at_once: int) -> None:
    async with scene(tmp_path) as there:
        there.fake.gateway.identify_every, there.fake.max_concurrency = 0.1, at_once
        timeouts = replace(SOON, identify=0.8)
        await asyncio.gather(there.begin("a", timeouts), there.begin("b", timeouts))
        await until(lambda: there.fake.gateway.connected == EVERY)
        assert there.fake.gateway.too_soon == 0
        assert isinstance(there.budgets, PacedBudgets)
        identified = {place for place in there.budgets.next if place.startswith("discord identify")}
        assert identified == {f"discord identify {place}" for place in range(at_once)}


async def test_the_number_of_shards_stays_while_anybody_holds_some(tmp_path: Path) -> None:
    async with scene(tmp_path) as there:
        first = await there.begin("a")
        await there.holds(a=4)
        there.fake.shards = 6
        other = await there.begin("b")
        await there.holds(a=2, b=2)
        await asyncio.gather(first.stop(), other.stop())
        await there.begin("c")
        await until(lambda: there.fake.gateway.connected == list(range(6)))


async def test_where_discord_wants_more_shards_their_number_is_agreed_anew(tmp_path: Path) -> None:
    async with scene(tmp_path) as there:
        await asyncio.gather(there.begin("a"), there.begin("b"))
        await there.holds(a=2, b=2)
        there.fake.shards = 6
        there.fake.gateway.drop(4011)
        await until(lambda: there.fake.gateway.connected == list(range(6)))
        assert there.fake.gateway.doubled == []


async def test_an_interaction_that_two_processes_are_told_of_is_done_once(tmp_path: Path) -> None:
    async with scene(tmp_path) as there:
        await asyncio.gather(there.begin("a"), there.begin("b"))
        await there.holds(a=2, b=2)
        asked = await there.fake.slash("digest topic list", user=there.anna, channel=there.rooms[0])
        before = len(there.fake.calls)
        there.fake.gateway.send_event("INTERACTION_CREATE", there.fake.told_of(asked))
        await there.is_heard_once()
        again = [each for each in there.fake.calls[before:] if str(asked.id) in each.part.values()]
        assert again == []


async def test_hardly_any_connections_left_keep_every_process_from_connecting(tmp_path: Path) -> None:
    async with scene(tmp_path) as there:
        there.fake.identifies_left = 50
        one = await there.begin("a")
        await until(lambda: "hardly any new connections" in one.platform.trouble(NOW))
        assert there.fake.gateway.identifies == []


async def test_a_shard_that_falls_comes_back_and_takes_no_other_with_it(tmp_path: Path) -> None:
    async with scene(tmp_path) as there:
        await there.begin("a")
        await there.holds(a=4)
        (session,) = (each for each in there.fake.gateway.sessions.values() if each.shard[0] == 1)
        assert session.line is not None
        before = len(there.fake.gateway.identifies)
        session.line.close(4010)  # after which discord.py's client ends
        await until(lambda: len(there.fake.gateway.identifies) > before)
        await there.holds(a=4)
        assert len(there.fake.gateway.identifies) == before + 1


async def test_an_identification_waits_while_the_database_is_away() -> None:
    class Away(PacedBudgets):
        asked = 0

        async def reserve(self, paces: Sequence[Pace], rests: Collection[str] = (), *, patience: timedelta) -> timedelta:
            self.asked += 1
            if self.asked == 1:
                raise StoreError("The database does not answer.")
            return await super().reserve(paces, rests, patience=patience)

    budgets = Away()
    await IdentifyTurns(budgets, 1, 5.0).wait(0)
    assert budgets.asked == 2


@given(count=st.integers(1, 10_000))
def test_every_shard_is_in_one_range(count: int) -> None:
    ranges = shard_ranges(count)
    assert [number for each in ranges for number in each.ids] == list(range(count))
    assert len(ranges) == min(count, RANGES)
    sizes = {len(each.ids) for each in ranges}
    assert max(sizes) - min(sizes) <= 1
    assert [read_range(each.lease) for each in ranges] == list(ranges)


def test_a_lease_of_something_else_is_no_range() -> None:
    assert read_range("discord shard count") is None
    assert read_range("discord shards 1-2") is None
