"""What the SQLite store does when its surroundings fail it."""

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlite_utils import Database

from bot.errors import StoreError
from bot.models import And, Item, Kind, Query, Release, SourceState, Term
from bot.store.sqlite import ingest
from bot.store.sqlite.connections import connect
from bot.store.sqlite.locks import turn_lock
from bot.store.sqlite.migrations import migrations
from bot.store.sqlite.store import SqliteStore
from tests.contract.records import records
from tests.contract.test_ledger import subscribed

NOW = datetime(2026, 4, 1, 7, tzinfo=UTC)
EVERYTHING = And(())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "broadsheet.db"


@pytest.fixture
async def store(path: Path) -> AsyncIterator[SqliteStore]:
    made = SqliteStore(path)
    await made.open()
    yield made
    await made.close()


def many(number: int, start: int = 0) -> list[Item]:
    text = "a sentence about caches and kernels " * 30
    return [
        Item(key=f"arxiv:2604.{at:05}", kind=Kind.PAPER, title=f"Paper {at}", abstract=f"{text} {at}", seen=NOW)
        for at in range(start, start + number)
    ]


async def test_the_version_stays_while_nothing_is_written_whoever_would(store: SqliteStore, path: Path) -> None:
    await store.items.add(many(3), NOW)
    before = await store.facts.version()
    await store.items.find(["arxiv:2604.00001"])
    await store.digests.past("slack:T1", "C1")
    assert await store.facts.version() == before
    beside = SqliteStore(path)
    await beside.open()
    assert await beside.facts.version() == before
    await beside.facts.set("a", "b")
    after = await beside.facts.version()
    assert after == await store.facts.version() != before
    await beside.close()


def python(code: str, *arguments: object) -> subprocess.Popen[str]:
    """Start a process that runs the code with the store imported."""
    head = """
        import asyncio, os, resource, sqlite3, sys
        from datetime import UTC, datetime
        from pathlib import Path
        from bot.errors import StoreError
        from bot.models import *
        from bot.store.sqlite.store import SqliteStore
        from tests.bot.store.sqlite.test_store import EVERYTHING, NOW, many
        path = Path(sys.argv[1])
    """
    command = [sys.executable, "-c", textwrap.dedent(head) + textwrap.dedent(code), *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[4])


async def answer(process: subprocess.Popen[str]) -> str:
    output, _ = await asyncio.to_thread(process.communicate, timeout=60)
    assert process.returncode == 0
    return output.strip()


def content_of(path: Path) -> bytes:
    return path.read_bytes()


def put(path: Path, content: bytes) -> None:
    path.write_bytes(content)


# --- one service, many visitors


async def test_a_second_service_on_one_file_is_refused_until_the_first_has_gone(path: Path) -> None:
    first, second = SqliteStore(path, exclusive=True), SqliteStore(path, exclusive=True)
    await first.open()
    with pytest.raises(StoreError, match=rf"process {os.getpid()}.*already running"):
        await second.open()
    await first.close()
    await second.open()
    await second.close()


async def test_a_second_service_in_another_process_is_refused(path: Path) -> None:
    store = SqliteStore(path, exclusive=True)
    await store.open()
    told = await answer(
        python(
            """
            try:
                asyncio.run(SqliteStore(path, exclusive=True).open())
            except StoreError as error:
                print(error)
            """,
            path,
        )
    )
    assert "already running" in told
    await store.close()


async def test_a_visitor_reads_and_writes_beside_the_service(path: Path) -> None:
    service = SqliteStore(path, exclusive=True)
    await service.open()
    await service.items.add(many(3), NOW)
    other = python(
        """
        async def main():
            store = SqliteStore(path)
            await store.open()
            for number in range(20):
                await store.summaries.spend(NOW.date(), 1)
            print(await store.index.count(EVERYTHING, NOW))
            await store.close()
        asyncio.run(main())
        """,
        path,
    )
    for _ in range(20):
        await service.summaries.spend(NOW.date(), 1)
    assert await answer(other) == "3"
    assert await service.summaries.spent(NOW.date()) == 40
    await service.close()


