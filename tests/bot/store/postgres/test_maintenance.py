"""Upkeep of a database that several processes work on: pruning beside one another, faults, backups by pg_dump."""

import asyncio
import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest

from bot.errors import StoreError
from bot.models import Change, Coverage, Digest, Entry, Feedback, Item, Kind, Ranked, Saved, Summary, Topic
from bot.store.postgres.connections import Db
from bot.store.postgres.maintenance import unreadable
from bot.store.postgres.store import PostgresStore
from tests.bot.store.postgres.opened import executed, two
from tests.conftest import NOW
from tests.stores import postgres_server

DAY = timedelta(days=1)
OLD = NOW - 100 * DAY
FAR = (NOW - 30 * DAY).date()
SUMMARY = Summary((), read="abstract", made_by="model")


def paper(number: int, **changes: object) -> Item:
    plain = Item(key=f"arxiv:{number}", kind=Kind.PAPER, title=f"Paper {number}", abstract="A cache.", seen=OLD)
    return replace(plain, **changes)  # type: ignore[arg-type]


def digest(*items: Item) -> Digest:
    entries = tuple(Entry(Ranked(item, 0.5), SUMMARY) for item in items)
    return Digest("gpu", "GPU", OLD.date(), OLD, OLD, entries, Coverage((), len(items), len(items)))


async def prune(store: PostgresStore) -> dict[str, int]:
    return dict(await store.maintenance.prune(items_before=NOW - 30 * DAY, readings_before=FAR, now=NOW))


# --- pruning


async def test_many_old_items_go_in_parts_and_what_somebody_holds_stays(postgres: str, tmp_path: Path) -> None:
    async with two(postgres, tmp_path) as (one, other):
        items = [paper(number, upvotes=1) for number in range(1300)]
        await one.items.add([*items, paper(9999, aliases=("doi:10.1/held",))], OLD)
        await one.summaries.save("arxiv:700", "model", "aa", SUMMARY, OLD)
        await one.digests.save("T1", "C1", digest(paper(3)), OLD)
        change = Change(workspace="T1", at=OLD, person="U1", what="topic gpu")
        await one.people.save_item("T1", "U1", Saved("arxiv:600", OLD))
        liked = Feedback(workspace="T1", topic="gpu", person="U1", key="arxiv:1200", more=True, at=OLD)
        await one.people.save_feedback(liked, change)
        topic = Topic(name="gpu", title="half \ud83d \x00", examples=("arxiv:1299", "doi:10.1/held"))
        await one.workspaces.save_topic("T1", topic, change, replaces=0)
        assert await prune(other) == {"items": 1296, "readings": 1300}
        left = {item.key for _, item in await one.items.arrived(0)}
        assert left == {"arxiv:3", "arxiv:600", "arxiv:1200", "arxiv:1299", "arxiv:9999"}
        assert await one.summaries.find("arxiv:700", "model", "aa") is None
        assert await one.maintenance.check() == []


async def test_two_that_prune_while_others_write_drop_each_item_once(postgres: str, tmp_path: Path) -> None:
    async with two(postgres, tmp_path) as (one, other):
        await one.items.add([paper(number, upvotes=1) for number in range(1200)], OLD)
        last = await one.items.last_arrival()
        young = [paper(5000 + number, seen=NOW, upvotes=1) for number in range(40)]
        pruned = asyncio.gather(prune(one), prune(other))
        await asyncio.gather(*(other.items.add([item], NOW) for item in young))
        counts = await pruned
        assert sum(each["items"] for each in counts) == 1200
        assert sum(each["readings"] for each in counts) == 1200
        assert sorted(item.key for _, item in await one.items.arrived(0)) == sorted(item.key for item in young)
        assert min(arrival for arrival, _ in await one.items.arrived(0)) > last
        assert await other.maintenance.check() == []


# --- faults

