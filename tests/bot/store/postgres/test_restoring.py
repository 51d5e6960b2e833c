"""Putting a backup in the place of what a PostgreSQL database holds: all or nothing, and what was ended stays so."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest

from bot.delivery import notice_put_back
from bot.delivery.restored import read_restoration
from bot.errors import StoreError
from bot.models import AssistantAccess, AssistantToken, FeedAccess, Item, Kind, ProcessState, Suppression
from bot.ports.facts import HEARTBEAT
from bot.query.parse import parse
from bot.store.postgres.migrations import SCHEMA
from bot.store.postgres.store import PostgresStore
from bot.store.sqlite.copy.search_copy import SearchCopy
from tests.bot.store.postgres.opened import executed
from tests.conftest import NOW
from tests.stores import postgres_server

HERE = "slack:T1"
NAMES = ("stays", "revoked", "replaced")
HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the server's own programs first on the path, where the tests started it."""
    try:
        monkeypatch.setenv("PATH", str(postgres_server.programs()), prepend=os.pathsep)
    except postgres_server.NoServerError as error:
        pytest.skip(str(error))


@pytest.fixture
def address(postgres_address: str, worker_id: str) -> Iterator[str]:
    name = f"broadsheet_put_back_{worker_id}"
    postgres_server.dropped(postgres_address, name)
    yield postgres_server.database(postgres_address, name)
    postgres_server.dropped(postgres_address, name)


@pytest.fixture
async def store(address: str, tmp_path: Path) -> AsyncIterator[PostgresStore]:
    store = PostgresStore(address, tmp_path)
    await store.open()
    yield store
    await store.close()


def paper(number: int, title: str) -> Item:
    return Item(key=f"arxiv:{number}", kind=Kind.PAPER, title=title, abstract="A cache.", seen=NOW)


def feed(hashed: str) -> FeedAccess:
    return FeedAccess(hashed=hashed, platform="slack", workspace=HERE, person=hashed, channel="C1", made_at=NOW)


def token(name: str, hashed: str = "") -> AssistantToken:
    return AssistantToken(name=name, hashed=hashed or name, access=AssistantAccess(workspace=HERE), made_at=NOW)


async def restored(store: PostgresStore, path: Path) -> str | None:
    await store.close()
    aside = await store.maintenance.restore(path)
    await store.open()
    return aside


async def refused(store: PostgresStore, path: Path) -> str:
    """Return why a restore is refused, which leaves all as it was."""
    await store.facts.set("who", "we")
    await store.close()
    with pytest.raises(StoreError) as raised:
        await store.maintenance.restore(path)
    await store.open()
    assert await store.facts.get("who") == "we"
    assert await store.maintenance.put_aside() == []
    return str(raised.value)


async def asked(address: str, sql: str) -> list[tuple[object, ...]]:
    async with await psycopg.AsyncConnection.connect(address, autocommit=True) as db:
        return await (await db.execute(sql.encode())).fetchall()


