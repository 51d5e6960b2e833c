"""What workspaces made, on the disk: upgraded, copied, damaged, and written by two programs at once."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlite_utils import Database

from bot.errors import Conflict, StoreError
from bot.models import (
    Change,
    Coverage,
    Digest,
    Entry,
    Feedback,
    Item,
    Kind,
    Posting,
    Preferences,
    Ranked,
    Saved,
    Summary,
    Topic,
)
from bot.store.records import digest_to_text, item_to_text, micros
from bot.store.sqlite.connections import connect
from bot.store.sqlite.migrations import migrations
from bot.store.sqlite.store import SqliteStore
from tests.contract.made import FULL_SUBSCRIPTION, FULL_TOPIC, KEYS

NOW = datetime(2026, 4, 1, 7, tzinfo=UTC)
DAY = timedelta(days=1)
CHANGE = Change(workspace="T1", at=NOW, person="U1", what="topic kv-cache", before="a", after="b")
SAID = Feedback(workspace="T1", topic="kv-cache", person="U1", key=KEYS[0], more=True, at=NOW, channel="C1")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "broadsheet.db"


@pytest.fixture
async def store(path: Path) -> AsyncIterator[SqliteStore]:
    made = SqliteStore(path)
    await made.open()
    yield made
    await made.close()


def paper(number: int) -> Item:
    return Item(key=f"arxiv:2604.{number:05}", kind=Kind.PAPER, title=f"Paper {number}", seen=NOW - 100 * DAY)


def digest(topic: str, *items: Item, partner: Item | None = None) -> Digest:
    entries = tuple(Entry(Ranked(item, 0.5), Summary((), "abstract", "extractive"), partner) for item in items)
    return Digest(topic, topic, NOW.date(), NOW - DAY, NOW, entries, Coverage((), len(items), len(items)))


async def fill(store: SqliteStore) -> None:
    await store.workspaces.save_topic("T1", FULL_TOPIC, CHANGE, replaces=0)
    await store.workspaces.save_subscription(FULL_SUBSCRIPTION, CHANGE, replaces=0)
    await store.people.save_feedback(SAID, CHANGE)
    await store.people.save_item("T1", "U1", Saved(KEYS[0], NOW))
    await store.workspaces.save_preferences("T1", Preferences(manage="admins"), CHANGE)


# --- from the first edition


def first_edition(path: Path) -> None:
    """Write a database as the first schema has it: three digests of one moment, one of them damaged, and a lost one."""
    db = connect(path)
    migrations.apply(db, stop_before="m002_workspaces")
    code = Item(key="github:a/b", kind=Kind.REPO, title="a/b")
    digests = [
        ("kv", digest_to_text(digest("kv", paper(1), paper(2)))),
        ("gpu", digest_to_text(digest("gpu", paper(3), partner=code))),
        ("bad", "{"),
    ]
    for topic, data in digests:
        row = ["local", "terminal", topic, "2026-04-01", micros(NOW), micros(NOW), data]
        db.execute(
            "insert into digests (workspace, channel, topic, day, until, saved, data) values (?, ?, ?, ?, ?, ?, ?)", row
        )
    for item in (paper(1), paper(2), paper(3), code, paper(4)):
        db.execute("insert into posted values ('local', 'terminal', ?, ?)", [item.key, micros(NOW)])
    row = [paper(4).key, "paper", micros(NOW - 100 * DAY), micros(NOW - 100 * DAY)]
    db.execute("insert into items (id, key, kind, seen, newest, fingerprint) values (1, ?, ?, ?, ?, 0)", row)
    db.execute("insert into records values (1, ?)", [item_to_text(paper(4))])
    db.conn.commit()
    db.close()


async def test_a_database_of_the_first_edition_keeps_what_it_posted_and_learns_from_which_digest(path: Path) -> None:
    await asyncio.to_thread(first_edition, path)
    store = SqliteStore(path)
    await store.open()
    keys = [paper(number).key for number in range(1, 5)]
    assert await store.digests.posted("local", "terminal") == {*keys, "github:a/b"}
    found = {each.key: each for each in await store.digests.postings("local", "terminal", [*keys, "github:a/b"])}
    assert found == {
        keys[0]: Posting(keys[0], "kv", NOW.date(), NOW, 0.5),
        keys[1]: Posting(keys[1], "kv", NOW.date(), NOW, 0.5),
        keys[2]: Posting(keys[2], "gpu", NOW.date(), NOW, 0.5),
        "github:a/b": Posting("github:a/b", "gpu", NOW.date(), NOW, None),
        keys[3]: Posting(keys[3], "", NOW.date(), NOW, None),
    }
    assert (await store.maintenance.prune(items_before=NOW, readings_before=NOW.date(), now=NOW))["items"] == 0
    await store.close()


async def test_a_database_of_the_first_edition_takes_what_workspaces_make(path: Path) -> None:
    await asyncio.to_thread(first_edition, path)
    store = SqliteStore(path)
    await store.open()
    assert await store.maintenance.check() == ["1 digests cannot be read."]
    assert await store.workspaces.topics("local") == {}
    await fill(store)
    await store.digests.save("local", "terminal", digest("kv", paper(1)), NOW + DAY)
    found = await store.digests.postings("local", "terminal", [paper(1).key])
    assert [each.at for each in found] == [NOW + DAY, NOW]
    assert [each.entries for each in await store.digests.past("local", "terminal", limit=1)] == [(paper(1).key,)]
    await store.close()


# --- copied, and shared


async def test_a_backup_carries_what_workspaces_made(store: SqliteStore, path: Path, tmp_path: Path) -> None:
    await fill(store)
    await store.digests.save("T1", "C1", digest("kv-cache", paper(1)), NOW)
    await store.maintenance.backup(tmp_path / "copy.db")
    await store.workspaces.delete_topic("T1", "kv-cache", CHANGE, replaces=1)
    await store.close()
    await asyncio.to_thread(SqliteStore(path).maintenance.restore, tmp_path / "copy.db", NOW)
    again = SqliteStore(path)
    await again.open()
    assert await again.workspaces.topics("T1") == {"kv-cache": FULL_TOPIC}
    assert await again.workspaces.subscriptions("T1") == [FULL_SUBSCRIPTION]
    assert await again.people.feedback("T1", "kv-cache") == [SAID]
    assert await again.people.saved("T1", "U1") == [Saved(KEYS[0], NOW)]
    assert await again.workspaces.preferences("T1") == Preferences(manage="admins")
    assert await again.workspaces.changes("T1") == [CHANGE] * 4
    assert [each.topic for each in await again.digests.postings("T1", "C1", [paper(1).key])] == ["kv-cache"]
    assert await again.maintenance.check() == []
    await again.close()


async def test_of_two_programs_that_change_one_topic_one_wins_every_time(store: SqliteStore, path: Path) -> None:
    other = SqliteStore(path)
    await other.open()
    plain = Topic(name="kv", title="KV")
    for revision in range(5):
        writes = [
            each.workspaces.save_topic(
                "T1", replace(plain, title=f"{number}"), replace(CHANGE, after=f"{number}"), replaces=revision
            )
            for number, each in enumerate((store, other) * 4)
        ]
        outcomes = await asyncio.gather(*writes, return_exceptions=True)
        kept = [each for each in outcomes if isinstance(each, Topic)]
        assert [type(each) for each in outcomes].count(Conflict) == 7
        assert await store.workspaces.topics("T1") == await other.workspaces.topics("T1") == {"kv": kept[0]}
        assert (await store.workspaces.changes("T1"))[0].after == kept[0].title
    assert len(await store.workspaces.changes("T1")) == 5
    await other.close()


async def test_a_change_that_cannot_be_written_down_is_not_made(store: SqliteStore) -> None:
    await fill(store)
    before = dict(await store.maintenance.statistics())
    line = replace(CHANGE, what="topic \ud83d")  # half of a character, which no column takes
    writes = (
        store.workspaces.save_topic("T1", FULL_TOPIC, line, replaces=1),
        store.workspaces.delete_topic("T1", "kv-cache", line, replaces=1),
        store.workspaces.save_subscription(FULL_SUBSCRIPTION, line, replaces=1),
        store.workspaces.delete_subscription(FULL_SUBSCRIPTION, line),
        store.people.save_feedback(replace(SAID, more=False), line),
        store.people.drop_feedback([SAID], line),
        store.workspaces.save_preferences("T1", Preferences(), line),
    )
    for write in writes:
        with pytest.raises(StoreError, match="half of a character"):
            await write
    assert dict(await store.maintenance.statistics()) == before
    assert await store.workspaces.topics("T1") == {"kv-cache": FULL_TOPIC}
    assert await store.workspaces.subscriptions("T1") == [FULL_SUBSCRIPTION]
    assert await store.people.feedback("T1", "kv-cache") == [SAID]
    assert await store.workspaces.preferences("T1") == Preferences(manage="admins")
    assert await store.workspaces.changes("T1") == [CHANGE] * 4


# --- damaged


async def spoil(store: SqliteStore, sql: str, *values: object) -> None:
    def job(db: Database) -> None:
        db.execute(sql, list(values))

    await store.connections.write(job)


@pytest.mark.parametrize("text", ["", "{", "[]", "7", "{}", '{"name": "kv", "shape": 1}', '{"interests": [[]]}'])
async def test_a_damaged_row_is_told_and_found_by_the_check(store: SqliteStore, text: str) -> None:
    await fill(store)
    for table in ("topics", "subscriptions", "preferences", "changes"):
        await spoil(store, f"update {table} set data = ?", text)
    asked = [store.workspaces.topics("T1"), store.workspaces.subscriptions("T1"), store.workspaces.changes("T1")]
    for each in asked if text == "{}" else [*asked, store.workspaces.preferences("T1")]:
        with pytest.raises(StoreError, match=r"record is damaged.*restore a backup"):
            await each
    assert await store.people.feedback("T1", "kv-cache") == [SAID]
    if text in ("", "{"):
        assert "1 topics cannot be read." in await store.maintenance.check()


async def test_a_stored_query_that_is_none_any_more_is_told_with_its_text(store: SqliteStore) -> None:
    await fill(store)
    topic = json.dumps({"name": "kv-cache", "title": "Caches", "query": "stars:many"})
    await spoil(store, "update topics set data = ?", topic)
    with pytest.raises(StoreError, match=r"stored query 'stars:many' cannot be read any more"):
        await store.workspaces.topics("T1")


async def test_a_time_or_day_that_is_none_is_told(store: SqliteStore) -> None:
    await fill(store)
    await store.digests.save("T1", "C1", digest("kv-cache", paper(1)), NOW)
    await spoil(store, "update feedback set at = 'soon'")
    await spoil(store, "update saved set at = ?", 2**62)
    await spoil(store, "update digests set day = 'today', data = '{\"entries\": [{}]}'")
    asked = (
        store.people.feedback("T1", "kv-cache"),
        store.people.saved("T1", "U1"),
        store.digests.postings("T1", "C1", [paper(1).key]),
        store.digests.last("T1", "C1", "kv-cache"),
        store.digests.past("T1", "C1", with_entries=True),
    )
    for each in asked:
        with pytest.raises(StoreError, match="record is damaged"):
            await each


async def test_preferences_of_many_workspaces_leave_out_those_that_cannot_be_read(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "b.db")
    await store.open()
    for workspace in ("T1", "T2"):
        await store.workspaces.save_preferences(workspace, Preferences(zone="UTC"), replace(CHANGE, workspace=workspace))

    def damage() -> None:
        db = connect(tmp_path / "b.db")
        db.execute("update preferences set data = '[' where workspace = 'T1'")
        db.close()

    await asyncio.to_thread(damage)
    found = await store.workspaces.preferences_of(["T1", "T2", "T3"])
    assert found == {"T2": Preferences(zone="UTC"), "T3": Preferences()}
    await store.close()
