"""A PostgreSQL server of its own, a crowd in its database, the platform that it is on, and processes that work on them."""

import asyncio
import atexit
import json
import os
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from time import monotonic
from urllib.parse import urlsplit

import aiohttp
import psycopg

from benchmarks.soak.discord_stand import discord
from benchmarks.soak.judge import Verdict, judged
from benchmarks.soak.many.forward import forwarding
from benchmarks.soak.many.machine import HERE, Machine
from benchmarks.soak.plant import Crowd, plant
from benchmarks.soak.stands import TOKEN, stand
from bot.models import Delivery, Item
from bot.store.postgres.store import PostgresStore
from bot.store.sqlite.store import SqliteStore
from bot.store.transfer import moved
from tests.fakes.discord import FakeDiscord
from tests.fakes.forked import ROOT, Forked, Forks
from tests.fakes.platform import Behaviour
from tests.fakes.slack import FakeSlack
from tests.stores import postgres_server
from tests.stores.postgres_server import Server

WORKER = ("clock", "make", "deliver")  # what a process is that posts
READY = 90.0  # seconds until a process must be ready
_ORGANISATION = "E0SOAK"
_TICKS = os.sysconf("SC_CLK_TCK")  # of processor time in a second
_RUN = "from adapters.cli.main import main; main(['run'])"
_PROBE = aiohttp.ClientTimeout(total=5.0)


@dataclass(slots=True)
class Running:
    """A process that works on the database."""

    process: Forked
    roles: tuple[str, ...]
    machine: Machine
    folder: Path
    port: int  # of its health server

    @property
    def is_alive(self) -> bool:
        """Whether it has not ended."""
        return self.process.returncode is None

    def used(self) -> float:
        """Return how many seconds of processor time it has used; 0 when it has ended."""
        return _used(self.process.pid)

    async def kill(self) -> None:
        """End it as nothing can be prepared for."""
        self.process.kill()
        await self.process.communicate()

    async def stop(self) -> float:
        """Tell it to end, and return after how many seconds it did."""
        begun = monotonic()
        self.process.send_signal(signal.SIGTERM)
        await self.process.communicate()
        return monotonic() - begun


