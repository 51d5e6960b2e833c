"""Digests and what they posted, in SQL. Every statement names the workspace and the channel."""

import contextlib
import json
from collections.abc import Collection, Sequence
from datetime import date, datetime

from sqlite_utils import Database

from bot.errors import StoreError
from bot.models import Delivery, Digest, Posting
from bot.store.records import digest_to_text, entries_from_text, micros, or_damaged, posted_scores, time_of
from bot.store.rules.transitions import ended_at, takes_over
from bot.store.sqlite.connections import Tables, reading, writing


class SqliteDigests(Tables):
    """bot.ports.digests.Digests."""

    @writing
    def save(self, db: Database, workspace: str, channel: str, digest: Digest, now: datetime) -> None:
        keep(db, workspace, channel, digest, now)

    @reading
    def posted(self, db: Database, workspace: str, channel: str) -> frozenset[str]:
        rows = db.execute("select key from posted where workspace = ? and channel = ?", [workspace, channel])
        return frozenset(key for (key,) in rows.fetchall())

    @reading
    def last(self, db: Database, workspace: str, channel: str, topic: str) -> tuple[date, datetime] | None:
        sql = (
            "select day, until from digests where workspace = ? and channel = ? and topic = ?"
            " order by until desc, day desc limit 1"
        )
        row = db.execute(sql, [workspace, channel, topic]).fetchone()
        return (_day(row[0]), time_of(row[1])) if row else None

    @reading
    def unposted_since(self, db: Database, workspace: str, channel: str, topic: str) -> datetime | None:
        sql = "select min(since) from unposted where workspace = ? and channel = ? and topic = ?"
        since = db.execute(sql, [workspace, channel, topic]).fetchone()[0]
        return None if since is None else time_of(since)

    @reading
    def postings(self, db: Database, workspace: str, channel: str, keys: Collection[str]) -> Sequence[Posting]:
        sql = (
            "select key, topic, day, posted.saved, score from posted left join digests on digests.id = digest"
            " where posted.workspace = ? and posted.channel = ? and key in (select value from json_each(?))"
            " order by posted.saved desc, digest desc, key"
        )
        rows = db.execute(sql, [workspace, channel, json.dumps(list(keys))]).fetchall()
        return [_posting(*row) for row in rows]

    @reading
    def last_entries(self, db: Database, workspace: str, channel: str) -> Sequence[str]:
        sql = (
            "select data from digests where workspace = ? and channel = ? and json_array_length(data, '$.entries') > 0"
            " order by saved desc, id desc limit 1"
        )
        row = db.execute(sql, [workspace, channel]).fetchone()
        return entries_from_text(row[0]) if row else []


def keep(db: Database, workspace: str, channel: str, digest: Digest, now: datetime) -> None:
    """Keep the digest and what it posted."""
    row = [digest.topic, digest.day.isoformat(), micros(digest.until), micros(now), digest_to_text(digest)]
    number = db.execute(
        "insert into digests (workspace, channel, topic, day, until, saved, data) values (?, ?, ?, ?, ?, ?, ?)",
        [workspace, channel, *row],
    ).lastrowid
    rows = [(workspace, channel, key, number, micros(now), score) for key, score in posted_scores(digest).items()]
    db.conn.executemany("insert into posted (workspace, channel, key, digest, saved, score) values (?, ?, ?, ?, ?, ?)", rows)
    _take_over(db, (workspace, channel, digest.topic), digest.until)


def _take_over(db: Database, place: tuple[str, str, str], until: datetime) -> None:
    """Forget what a digest looks at that looks until then."""
    sql = "select since, at from unposted where workspace = ? and channel = ? and topic = ?"
    over = [(*place, since) for since, at in db.execute(sql, place).fetchall() if takes_over(until, time_of(at))]
    db.conn.executemany("delete from unposted where workspace = ? and channel = ? and topic = ? and since = ?", over)


def prune(db: Database, before: datetime) -> None:
    """Forget what ended before, and nobody made up for."""
    db.execute("delete from unposted where at < ?", [micros(before)])


def drop(db: Database, ended: Delivery) -> None:
    """Drop the digest of a delivery, and what it would have posted; the next one looks at what it looked at."""
    if ended.made_at is None:
        return  # made by an edition that did not note it: which of a day's digests it was is not known
    place = [ended.workspace, ended.channel]
    which = [*place, ended.topic, ended.occurrence[1].isoformat(), micros(ended.made_at)]
    sql = "select id, data from digests where workspace = ? and channel = ? and topic = ? and day = ? and saved = ?"
    for number, data in db.execute(sql, which).fetchall():
        with contextlib.suppress(StoreError):  # a damaged record keeps no delivery from ending
            owed = [*place, ended.topic, _begin(data), micros(ended_at(ended))]
            db.execute("insert or replace into unposted (workspace, channel, topic, since, at) values (?, ?, ?, ?, ?)", owed)
        db.execute("delete from posted where workspace = ? and channel = ? and digest = ?", [*place, number])
        db.execute("delete from digests where id = ?", [number])


def _posting(key: str, topic: str | None, day: str | None, saved: int, score: float | None) -> Posting:
    """Of what was posted by a digest that is not known any more, only the time is known."""
    at = time_of(saved)
    return Posting(key, topic or "", _day(day) if day else at.date(), at, score)


@or_damaged
def _day(text: str) -> date:
    return date.fromisoformat(text)


@or_damaged
def _begin(text: str) -> int:
    return micros(datetime.fromisoformat(json.loads(text)["since"]))