FAULTS = {
    "delete from records where id = 1": "1 items have lost their text.",
    "update records set data = '{\"title\":' where id = 1": "1 items cannot be read.",
    "insert into records values (77, '{}')": "1 texts belong to no item.",
    "insert into aliases values ('doi:1', 77)": "1 aliases belong to no item.",
    "insert into readings values (77, '2026-01-01', 1, 1, 1)": "1 readings belong to no item.",
    "insert into vectors values (77, 1, 0, 2, 3, '\\x0000003c')": "1 vectors belong to no item.",
    "insert into item_changes values (9223372036854775807, 77)": "1 changes are numbered of items that never arrived.",
    "update vectors set change = 9223372036854775807": "1 vectors were written later than the last numbered write.",
    "update vectors set space = 9": "1 vectors are of a space without a name.",
    "insert into gone_vectors values (1, 1)": "1 vectors are there and gone at once.",
    "insert into source_states values ('arxiv', 'nonsense')": "1 source_states cannot be read.",
    "insert into preferences values ('T1', '')": "1 preferences cannot be read.",
    "insert into suppressed values ('T1', 'short', 'bounced', 1)": (
        "1 addresses that are not to be written to cannot be recognised."
    ),
    "insert into deliveries (workspace, id, subscription, day, slot, part, channel, due, state, next_at, data)"
    " values ('T1', 'd', 's', '2026-01-01', 0, 1, 'C1', 1, 'pending', 1, '{}')": "1 deliveries have lost what they say.",
    "insert into deliveries (workspace, id, subscription, day, slot, part, channel, due, state, next_at, data)"
    " values ('T1', 'd', 's', '2026-01-01', 0, 1, 'C1', 1, 'sending', 1, '{}')": (
        "1 deliveries are being sent and nobody's lease on them ends."
    ),
}


@pytest.mark.parametrize("statement", FAULTS)
async def test_each_fault_has_its_sentence(postgres: str, tmp_path: Path, statement: str) -> None:
    async with two(postgres, tmp_path) as (one, _):
        await one.items.add([paper(1)], OLD)
        await one.vectors.save("small-1", [paper(1)], [b"\0\0\0\x3c"], quick=False)
        assert await one.maintenance.check() == []
        await executed(postgres, statement)
        assert FAULTS[statement] in await one.maintenance.check()


@pytest.mark.parametrize("oldest", [True, False])
async def test_a_record_that_is_cut_off_is_counted_on_older_servers_too(postgres: str, tmp_path: Path, oldest: bool) -> None:
    async with two(postgres, tmp_path) as (one, _):
        await one.items.add([paper(1), paper(2)], OLD)
        await executed(postgres, "update records set data = left(data, 20) where id = 1")

        async def counted(db: Db) -> dict[str, int]:
            return {
                sentence: (await rows_of(db, sql))[0][0]
                for sentence, sql in unreadable(140000 if oldest else db.info.server_version)
            }

        counts = await one.connections.read(counted)
        assert {sentence: number for sentence, number in counts.items() if number} == {"{} items cannot be read.": 1}


async def rows_of(db: Db, sql: str) -> list[tuple[Any, ...]]:
    return await (await db.execute(sql.encode())).fetchall()


async def test_a_database_that_cannot_be_looked_through_is_a_fault(postgres: str, tmp_path: Path) -> None:
    store = PostgresStore(postgres, tmp_path)
    assert await store.maintenance.check() == ["The store is not open."]


# --- backups


@pytest.fixture
def path_of_programs(monkeypatch: pytest.MonkeyPatch) -> Path:
    try:
        programs = postgres_server.programs()
    except postgres_server.NoServerError as error:
        pytest.skip(str(error))
    monkeypatch.setenv("PATH", str(programs), prepend=os.pathsep)
    return programs


@pytest.fixture
def second(postgres_address: str, worker_id: str) -> Iterator[str]:
    """Give an empty database beside the other one."""
    name = f"broadsheet_restored_{worker_id}"
    postgres_server.dropped(postgres_address, name)
    yield postgres_server.database(postgres_address, name)
    postgres_server.dropped(postgres_address, name)


async def test_a_backup_made_while_others_write_is_whole_and_can_be_put_back(
    postgres: str, tmp_path: Path, path_of_programs: Path, second: str
) -> None:
    target = tmp_path / "copies" / "broadsheet.backup"
    target.parent.mkdir()
    async with two(postgres, tmp_path) as (one, other):
        await one.items.add([paper(number) for number in range(50)], NOW)
        last = await one.items.last_change()
        writing = asyncio.gather(
            *(other.items.add([paper(at * 10 + each + 50) for each in range(10)], NOW) for at in range(10))
        )
        await one.maintenance.backup(target)
        await writing
        undone = await one.items.last_change()
    assert names_in(target.parent) == [target.name]
    assert target.stat().st_mode & 0o777 == 0o600

    def restore() -> None:
        # A server that is older than the programs refuses a setting of theirs, which changes nothing.
        command = [str(path_of_programs / "pg_restore"), f"--dbname={second}", str(target)]
        subprocess.run(command, check=False, capture_output=True)

    await asyncio.to_thread(restore)
    restored = PostgresStore(second, tmp_path)
    await restored.open()
    count = (await restored.items.counts())["items"]
    assert count in range(50, 151, 10)
    assert await restored.maintenance.check() == []
    await restored.items.add([paper(number) for number in range(300, 303)], NOW)
    changes = await restored.items.changes(last, limit=999)
    assert changes is not None
    assert len(changes) == count - 50 + 3
    assert count == 150 or await restored.items.changes(undone, limit=9) is None
    await restored.close()