async def test_a_backup_takes_the_place_of_what_there_is_which_is_set_aside(
    store: PostgresStore, address: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.dump"
    await store.items.add([paper(1, "Old")], NOW)
    await store.maintenance.backup(path)
    await store.items.add([paper(2, "New")], NOW)
    aside = await restored(store, path)
    assert aside is not None
    assert await store.maintenance.put_aside() == [f"schema {aside}"]
    assert list(await store.items.find(["arxiv:1", "arxiv:2"])) == ["arxiv:1"]
    assert await asked(address, f"select key from {aside}.items order by key") == [("arxiv:1",), ("arxiv:2",)]
    assert await store.maintenance.check() == []
    await store.items.add([paper(3, "Later")], NOW)  # a number is given, jobs are there
    await store.lane_jobs.open()
    assert await store.lane_jobs.defer("make", "slack:3")
    # What was set aside is no part of a backup, nor in the way of another restore in the same second.
    await store.maintenance.backup(path)
    second = await restored(store, path)
    assert second not in (None, aside)
    assert await store.maintenance.put_aside() == [f"schema {name}" for name in sorted([aside, str(second)])]
    await executed(address, f"drop schema {aside} cascade", f"drop schema {second} cascade")
    assert list(await store.items.find(["arxiv:1", "arxiv:3"])) == ["arxiv:1", "arxiv:3"]


async def test_an_empty_database_gets_the_backup_and_nothing_is_set_aside(
    store: PostgresStore, address: str, tmp_path: Path
) -> None:
    await store.items.add([paper(1, "Old")], NOW)
    await store.maintenance.backup(tmp_path / "a.dump")
    await store.close()
    await executed(address, "drop schema public cascade", "drop schema procrastinate cascade", "create schema public")
    assert await restored(store, tmp_path / "a.dump") is None
    assert list(await store.items.find(["arxiv:1"])) == ["arxiv:1"]
    assert await store.maintenance.put_aside() == []


async def test_what_others_have_in_the_schema_of_an_extension_or_with_rights_stays(
    store: PostgresStore, address: str, tmp_path: Path
) -> None:
    """The schema itself is left: its rights, and who else stands in it."""
    rights = "select nspowner, nspacl::text from pg_namespace where nspname = 'public'"
    before = await asked(address, rights)
    await store.maintenance.backup(tmp_path / "a.dump")
    assert await restored(store, tmp_path / "a.dump") is not None
    assert await asked(address, rights) == before


# --- what is ended


async def backed_up(store: PostgresStore, path: Path) -> None:
    """Make a backup, and end some of what it has."""
    await store.recipients.key()
    for name in ("stays", "revoked"):
        await store.people.allow_feeds(feed(name))
    for name in NAMES:
        await store.assistants.allow(token(name))
    await store.maintenance.backup(path)
    await store.people.revoke_feeds(HERE, "revoked")
    for name in ("revoked", "replaced"):
        await store.assistants.revoke(name, NOW)
    await store.assistants.allow(token("replaced", "anew"))
    await store.recipients.suppress("me@lab.example", Suppression.COMPLAINED, NOW)


async def holding(store: PostgresStore) -> tuple[list[str], list[str]]:
    feeds = [each for each in NAMES if await store.people.feeds_by(each)]
    return feeds, [each for each in (*NAMES, "anew") if await store.assistants.by_hash(each)]


async def test_what_was_ended_since_a_backup_stays_ended(store: PostgresStore, tmp_path: Path) -> None:
    await backed_up(store, tmp_path / "a.dump")
    await restored(store, tmp_path / "a.dump")
    assert await holding(store) == (["stays"], ["stays"])
    assert await store.recipients.suppression(HERE, "me@lab.example") is Suppression.COMPLAINED
    assert await store.maintenance.check() == []


async def test_a_database_that_was_begun_anew_ends_no_feeds(store: PostgresStore, address: str, tmp_path: Path) -> None:
    await backed_up(store, tmp_path / "a.dump")
    await executed(address, "update facts set value = 'another' where name = 'mail key'")
    await restored(store, tmp_path / "a.dump")
    assert await holding(store) == (["stays", "revoked"], ["stays"])
    assert await store.recipients.suppression(HERE, "me@lab.example") is None


async def test_leases_and_processes_end_and_what_platforms_asked_for_goes_on(store: PostgresStore, tmp_path: Path) -> None:
    await store.leases.take("clock", "one", HOUR)
    await store.budgets.rest("slack:T1", HOUR, "of the backup")
    await store.maintenance.backup(tmp_path / "a.dump")
    await store.leases.take("other", "one", HOUR)
    await store.budgets.rest("slack:T2", HOUR, "later")
    await restored(store, tmp_path / "a.dump")
    assert await store.leases.held() == []
    assert await store.processes.every(HOUR) == []
    assert sorted(rest.place for rest in await store.budgets.rests()) == ["slack:T1", "slack:T2"]


async def test_what_was_due_up_to_the_last_heartbeat_is_in_doubt_also_after_a_second_restore(
    store: PostgresStore, tmp_path: Path
) -> None:
    early, late = tmp_path / "early.dump", tmp_path / "late.dump"
    last = datetime.now(UTC) - HOUR
    await store.facts.set(HEARTBEAT, (last - 2 * HOUR).isoformat())
    await store.maintenance.backup(early)
    await store.facts.set(HEARTBEAT, (last - HOUR).isoformat())
    await store.maintenance.backup(late)
    await store.facts.set(HEARTBEAT, last.isoformat())
    for path in (late, early):
        await restored(store, path)
        until = await notice_put_back(store.facts)
        assert until is not None
        assert last <= until <= last + timedelta(minutes=5)
        known = await read_restoration(store.facts)
        assert known is not None
        assert known.until == until
        assert last < known.noticed
        assert await notice_put_back(store.facts) is None  # once


async def test_a_backup_with_all_that_was_posted_puts_nothing_in_doubt(store: PostgresStore, tmp_path: Path) -> None:
    await store.facts.set(HEARTBEAT, NOW.isoformat())
    await store.maintenance.backup(tmp_path / "a.dump")
    await restored(store, tmp_path / "a.dump")
    assert await notice_put_back(store.facts) is None
    assert await read_restoration(store.facts) is None


# --- followers


async def test_a_search_copy_of_before_answers_from_the_backup_right_after(store: PostgresStore, tmp_path: Path) -> None:
    async def found() -> list[str]:
        copy = SearchCopy(tmp_path / "copy", store.items, store.vectors)
        await copy.follow()
        page = await copy.search(parse("cache"), NOW)
        await copy.close()
        return sorted(hit.item.title for hit in page.hits)

    await store.items.add([paper(1, "Stays")], NOW)
    await store.maintenance.backup(tmp_path / "a.dump")
    await store.items.add([paper(1, "Rewritten"), paper(2, "Undone")], NOW)
    assert await found() == ["Rewritten", "Undone"]
    await restored(store, tmp_path / "a.dump")
    assert await found() == ["Stays"]
    await restored(store, tmp_path / "a.dump")
    await store.items.add([paper(3, "Later")], NOW)  # the same arrival as what was undone
    assert await found() == ["Later", "Stays"]


# --- refusals


async def test_it_is_refused_while_a_process_lives(store: PostgresStore, tmp_path: Path) -> None:
    await store.maintenance.backup(tmp_path / "a.dump")
    alive = ProcessState("one", ("make", "deliver"), "1.0", SCHEMA, "host-a", NOW, NOW)
    await store.processes.beat(alive)
    said = await refused(store, tmp_path / "a.dump")
    assert "host-a (make, deliver)" in said
    assert "Stop them first" in said
    await store.processes.remove("one")
    assert await restored(store, tmp_path / "a.dump") is not None


async def test_a_file_that_is_no_backup_or_not_whole_changes_nothing(store: PostgresStore, tmp_path: Path) -> None:
    await store.items.add([paper(number, f"Paper {number}") for number in range(500)], NOW)
    path = tmp_path / "a.dump"
    await store.maintenance.backup(path)
    whole = await asyncio.to_thread(path.read_bytes)
    for part, words in (
        (b"no backup", "is no backup that pg_restore reads"),
        (whole[: len(whole) // 2], "damaged"),
        (whole[:-100], "damaged"),
    ):
        await asyncio.to_thread(path.write_bytes, part)
        assert words in await refused(store, path)
    assert "damaged" in await refused(store, tmp_path / "missing.dump")


async def test_a_backup_of_another_program_or_a_newer_version_changes_nothing(
    store: PostgresStore, address: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.dump"
    newer = f"insert into schema_steps (number, name, oldest_reader) values ({SCHEMA + 1}, 'x', {SCHEMA + 1})"
    await executed(address, newer)
    await store.maintenance.backup(path)
    await executed(address, "delete from schema_steps where name = 'x'")
    assert "made by a newer Broadsheet" in await refused(store, path)
    await store.close()
    await executed(address, "drop schema public cascade", "create schema public", "create table notes (a int)")
    await store.connections.open()
    await store.maintenance.backup(path)
    await store.connections.close()
    await store.open()
    assert "holds no tables of Broadsheet" in await refused(store, path)


async def test_a_restore_that_fails_in_the_middle_changes_nothing(
    store: PostgresStore, address: str, tmp_path: Path
) -> None:
    """What somebody else keeps in the schema and cannot be moved is in the way of what the backup has."""
    await executed(address, "create type kinds as enum ('a')", "create table notes (kind kinds)")
    await store.maintenance.backup(tmp_path / "a.dump")
    said = await refused(store, tmp_path / "a.dump")
    assert said == 'Nothing was restored, all is as it was: type "kinds" already exists.'


async def test_the_programs_that_are_missing_are_named(
    store: PostgresStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, folder, there = tmp_path / "a.dump", tmp_path / "bin", postgres_server.programs()
    folder.mkdir()
    await store.maintenance.backup(path)
    monkeypatch.setenv("PATH", str(folder))
    assert "pg_restore, which is not here; install PostgreSQL's client programs of version" in await refused(store, path)
    reader = folder / "pg_restore"
    reader.write_text(f'#!/bin/sh\nexec {there / "pg_restore"} "$@"\n', "utf-8")
    reader.chmod(0o755)
    said = await refused(store, path)
    assert "psql, which is not here" in said
    assert "postgresql-client-" in said
    reader.write_text("#!/bin/sh\necho 'pg_restore: error: unsupported version (9.9) in file header' >&2\nexit 1\n", "utf-8")
    assert "newer pg_dump than this pg_restore reads" in await refused(store, path)


async def test_a_psql_that_does_not_know_what_pg_restore_writes_is_named(
    store: PostgresStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, writer = tmp_path / "a.dump", tmp_path / "bin" / "psql"
    await store.maintenance.backup(path)
    writer.parent.mkdir()
    writer.write_text("#!/bin/sh\necho 'psql:<stdin>:40: error: invalid command \\restrict' >&2\nexit 3\n", "utf-8")
    writer.chmod(0o755)
    monkeypatch.setenv("PATH", str(writer.parent), prepend=os.pathsep)
    assert "psql is older than pg_restore; install PostgreSQL's client programs" in await refused(store, path)
