"""Digests, what they posted, and the archive of them, in SQL. Every statement names the workspace and the channels."""

import contextlib
import json
import logging
from collections.abc import Collection, Iterator, Sequence
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Any

from sqlite_utils import Database

from bot.errors import StoreError
from bot.models import (
    ArchivedDay,
    ArchivedDigest,
    ArchivedPosting,
    ArchivedTopic,
    Delivery,
    DeliveryState,
    Digest,
    Entry,
    PastDigest,
    Position,
    Posting,
    Rhythm,
    Unposted,
)
from bot.store.records import (
    EPOCH,
    digest_from_text,
    digest_to_text,
    micros,
    or_damaged,
    past_from_text,
    posted_once,
    posted_scores,
    shown_mark,
    time_of,
)
from bot.store.rules.archive import as_one, entry_of
from bot.store.rules.transitions import KEPT, KEPT_AT_ONCE, begins_again, ended_at, taken_over, under_heirs
from bot.store.sqlite.connections import Tables, reading, reading_long, writing

log = logging.getLogger(__name__)

_WEEK = micros(EPOCH + timedelta(days=7))  # what fell to the cap longer ago is carried on no more


class SqliteDigests(Tables):
    """bot.ports.digests.Digests."""

    @writing
    def save(self, db: Database, workspace: str, channel: str, digest: Digest, now: datetime) -> None:
        number = keep(db, workspace, channel, digest, now)
        if digest.entries:
            archive(db, workspace, channel, number, digest, now, is_posted=True)

    @reading
    def posted(self, db: Database, workspace: str, channel: str) -> frozenset[str]:
        rows = db.execute("select key from posted where workspace = ? and channel = ?", [workspace, channel])
        return frozenset(key for (key,) in rows.fetchall())

    @reading
    def last(
        self, db: Database, workspace: str, channel: str, topic: str, rhythm: Rhythm | None = None
    ) -> tuple[date, Position] | None:
        sql = f"select day, through, until from digests where {_OF} order by through desc, until desc, day desc limit 1"
        row = db.execute(sql, _of(workspace, channel, topic, rhythm or "")).fetchone()
        return (_day(row[0]), Position(row[1], time_of(row[2]))) if row else None

    @reading
    def unposted(
        self, db: Database, workspace: str, channel: str, topic: str, rhythm: Rhythm | None = None
    ) -> Unposted | None:
        sql = f"select after, since, max(number) over () from unposted where {_OF} order by after, since limit 1"
        row = db.execute(sql, _of(workspace, channel, topic, rhythm or "")).fetchone()
        return Unposted(Position(row[0], time_of(row[1])), row[2]) if row else None

    @reading
    def postings(self, db: Database, workspace: str, channel: str, keys: Collection[str]) -> Sequence[Posting]:
        sql = (
            "select key, topic, day, posted.saved, score, subscription from posted left join digests on digests.id = digest"
            " where posted.workspace = ? and posted.channel = ? and key in (select value from json_each(?))"
            " order by posted.saved desc, digest desc, key"
        )
        rows = db.execute(sql, [workspace, channel, json.dumps(list(keys))]).fetchall()
        return [_posting(*row) for row in rows]

    @reading
    def past(
        self,
        db: Database,
        workspace: str,
        channel: str,
        *,
        topic: str = "",
        rhythm: Rhythm | None = None,
        with_entries: bool = False,
        saved_by: datetime | None = None,
        limit: int = 20,
    ) -> Sequence[PastDigest]:
        sql = (
            "select data, saved from digests where workspace = ? and channel = ?"
            + (" and topic = ?" if topic else "")
            + (" and rhythm in (?, '')" if rhythm else "")
            + (" and saved <= ?" if saved_by else "")
            + (" and (not json_valid(data) or json_array_length(data, '$.entries') > 0)" if with_entries else "")
            + " order by saved desc, id desc limit ?"
        )
        asked = [topic, rhythm, micros(saved_by) if saved_by else None]
        rows = db.execute(sql, [workspace, channel, *filter(None, asked), limit]).fetchall()
        return list(_legible(rows, all_needed=with_entries))


