"""Several `broadsheet run --roles …` on one PostgreSQL database: each a process of its own, and nothing posted twice."""

import asyncio
import json
import re
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from adapters.cli.exits import Exit
from bot.app import built
from bot.settings.load import load
from bot.settings.sections import ROLES
from tests.bot.deliveries import change, occurrence, subscription
from tests.e2e.desk import Desk
from tests.e2e.stage import ITEMS
from tests.e2e.test_service import free_port, get
from tests.fakes import slack
from tests.fakes.forked import Forked
from tests.fakes.patience import PATIENCE
from tests.stores import postgres_server

BEFORE, NOW = ("--now", "2026-04-01T06:50:00+00:00"), ("--now", "2026-04-01T07:00:01+00:00")

TIME = datetime(2026, 4, 1, 7, 0, tzinfo=UTC)
CHANNELS = 40
ALL = ",".join(ROLES)
CLOCK = "select holder from leases where name = 'clock' and until > 0"


@dataclass
class Cluster:
    """A desk whose database is a server's, and the processes that run on it."""

    desk: Desk
    address: str
    running: list[Forked] = field(default_factory=list)

    def settle(self, extra: str = "") -> None:
        """Write the settings: a database of the server's, and whatever else is given."""
        self.desk.settle(extra)
        file = self.desk.folder / "broadsheet.toml"
        file.write_text(file.read_text().replace(f'"{self.desk.database}"', f'"{self.address}"'))

    async def start(self, roles: str, *options: str, **variables: str) -> Forked:
        """Begin a process with these roles, in a folder of its own."""
        place = {
            "BROADSHEET_POSTGRES__FOLDER": str(self.desk.folder / f"process-{len(self.running)}"),
            "BROADSHEET_RUN__DIGESTS_DIR": str(self.digests),
        }
        process = await self.desk.start(*options, "-v", "run", "--roles", roles, **place, **variables)
        self.running.append(process)
        return process

    @property
    def digests(self) -> Path:
        return self.desk.folder / "digests"

    async def rows(self, query: str, *given: Any) -> Sequence[tuple[Any, ...]]:
        """Return what the database answers."""

        def asked() -> Sequence[tuple[Any, ...]]:
            with psycopg.connect(self.address) as db:
                return db.execute(query.encode(), given).fetchall()

        return await asyncio.to_thread(asked)

    async def end(self, process: Forked) -> str:
        """Tell a process to end, and return what it wrote when it has."""
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        _, err = await asyncio.wait_for(process.communicate(), PATIENCE)
        self.running.remove(process)
        said = err.decode()
        assert process.returncode == Exit.OK, said
        assert "Traceback" not in said, said
        return said


@pytest.fixture
async def cluster(desk: Desk, postgres_address: str, worker_id: str) -> AsyncIterator[Cluster]:
    name = f"broadsheet_processes_{worker_id}"
    await asyncio.to_thread(postgres_server.dropped, postgres_address, name)
    made = Cluster(desk, await asyncio.to_thread(postgres_server.database, postgres_address, name))
    made.settle()
    try:
        yield made
    finally:
        for process in list(made.running):
            await made.end(process)
        await asyncio.to_thread(postgres_server.dropped, postgres_address, name)


