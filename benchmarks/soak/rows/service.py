"""`broadsheet run` as a process of its own, in the Slack or the Discord of the tests, on a database with a crowd."""

import asyncio
import atexit
import os
import signal
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from time import monotonic

import aiohttp

from adapters.cli.main import main
from benchmarks.soak.discord_stand import discord
from benchmarks.soak.plant import Crowd, plant
from benchmarks.soak.stands import TOKEN, stand
from bot.models import Item
from bot.store.sqlite.store import SqliteStore
from tests.fakes.discord import FakeDiscord
from tests.fakes.forked import ROOT, Forked, Forks
from tests.fakes.platform import Behaviour
from tests.fakes.slack import FakeSlack

__all__ = ["Beside", "Place", "main", "placed"]  # `main` is what is forked, with Slack's libraries imported

_ORGANISATION = "E0SOAK"
_LOOK = 0.25  # seconds between two questions
_LAG = "broadsheet_loop_lag_seconds "  # begins the line of /metrics with the longest of the last minute
_LAGS = 30.0  # seconds between two looks at it
_TICKS = os.sysconf("SC_CLK_TCK")  # of processor time in a second
_PROBE = aiohttp.ClientTimeout(total=5.0)  # as long as who asks is patient
_READY = 90.0  # seconds until a service must be ready


@dataclass(slots=True)
class Beside:
    """What somebody saw who asked all the time."""

    asked: int = 0
    unready: list[str] = field(default_factory=list)  # each answer of /readyz that was not 200
    slowest: float = 0.0  # seconds until it answered
    longest: float = 0.0  # seconds between two heartbeats
    used: float = 0.0  # seconds of processor time
    load: float = 0.0  # of the machine in the last minute
    lags: list[float] = field(default_factory=list)  # the longest that the service's loop was late, each minute


@dataclass(slots=True)
class Place:
    """A folder with settings and a database, and the platform that they name."""

    folder: Path
    crowd: Crowd
    fake: FakeSlack | FakeDiscord
    port: int

    @property
    def database(self) -> Path:
        """Where the database is."""
        return self.folder / "b.sqlite3"

    async def start(self) -> Forked:
        """Start a service."""
        environ = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "PYTHONPATH": str(ROOT)}
        environ |= {"BROADSHEET_EMBEDDINGS__USE": "off", "PYTHONWARNINGS": "ignore"}
        return await _forks().start(["run"], self.folder, environ)

    async def ready(self, service: Forked) -> float:
        """Return after how many seconds the service was ready; raises RuntimeError when it ended instead, TimeoutError."""
        begun = monotonic()
        async with aiohttp.ClientSession() as session, asyncio.timeout(_READY):
            while await self._status(session) != 200:
                if service.returncode is not None:
                    _, said = await service.communicate()
                    raise RuntimeError(f"The service ended with {service.returncode}: {said[-300:].decode()}")
                await asyncio.sleep(0.1)
        return monotonic() - begun

    def used(self, service: Forked) -> float:
        """Return how many seconds of processor time the service has used; it still lives."""
        told = Path(f"/proc/{service.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(told[11]) + int(told[12])) / _TICKS

    async def stop(self, service: Forked) -> float:
        """Tell the service to end, and return after how many seconds it did."""
        begun = monotonic()
        service.send_signal(signal.SIGTERM)
        await service.communicate()
        return monotonic() - begun

    async def watch(self, found: Beside) -> None:
        """Ask /readyz and look at the heartbeat, until cancelled."""
        alive = self.database.with_name(f"{self.database.name}.alive")
        beat, at, looked = "", monotonic(), monotonic()
        async with aiohttp.ClientSession() as session:
            while True:
                if monotonic() - looked > _LAGS:
                    looked = monotonic()
                    found.lags += await self._lags(session)
                begun = monotonic()
                status, text = await self._answer(session)
                found.asked += 1
                found.slowest = max(found.slowest, monotonic() - begun)
                if status != 200:
                    found.unready.append(f"{status}: {text[:300]}")
                now = await asyncio.to_thread(alive.read_text)
                if now != beat:
                    beat, at = now, monotonic()
                found.longest = max(found.longest, monotonic() - at)
                await asyncio.sleep(_LOOK)

    async def _status(self, session: aiohttp.ClientSession) -> int:
        return (await self._answer(session))[0]

    async def _lags(self, session: aiohttp.ClientSession) -> list[float]:
        _, text = await self._answer(session, "metrics")
        return [float(line.removeprefix(_LAG)) for line in text.splitlines() if line.startswith(_LAG)]

    async def _answer(self, session: aiohttp.ClientSession, what: str = "readyz") -> tuple[int, str]:
        try:
            async with session.get(f"http://127.0.0.1:{self.port}/{what}", timeout=_PROBE) as answer:
                return answer.status, await answer.text()
        except (aiohttp.ClientError, TimeoutError) as error:
            return 0, type(error).__name__


@asynccontextmanager
async def placed(
    folder: Path, crowd: Crowd, behaviour: Behaviour, items: Sequence[Item] = (), *, limits: bool = False
) -> AsyncIterator[Place]:
    """Plant the crowd, whose digests are posted although they are empty, and run its platform.

    With `limits` the platform counts what is asked of it as it says that it does; Discord's channels are texts.
    """
    database = folder / "b.sqlite3"
    await plant(database, replace(crowd, always=True))
    if items:
        store = SqliteStore(database)
        await store.open()
        await store.items.add(items, datetime.now(UTC))
        await store.close()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = int(free.getsockname()[1])
    standing = discord(behaviour, crowd, forums=0) if crowd.platform == "discord" else stand(behaviour, crowd, tiers=limits)
    async with standing as fake:
        assert isinstance(fake, (FakeSlack, FakeDiscord))
        if isinstance(fake, FakeSlack):
            # One token for every workspace is that of an organisation's installation.
            for team in fake.world.teams.values():
                team.enterprise = _ORGANISATION
            fake.world.grants[TOKEN].enterprise = _ORGANISATION
        (folder / "broadsheet.toml").write_text(_settings(database, port, fake), encoding="utf-8")
        yield Place(folder, crowd, fake, port)


def _settings(database: Path, port: int, fake: FakeSlack | FakeDiscord) -> str:
    off = "".join(f"[{name}]\nenabled = false\n" for name in ("arxiv", "huggingface", "github"))
    if isinstance(fake, FakeSlack):
        chat = f'[slack]\nbot_token = "{TOKEN}"\napp_token = "{fake.app_token}"\napi_url = "{fake.api_url}"\n'
    else:
        urls = "".join(f'{name} = "{getattr(fake, name)}"\n' for name in ("api_url", "gateway_url", "cdn_url"))
        chat = f'[discord]\ntoken = "{fake.token}"\n{urls}'
    return f'database = "{database}"\ntopics = ["gpu-systems"]\n[health]\nport = {port}\n{off}{chat}'


@cache
def _forks() -> Forks:
    forks = Forks("benchmarks.soak.rows.service", {**os.environ, "PYTHONWARNINGS": "ignore"})
    atexit.register(forks.close)
    return forks