_DISTINCT = """
with recursive found (name) as (
    select min({name}) from archive where {where} and posted
    union all
    select (select min({name}) from archive where {where} and posted and {name} > found.name) from found
    where found.name is not null
)
select name from found where name is not null
"""  # of an index that goes on with that column: one look for each value, however many rows have it
_OF_WORKSPACE = _DISTINCT.format(name="channel", where="workspace = ?1")
_OF_CHANNEL = _DISTINCT.format(name="topic", where="workspace = ?1 and channel = ?2")
_HELD = 100  # digests of the archive that are held as they are read: some megabytes
_MOST_DAYS = 4000  # that are counted of a topic: those of eleven years

_HERE = "workspace = :workspace and topic = :topic and posted and channel in (select value from json_each(:channels))"
_COUNTED = (
    f"select count(*), max(day) from (select distinct day from archive where {_HERE} order by day desc limit {_MOST_DAYS})"
)
_TITLED = f"select title from archive where {_HERE} and day = :day order by saved desc, digest desc limit 1"
_DAYS = f"""
with days (day) as materialized (
    select distinct day from archive where {_HERE} and day < :before order by day desc limit :limit
), parts as (
    select distinct day, mark, entries from archive
    where {_HERE} and day < :before and day >= (select min(day) from days)
)
select day, count(*), sum(entries) from parts group by day order by day desc
"""
_DIGESTS = f"""
select archive.channel, archive.saved, mark, link, data from archive join digests on digests.id = archive.digest
where archive.digest in (select digest from archive where {_HERE} and day = :day order by saved, digest limit :limit)
order by archive.saved, archive.digest
"""
_POSTINGS = """
select posted.key, archive.channel, topic, title, day, archive.saved, link, mark
from posted join archive on archive.digest = posted.digest
where posted.workspace = :workspace and posted.channel in (select value from json_each(:channels))
    and posted.key in (select value from json_each(:keys)) and archive.posted
order by archive.saved desc, archive.digest desc, posted.key limit :limit
"""


class SqliteArchive(Tables):
    """bot.ports.digests.Archive."""

    @reading_long
    def channels(self, db: Database, workspace: str) -> Sequence[str]:
        return [name for (name,) in db.execute(_OF_WORKSPACE, [workspace]).fetchall()]

    @reading_long
    def topics(self, db: Database, workspace: str, channels: Collection[str]) -> Sequence[ArchivedTopic]:
        each = {name for channel in channels for (name,) in db.execute(_OF_CHANNEL, [workspace, channel]).fetchall()}
        found = []
        for topic in sorted(each):
            asked = _asked(workspace, channels, topic)
            days, last = db.execute(_COUNTED, asked).fetchone()
            title = db.execute(_TITLED, {**asked, "day": last}).fetchone()[0]
            found.append(ArchivedTopic(topic, title, days, _day(last)))
        return sorted(found, key=lambda topic: topic.last, reverse=True)

    @reading_long
    def days(
        self,
        db: Database,
        workspace: str,
        channels: Collection[str],
        topic: str,
        *,
        before: date | None = None,
        limit: int = 31,
    ) -> Sequence[ArchivedDay]:
        until = (before or date.max).isoformat()
        rows = db.execute(_DAYS, {**_asked(workspace, channels, topic), "before": until, "limit": limit}).fetchall()
        return [ArchivedDay(_day(day), digests, entries) for day, digests, entries in rows]

    @reading_long
    def digests(
        self, db: Database, workspace: str, channels: Collection[str], topic: str, day: date, *, limit: int = 50
    ) -> Sequence[ArchivedDigest]:
        asked = {**_asked(workspace, channels, topic), "day": day.isoformat(), "limit": limit}
        found: dict[str, list[ArchivedDigest]] = {}
        for channel, saved, mark, link, data in db.execute(_DIGESTS, asked).fetchall():
            if digest := found[mark][0].digest if mark in found else _read(data):
                one = ArchivedDigest(mark=mark, digest=digest, saved_at=time_of(saved), channels=(channel,), links=(link,))
                found.setdefault(mark, []).append(one)
        return [as_one(same) for same in found.values()]

    @reading_long
    def postings(
        self, db: Database, workspace: str, channels: Collection[str], keys: Collection[str], *, limit: int = 50
    ) -> Sequence[ArchivedPosting]:
        asked = {**_asked(workspace, channels, ""), "keys": json.dumps(list(keys)), "limit": limit}
        return [
            ArchivedPosting(key, channel, topic, title, _day(day), time_of(saved), link, mark)
            for key, channel, topic, title, day, saved, link, mark in db.execute(_POSTINGS, asked).fetchall()
        ]

    @reading_long
    def posted_entry(self, db: Database, workspace: str, posting: ArchivedPosting) -> Entry | None:
        sql = (
            "select data from archive join digests on digests.id = archive.digest where archive.workspace = ?"
            " and archive.channel = ? and archive.saved = ? and mark = ? and posted limit 1"
        )
        row = db.execute(sql, [workspace, posting.channel, micros(posting.at), posting.mark]).fetchone()
        digest = _read(row[0]) if row else None
        return entry_of(digest, posting.key) if digest else None