async def test_another_process_reads_whole_batches_only_while_we_write(store: SqliteStore, path: Path) -> None:
    reader = python(
        """
        async def main():
            store = SqliteStore(path)
            await store.open()
            counts = set()
            while 600 not in counts:
                counts.add(await store.index.count(EVERYTHING, NOW))
                page = await store.index.search(Query("", Term("caches")), NOW, limit=700)
                counts.add(len(page.hits))
            await store.close()
            print(*sorted(counts))
        asyncio.run(main())
        """,
        path,
    )
    for at in range(0, 600, 60):
        await store.items.add(many(60, at), NOW)
    counts = set(map(int, (await answer(reader)).split()))
    assert counts <= set(range(0, 601, 60))


# --- failures


async def test_a_process_killed_while_writing_leaves_whole_batches_and_a_sound_file(path: Path) -> None:
    for delay in (0.0, 0.05, 0.15):
        writer = python(
            """
            async def main():
                store = SqliteStore(path)
                await store.open()
                start = await store.index.count(EVERYTHING, NOW)
                print("ready", flush=True)
                for at in range(start, 90_000, 300):
                    await store.items.add(many(300, at), NOW, state=SourceState(name="arxiv", watermark=str(at + 300)))
            asyncio.run(main())
            """,
            path,
        )
        assert writer.stdout is not None
        await asyncio.to_thread(writer.stdout.readline)
        await asyncio.sleep(delay)
        writer.send_signal(signal.SIGKILL)
        await asyncio.to_thread(writer.communicate)
        store = SqliteStore(path, exclusive=True)
        await store.open()
        number = await store.index.count(EVERYTHING, NOW)
        assert number % 300 == 0
        assert (await store.source_states.get("arxiv")).watermark == (str(number) if number else "")
        assert await store.maintenance.check() == []
        await store.close()


async def test_a_full_disk_is_told_loses_nothing_and_is_got_over(store: SqliteStore) -> None:
    await store.items.add(many(20), NOW)

    async def cap(pages: int) -> None:
        await store.connections.bare(lambda db: db.execute(f"pragma max_page_count = {pages}").fetchall())

    await cap(1)  # SQLite makes it the present size
    with pytest.raises(StoreError, match="is full; make room"):
        await store.items.add(many(2000, 20), NOW, state=SourceState(name="arxiv", watermark="x"))
    assert await store.index.count(EVERYTHING, NOW) == 20
    assert (await store.source_states.get("arxiv")).watermark == ""
    await cap(1_000_000)
    await store.items.add(many(2000, 20), NOW)
    assert await store.index.count(Term("caches"), NOW) == 2020
    assert await store.maintenance.check() == []


async def test_a_file_that_may_not_grow_is_told_in_a_sentence(path: Path) -> None:
    told = await answer(
        python(
            """
            import signal
            async def main():
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                store = SqliteStore(path)
                await store.open()
                await store.items.add(many(10), NOW)
                resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, resource.RLIM_INFINITY))
                try:
                    await store.items.add(many(3000, 10), NOW)
                except StoreError as error:
                    print(error)
                resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
                await store.items.add(many(3000, 10), NOW)
                print(await store.index.count(EVERYTHING, NOW), await store.maintenance.check())
                await store.close()
            asyncio.run(main())
            """,
            path,
        )
    )
    sentence, rest = told.splitlines()
    assert sentence.startswith("The disk with ")
    assert rest == "3010 []"


async def test_a_database_that_another_program_holds_is_waited_for_and_then_told(store: SqliteStore, path: Path) -> None:
    await store.connections.bare(lambda db: db.execute("pragma busy_timeout = 50").fetchall())
    other = sqlite3.connect(path)
    other.execute("begin exclusive")
    with pytest.raises(StoreError, match="Another program has kept"):
        await store.facts.set("a", "1")
    other.rollback()
    other.close()
    await store.facts.set("a", "2")
    assert await store.facts.get("a") == "2"


