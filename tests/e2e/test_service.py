"""`broadsheet run` as a process of its own: schedules kept, one digest each, told to end, asked how it is."""

import asyncio
import json
import re
import shutil
import signal
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp

from adapters.cli.exits import Exit
from tests.e2e.desk import Desk
from tests.fakes.forked import Forked
from tests.fakes.patience import PATIENCE


@asynccontextmanager
async def running(desk: Desk, *options: str) -> AsyncIterator[Forked]:
    """A service that is told to end when the block does, and must end well."""
    service = await desk.start(*options, "-v", "run")
    try:
        yield service
    finally:
        if service.returncode is None:
            service.send_signal(signal.SIGTERM)
        _, err = await asyncio.wait_for(service.communicate(), PATIENCE)
    assert service.returncode == Exit.OK, err.decode()
    assert "Traceback" not in err.decode(), err.decode()


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not is_so():  # noqa: ASYNC110 - another process sets no event
            await asyncio.sleep(0.1)


def at(time: str) -> tuple[str, str]:
    return "--now", f"2026-04-01T{time}+00:00"


def digests(desk: Desk) -> list[Path]:
    return sorted((desk.folder / "data" / "digests").glob("*.txt"))


async def status(desk: Desk) -> str:
    reply = json.loads((await desk.run(*at("07:05:00"), "status", "--json")).out)
    return "\n".join(line for entry in reply["entries"] for line in entry["lines"])


def forget(database: Path) -> None:
    for ending in ("", "-wal", "-shm"):
        database.with_name(database.name + ending).unlink(missing_ok=True)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


async def get(port: int, path: str) -> tuple[int, str]:
    """Status and text; 0 and "" while nobody listens."""
    async with aiohttp.ClientSession() as session:
        try:
            async with session.get(f"http://127.0.0.1:{port}{path}") as response:
                return response.status, await response.text()
        except aiohttp.ClientConnectionError:
            return 0, ""


async def ran(port: int, job: str, times: int) -> None:
    """Wait until the service has run a job so many times."""
    runs = re.compile(rf'broadsheet_job_runs_total{{name="{job}"}} (\d+)')
    async with asyncio.timeout(PATIENCE):
        while not (found := runs.search((await get(port, "/metrics"))[1])) or int(found[1]) < times:  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.1)


async def said_to_be_posted(desk: Desk) -> None:
    """Wait until status says that the digest was posted."""
    async with asyncio.timeout(PATIENCE):
        while "07:00 was posted" not in await status(desk):  # noqa: ASYNC110 - another process sets no event
            await asyncio.sleep(0.1)


async def test_a_digest_is_posted_once_at_its_time_over_restarts_and_over_a_restored_database(desk: Desk) -> None:
    port = free_port()
    desk.settle(f"[health]\nport = {port}\n")
    assert (await desk.run("subscribe", "gpu-systems", "at", "07:00", "in", "UTC", "full")).status == Exit.OK
    await desk.run("collect")
    alive = desk.database.with_name("b.sqlite3.alive")

    async with running(desk, *at("06:50:00")):
        await until(alive.exists)
    assert not digests(desk)
    assert (await desk.run("db", "backup", "before.sqlite3")).status == Exit.OK

    async with running(desk, *at("07:00:01")):
        await until(lambda: bool(digests(desk)))
        # It is recorded after it was written; ended before, it would be looked for the next time.
        await said_to_be_posted(desk)
    (posted,) = digests(desk)
    assert posted.name == "2026-04-01-gpu-systems.txt"
    assert "Problem" in posted.read_text(encoding="utf-8")
    assert posted.with_suffix(".html").exists()
    written = posted.stat().st_mtime_ns
    assert "Last digest: that of Wednesday 1 April at 07:00 was posted." in await status(desk)
    why = json.loads((await desk.run(*at("07:05:00"), "why", "1", "--json")).out)["entries"][0]["lines"]
    assert why[-1].endswith(f" {posted.with_suffix('.html')}")
    assert "ok    deliveries: 1 done" in (await desk.run("doctor", "--offline")).out

    begun = alive.read_text()
    async with running(desk, *at("07:02:00")):
        await until(lambda: alive.read_text() != begun)
        await ran(port, "publish", 2)
        await ran(port, "deliver", 4)  # one that was made in the first second would be posted by now
    assert [path.stat().st_mtime_ns for path in digests(desk)] == [written]

    assert (await desk.run("db", "restore", "--yes", "before.sqlite3")).status == Exit.OK
    begun = alive.read_text()
    async with running(desk, *at("07:04:00")):
        await until(lambda: alive.read_text() != begun)
        await ran(port, "publish", 2)
        await ran(port, "deliver", 4)
    assert [path.stat().st_mtime_ns for path in digests(desk)] == [written]
    assert "waits to be posted: It waits until the channel shows what was posted before" in await status(desk)
    async with running(desk, *at("07:05:01")):  # a quarantine later
        await said_to_be_posted(desk)
    assert [path.stat().st_mtime_ns for path in digests(desk)] == [written]
    assert "Last digest: that of Wednesday 1 April at 07:00 was posted." in await status(desk)