def _asked(workspace: str, channels: Collection[str], topic: str) -> dict[str, object]:
    return {"workspace": workspace, "channels": json.dumps(list(channels)), "topic": topic}


@lru_cache(_HELD)
def _digest(data: str) -> Digest:
    """Return what was made of the text before, where that was lately: everybody reads the same few."""
    return digest_from_text(data)


def _read(data: str) -> Digest | None:
    """Return a digest of the archive, None for a damaged one: it keeps nobody from reading the others."""
    try:
        return _digest(data)
    except StoreError as error:
        log.warning("a digest of the archive is left out: %s", error)
        return None


def _legible(rows: Sequence[tuple[str, int]], *, all_needed: bool) -> Iterator[PastDigest]:
    """Yield the digests that can be read; where all are needed, one that cannot raises StoreError.

    A damaged one stops no later digest. But a number that somebody typed must not mean an entry of the one before it.
    """
    for data, saved in rows:
        try:
            yield past_from_text(data, time_of(saved))
        except StoreError as error:
            if all_needed:
                raise
            log.warning("a past digest is left out: %s", error)


# The digests of a channel of one topic, and of one rhythm where that is not "": one that is not known is every one's.
_OF = "workspace = ? and channel = ? and topic = ? and (? = '' or rhythm in (?, ''))"


def _of(workspace: str, channel: str, topic: str, rhythm: str) -> list[object]:
    return [workspace, channel, topic, rhythm, rhythm]


def keep(db: Database, workspace: str, channel: str, digest: Digest, now: datetime) -> int:
    """Keep the digest and what it posted; return its number."""
    place, window = (workspace, channel, digest.topic), digest.window
    row = [digest.day.isoformat(), micros(digest.until), window.after, window.through, micros(now), digest_to_text(digest)]
    number = db.execute(
        "insert into digests (workspace, channel, topic, rhythm, subscription, day, until, after, through, saved, data)"
        " values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [*place, digest.rhythm, digest.subscription, *row],
    ).lastrowid
    rows = [(workspace, channel, key, number, micros(now), score) for key, score in posted_scores(digest).items()]
    db.conn.executemany("insert into posted (workspace, channel, key, digest, saved, score) values (?, ?, ?, ?, ?, ?)", rows)
    made_up = [*_of(*place, digest.rhythm), window.makes_up]
    db.execute(f"delete from unposted where {_OF} and number <= ?", made_up)
    return int(number or 0)


def archive(
    db: Database, workspace: str, channel: str, number: int, digest: Digest, now: datetime, *, is_posted: bool = False
) -> None:
    """Put the digest of that number into the archive: it is read there once it is posted."""
    row = [digest.topic, digest.title, digest.day.isoformat(), micros(now), len(digest.entries), shown_mark(digest)]
    db.execute(
        "insert into archive (digest, workspace, channel, topic, title, day, saved, entries, mark, posted, link)"
        " values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '')",
        [number, workspace, channel, *row, is_posted],
    )


