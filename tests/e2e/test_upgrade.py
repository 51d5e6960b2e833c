"""An upgrade is rehearsed: a database as the edition before short digests wrote it is opened, asked and posted from."""

import asyncio
import json
import random
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.delivery import DeliveryContext, DeliverySettings, Preparer, Scheduler
from bot.digest.publisher import Publisher
from bot.digest.request import RequestBuilder
from bot.models import Delivery, Entry, Layout, Topic
from bot.ports.facts import COLLECTED
from bot.store.records import digest_to_text, item_to_text, micros, to_text
from bot.store.sqlite.connections import connect
from bot.store.sqlite.migrations import migrations
from bot.store.sqlite.store import SqliteStore
from bot.summarise.extractive import Extractive
from tests.bot.deliveries import occurrence, subscription
from tests.bot.handlers.askers import ADA, PACKS, Asker, asker, said
from tests.conftest import NOW
from tests.contract.made import digest
from tests.fakes.transcript import BOTH, Clock, Transcript
from tests.fakes.works import paper

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
WORKSPACE = ADA.workspace
# How many hours before now each item was seen; the last digest looked as far as the seventh.
TITLES = (
    "Paging a cache",
    "Sharding caches",
    "A cache of tables",
    "Cache of beans",
    "Warm cache, cold start",
    "Cached tea",
    "No cache",
    "A cache for robots",
    "Compilers without a cache",
)
SEEN = (50, 49, 48, 47, 46, 45, 26, 2, 1)
LAST = NOW - DAY
POSTED = [f"arxiv:2603.{number:05}" for number in (2, 3, 1)]  # best first: its numbers are not the arrivals
OWN = Topic(name="kv", title="Our caches", query=PACKS[0].query, interests=PACKS[0].interests, revision=2)
# What that edition did not write.
NEW_IN_DIGESTS = ("news", "left_out", "above", "cap", "min_score", "carried")


def edition_before(path: Path) -> None:
    """Keep what a workspace had that followed one topic in three channels, and changed it."""
    db = connect(path)
    migrations.apply(db, stop_before="m010_layouts")
    for number, hours in enumerate(SEEN, start=1):
        at = NOW - hours * HOUR
        item = paper(f"2603.{number:05}", title=TITLES[number - 1], seen=at, published=at)
        record = json.loads(item_to_text(item))
        record.pop("comments", None)
        row = [number, item.key, item.kind, micros(at), micros(at), 0]
        db.execute("insert into items (id, key, kind, seen, newest, fingerprint) values (?, ?, ?, ?, ?, ?)", row)
        db.execute("insert into records (id, data) values (?, ?)", [number, json.dumps(record)])
    own = json.loads(to_text(OWN))
    db.execute("insert into topics values (?, ?, ?, ?)", [WORKSPACE, OWN.name, OWN.revision, json.dumps(own)])
    for number, settled in enumerate(({"compact": True}, {"min_score": 0.3}, {"compact": False}), start=1):
        made = subscription(number, workspace=WORKSPACE, made_arrival=0, revision=1, baseline_arrival=0)
        record = json.loads(to_text(made)) | settled
        row = [WORKSPACE, made.channel, made.topic, made.id, made.revision, json.dumps(record)]
        sql = "insert into subscriptions (workspace, channel, topic, id, revision, data) values (?, ?, ?, ?, ?, ?)"
        db.execute(sql, row)
        _post(db, made.channel)
    db.conn.commit()
    db.close()


def _post(db: Any, channel: str) -> None:
    """Keep the channel's last digest and what it posted, in the words of that edition."""
    plain = digest(0.5, 0.45, 0.4)
    entries = tuple(_entry(each, key) for each, key in zip(plain.entries, POSTED, strict=True))
    made = replace(plain, day=LAST.date(), until=LAST, since=LAST - DAY, entries=entries)
    record = {name: value for name, value in json.loads(digest_to_text(made)).items() if name not in NEW_IN_DIGESTS}
    del record["coverage"]["span"]
    for entry in record["entries"]:
        del entry["ranked"]["relevance"]
        del entry["ranked"]["item"]["comments"]
    row = [WORKSPACE, channel, "kv", LAST.date().isoformat(), micros(LAST), 0, 7, micros(LAST), json.dumps(record)]
    sql = (
        "insert into digests (workspace, channel, topic, day, until, after, through, saved, data)"
        " values (?, ?, ?, ?, ?, ?, ?, ?, ?)"
    )
    number = db.execute(sql, row).lastrowid
    for key, score in zip(POSTED, (0.5, 0.45, 0.4), strict=True):
        db.execute("insert into posted values (?, ?, ?, ?, ?, ?)", [WORKSPACE, channel, key, number, micros(LAST), score])


def _entry(entry: Entry, key: str) -> Entry:
    item = replace(entry.ranked.item, key=key, title=TITLES[int(key[-5:]) - 1])
    return replace(entry, ranked=replace(entry.ranked, item=item))


