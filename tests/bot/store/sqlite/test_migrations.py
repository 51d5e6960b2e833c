"""A database of the seventh edition, whose windows were spans of time: nothing of it is lost to windows of arrivals."""

import asyncio
import json
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from sqlite_utils import Database

from bot.digest.publisher import Publisher
from bot.digest.request import RequestBuilder
from bot.errors import StoreError
from bot.models import Digest, Layout, Rhythm, Saved, SavedInChannel, Schedule, Subscription, Topic
from bot.query import parse
from bot.store.records import digest_to_text, item_to_text, micros, time_of, to_text
from bot.store.sqlite.connections import connect
from bot.store.sqlite.migrations import migrations
from bot.store.sqlite.store import SqliteStore
from bot.summarise.extractive import Extractive
from tests.conftest import NOW
from tests.contract.made import change, digest, paper, subscription

_SUBSCRIBED = "insert into subscriptions (workspace, channel, topic, id, revision, data) values (?, ?, ?, ?, ?, ?)"
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
TOPIC = Topic(name="kv", title="KV", query=parse("paper"), min_score=0.0)

# When items were seen, in the order in which they were stored: collections began hourly, and one of them took three hours.
SEEN = (-60, -50, -26, -25, -25, -24, -27, -23, -1)  # hours from now
LAST = NOW - DAY  # when the last digest was made: before the seventh and eighth were stored


def seventh_edition(path: Path, *, pause: bool = False) -> None:
    path.parent.mkdir(exist_ok=True)
    db = connect(path)
    migrations.apply(db, stop_before="m008_arrivals")
    for number, hours in enumerate(SEEN, start=1):
        item = paper(number, seen=NOW + hours * HOUR, published=NOW - 3 * DAY)
        row = [number, item.key, item.kind, micros(NOW + hours * HOUR), micros(NOW - 3 * DAY), 0]
        db.execute("insert into items (id, key, kind, seen, newest, fingerprint) values (?, ?, ?, ?, ?, ?)", row)
        db.execute("insert into records (id, data) values (?, ?)", [number, item_to_text(item)])
    # A later one by a clock that had run ahead, which was dropped since.
    db.execute("insert into facts (name, value) values ('last id', '9')")
    for until in (LAST - DAY, LAST):
        _keep(db, replace(digest(day=until.date()), since=until - DAY, until=until))
    ours = subscription(baseline=NOW - 50 * DAY, made_at=NOW - 50 * DAY, paused=pause)
    new = subscription("C2", baseline=NOW - 24 * HOUR, made_at=NOW - 24 * HOUR, revision=1)
    away = subscription("C3", baseline=NOW + 3 * DAY, made_at=NOW - 50 * DAY, paused=True, paused_until=NOW + 4 * DAY)
    for each in (ours, new, away):
        _subscribe(db, each)
    owed = ["T1", "C9", "kv", micros(NOW - 30 * HOUR), micros(NOW - 20 * HOUR)]
    db.execute("insert into unposted (workspace, channel, topic, since, at) values (?, ?, ?, ?, ?)", owed)
    db.conn.commit()
    db.close()


def _keep(db: Database, made: Digest) -> None:
    record = json.loads(digest_to_text(made))
    del record["window"]  # as that edition wrote it
    row = ["T1", "C1", "kv", made.day.isoformat(), micros(made.until), micros(made.until), json.dumps(record)]
    db.execute("insert into digests (workspace, channel, topic, day, until, saved, data) values (?, ?, ?, ?, ?, ?, ?)", row)


def _subscribe(db: Database, each: Subscription) -> None:
    row = [each.workspace, each.channel, each.topic, each.id, each.revision, to_text(each)]
    db.execute(_SUBSCRIBED, row)


@pytest.fixture
async def store(tmp_path: Path) -> SqliteStore:
    await asyncio.to_thread(seventh_edition, tmp_path / "seventh.db")
    store = SqliteStore(tmp_path / "seventh.db")
    await store.open()
    return store