@dataclass(slots=True)
class Place:
    """All of it. The server may be another one from one moment to the next, at the same address."""

    folder: Path
    server: Server
    crowd: Crowd
    fake: FakeSlack | FakeDiscord
    made: Sequence[Delivery] = ()
    running: list[Running] = field(default_factory=list)
    servers: list[Server] = field(default_factory=list)  # in whose order a process looks for the primary
    extra: Mapping[str, str] = field(default_factory=dict)  # variables of every process
    _number: int = 0

    @property
    def address(self) -> str:
        """Where the database is, from here."""
        return self.address_from(HERE)

    def address_from(self, machine: Machine) -> str:
        """Return where the database is from a machine."""
        hosts = ",".join(f"{machine.host}:{each.port}" for each in self.servers)
        return f"postgresql://broadsheet@{hosts}/postgres"

    async def start(
        self,
        roles: Sequence[str] = WORKER,
        machine: Machine = HERE,
        *,
        root: Path | None = None,
        folder: Path | None = None,
        now: datetime | None = None,
    ) -> Running:
        """Start a process of these roles; `root` is where its code is, if it is not this one's.

        Its folder is a new one, or `folder`, which another one had that has ended. With `now` it takes that for the time.
        """
        folder, port = folder or self.new_folder(), _free_port()
        environ = self._environ(folder, machine, root or ROOT) | {
            "BROADSHEET_RUN__ROLES": json.dumps(list(roles)),
            "BROADSHEET_HEALTH__PORT": str(port),
        }
        if machine is HERE and root is None:
            process = await _forks().start([*_taken_for_now(now), "run"], folder, environ)
        else:
            environ["PYTHONSAFEPATH"] = "1"
            process = await machine.start([sys.executable, "-c", _RUN], folder, environ)
        made = Running(process, tuple(roles), machine, folder, port)
        self.running.append(made)
        return made

    async def command(self, words: Sequence[str], folder: Path, now: datetime | None = None) -> Running:
        """Start a command beside them, in a folder that no process has."""
        process = await _forks().start([*_taken_for_now(now), *words], folder, self._environ(folder, HERE, ROOT))
        made = Running(process, (), HERE, folder, 0)
        self.running.append(made)
        return made

    def new_folder(self) -> Path:
        """Make a folder for a process."""
        self._number += 1
        folder = self.folder / f"process-{self._number}"
        folder.mkdir()
        return folder

    def _environ(self, folder: Path, machine: Machine, root: Path) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "PYTHONPATH": str(root),
            **machine.environ(),
            "PYTHONWARNINGS": "ignore",
            "BROADSHEET_CONFIG": str(self.folder / "broadsheet.toml"),
            "BROADSHEET_DATABASE": self.address_from(machine),
            "BROADSHEET_POSTGRES__FOLDER": str(folder),
            "BROADSHEET_EMBEDDINGS__USE": "off",
            **self.extra,
        }

    async def ready(self, of: Running) -> float:
        """Return after how many seconds a process here was ready.

        Raises RuntimeError when it ended instead, TimeoutError.
        """
        begun = monotonic()
        async with aiohttp.ClientSession() as session, asyncio.timeout(READY):
            while await _status(session, of.port) != 200:
                if not of.is_alive:
                    _, said = await of.process.communicate()
                    raise RuntimeError(f"A process ended with {of.process.returncode}: {said[-800:].decode()}")
                await asyncio.sleep(0.1)
        return monotonic() - begun

    @property
    def posted(self) -> int:
        """How many deliveries are posted, however often each."""
        return len({each.marker for each in self.fake.committed})

    async def all_posted(self, longest: float) -> float:
        """Wait until everything is posted, for so many seconds at most; return how many it took."""
        begun = monotonic()
        while self.posted < len(self.made) and monotonic() - begun < longest:  # noqa: ASYNC110 - another's count
            await asyncio.sleep(0.25)
        return monotonic() - begun

    async def judge(self) -> Verdict:
        """Hold what the platform has against what was to be posted and what the ledger says."""
        store = PostgresStore(self.address, self.folder / "judge", most=2)
        await store.connections.open()  # of whatever version its tables are by now
        workspaces = sorted({each.workspace for each in self.made})
        rows = [row for name in workspaces for row in await store.ledger.deliveries(name, limit=2 * len(self.made))]
        faults = await store.maintenance.check()
        await store.connections.close()
        return judged(self.made, self.fake.committed, {each.id: each for each in rows}, sound=not faults)

    def used_by_server(self) -> float:
        """Return how many seconds of processor time the server's processes have used, those that ended too."""
        children = Path(f"/proc/{self.server.pid}/task/{self.server.pid}/children").read_text(encoding="ascii").split()
        return _used(self.server.pid, ended=True) + sum(_used(int(each)) for each in children)

    async def sql(self, statement: str) -> list[tuple[object, ...]]:
        """Return what a statement gives; [] where the server does not answer."""
        return await asyncio.to_thread(self._sql, statement)

    def _sql(self, statement: str) -> list[tuple[object, ...]]:
        with suppress(psycopg.Error), psycopg.connect(self.address, autocommit=True, connect_timeout=2) as db:
            return db.execute(statement.encode()).fetchall()
        return []

    async def crash(self) -> None:
        """End the server at once, as a crash does, and start it again on what it had written."""
        await asyncio.to_thread(self.server.stop, signal.SIGQUIT)
        await self.begin_again()

    async def begin_again(self) -> None:
        """Start the server that has ended."""
        again = await asyncio.to_thread(postgres_server.start_again, self.server, DURABLE)
        self.servers[self.servers.index(self.server)] = again
        self.server = again


# A server that is ended at once must have what it committed: its system goes on, so nothing need reach the disk.
DURABLE = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "on"}