def note_posted(db: Database, done: Delivery) -> None:
    """Let the digest be read in the archive whose first message is posted."""
    if done.part == 1 and done.state is DeliveryState.DONE and done.made_at is not None:
        place = [done.workspace, done.channel, micros(done.made_at), done.topic, done.occurrence[1].isoformat()]
        sql = (
            "update archive set posted = 1, link = ? where workspace = ? and channel = ? and saved = ? and topic = ?"
            " and day = ? and exists (select 1 from digests where id = digest and subscription in (?, ''))"
        )
        db.execute(sql, [done.link, *place, done.occurrence[0]])


def posted_of(db: Database, workspace: str, channel: str, digest: Digest) -> list[str]:
    """Return under which keys what it took over was posted to the channel."""
    sql = "select distinct key from posted where workspace = ? and channel = ? and key in (select value from json_each(?))"
    names = under_heirs(taken_over(digest), _heirs(db, digest))
    return [key for (key,) in db.execute(sql, [workspace, channel, json.dumps([*names])]).fetchall()]


def posted_beside(db: Database, workspace: str, channel: str, digest: Digest) -> list[str]:
    """Return under which keys what it shows was posted to the channel by the topic's digests of other rhythms."""
    sql = (
        "select distinct key from posted join digests on digests.id = posted.digest where posted.workspace = ?"
        " and posted.channel = ? and key in (select value from json_each(?)) and topic = ? and rhythm not in (?, '')"
    )
    if not digest.rhythm:
        return []
    names = json.dumps([*under_heirs(posted_once(digest), _heirs(db, digest))])
    return [key for (key,) in db.execute(sql, [workspace, channel, names, digest.topic, digest.rhythm]).fetchall()]


def _heirs(db: Database, digest: Digest) -> dict[str, str]:
    """Return the keys that items have now that were renamed since the digest was made, by those that they had."""
    sql = (
        "select alias, key from aliases join items on id = item where alias in (select value from json_each(?))"
        " and alias not in (select key from items)"
    )
    return dict(db.execute(sql, [json.dumps([*posted_scores(digest)])]).fetchall())


def reach(db: Database, workspace: str, channel: str, topic: str, rhythm: str) -> int:
    """Return how far the channel's digests of the topic and rhythm looked, 0 where there is none."""
    sql = f"select through from digests where {_OF} order by through desc limit 1"
    row = db.execute(sql, _of(workspace, channel, topic, rhythm)).fetchone()
    return int(row[0]) if row else 0


_LATER = (
    "select 1 from digests as later where (later.workspace, later.channel, later.topic, later.rhythm)"
    " = (digests.workspace, digests.channel, digests.topic, digests.rhythm) and later.through > digests.through"
)
_SAYS_NOTHING = (
    f"rhythm = '{Rhythm.AT_ONCE}' and saved < ? and json_valid(data) and json_array_length(data, '$.entries') = 0"
    f" and ifnull(json_array_length(data, '$.left_out'), 0) = 0 and exists ({_LATER})"
)


def saying_nothing(db: Database, now: datetime) -> list[tuple[int]]:
    """Return the numbers of digests that were to be posted at once, some time ago, and neither showed nor left out anything.

    There is one for each collection. The one that looked furthest is not among them.
    """
    return db.execute(f"select id from digests where {_SAYS_NOTHING}", [micros(now - KEPT_AT_ONCE)]).fetchall()


def forget(db: Database, now: datetime, numbers: Sequence[tuple[int]]) -> None:
    """Drop those of the digests that still are as `saying_nothing` found them."""
    given = [(number, micros(now - KEPT_AT_ONCE)) for (number,) in numbers]
    db.conn.executemany(f"delete from digests where id = ? and {_SAYS_NOTHING}", given)


def prune(db: Database, now: datetime) -> None:
    """Forget what ended long ago and nobody makes up for any more, and of the archive what has no digest."""
    standing = "select workspace, channel, topic from subscriptions"
    sql = f"delete from unposted where at < ? and (workspace, channel, topic) not in ({standing})"
    db.execute(sql, [micros(now - KEPT)])
    db.execute("delete from archive where digest not in (select id from digests)")