async def considered(store: SqliteStore, channel: str, now: datetime = NOW) -> list[int]:
    """Return the arrivals that the channel's next digest looks at."""
    (subscribed,) = await store.workspaces.subscriptions("T1", channel=channel)
    request = await RequestBuilder(store.workspaces, {"kv": TOPIC}).request(TOPIC, "T1", channel, subscribed)
    made = await Publisher(store, Extractive(), {}).preview(request, now)
    return sorted(number for number, _ in await store.items.arrived(made.window.after, made.window.through))


async def test_what_was_stored_after_the_last_digest_of_the_seventh_edition_is_looked_at_and_some_hours_more(
    store: SqliteStore,
) -> None:
    assert await considered(store, "C1") == [3, 4, 5, 6, 7, 8, 9]
    last = await store.digests.last("T1", "C1", "kv")
    assert last is not None
    assert (last[1].arrival, last[1].time) == (2, LAST)
    await store.close()


async def test_a_subscription_of_the_seventh_edition_begins_some_hours_before_it_was_made(store: SqliteStore) -> None:
    assert await considered(store, "C2") == [3, 4, 5, 6, 7, 8, 9]
    (new,) = await store.workspaces.subscriptions("T1", channel="C2")
    assert (new.baseline_arrival, new.made_arrival, new.revision) == (2, 2, 1)
    await store.close()


async def test_a_pause_of_the_seventh_edition_that_ends_ahead_leaves_out_what_comes_until_then(store: SqliteStore) -> None:
    (away,) = await store.workspaces.subscriptions("T1", channel="C3")
    assert (away.baseline_arrival, away.made_arrival) == (None, 0)
    for days in (2, 3, 4):
        await store.items.add([paper(20 + days, seen=NOW + days * DAY)], NOW + days * DAY)
    assert await considered(store, "C3", NOW + 5 * DAY) == [11, 12]
    await store.close()


async def test_what_digests_of_the_seventh_edition_were_dropped_with_is_owed(store: SqliteStore) -> None:
    owed = await store.digests.unposted("T1", "C9", "kv")
    assert owed is not None
    assert (owed.begins.arrival, owed.begins.time) == (2, NOW - 30 * HOUR)
    begins = await store.connections.read(lambda db: db.execute("select after, through, until from digests").fetchall())
    assert [(after, through, time_of(until)) for after, through, until in begins] == [(0, 1, LAST - DAY), (1, 2, LAST)]
    await store.close()


async def test_damaged_digests_and_subscriptions_stop_no_migration(tmp_path: Path) -> None:
    def spoilt() -> None:
        seventh_edition(tmp_path / "spoilt.db")
        db = connect(tmp_path / "spoilt.db")
        db.execute("update digests set data = '{'")
        db.execute("""update subscriptions set data = '{"baseline":7,"made_at":[]}' where channel = 'C2'""")
        db.execute("update subscriptions set data = '[' where channel = 'C3'")
        db.conn.commit()
        db.close()

    await asyncio.to_thread(spoilt)
    store = SqliteStore(tmp_path / "spoilt.db")
    await store.open()
    assert await considered(store, "C1") == [3, 4, 5, 6, 7, 8, 9]
    assert await store.digests.past("T1", "C1") == []
    with pytest.raises(StoreError, match="damaged"):  # no number means an entry of the digest before
        await store.digests.past("T1", "C1", with_entries=True)
    await store.close()


# --- the layouts


def ninth_edition(path: Path) -> None:
    """Keep two subscriptions as the ninth edition did: one that had chosen the compact layout, and one that had not."""
    db = connect(path)
    migrations.apply(db, stop_before="m010_layouts")
    for each, compact in ((subscription("C1", revision=3), True), (subscription("C2"), False)):
        record = json.loads(to_text(each)) | ({"compact": True} if compact else {})
        row = [each.workspace, each.channel, each.topic, each.id, each.revision, json.dumps(record)]
        db.execute(_SUBSCRIBED, row)
    damaged = ["T1", "C3", "kv", "s-damaged", 1, "[1]"]
    db.execute(_SUBSCRIBED, damaged)
    db.conn.commit()
    db.close()