async def until(is_so: Callable[[], Awaitable[object]]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not await is_so():  # noqa: ASYNC110 - another process sets no event
            await asyncio.sleep(0.1)


async def subscribed(cluster: Cluster) -> None:
    """Have a digest due at seven, noticed by nobody yet, and papers for it."""
    desk = cluster.desk
    assert (await desk.run("subscribe", "gpu-systems", "at", "07:00", "in", "UTC", "full")).status == Exit.OK
    assert (await desk.run("collect")).status == Exit.OK
    first = await cluster.start("clock", *BEFORE)
    await until(lambda: cluster.rows("select value from facts where name = 'last tick'"))
    await cluster.end(first)


async def test_what_is_due_is_noted_made_and_posted_by_three_processes_once(cluster: Cluster) -> None:
    await subscribed(cluster)

    for roles in ("clock", "make", "deliver"):
        await cluster.start(roles, *NOW)
    await until(lambda: is_posted(cluster))
    status = (await cluster.desk.run(*NOW, "status")).out
    for process in list(cluster.running):
        await cluster.end(process)

    (posted,) = sorted(cluster.digests.glob("*.txt"))
    assert posted.name == "2026-04-01-gpu-systems.txt"
    assert await cluster.rows("select state, count(*) from occurrences group by state") == [("made", 1)]
    assert await cluster.rows("select * from processes") == []
    assert await cluster.rows("select * from procrastinate.procrastinate_jobs") == []
    assert all(f"{role}; version" in status for role in ("clock", "make", "deliver")), status
    found = (await cluster.desk.run("doctor", "--offline")).out
    assert "ok    database: PostgreSQL " in found
    assert "tables at step" in found


async def test_what_a_process_did_alone_another_takes_over_when_it_ends(cluster: Cluster) -> None:
    await subscribed(cluster)
    port = free_port()
    one = await cluster.start(ALL, *NOW, BROADSHEET_HEALTH__PORT=str(port))
    two = await cluster.start(ALL, *NOW)
    await until(lambda: is_posted(cluster))
    await until(lambda: there_are(cluster, 2))
    await until(lambda: is_ready(port))
    told = (await get(port, "/metrics"))[1]
    assert told.count("broadsheet_process_beat_age_seconds{") == 2
    assert 'broadsheet_lane_rescues_total{kind="lane"} ' in told
    assert "broadsheet_search_copy_behind_seconds " in told
    ((holder,),) = await cluster.rows(CLOCK)
    first, other = (one, two) if f"-{one.pid}-" in holder else (two, one)

    await cluster.end(first)
    await until(lambda: cluster.rows(f"{CLOCK} and holder <> %s", holder))
    assert await there_are(cluster, 1)
    assert other.returncode is None
    assert len(list(cluster.digests.glob("*.txt"))) == 1


async def test_who_is_told_to_end_in_the_middle_hands_its_lane_to_another_and_nothing_is_posted_twice(
    cluster: Cluster,
) -> None:
    async with slack.running(tiers=False) as fake:
        section = f'[slack]\nbot_token = "{fake.bot_token}"\napp_token = "{fake.app_token}"\napi_url = "{fake.api_url}"'
        cluster.settle(section)
        channels = [fake.add_channel(f"C0MANY{number:02}", f"many-{number:02}", joined=True) for number in range(CHANNELS)]
        await due_in(cluster, [each.id for each in channels])
        two = await cluster.start("deliver", *NOW)
        await until(lambda: there_are(cluster, 1))
        two.send_signal(signal.SIGSTOP)  # so that the other one has the lane
        one = await cluster.start("deliver", *NOW)
        await cluster.start("make", *NOW)
        await until(lambda: some(cluster, "done"))
        await cluster.end(one)
        ((left,),) = await cluster.rows("select count(*) from deliveries where state <> 'done'")
        two.send_signal(signal.SIGCONT)

        await until(lambda: is_posted(cluster, CHANNELS))
        posted = [each for channel in channels for each in fake.messages(channel) if each.metadata]
        assert (len(posted), two.returncode) == (CHANNELS, None)
        assert not fake.rejected
        assert left > 0  # it was in the middle


async def due_in(cluster: Cluster, channels: Sequence[str]) -> None:
    """Have papers, and in each of the channels of one workspace a digest that is due now."""
    settings = await asyncio.to_thread(load, cluster.desk.folder / "broadsheet.toml")
    async with built(settings) as app:
        await app.store.items.add(ITEMS, TIME)
        for channel in channels:
            made = subscription(
                id=f"s-{channel}", workspace="slack:T0BROAD", channel=channel, topic="gpu-systems", now=TIME, always=True
            )
            made = await app.store.workspaces.save_subscription(made, change("slack:T0BROAD"), replaces=0)
            await app.store.ledger.open_occurrences([occurrence(made, now=TIME)], made, TIME + timedelta(days=1))


async def some(cluster: Cluster, state: str) -> bool:
    return bool(await cluster.rows("select id from deliveries where state = %s limit 1", state))


async def test_a_server_that_was_away_is_found_again_without_a_restart(desk: Desk, postgres_address: str) -> None:
    server = await asyncio.to_thread(postgres_server.start)  # one of its own: the others' goes on
    cluster = Cluster(desk, await asyncio.to_thread(postgres_server.database, server.address, "alone"))
    cluster.settle()
    try:
        await subscribed(cluster)
        process = await cluster.start(ALL, *BEFORE)
        await until(lambda: there_are(cluster, 1))
        await asyncio.to_thread(server.stop)
        await asyncio.sleep(3)  # several of its jobs were due by then
        server = await asyncio.to_thread(postgres_server.start_again, server)
        ((before,),) = await cluster.rows("select beat from processes")
        await until(lambda: cluster.rows("select beat from processes where beat > %s", before))
        assert process.returncode is None
        # What is to be made now is made: the lanes are worked on again.
        asked = await desk.run("--now", "2026-04-01T06:51:00+00:00", "post", "gpu-systems")
        assert asked.status == Exit.OK, asked
        await until(lambda: is_posted(cluster))
        said = await cluster.end(process)
        assert said.count(" ERROR ") <= 8, said  # what waits for a connection for ten seconds does not even fail
    finally:
        for each in list(cluster.running):
            await cluster.end(each)
        await asyncio.to_thread(server.remove)


async def test_the_commands_of_the_terminal_work_beside_a_process(cluster: Cluster) -> None:
    migrated = await cluster.desk.run("db", "migrate")
    assert migrated.status == Exit.OK
    assert re.fullmatch(r"Took the step: tables\.\n\S+/broadsheet_processes_\w+ is up to date\.\n", migrated.out), (
        migrated.out
    )
    assert (await cluster.desk.run("collect")).status == Exit.OK
    await cluster.start("front", *NOW)
    for line in ("digest gpu-systems", "search attention", "topics", "saved", "list", "trending", "db check", "db prune"):
        ran = await cluster.desk.run(*line.split())
        assert ran.status == Exit.OK, (line, ran)
        assert ran.out.strip(), line


async def test_a_role_that_is_none_and_roles_on_a_file_are_told(desk: Desk, cluster: Cluster) -> None:
    unknown = await desk.run("run", "--roles", "clock,delivery")
    assert unknown.status != Exit.OK
    assert 'Did you mean "deliver"?' in unknown.err
    desk.settle()
    on_a_file = await desk.run("run", "--roles", "clock")
    assert on_a_file.status != Exit.OK
    assert "postgresql://" in on_a_file.err


async def is_posted(cluster: Cluster, many: int = 1) -> bool:
    rows = await cluster.rows("select state, count(*) from deliveries where part = 1 group by state")
    return rows == [("done", many)]


async def is_ready(port: int) -> bool:
    status, text = await get(port, "/readyz")
    return status == 200 and {"database", "tick", "sweep", "sources"} == set(json.loads(text)["signs"])


async def there_are(cluster: Cluster, many: int) -> bool:
    return len(await cluster.rows("select id from processes")) == many