def drop(db: Database, ended: Delivery) -> bool:
    """Drop the digest of a delivery, and what it would have posted; the next one looks at what it looked at.

    So do the next ones of other topics and rhythms at what theirs that were made since looked at: these left out what it
    showed. Return whether it had news for the channel.
    """
    if ended.made_at is None:
        return False  # made by an edition that did not note it: which of a day's digests it was is not known
    place, made = [ended.workspace, ended.channel], micros(ended.made_at)
    sql = (
        "select id, rhythm, after, data from digests where workspace = ? and channel = ? and topic = ? and day = ?"
        " and saved = ? and subscription in (?, '')"
    )
    subscription, day, _ = ended.occurrence
    dropped = db.execute(sql, [*place, ended.topic, day.isoformat(), made, subscription]).fetchall()
    for number, rhythm, *own in dropped:
        owed = [((ended.topic, rhythm), own), *_made_since(db, ended, rhythm, made)]
        for of, (after, data) in owed:
            since = made
            with contextlib.suppress(StoreError):  # a damaged record keeps no delivery from ending
                since = _begin(data)
                if data == own[1]:
                    standing = _standing(db, _of(place[0], place[1], *of), since - _WEEK, number)
                    after = begins_again(after, _carried_entries(data), standing)
            db.execute(
                "insert into unposted (workspace, channel, topic, rhythm, after, since, at) values (?, ?, ?, ?, ?, ?, ?)",
                [*place, *of, after, since, micros(ended_at(ended))],
            )
        db.execute("delete from posted where workspace = ? and channel = ? and digest = ?", [*place, number])
        db.execute("delete from archive where digest = ?", [number])
        db.execute("delete from digests where id = ?", [number])
    return any(_has_news(data) for *_, data in dropped)


def _made_since(db: Database, ended: Delivery, rhythm: str, made: int) -> list[tuple[tuple[str, str], list[Any]]]:
    """Return for each other topic and rhythm where its first digest began that was made since, and that one's record."""
    sql = (
        "select topic, rhythm, after, data from digests where workspace = ? and channel = ?"
        " and (topic <> ? or rhythm not in (?, '')) and saved >= ? order by topic desc, rhythm desc, after desc, id desc"
    )
    place = [ended.workspace, ended.channel, ended.topic, rhythm, made]
    found = db.execute(sql, place).fetchall()
    first = {(topic, its): begin for topic, its, *begin in found}  # the last of each stays: the one that began first
    return list(reversed(first.items()))


def _posting(
    key: str, topic: str | None, day: str | None, saved: int, score: float | None, subscription: str | None
) -> Posting:
    """Of what was posted by a digest that is not known any more, only the time is known."""
    at = time_of(saved)
    return Posting(key, topic or "", _day(day) if day else at.date(), at, score, subscription or "")


@or_damaged
def _day(text: str) -> date:
    return date.fromisoformat(text)


def _has_news(data: str) -> bool:
    with contextlib.suppress(ValueError, AttributeError):  # a damaged record keeps no delivery from ending
        return bool(json.loads(data).get("news"))
    return False


@or_damaged
def _carried_entries(text: str) -> dict[str, int]:
    record = json.loads(text)
    shown = {entry["ranked"]["item"]["key"] for entry in record["entries"]}
    return {each["key"]: each["arrival"] for each in record.get("carried", ()) if each["key"] in shown}


def _standing(db: Database, of: Sequence[object], since: int, but: int) -> set[str]:
    """Return the keys of what fell to the cap of the topic's and rhythm's digests since then; of all but that one."""
    sql = (
        f"select json_extract(value, '$.key') from digests, json_each(data, '$.left_out') where {_OF}"
        " and saved >= ? and digests.id <> ? and json_extract(value, '$.since') is not null"
    )
    return {key for (key,) in db.execute(sql, [*of, since, but]).fetchall()}


@or_damaged
def _begin(text: str) -> int:
    return micros(datetime.fromisoformat(json.loads(text)["since"]))
