"""The command line on a PostgreSQL database: what it does there, what it refuses, and that it tells no password."""

import asyncio
import json
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, urlsplit

import psycopg
import pytest

from adapters.cli.exits import Exit
from tests.e2e.desk import Desk, Ran
from tests.e2e.test_service import free_port
from tests.fakes.patience import PATIENCE
from tests.stores import postgres_server

PASSWORD = "hunter22/+x"


@dataclass
class Served:
    """A desk whose database is a server's."""

    desk: Desk
    address: str  # with a password, which a server that asks for none takes no notice of
    said: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Where it is, as people are told."""
        parts = urlsplit(self.address)
        return f"{parts.hostname}:{parts.port}{parts.path}"

    async def run(self, *arguments: str, **variables: str) -> Ran:
        if address := variables.pop("address", self.address):
            variables["BROADSHEET_DATABASE"] = address
        ran = await self.desk.run(*arguments, **variables)
        self.said += [ran.out, ran.err]
        return ran

    async def well(self, *arguments: str, **variables: str) -> str:
        """Return what is printed; it has to go well."""
        ran = await self.run(*arguments, **variables)
        assert ran.status == Exit.OK, ran.err
        return ran.out

    async def fails(self, *arguments: str, status: Exit, **variables: str) -> str:
        """Return the sentence; it has to fail so."""
        ran = await self.run(*arguments, **variables)
        assert ran.status == status, ran.out + ran.err
        return ran.err

    async def sql(self, statement: str, *given: object) -> list[tuple[object, ...]]:
        async with await psycopg.AsyncConnection.connect(self.address, autocommit=True) as db:
            cursor = await db.execute(statement.encode(), given)
            return await cursor.fetchall() if cursor.description else []

    def told(self) -> str:
        """Return all that was said."""
        return "".join(self.said)


def with_password(address: str, password: str = PASSWORD) -> str:
    parts = urlsplit(address)
    return parts._replace(netloc=f"{parts.username}:{quote(password, safe='')}@{parts.hostname}:{parts.port}").geturl()


@pytest.fixture
def served(desk: Desk, postgres_address: str, worker_id: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    try:
        monkeypatch.setenv("PATH", str(postgres_server.programs()), prepend=os.pathsep)
    except postgres_server.NoServerError as error:
        pytest.skip(str(error))
    names = [f"broadsheet_line_{worker_id}", f"broadsheet_line_{worker_id}_back"]
    for name in names:
        postgres_server.dropped(postgres_address, name)
    made = Served(desk, with_password(postgres_server.database(postgres_address, names[0])))
    yield made
    for name in names:
        postgres_server.dropped(postgres_address, name)
    for spelt in (PASSWORD, quote(PASSWORD, safe=""), "hunter22"):
        assert spelt not in made.told()


async def test_a_first_day_is_as_on_a_file(served: Served) -> None:
    assert await served.well("db", "migrate") == f"Took the step: tables.\n{served.name} is up to date.\n"
    assert await served.well("db", "migrate") == f"{served.name} is up to date.\n"
    await served.well("collect", "huggingface")
    assert "1." in await served.well("search", "model")
    await served.well("subscribe", "gpu-systems")
    assert "gpu-systems" in await served.well("list")
    await served.well("status")
    assert served.name in await served.well("doctor", "--offline")
    found = json.loads(await served.well("db", "check", "--json"))
    assert found["sound"]
    assert found["counts"]["items"] > 10
    assert found["counts"]["subscriptions"] == 1
    await served.well("db", "embed", BROADSHEET_EMBEDDINGS__USE="fast")
    assert json.loads(await served.well("db", "check", "--json"))["counts"]["vectors"] == found["counts"]["items"]
    assert (await served.well("db", "prune")).startswith("Dropped ")
    assert (await served.well("db", "vacuum")).startswith("Saved ")
    assert "write-ahead log itself" in await served.fails("db", "wal", "keep", status=Exit.USAGE)
    assert not served.desk.database.exists()


async def test_a_backup_is_put_back_and_what_was_there_is_kept(served: Served) -> None:
    await served.well("collect", "huggingface")
    await served.well("subscribe", "gpu-systems")
    before = await served.well("list")
    search = await served.well("search", "model")
    for _ in range(2):
        assert (await served.well("db", "backup", "a.dump")).startswith("Wrote a.dump (")
    other = served.desk.folder / "old.sqlite3"
    other.write_bytes(b"SQLite format 3\0" + bytes(100))
    for kept in ("broadsheet.toml", "old.sqlite3"):
        assert "is no backup of this database" in await served.fails("db", "backup", kept, status=Exit.USAGE)

    await served.well("unsubscribe", "gpu-systems")
    await served.sql("insert into facts values ('heartbeat', '2026-04-01T04:00:00+00:00')")
    restored = await served.well("db", "restore", "--yes", "a.dump")
    ((aside,),) = await served.sql("select nspname from pg_namespace where nspname like 'before%%'")
    assert restored == (
        f"Restored {served.name}. The old one is schema {aside}.\n"
        f"When nobody misses it, drop it by psql: drop schema {aside} cascade;\n"
    )
    assert await served.well("list") == before
    assert await served.well("search", "model") == search
    assert f"when nobody misses it: schema {aside}" in await served.well("doctor", "--offline")
    assert await served.sql("select value from facts where name = 'doubted until'") == [("2026-04-01T04:02:00+00:00",)]
    await served.sql(f"drop schema {aside} cascade")
    assert "schema before" not in await served.well("doctor", "--offline")
    assert json.loads(await served.well("db", "check", "--json"))["sound"]


async def test_what_is_no_backup_or_comes_while_a_process_lives_is_not_put_back(served: Served) -> None:
    await served.well("db", "migrate")
    await served.well("db", "backup", "a.dump")
    said = await served.fails("db", "restore", "--yes", "broadsheet.toml", status=Exit.DATABASE)
    assert "is no backup that pg_restore reads" in said
    await served.sql(
        "insert into processes values ('one', 'clock make', '1', 1, 'host-a', 0,"
        " (extract(epoch from clock_timestamp()) * 1000000)::bigint, '{}')"
    )
    said = await served.fails("db", "restore", "--yes", "a.dump", status=Exit.DATABASE)
    assert f"Processes work on {served.name}: host-a (clock, make). Stop them first" in said
    bare = str(served.desk.folder / "bin")
    said = await served.fails("db", "backup", "b.dump", status=Exit.DATABASE, PATH=bare)
    assert "pg_dump, which is not here; install PostgreSQL's client programs of version" in said
    assert not (served.desk.folder / "b.dump").exists()


async def test_the_process_with_the_clock_makes_backups_that_can_be_put_back(served: Served) -> None:
    kept = served.desk.folder / "kept"
    served.desk.settle(f'[run]\nbackup_dir = "{kept}"\n')
    await served.well("collect", "huggingface")
    address = {"BROADSHEET_DATABASE": served.address}
    for roles, makes in (("deliver", False), ("clock", True)):
        process = await served.desk.start("-v", "run", "--roles", roles, **address)
        try:
            async with asyncio.timeout(PATIENCE):
                while not (list(kept.glob("*.dump")) if makes else await served.sql("select 1 from processes")):
                    assert process.returncode is None
                    await asyncio.sleep(0.05)
        finally:
            process.send_signal(signal.SIGTERM)
            served.said += [each.decode() for each in await process.communicate()]
        assert kept.exists() == makes
    (made,) = kept.glob("broadsheet-*.dump")
    assert "ok    backups: 1 in" in await served.well("doctor", "--offline")
    assert "Restored" in await served.well("db", "restore", "--yes", str(made))
    assert json.loads(await served.well("db", "check", "--json"))["counts"]["items"] > 10


async def test_it_is_copied_to_a_file_and_back(served: Served, postgres_address: str, worker_id: str) -> None:
    await served.well("collect", "huggingface")
    await served.well("subscribe", "gpu-systems")
    listed = await served.well("list")
    file = str(served.desk.folder / "file.sqlite3")
    there = json.loads(await served.well("db", "copy", "settings", file, "--json"))
    assert there["differences"] == 0
    assert await served.well("list", address=file) == listed
    assert json.loads(await served.well("db", "check", "--json", address=file))["sound"]
    back = with_password(postgres_server.database(postgres_address, f"broadsheet_line_{worker_id}_back"))
    again = json.loads(await served.well("db", "copy", file, back, "--json"))
    assert again["differences"] == 0
    assert again["rows"] >= there["rows"]
    assert await served.well("list", address=back) == listed


async def test_a_server_or_a_database_that_is_not_there_is_named(served: Served) -> None:
    parts = urlsplit(served.address)
    away = parts._replace(netloc=f"{parts.username}:{PASSWORD}@127.0.0.1:{free_port()}".replace("/", "%2F")).geturl()
    said = await served.fails("db", "migrate", status=Exit.DATABASE, address=away)
    assert "cannot be reached; is the server up?" in said
    for arguments in (
        ("status",),
        ("db", "check"),
        ("db", "backup", "a.dump"),
        ("db", "restore", "--yes", "broadsheet.toml"),
    ):
        assert "cannot be reached" in await served.fails(*arguments, status=Exit.DATABASE, address=away)
    missing = parts._replace(path="/nowhere").geturl()
    said = await served.fails("db", "migrate", status=Exit.DATABASE, address=missing)
    assert "/nowhere or its user does not exist; make them with `createuser` and `createdb`." in said


async def test_a_database_of_a_newer_version_is_refused_until_a_backup_is_put_back(served: Served) -> None:
    await served.well("db", "migrate")
    await served.well("db", "backup", "a.dump")
    await served.sql("insert into schema_steps (number, name, oldest_reader) values (999, 'later', 999)")
    for arguments in (("db", "migrate"), ("status",), ("doctor", "--offline")):
        said = await served.fails(*arguments, status=Exit.DATABASE)
        assert "upgraded by a newer Broadsheet" in said
    await served.well("db", "restore", "--yes", "a.dump")
    await served.well("status")


async def test_a_wrong_password_is_told_and_not_shown_and_the_right_one_reaches_the_programs(
    served: Served, tmp_path: Path
) -> None:
    server = await asyncio.to_thread(postgres_server.start)
    try:
        await asyncio.to_thread(asking_for_passwords, server)
        address = server.address.replace("broadsheet@", "papers@").replace("/postgres", "/papers")
        right, wrong = with_password(address), with_password(address, "hunter22-wrong")
        for arguments in (("db", "migrate"), ("db", "backup", "a.dump"), ("doctor", "--offline")):
            said = await served.fails(*arguments, status=Exit.DATABASE, address=wrong)
            assert "does not take the user or the password" in said
        await served.well("db", "migrate", address=right)
        await served.well("db", "backup", "a.dump", address=right)
        await served.well("db", "restore", "--yes", "a.dump", address=right)
        file = tmp_path / "address"
        file.write_text(right)
        await served.well("status", address="", BROADSHEET_DATABASE_FILE=str(file))
        assert not served.desk.database.exists()
    finally:
        await asyncio.to_thread(server.remove)


def asking_for_passwords(server: postgres_server.Server) -> None:
    """Make a database with a user who may do nothing else, and have everybody asked for a password from then on."""
    with psycopg.connect(server.address, autocommit=True) as db:
        db.execute(f"create role papers login password '{PASSWORD}' nosuperuser nocreatedb nocreaterole".encode())
        db.execute("create database papers owner papers")
        (server.folder / "data" / "pg_hba.conf").write_text("host all all 127.0.0.1/32 scram-sha-256\n", "ascii")
        db.execute("select pg_reload_conf()")
        while db.execute("select count(*) from pg_hba_file_rules").fetchone() != (1,):
            pass