async def test_what_cannot_be_posted_is_paused_and_the_doctor_says_what_to_mend(desk: Desk) -> None:
    (desk.folder / "file").write_text("no folder")
    desk.settle(f'[run]\ndigests_dir = "{desk.folder / "file"}"\n')
    assert (await desk.run("subscribe", "gpu-systems", "at", "07:00", "in", "UTC", "always")).status == Exit.OK
    alive = desk.database.with_name("b.sqlite3.alive")
    async with running(desk, *at("06:50:00")):
        await until(alive.exists)

    async with running(desk, *at("07:00:01")):
        async with asyncio.timeout(PATIENCE):
            while (doctor := await desk.run("doctor", "--offline")).status != Exit.UNWELL:  # noqa: ASYNC110
                await asyncio.sleep(0.5)

    said = "mend  gpu-systems in local: paused by the service, which tries again by itself: The digest cannot be written to"
    assert said in doctor.out
    assert "was not posted." in await status(desk)
    assert "Paused by Broadsheet: The digest cannot be written to" in await status(desk)


@asynccontextmanager
async def silent() -> AsyncIterator[tuple[str, asyncio.Event]]:
    """A server that takes every question and answers none: its address, and whether it was asked."""
    held: set[asyncio.StreamWriter] = set()
    asked = asyncio.Event()

    async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        held.add(writer)
        asked.set()
        await reader.read()

    server = await asyncio.start_server(hold, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", asked
    finally:
        for writer in held:
            writer.close()
        server.close()


async def test_it_ends_when_it_is_told_to_although_a_source_does_not_answer(desk: Desk) -> None:
    async with silent() as (url, asked):
        desk.settle(url=url)
        async with running(desk) as service:
            await asyncio.wait_for(asked.wait(), PATIENCE)
            service.send_signal(signal.SIGTERM)
            assert await asyncio.wait_for(service.wait(), PATIENCE) == Exit.OK


async def test_it_tells_how_it_is_over_http_and_keeps_a_second_one_out(desk: Desk) -> None:
    port, pages = free_port(), free_port()
    desk.settle(f'[health]\nport = {port}\n[web]\nurl = "http://127.0.0.1:{pages}"\nport = {pages}\n')

    async with running(desk):
        async with asyncio.timeout(PATIENCE):
            while (await get(port, "/readyz"))[0] != 200:  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.2)
        assert (await get(port, "/healthz"))[0] == 200
        status, metrics = await get(port, "/metrics")
        assert status == 200
        assert 'broadsheet_job_runs_total{name="tick"}' in metrics
        assert str(desk.folder) not in metrics
        nowhere = await get(pages, "/mail/none/pause?s=1")
        assert (nowhere[0], "This link leads nowhere" in nowhere[1]) == (404, True)

        second = await desk.run("run")
        assert (second.status, "is already running" in second.err) == (Exit.DATABASE, True)
        elsewhere = await desk.run("run", BROADSHEET_DATABASE=str(desk.folder / "other.sqlite3"))
        assert (elsewhere.status, "change `port` or `host` in [health]" in elsewhere.err) == (Exit.SETTINGS, True)


async def test_platforms_that_cannot_be_reached_stop_neither_the_collecting_nor_its_end(desk: Desk) -> None:
    port = free_port()
    token = "MTIzNDU2Nzg5MDEyMzQ1Njc4.GabcdE.abcdefghijklmnopqrstuvwxyz0"
    away = "http://127.0.0.1:9"
    desk.settle(f"[health]\nport = {port}\n")
    with (desk.folder / "broadsheet.toml").open("a") as settings:
        settings.write(f'[slack]\nbot_token = "xoxb-1-s3cret"\napp_token = "xapp-1-s3cret"\napi_url = "{away}/api"\n')
        settings.write(f'[discord]\ntoken = "{token}"\napi_url = "{away}"\ncdn_url = "{away}"\n')
        settings.write('gateway_url = "ws://127.0.0.1:9"\n')

    service = await desk.start("-v", "run")
    async with asyncio.timeout(PATIENCE):
        platforms, collected = dict[str, object](), False
        while platforms.get("well") is not False or not collected:
            await asyncio.sleep(0.2)
            ready, text = (await get(port, "/readyz"))[1], (await get(port, "/metrics"))[1]
            platforms = json.loads(ready)["signs"]["platforms"] if ready else {}
            collected = 'broadsheet_source_up{source="huggingface"} 1.0' in text and "_source_items" in text
    service.send_signal(signal.SIGTERM)
    _, err = await asyncio.wait_for(service.communicate(), PATIENCE)

    assert service.returncode == Exit.OK, err.decode()
    assert "slack: " in str(platforms["text"])
    assert "discord: " in str(platforms["text"])
    assert 'broadsheet_platform_up{platform="slack"} 0.0' in text
    assert "s3cret" not in err.decode()
    assert token not in err.decode()
    assert "Traceback" not in err.decode(), err.decode()


async def test_it_makes_backups_that_can_be_put_back(desk: Desk) -> None:
    desk.settle(f'[run]\nbackup_dir = "{desk.folder / "kept"}"\n')
    async with running(desk):
        await until(lambda: bool(list((desk.folder / "kept").glob("broadsheet-*.sqlite3"))))
    assert "ok    backups: 1 in" in (await desk.run("doctor", "--offline")).out

    (made,) = (desk.folder / "kept").glob("broadsheet-*.sqlite3")
    forget(desk.database)
    shutil.copy(made, desk.database)
    assert (await desk.run("db", "check")).status == Exit.OK