@asynccontextmanager
async def placed(
    crowd: Crowd,
    behaviour: Behaviour,
    items: Sequence[Item] = (),
    *,
    limits: bool = False,
    machines: Sequence[Machine] = (),
    sources: str = "",
) -> AsyncIterator[Place]:
    """Plant the crowd and run its platform and its server; whatever was started ends with the block.

    With `limits` the platform counts what is asked of it as it says that it does. `sources` are the sections of the settings
    by which sources are asked; without any, none is.
    """
    folder = Path(tempfile.mkdtemp(prefix="broadsheet-soak-"))
    hosts = ["127.0.0.1", *(each.host for each in machines if each.host != "127.0.0.1")]
    server = await asyncio.to_thread(postgres_server.start, DURABLE | {"listen_addresses": ",".join(hosts)})
    standing = discord(behaviour, crowd, forums=0) if crowd.platform == "discord" else stand(behaviour, crowd, tiers=limits)
    try:
        async with standing as fake:
            assert isinstance(fake, (FakeSlack, FakeDiscord))
            if isinstance(fake, FakeSlack):  # one token for every workspace is that of an organisation's installation
                for team in fake.world.teams.values():
                    team.enterprise = _ORGANISATION
                fake.world.grants[TOKEN].enterprise = _ORGANISATION
            (folder / "broadsheet.toml").write_text(_settings(fake, sources), encoding="utf-8")
            place = Place(folder, server, crowd, fake, crowd.deliveries(), servers=[server])
            await _filled(place, items)
            try:
                async with AsyncExitStack() as stack:
                    for each in machines:
                        await stack.enter_async_context(_reached(place, each))
                    yield place
            finally:
                for process in place.running:
                    if process.is_alive:
                        await process.kill()
                server = place.server
    finally:
        await asyncio.to_thread(server.remove)
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


@asynccontextmanager
async def _reached(place: Place, machine: Machine) -> AsyncIterator[None]:
    """Let the server and the platform, which listen here alone, be reached from a machine of another address."""
    if not machine.space:
        yield
        return
    with (place.server.folder / "data" / "pg_hba.conf").open("a", encoding="ascii") as file:
        file.write(f"host all all {machine.host}/30 trust\n")
    await place.sql("select pg_reload_conf()")
    ports = sorted({urlsplit(url).port or 0 for url in _addresses(place.fake)})
    # A token is sent without TLS to this very machine alone: what asks 127.0.0.1 there is passed on to here.
    words = ["-m", "benchmarks.soak.many.forward", "127.0.0.1", machine.host, *map(str, ports)]
    passing = await machine.start([sys.executable, *words], ROOT, os.environ)
    try:
        async with forwarding(machine.host, "127.0.0.1", ports):
            yield
    finally:
        passing.kill()
        await passing.communicate()


async def _filled(place: Place, items: Sequence[Item]) -> None:
    """Plant the crowd in a file, which is quick, and move it over."""
    planted = place.folder / "planted.sqlite3"
    await plant(planted, replace(place.crowd, always=True))
    source, target = SqliteStore(planted), PostgresStore(place.address, place.folder / "planted", most=2)
    for each in (source, target):
        await each.open()
    if items:
        await source.items.add(items, datetime.now(UTC))
    await moved((source.rows, source.facts), (target.rows, target.facts))
    for one in (source, target):
        await one.close()


def _taken_for_now(now: datetime | None) -> list[str]:
    return [] if now is None else ["--now", now.isoformat()]


def _settings(fake: FakeSlack | FakeDiscord, sources: str) -> str:
    off = "".join(f"[{name}]\nenabled = false\n" for name in ("arxiv", "huggingface", "github"))
    if isinstance(fake, FakeSlack):
        chat = f'[slack]\nbot_token = "{TOKEN}"\napp_token = "{fake.app_token}"\napi_url = "{fake.api_url}"\n'
    else:
        urls = "".join(f'{name} = "{getattr(fake, name)}"\n' for name in ("api_url", "gateway_url", "cdn_url"))
        chat = f'[discord]\ntoken = "{fake.token}"\n{urls}'
    return f"topics = []\n{sources}{chat}" if sources else f'topics = ["gpu-systems"]\n{off}{chat}'


def _addresses(fake: FakeSlack | FakeDiscord) -> list[str]:
    return [fake.api_url] if isinstance(fake, FakeSlack) else [fake.api_url, fake.gateway_url, fake.cdn_url]


def _used(pid: int, *, ended: bool = False) -> float:
    try:
        told = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, told[11 : 15 if ended else 13])) / _TICKS


async def _status(session: aiohttp.ClientSession, port: int) -> int:
    try:
        async with session.get(f"http://127.0.0.1:{port}/readyz", timeout=_PROBE) as answer:
            return answer.status
    except (aiohttp.ClientError, TimeoutError):
        return 0


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


@cache
def _forks() -> Forks:
    forks = Forks("benchmarks.soak.many.place", {**os.environ, "PYTHONWARNINGS": "ignore"})
    atexit.register(forks.close)
    return forks


def main(arguments: list[str]) -> None:
    """Run Broadsheet's own command line: what is forked, with every library imported."""
    from adapters.cli.main import main as command

    command(arguments)