def program(folder: Path, *lines: str) -> None:
    """Put a pg_dump there that does something else: it stands for the one of the system."""
    path = folder / "pg_dump"
    path.write_text("\n".join(("#!/bin/sh", *lines, "")), "utf-8")
    path.chmod(0o755)


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


async def refused(store: PostgresStore, target: Path) -> str:
    with pytest.raises(StoreError) as raised:
        await store.maintenance.backup(target)
    assert names_in(target.parent) == []
    return str(raised.value)


async def test_what_is_to_be_installed_is_said_where_pg_dump_is_missing_or_too_old(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, target = tmp_path / "bin", tmp_path / "copies" / "a.backup"
    folder.mkdir()
    target.parent.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    async with two(postgres, tmp_path) as (one, _):
        assert "pg_dump, which is not here; install PostgreSQL's client programs of version" in await refused(one, target)
        program(folder, "echo 'pg_dump: error: aborting because of server version mismatch' >&2", "exit 1")
        assert "pg_dump is older than the server" in await refused(one, target)
        program(folder, "echo 'pg_dump: error: connection to postgresql://me:hunter22@db failed' >&2", "exit 1")
        said = await refused(one, target)
        assert "connection to" in said
        assert "hunter22" not in said
        assert "cannot be written" in await refused(one, tmp_path / "missing" / "a.backup")


async def test_a_password_is_on_no_command_line_and_no_secret_of_ours_is_handed_on(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, target = tmp_path / "bin", tmp_path / "a.backup"
    folder.mkdir()
    seen = tmp_path / "seen"
    program(folder, f'for each in "$@"; do echo "$each" >> {seen}.arguments; done', f"env > {seen}.environment")
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    monkeypatch.setenv("BROADSHEET_SLACK_TOKEN", "hush")
    parts = urlsplit(postgres)
    address = parts._replace(netloc=parts.netloc.replace("broadsheet@", "broadsheet:hunter22@", 1)).geturl()
    store = PostgresStore(address, tmp_path)
    await store.open()
    await store.maintenance.backup(target)
    await store.close()
    arguments, environment = (seen.with_suffix(ending).read_text("utf-8") for ending in (".arguments", ".environment"))
    assert "hunter22" not in arguments
    assert "--no-password" in arguments.splitlines()
    assert "PGPASSWORD=hunter22" in environment.splitlines() or "@" not in postgres
    assert "hush" not in environment


async def test_a_backup_that_is_cancelled_ends_its_program_and_leaves_nothing(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, target, begun = tmp_path / "bin", tmp_path / "copies" / "a.backup", tmp_path / "begun"
    folder.mkdir()
    target.parent.mkdir()
    program(folder, f"echo $$ > {begun}.new", f"mv {begun}.new {begun}", "exec sleep 600")
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    async with two(postgres, tmp_path) as (one, _):
        backup = asyncio.ensure_future(one.maintenance.backup(target))
        while not await asyncio.to_thread(begun.exists):
            assert not backup.done()
            await asyncio.sleep(0.01)
        backup.cancel()
        with pytest.raises(asyncio.CancelledError):
            await backup
    with pytest.raises(ProcessLookupError):
        os.kill(int(begun.read_text("utf-8")), 0)
    assert names_in(target.parent) == []


# --- tidying


async def test_unused_space_is_given_back_and_the_connection_is_as_it_was(postgres: str, tmp_path: Path) -> None:
    async with two(postgres, tmp_path) as (one, _):
        await one.items.add([paper(number) for number in range(500)], OLD)
        await prune(one)
        assert await one.maintenance.vacuum() >= 0
        async with await psycopg.AsyncConnection.connect(one.connections.conninfo()) as fresh:
            usual = await (await fresh.execute("show statement_timeout")).fetchone()
        assert await one.connections.read(lambda db: rows_of(db, "show statement_timeout")) == [usual]
        assert (await one.maintenance.statistics())["bytes"] > 0