async def test_a_compact_subscription_becomes_brief_and_another_has_chosen_nothing(tmp_path: Path) -> None:
    await asyncio.to_thread(ninth_edition, tmp_path / "ninth.db")
    store = SqliteStore(tmp_path / "ninth.db")
    await store.open()
    found = [each for name in ("C1", "C2") for each in await store.workspaces.subscriptions("T1", channel=name)]
    assert [(each.layout, each.is_new_to_brief, each.revision) for each in found] == [
        (Layout.BRIEF, True, 3),
        (None, True, 0),
    ]
    await store.close()


# --- the rhythms


def tenth_edition(path: Path) -> None:
    """Keep as the tenth edition did a weekly subscription with a digest, and one of a subscription that was ended."""
    db = connect(path)
    migrations.apply(db, stop_before="m011_rhythms")
    weekly = subscription("C1", schedule=Schedule(weekdays=(4,)), revision=2)
    for each in (weekly, subscription("C2", schedule=Schedule(month_day=3)), subscription("C3", schedule=Schedule())):
        row = [each.workspace, each.channel, each.topic, each.id, each.revision, to_text(each)]
        db.execute(_SUBSCRIBED, row)
    db.execute("update subscriptions set next_due = 7, wakes = 8 where channel = 'C1'")
    for channel in ("C1", "C9"):
        row = ["T1", channel, "kv", "2026-03-30", micros(NOW), 4, 6, micros(NOW), digest_to_text(digest())]
        columns = "workspace, channel, topic, day, until, after, through, saved, data"
        db.execute(f"insert into digests ({columns}) values (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    owed = ["T1", "C1", "kv", 4, micros(NOW), micros(NOW)]
    db.execute("insert into unposted (workspace, channel, topic, after, since, at) values (?, ?, ?, ?, ?, ?)", owed)
    db.conn.commit()
    db.close()


async def test_the_digests_of_the_tenth_edition_are_those_of_the_subscription_that_stands(tmp_path: Path) -> None:
    await asyncio.to_thread(tenth_edition, tmp_path / "tenth.db")
    store = SqliteStore(tmp_path / "tenth.db")
    await store.open()
    found = await store.workspaces.subscriptions("T1")
    assert [(each.channel, each.rhythm) for each in found] == [("C1", "weekly"), ("C2", "monthly"), ("C3", "daily")]
    last = await store.digests.last("T1", "C1", "kv", Rhythm.WEEKLY)
    assert last is not None
    assert last[1].arrival == 6
    assert await store.digests.last("T1", "C1", "kv", Rhythm.DAILY) is None
    owed = await store.digests.unposted("T1", "C1", "kv", Rhythm.WEEKLY)
    assert owed is not None
    assert owed.begins.arrival == 4
    # Of whom the others were is not known: who subscribes so again goes on from there.
    assert await store.digests.last("T1", "C9", "kv", Rhythm.DAILY) == await store.digests.last("T1", "C9", "kv")
    (again,) = await store.workspaces.subscriptions("T1", channel="C1")
    assert (await store.workspaces.save_subscription(again, change(), replaces=2)).revision == 3
    assert await store.maintenance.check() == []
    await store.close()


# --- what counts in a channel


def thirteenth_edition(path: Path) -> None:
    """Keep what somebody saved as the thirteenth edition did."""
    db = connect(path)
    migrations.apply(db, stop_before="m014_saved_in_channels")
    db.execute("insert into saved (workspace, person, key, at) values ('T1', 'U1', 'arxiv:2604.00001', ?)", [micros(NOW)])
    db.conn.commit()
    db.close()


async def test_what_was_saved_before_stays_ones_own_until_it_is_saved_in_a_channel(tmp_path: Path) -> None:
    await asyncio.to_thread(thirteenth_edition, tmp_path / "thirteenth.db")
    store, saved = SqliteStore(tmp_path / "thirteenth.db"), Saved("arxiv:2604.00001", NOW)
    await store.open()
    assert await store.people.saved("T1", "U1") == [saved]
    assert await store.people.saved_in("T1", "C1") == []
    assert await store.people.save_item("T1", "U1", saved, channel="C1") is False
    assert await store.people.saved_in("T1", "C1") == [SavedInChannel(saved.key, NOW, 1)]
    assert await store.maintenance.check() == []
    await store.close()