def test_a_turn_that_another_process_keeps_is_told_after_the_patience_is_over(tmp_path: Path) -> None:
    mine, theirs = turn_lock(tmp_path / "a.db"), turn_lock(tmp_path / "a.db")
    with mine.turn():
        with pytest.raises(StoreError, match="Another process has been writing"), theirs.turn(0.02):
            pass
    with theirs.turn(0.02):
        pass
    mine.close()
    theirs.close()


async def test_a_database_of_a_newer_version_is_refused_and_left_as_it_is(store: SqliteStore, path: Path) -> None:
    await store.items.add(many(1), NOW)
    await store.close()
    with sqlite3.connect(path) as plain:
        plain.execute(
            "insert into _sqlite_migrations (migration_set, name, applied_at) values ('broadsheet', 'm999_wonders', '')"
        )
    plain.close()
    before = content_of(path)
    with pytest.raises(StoreError, match=r"newer Broadsheet.*m999_wonders"):
        await SqliteStore(path).open()
    assert content_of(path) == before


def sixth_edition(path: Path) -> set[str]:
    """Make a database as the sixth schema has it, and return the names of the migrations that it knows."""
    path.parent.mkdir()
    db = connect(path)
    migrations.apply(db, stop_before="m007_releases")
    db.conn.commit()
    db.close()
    return migrations_of(path)


