"""A database of two workspaces, in which everything that one assistant may not know of has a word that gives it away."""

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from bot.models import (
    AssistantAccess,
    Change,
    Coverage,
    Digest,
    FeedAccess,
    Feedback,
    Preferences,
    Saved,
    Schedule,
    Subscription,
    Topic,
)
from bot.query import parse
from bot.store.sqlite.store import SqliteStore
from tests.bot.handlers.askers import PAPERS
from tests.fakes.digests import GPU

OURS, THEIRS = "slack:T1", "slack:T2"
SECRET = "xyzzy"  # stands in whatever is another workspace's, another channel's or another person's
READS = AssistantAccess(workspace=OURS, channel="C1", person="U1")
WRITES = replace(READS, may_write=True)
NOBODY = AssistantAccess(workspace=OURS)
_HIDDEN = ((OURS, "C9", "U9"), (THEIRS, "C1", "U1"), (THEIRS, "C2", "U2"))
DAY = timedelta(days=1)


async def filled(path: Path, now: datetime) -> SqliteStore:
    """Return an open store in which both workspaces have topics, subscriptions, digests, and what people said and saved."""
    store = SqliteStore(path)
    await store.open()
    await store.items.add([*PAPERS, *(each.ranked.item for each in GPU.entries)], now - 3 * DAY)
    await _posted(store, OURS, "C1", replace(GPU, day=now.date()), now)
    await _posted(store, OURS, "C1", replace(GPU, day=(now - DAY).date()), now - DAY)
    await _subscribed(store, OURS, "C1", "kv", "", now)
    await store.people.save_item(OURS, "U1", Saved(PAPERS[0].key, now), channel="C1")
    for workspace, channel, person in _HIDDEN:
        await _hidden(store, workspace, channel, person, now)
    return store


async def _hidden(store: SqliteStore, workspace: str, channel: str, person: str, now: datetime) -> None:
    change = Change(workspace=workspace, at=now, person=person, what=f"topic {SECRET}", before=SECRET, after=SECRET)
    if workspace != OURS:
        name = f"quasar-{channel.lower()}"
        topic = Topic(name=name, title=f"Quasars {SECRET}", description=SECRET, query=parse(f"cache OR {SECRET}"))
        await store.workspaces.save_topic(workspace, topic, change, replaces=0)
        await store.workspaces.save_preferences(workspace, Preferences(zone="Asia/Tokyo", manage="admins"), change)
        await _subscribed(store, workspace, channel, name, SECRET, now)
        await _posted(store, workspace, channel, _secret_digest(name, now), now)
    await _subscribed(store, workspace, channel, "kv", SECRET, now)
    await _posted(store, workspace, channel, _secret_digest("kv", now), now)
    for each in PAPERS[1:4]:
        link = f"https://{SECRET}.example/{each.key}"
        await store.people.save_item(workspace, person, Saved(each.key, now), channel=channel, link=link)
    said = Feedback(workspace=workspace, topic="kv", person=person, key=PAPERS[1].key, more=True, at=now, channel=channel)
    if workspace != OURS:
        await store.people.save_feedback(said, change)
    await store.people.allow_feeds(
        FeedAccess(
            hashed=f"{SECRET}{workspace}{channel}",
            platform="slack",
            workspace=workspace,
            person=person,
            channel=channel,
            made_at=now,
        )
    )


def _secret_digest(topic: str, now: datetime) -> Digest:
    entries = tuple(replace(each, gist=f"A gist of {SECRET}.", why_here=f"Here for {SECRET}.") for each in GPU.entries)
    coverage = Coverage(GPU.coverage.sources, 9, 9, notes=(f"A note of {SECRET}.",))
    return replace(
        GPU, topic=topic, title=f"Title of {SECRET}", day=now.date(), entries=entries, coverage=coverage, news=SECRET
    )


async def _posted(store: SqliteStore, workspace: str, channel: str, digest: Digest, now: datetime) -> None:
    await store.digests.save(workspace, channel, digest, now)


async def _subscribed(store: SqliteStore, workspace: str, channel: str, topic: str, secret: str, now: datetime) -> None:
    made = Subscription(
        id=f"{secret}{workspace}{channel}{topic}",
        workspace=workspace,
        channel=channel,
        topic=topic,
        schedule=Schedule(),
        baseline=now - DAY,
        filter=parse(f"-{secret}" if secret else ""),
        tag=secret,
        made_by="U9",
        made_at=now - DAY,
    )
    change = Change(workspace=workspace, at=now, person="U9", what=f"subscription {channel}", before="", after=secret)
    await store.workspaces.save_subscription(made, change, replaces=0)


def kept(path: Path, *, but: str = "") -> Mapping[str, list[str]]:
    """Return every row of every table, in order; without those of the workspace `but`."""
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
        names = [name for (name,) in db.execute("select name from sqlite_master where type = 'table' order by name")]
        found = {name: _rows(db, name, but) for name in names if not name.startswith("sqlite_")}
    db.close()
    return found


def _rows(db: sqlite3.Connection, table: str, but: str) -> list[str]:
    columns = [row[1] for row in db.execute(f'pragma table_info("{table}")')]
    where, given = ("where workspace <> ?", [but]) if but and "workspace" in columns else ("", [])
    return sorted(json.dumps(row, default=repr) for row in db.execute(f'select * from "{table}" {where}', given))
