"""The archive in SQL: what an older database has of it, and that nothing is read but what is shown."""

import asyncio
import json
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path

from sqlite_utils import Database

from bot.store.records import digest_to_text, micros
from bot.store.sqlite.connections import connect
from bot.store.sqlite.digests import SqliteArchive
from bot.store.sqlite.migrations import migrations
from bot.store.sqlite.store import SqliteStore
from tests.conftest import NOW
from tests.contract.made import digest, paper
from tests.stores.direct import Direct, answer

DAY, TODAY = timedelta(days=1), NOW.date()


_CASES = ("done", "pending", "failed", "forgotten", "empty")  # what became of the digest of each day
_DIGEST = "insert into digests (workspace, channel, topic, day, until, saved, data) values ('T1', 'C1', 'kv', ?, 0, ?, ?)"
_DELIVERY = (
    "insert into deliveries (workspace, id, subscription, day, slot, part, channel, due, state, next_at, message, data)"
    " values ('T1', ?, 's1', ?, 0, 1, 'C1', 0, ?, 0, '', ?)"
)


def _older(path: Path) -> None:
    db = connect(path)
    migrations.apply(db, stop_before="m018_archive")
    for number, case in enumerate(_CASES):
        at = NOW + number * DAY
        made = digest(*(() if case == "empty" else (0.5,)), first=number + 1, day=at.date())
        db.execute(_DIGEST, [at.date().isoformat(), micros(at), digest_to_text(made)])
        if case in ("done", "pending", "failed"):
            record = {"topic": "kv", "made_at": at.isoformat(), "link": f"https://chat.example/{case}"}
            db.execute(_DELIVERY, [case, at.date().isoformat(), case, json.dumps(record)])
    for damaged in ("{", "[]"):
        db.execute(_DIGEST, ["2026-04-01", 0, damaged])
    db.conn.commit()
    db.close()


async def test_the_digests_of_an_older_database_are_read_that_were_posted(tmp_path: Path) -> None:
    await asyncio.to_thread(_older, tmp_path / "old.db")
    store = SqliteStore(tmp_path / "old.db")
    await store.open()
    days = await store.archive.days("T1", ["C1"], "kv")
    assert [each.day for each in days] == [TODAY + 3 * DAY, TODAY]
    (first,) = await store.archive.digests("T1", ["C1"], "kv", TODAY)
    (forgotten,) = await store.archive.digests("T1", ["C1"], "kv", TODAY + 3 * DAY)
    assert (first.links, forgotten.links) == (("https://chat.example/done",), ("",))
    assert first.digest.entries[0].ranked.item == paper(1)
    await store.close()


_FILL = """
with recursive
    channels (c) as (select 1 union all select c + 1 from channels where c < 3),
    topics (t) as (select 1 union all select t + 1 from topics where t < 4),
    days (d) as (select 0 union all select d + 1 from days where d < {days} - 1)
insert into digests (workspace, channel, topic, day, until, saved, data)
    select 'T' || w.value, 'C' || c, 't' || t, date('2026-04-01', '-' || d || ' days'), 0, 1000000 - d, {data}
    from json_each('[1, 2]') w, channels, topics, days
"""
_READ = "select id, workspace, channel, topic, topic, day, saved, 1, topic || day, 1, '' from digests"
_ITEMS = """
with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < {count})
insert into posted (workspace, channel, key, digest, saved) select 'T1', 'C1', 'arxiv:' || n, 1, 0 from numbers
"""


def asked(archive: SqliteArchive) -> Iterator[Sequence[object]]:
    """What pages ask for, but how many days a topic had: those are counted."""
    both = ["C1", "C2"]
    yield answer(archive.channels("T1"))
    yield answer(archive.days("T1", both, "t1"))
    yield answer(archive.days("T1", both, "t1", before=TODAY - 10 * DAY))
    yield answer(archive.digests("T1", both, "t1", TODAY - 3 * DAY))
    yield answer(archive.postings("T1", both, ["arxiv:5"]))


def steps(db: Database) -> list[int]:
    """How many steps of SQLite's machine each takes, in tens."""
    counted: list[None] = []
    db.conn.set_progress_handler(lambda: counted.append(None), 10)
    found, before = [], 0
    for rows in asked(SqliteArchive(Direct(db))):
        assert rows
        found.append(len(counted) - before)
        before = len(counted)
    db.conn.set_progress_handler(None, 0)
    return found


async def test_of_years_of_digests_and_a_hundred_thousand_items_only_what_is_shown_is_read(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "filled.db")
    await store.open()
    await store.close()

    def count() -> list[list[int]]:
        db, found = connect(store.path), list[list[int]]()
        for days, items in ((40, 100), (400, 100_000)):
            for table in ("digests", "archive", "posted"):
                db.execute(f"delete from {table}")
            db.execute(_FILL.format(days=days, data="?"), [digest_to_text(digest(0.5))])
            db.execute(f"insert into archive {_READ}")
            db.execute(_ITEMS.format(count=items))
            db.conn.commit()
            found.append(steps(db))
        db.close()
        return found

    few, many = await asyncio.to_thread(count)
    assert all(much <= 1.2 * little + 5 for little, much in zip(few, many, strict=True))