def migrations_of(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as plain:
        return {name for (name,) in plain.execute("select name from _sqlite_migrations")}


async def test_a_version_that_knows_no_releases_has_a_migration_to_refuse_a_database_with_them_by(path: Path) -> None:
    known = await asyncio.to_thread(sixth_edition, path)
    store = SqliteStore(path)
    await store.open()
    item = Item(key="github:a/b", kind=Kind.REPO, title="a/b", release=Release(tag="v1", published=NOW))
    await store.items.add([item], NOW)
    assert (await store.items.find(["github:a/b"])).keys() == {"github:a/b"}
    assert await store.maintenance.check() == []
    await store.close()
    assert await asyncio.to_thread(migrations_of, path) - known >= {"m007_releases"}


async def test_a_file_of_another_program_is_refused_and_left_as_it_is(path: Path) -> None:
    path.parent.mkdir()
    with sqlite3.connect(path) as plain:
        plain.execute("create table items (id integer)")
    plain.close()
    before = content_of(path)
    with pytest.raises(StoreError, match="another program"):
        await SqliteStore(path).open()
    assert content_of(path) == before


@pytest.mark.parametrize(
    "content", [b"this is not a database at all, but it is long enough to be looked at" * 20, b"PK\x03\x04"]
)
async def test_a_file_that_is_no_database_is_told_and_left_as_it_is(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    put(path, content)
    with pytest.raises(StoreError, match="is not a database"):
        await SqliteStore(path).open()
    assert content_of(path) == content


async def test_a_damaged_file_is_told_and_found_by_the_check(store: SqliteStore, path: Path) -> None:
    await store.items.add(many(800), NOW)
    await store.maintenance.vacuum()
    await store.close()
    content = bytearray(content_of(path))
    for at in range(100 * 4096, len(content) - 4096, 3 * 4096):
        content[at : at + 2000] = b"\xff" * 2000
    put(path, bytes(content))
    damaged = SqliteStore(path)
    await damaged.open()
    assert await damaged.maintenance.check() != []
    with pytest.raises(StoreError, match="damaged"):
        await damaged.items.arrived(0)
    await damaged.close()


async def test_what_an_earlier_version_wrote_in_other_words_is_still_what_was_read(store: SqliteStore) -> None:
    await store.items.add(many(1), NOW)

    def respell(db: Database) -> None:
        (text,) = db.execute("select data from records").fetchone()
        db.execute("update records set data = ?", [json.dumps(json.loads(text), indent=1, sort_keys=True)])

    await store.connections.write(respell)
    known = await store.items.find([many(1)[0].key])

    assert await store.items.add([replace(many(1)[0], stars=7)], NOW, known=known)


@pytest.mark.parametrize("text", ["", "{", "[]", "7", "{}", '{"kind": "pamphlet"}', '{"kind": "paper", "shape": 1}'])
async def test_a_damaged_record_is_told_and_harms_no_other(store: SqliteStore, text: str) -> None:
    await store.items.add(many(3), NOW)
    await store.source_states.save(SourceState(name="arxiv"))

    def spoil(db: Database) -> None:
        db.execute("update records set data = ? where id = 2", [text])
        db.execute("update source_states set data = ?", [text])

    await store.connections.write(spoil)
    keys = [item.key for item in many(3)]
    for asked in (
        store.items.find(keys),
        store.items.arrived(0),
        store.source_states.get("arxiv"),
    ):
        with pytest.raises(StoreError, match=r"record is damaged.*restore a backup"):
            await asked
    with pytest.raises(StoreError, match="record is damaged"):
        await store.index.search(Query("", Term("caches")), NOW)
    assert set(await store.items.find([keys[0], keys[2]])) == {keys[0], keys[2]}
    assert await store.maintenance.check() == (["1 items cannot be read."] if text in ("", "{") else [])
    await store.items.add(many(3), NOW)
    assert len(await store.items.find(keys)) == 3


@pytest.mark.parametrize("ending", ["data", "data/broadsheet.db"])
async def test_a_path_that_cannot_be_used_is_told(tmp_path: Path, ending: str) -> None:
    (tmp_path / ending).mkdir(parents=True)
    (tmp_path / "file").write_text("", "utf-8")
    for bad in (tmp_path / "file" / "broadsheet.db", tmp_path / ending):
        with pytest.raises(StoreError, match=r"cannot be (used|opened|written)"):
            await SqliteStore(bad).open()


async def test_what_may_not_be_written_is_told(store: SqliteStore, path: Path) -> None:
    await store.items.add(many(3), NOW)

    await store.connections.bare(lambda db: db.execute("pragma query_only = on").fetchall())
    with pytest.raises(StoreError, match="cannot be written; check the owner"):
        await store.facts.set("a", "1")
    assert await store.index.count(EVERYTHING, NOW) == 3


async def test_a_store_that_is_not_open_says_so(path: Path) -> None:
    store = SqliteStore(path)
    for asked in (
        store.facts.get("a"),
        store.facts.set("a", "b"),
        store.maintenance.vacuum(),
        store.items.find(["a"]),
        store.items.add([], NOW),
    ):
        with pytest.raises(StoreError, match="not open"):
            await asked
    await store.close()


async def test_a_half_character_in_a_key_is_told_and_nothing_of_its_batch_stays(store: SqliteStore) -> None:
    broken = replace(many(1)[0], key="url:\ud83d")
    with pytest.raises(StoreError, match="half of a character"):
        await store.items.add([*many(2), broken], NOW)
    assert await store.index.count(EVERYTHING, NOW) == 0


async def test_a_fault_in_folding_leaves_nothing_of_its_batch(store: SqliteStore) -> None:
    broken = replace(many(1)[0], key="arxiv:broken", title=None)  # type: ignore[arg-type]
    with pytest.raises(AttributeError):
        await store.items.add([*many(1200), broken], NOW, state=SourceState(name="arxiv", watermark="x"))
    assert await store.index.count(EVERYTHING, NOW) == 0
    assert (await store.source_states.get("arxiv")).watermark == ""
    await store.items.add(many(2), NOW)
    assert await store.index.count(EVERYTHING, NOW) == 2


async def test_a_task_that_is_cancelled_while_it_writes_harms_nobody(store: SqliteStore) -> None:
    writing = asyncio.create_task(store.items.add(many(1500), NOW))
    await asyncio.sleep(0.02)
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    await store.items.add(many(10, 1500), NOW)
    assert await store.index.count(EVERYTHING, NOW) in (10, 1510)
    assert await store.maintenance.check() == []


# --- the search index


async def test_counts_that_change_daily_leave_the_search_index_untouched(store: SqliteStore) -> None:
    await store.items.add(many(50), NOW)

    async def written() -> int:
        return int(
            await store.connections.read(lambda db: db.execute("select sum(length(block)) from words_data").fetchone()[0])
        )

    before = await written()
    await store.items.add([replace(item, upvotes=7) for item in many(50)], NOW)
    assert await written() == before
    await store.items.add([replace(item, title="Other") for item in many(50)], NOW)
    assert await written() > before
    assert await store.maintenance.check() == []


async def test_an_index_made_by_other_rules_is_made_anew_when_the_store_opens(store: SqliteStore, path: Path) -> None:
    await store.items.add(records(), NOW)
    asked = Query("", Term("model"))
    before = await store.index.search(asked, NOW, limit=50)
    await store.facts.set("index", "an older folding")

    def spoil(db: Database) -> None:
        db.execute("insert into words (words) values ('delete-all')")
        db.execute("update items set fingerprint = 1")

    await store.connections.write(spoil)
    assert (await store.index.search(asked, NOW)).hits == ()
    await store.close()
    await store.open()
    assert await store.index.search(asked, NOW, limit=50) == before
    assert await store.facts.get("index") == ingest.INDEX_VERSION
    assert await store.maintenance.check() == []


async def test_an_index_out_of_step_is_found_by_the_check(store: SqliteStore) -> None:
    await store.items.add(many(5), NOW)
    await store.connections.write(lambda db: db.execute("delete from items where id = 1").fetchall())
    faults = await store.maintenance.check()
    assert "1 entries of the search index belong to no item." in faults
    assert "1 texts belong to no item." in faults


async def test_what_is_wrong_with_addresses_is_found_by_the_check(store: SqliteStore) -> None:
    def spoil(db: Database) -> None:
        values = "'slack:T1', 'me@lab.example', 'You@lab.example', 'U1', 0, 1, 0, null, ''"
        db.execute(f"insert into recipients values ('mail:1.2', {values})")
        opt_in = "'slack:T1', 'U1', 'short', '', 0, 'code', 'subscribe kv', 1, 2, 1, 0"
        db.execute(f"insert into opt_ins values ({opt_in})")
        db.execute("insert into suppressed values ('', 'short', 'complained', 1)")
        db.execute("insert into suppressed values ('', ?, 'bored', 1)", ["0" * 64])

    assert await store.maintenance.check() == []
    await subscribed(store, workspace="slack:T1", channel="mail:gone.2")
    await store.connections.write(spoil)
    assert await store.maintenance.check() == [
        "1 recipients of mail cannot be found by their address.",
        "1 subscriptions by e-mail have no recipient: nothing is sent for them.",
        "1 codes that were sent by mail cannot be read.",
        "2 addresses that are not to be written to cannot be recognised.",
    ]
    await store.recipients.key()
    assert (await store.maintenance.check())[-1] == "2 addresses that are not to be written to cannot be recognised."


async def test_an_item_indexed_by_other_rules_mends_the_index_when_it_changes(store: SqliteStore) -> None:
    await store.items.add(many(5), NOW)
    await store.connections.write(lambda db: db.execute("update items set fingerprint = 1 where id = 2").fetchall())
    await store.items.add([replace(many(5)[1], title="Changed")], NOW)
    assert await store.maintenance.check() == []
    assert await store.index.count(Term("changed"), NOW) == 1
    assert await store.index.count(Term("caches"), NOW) == 5


async def test_an_index_mended_in_the_middle_of_a_batch_loses_none_of_its_items(store: SqliteStore) -> None:
    await store.items.add(many(5), NOW)
    await store.connections.write(lambda db: db.execute("update items set fingerprint = 1 where id = 2").fetchall())
    new = many(2 * ingest.CHUNK, 5)
    await store.items.add([*new[: ingest.CHUNK + 7], replace(many(5)[1], title="Changed"), *new[ingest.CHUNK + 7 :]], NOW)
    assert await store.maintenance.check() == []
    assert await store.index.count(Term("changed"), NOW) == 1
    assert await store.index.count(Term("caches"), NOW) == 5 + len(new)


async def test_the_version_of_sqlite_is_told(store: SqliteStore) -> None:
    assert store.sqlite_version == sqlite3.sqlite_version