@pytest.fixture
async def store(tmp_path: Path) -> SqliteStore:
    path = tmp_path / "before.db"
    await asyncio.to_thread(edition_before, path)
    store = SqliteStore(path)
    await store.open()
    return store


@pytest.fixture
async def ada(store: SqliteStore) -> Asker:
    return asker(store, NOW)


async def prepared(store: SqliteStore, number: int) -> list[Delivery]:
    """Let the channel's digest be due, and return what waits to be posted there."""
    context = DeliveryContext(
        store, store.ledger, {"slack": Transcript(Clock(NOW), BOTH)}, DeliverySettings(), random.Random(0)
    )
    (made,) = await store.workspaces.subscriptions(WORKSPACE, channel=f"C{number}")
    await store.ledger.open_occurrences([occurrence(made, now=NOW)], made, NOW + DAY)
    packs = {each.name: replace(each, min_score=0.1, categories=("cs.AR",)) for each in PACKS}
    requests = RequestBuilder(store.workspaces, packs)
    await Preparer(context, Publisher(store, Extractive(), {"arxiv": "arXiv"}), requests).prepare_due(NOW)
    found = await store.ledger.deliveries(WORKSPACE, limit=10)
    return [each for each in found if each.channel == f"C{number}"]


async def test_who_chose_compact_has_brief_digests_and_nobody_else_has_chosen_a_layout(store: SqliteStore) -> None:
    found = [each for n in (1, 2, 3) for each in await store.workspaces.subscriptions(WORKSPACE, channel=f"C{n}")]
    assert [(each.layout, each.min_score, each.is_new_to_brief) for each in found] == [
        (Layout.BRIEF, None, True),
        (None, 0.3, True),
        (None, None, True),
    ]
    await store.close()


async def test_the_first_short_digest_posts_what_is_new_and_nothing_again_and_says_what_changed(store: SqliteStore) -> None:
    for number in (1, 3):
        (waits,) = await prepared(store, number)
        assert all(key in waits.payload for key in ("arxiv:2603.00008", "arxiv:2603.00009"))
        assert not any(key in waits.payload for key in POSTED)
        assert "*subscribe kv full* brings the full cards back." in waits.payload
        assert "*topic show kv* says what." in waits.payload  # of its own copy
    assert (await store.workspaces.topics(WORKSPACE))["kv"] == OWN  # in the words of those who made it
    await store.close()


async def test_a_number_means_the_entry_that_it_stood_at_before(store: SqliteStore, ada: Asker) -> None:
    for number, key in enumerate(POSTED, start=1):
        assert TITLES[int(key[-5:]) - 1] in said(await ada.ask(f"save {number}"))
    await ada.ask("more 3")
    (given,) = await store.people.feedback(WORKSPACE, "kv")
    assert given.key == POSTED[2]
    await store.close()


async def test_why_tells_of_a_digest_of_before_though_it_noted_nothing_of_what_it_left_out(
    store: SqliteStore, ada: Asker
) -> None:
    assert "Posted here on" in said(await ada.ask("why 2603.00002"))
    left = said(await ada.ask("why 2603.00005"))  # looked at, and not posted
    assert TITLES[4] in left
    assert "Posted here" not in left
    listed = await ada.ask("rest kv")
    assert not listed.entries  # nothing is known, and nothing is made up
    await store.close()


async def test_a_second_start_finds_everything_as_the_first_one_left_it(store: SqliteStore, tmp_path: Path) -> None:
    await prepared(store, 1)
    before = [await store.workspaces.subscriptions(WORKSPACE), await store.ledger.deliveries(WORKSPACE, limit=10)]
    await store.close()
    again = SqliteStore(tmp_path / "before.db")
    await again.open()
    assert [await again.workspaces.subscriptions(WORKSPACE), await again.ledger.deliveries(WORKSPACE, limit=10)] == before
    assert await prepared(again, 1) == before[1]  # the same occurrence is not made twice
    await again.close()


async def test_what_is_followed_and_posted_at_once_begins_with_the_next_collection(store: SqliteStore, ada: Asker) -> None:
    await ada.ask("subscribe kv at once")
    await ada.ask('follow "cold start" at once')
    await store.items.add([paper("2604.00001", title="A cache after the upgrade", published=NOW)], NOW)
    await store.facts.set(COLLECTED, str(await store.items.last_arrival()))
    chat = {"slack": Transcript(Clock(NOW), BOTH)}
    context = DeliveryContext(store, store.ledger, chat, DeliverySettings(), random.Random(0))
    requests = RequestBuilder(store.workspaces, {each.name: each for each in PACKS})
    await Scheduler(context).tick(NOW)
    await Preparer(context, Publisher(store, Extractive(), {"arxiv": "arXiv"}), requests).prepare_due(NOW)
    made = [each for each in await store.ledger.deliveries(WORKSPACE, limit=10) if each.occurrence[2] > 0]
    assert [("2604.00001" in each.payload, each.topic) for each in made] == [(True, "kv")]
    await store.close()
