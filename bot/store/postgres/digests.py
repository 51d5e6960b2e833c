"""Digests, what they posted, and the archive of them, in SQL. Every statement names the workspace and the channels.

Who writes or drops what was posted to a channel holds the channel's name (`hold_channel`) and reads only then: between what
it reads to decide and what it writes no other digest of the channel comes.
"""

import contextlib
import json
import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Any

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
from bot.store.postgres.connections import Cursor, Db, Tables, aside, asking, locked, reading, reading_view, writing
from bot.store.postgres.vectors import storable
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
from bot.store.rules.transitions import (
    KEPT_AT_ONCE,
    begins_again,
    ended_at,
    expect_latest,
    expect_unposted,
    taken_over,
    under_heirs,
)

log = logging.getLogger(__name__)

_WEEK = micros(EPOCH + timedelta(days=7))  # what fell to the cap longer ago is carried on no more
# The digests of a channel of one topic, and of one rhythm where that is not "": one that is not known is every one's.
_OF = (
    "workspace = %(workspace)s and channel = %(channel)s and topic = %(topic)s"
    " and (%(rhythm)s::text = '' or rhythm in (%(rhythm)s, ''))"
)
_PLACE = "workspace = %(workspace)s and channel = %(channel)s"


class PostgresDigests(Tables):
    """bot.ports.digests.Digests."""

    @writing
    async def save(self, db: Db, workspace: str, channel: str, digest: Digest, now: datetime) -> None:
        await hold_channel(db, workspace, channel)
        await keep(db, workspace, channel, digest, now, posted=1 if digest.entries else None)

    @asking
    async def posted(self, db: Db, workspace: str, channel: str) -> frozenset[str]:
        sql = f"select key from posted where {_PLACE}"
        return frozenset(key for (key,) in await _all(db, sql, workspace=workspace, channel=channel))

    @asking
    async def last(
        self, db: Db, workspace: str, channel: str, topic: str, rhythm: Rhythm | None = None
    ) -> tuple[date, Position] | None:
        sql = f"select day, through, until from digests where {_OF} order by through desc, until desc, day desc limit 1"
        rows = await _all(db, sql, **_of(workspace, channel, topic, rhythm or ""))
        return (_day(rows[0][0]), Position(rows[0][1], time_of(rows[0][2]))) if rows else None

    @asking
    async def unposted(
        self, db: Db, workspace: str, channel: str, topic: str, rhythm: Rhythm | None = None
    ) -> Unposted | None:
        sql = f"select after, since, max(number) over () from unposted where {_OF} order by after, since limit 1"
        rows = await _all(db, sql, **_of(workspace, channel, topic, rhythm or ""))
        return Unposted(Position(rows[0][0], time_of(rows[0][1])), rows[0][2]) if rows else None

    @reading
    async def postings(self, db: Db, workspace: str, channel: str, keys: Collection[str]) -> Sequence[Posting]:
        sql = (
            "select key, topic, day, posted.saved, score, subscription from posted left join digests on digests.id = digest"
            " where posted.workspace = %(workspace)s and posted.channel = %(channel)s and key = any(%(keys)s)"
            " order by posted.saved desc, digest desc, key"
        )
        rows = await _all(db, sql, workspace=workspace, channel=channel, keys=storable(keys))
        return [_posting(*row) for row in rows]

    @asking
    async def past(
        self,
        db: Db,
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
            f"select data, saved from digests where {_PLACE}"
            + (" and topic = %(topic)s" if topic else "")
            + (" and rhythm in (%(rhythm)s, '')" if rhythm else "")
            + (" and saved <= %(saved_by)s" if saved_by else "")
            + (" and not shows_nothing" if with_entries else "")
            + " order by saved desc, id desc limit %(limit)s"
        )
        asked = {**_of(workspace, channel, topic, rhythm or ""), "saved_by": micros(saved_by) if saved_by else None}
        rows = await _all(db, sql, **asked, limit=limit)
        return await aside(lambda: list(_legible(rows, all_needed=with_entries)))


_DISTINCT = """
with recursive found (name) as (
    (select {name} from archive where {where} and posted = 1 order by {name} limit 1)
    union all
    select next.name from found cross join lateral
        (select {name} as name from archive where {where} and posted = 1 and {name} > found.name order by {name} limit 1)
        as next
)
select name from found
"""  # of an index that goes on with that column: one look for each value, however many rows have it
_OF_WORKSPACE = _DISTINCT.format(name="channel", where="workspace = %(workspace)s")
_OF_CHANNEL = _DISTINCT.format(name="topic", where=_PLACE)
_HELD = 100  # digests of the archive that are held as they are read: some megabytes
_MOST_DAYS = 4000  # that are counted of a topic: those of eleven years

_HERE = "workspace = %(workspace)s and topic = %(topic)s and posted = 1 and channel = any(%(channels)s)"
_COUNTED = (
    f"select count(*), max(day) from (select distinct day from archive where {_HERE} order by day desc limit {_MOST_DAYS})"
    " as days"
)
_TITLED = f"select title from archive where {_HERE} and day = %(day)s order by saved desc, digest desc limit 1"
_DAYS = f"""
with days (day) as materialized (
    select distinct day from archive where {_HERE} and day < %(before)s order by day desc limit %(limit)s
), parts as (
    select distinct day, mark, entries from archive
    where {_HERE} and day < %(before)s and day >= (select min(day) from days)
)
select day, count(*), sum(entries)::bigint from parts group by day order by day desc
"""
_DIGESTS = f"""
select archive.channel, archive.saved, mark, link, data from archive join digests on digests.id = archive.digest
where archive.digest in
    (select digest from archive where {_HERE} and day = %(day)s order by saved, digest limit %(limit)s)
order by archive.saved, archive.digest
"""
_POSTINGS = """
select posted.key, archive.channel, topic, title, day, archive.saved, link, mark
from posted join archive on archive.digest = posted.digest
where posted.workspace = %(workspace)s and posted.channel = any(%(channels)s)
    and posted.key = any(%(keys)s) and archive.posted = 1
order by archive.saved desc, archive.digest desc, posted.key limit %(limit)s
"""


class PostgresArchive(Tables):
    """bot.ports.digests.Archive."""

    @reading
    async def channels(self, db: Db, workspace: str) -> Sequence[str]:
        return [name for (name,) in await _all(db, _OF_WORKSPACE, workspace=workspace)]

    @reading_view
    async def topics(self, db: Db, workspace: str, channels: Collection[str]) -> Sequence[ArchivedTopic]:
        each: set[str] = set()
        for channel in storable(channels):
            each |= {name for (name,) in await _all(db, _OF_CHANNEL, workspace=workspace, channel=channel)}
        found = []
        for topic in sorted(each):
            asked = _asked(workspace, channels, topic)
            ((days, last),) = await _all(db, _COUNTED, **asked)
            ((title,),) = await _all(db, _TITLED, **asked, day=last)
            found.append(ArchivedTopic(topic, title, days, _day(last)))
        return sorted(found, key=lambda topic: topic.last, reverse=True)

    @reading
    async def days(
        self,
        db: Db,
        workspace: str,
        channels: Collection[str],
        topic: str,
        *,
        before: date | None = None,
        limit: int = 31,
    ) -> Sequence[ArchivedDay]:
        until = (before or date.max).isoformat()
        rows = await _all(db, _DAYS, **_asked(workspace, channels, topic), before=until, limit=limit)
        return [ArchivedDay(_day(day), digests, entries) for day, digests, entries in rows]

    @reading
    async def digests(
        self, db: Db, workspace: str, channels: Collection[str], topic: str, day: date, *, limit: int = 50
    ) -> Sequence[ArchivedDigest]:
        rows = await _all(db, _DIGESTS, **_asked(workspace, channels, topic), day=day.isoformat(), limit=limit)
        return await aside(lambda: _archived(rows))

    @reading
    async def postings(
        self, db: Db, workspace: str, channels: Collection[str], keys: Collection[str], *, limit: int = 50
    ) -> Sequence[ArchivedPosting]:
        rows = await _all(db, _POSTINGS, **_asked(workspace, channels, ""), keys=storable(keys), limit=limit)
        return [
            ArchivedPosting(key, channel, topic, title, _day(day), time_of(saved), link, mark)
            for key, channel, topic, title, day, saved, link, mark in rows
        ]

    @reading
    async def posted_entry(self, db: Db, workspace: str, posting: ArchivedPosting) -> Entry | None:
        sql = (
            "select data from archive join digests on digests.id = archive.digest where archive.workspace = %(workspace)s"
            " and archive.channel = %(channel)s and archive.saved = %(saved)s and mark = %(mark)s and posted = 1 limit 1"
        )
        place = {"workspace": workspace, "channel": posting.channel, "saved": micros(posting.at), "mark": posting.mark}
        rows = await _all(db, sql, **place)
        digest = await aside(lambda: _read(rows[0][0])) if rows else None
        return entry_of(digest, posting.key) if digest else None


async def _all(db: Db, sql: str, **given: object) -> list[tuple[Any, ...]]:
    return await (await db.execute(sql.encode(), given)).fetchall()


def _asked(workspace: str, channels: Collection[str], topic: str) -> dict[str, object]:
    """Return what is asked for; null, which nothing equals, for a topic that no column can hold."""
    return {"workspace": workspace, "channels": storable(channels), "topic": next(iter(storable([topic])), None)}


def _archived(rows: Sequence[tuple[Any, ...]]) -> list[ArchivedDigest]:
    found: dict[str, list[ArchivedDigest]] = {}
    for channel, saved, mark, link, data in rows:
        if digest := found[mark][0].digest if mark in found else _read(data):
            one = ArchivedDigest(mark=mark, digest=digest, saved_at=time_of(saved), channels=(channel,), links=(link,))
            found.setdefault(mark, []).append(one)
    return [as_one(same) for same in found.values()]


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


def _legible(rows: Sequence[tuple[Any, ...]], *, all_needed: bool) -> Iterator[PastDigest]:
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


def _of(workspace: str, channel: str, topic: str, rhythm: str) -> dict[str, object]:
    return {"workspace": workspace, "channel": channel, "topic": topic, "rhythm": str(rhythm)}


async def hold_channel(db: Db, workspace: str, channel: str) -> None:
    """Wait until nobody else writes what was posted to the channel, and keep others from it until the transaction ends."""
    await locked(db, "channel", workspace, channel)


async def keep(db: Db, workspace: str, channel: str, digest: Digest, now: datetime, *, posted: int | None) -> None:
    """Keep the digest and what it posted, in a channel that is held.

    It is put into the archive, too, where `posted` is given: it is read there once that is 1. What was dropped is numbered
    while the channel is held: no lower number comes later.
    """
    sql = f"with those as (select 1), {kept_of('those')} select from those"
    await _all_gone(db, sql, **as_kept(workspace, channel, digest, now, posted=posted))


def kept_of(those: str) -> str:
    """Return the parts of a statement that keep a digest, which `as_kept` gives, where a part before them has a row."""
    return f"""
        kept as (
            insert into digests (workspace, channel, topic, rhythm, subscription, day, until, after, through, saved, data)
            select %(workspace)s, %(channel)s, %(topic)s, %(rhythm)s, %(subscription)s, %(day)s, %(until)s::bigint,
                %(after)s::bigint, %(through)s::bigint, %(saved)s::bigint, %(data)s from {those} returning id
        ), shown as (
            insert into posted (workspace, channel, key, digest, saved, score)
            select %(workspace)s, %(channel)s, key, id, %(saved)s, score
            from kept cross join unnest(%(keys)s::text[], %(scores)s::float8[]) as shown (key, score)
        ), archived as (
            insert into archive (digest, workspace, channel, topic, title, day, saved, entries, mark, posted, link)
            select id, %(workspace)s, %(channel)s, %(topic)s, %(title)s, %(day)s, %(saved)s, %(entries)s, %(mark)s,
                %(posted)s::bigint, '' from kept where %(posted)s::bigint is not null
        ), made_up as (delete from unposted where {_OF} and number <= %(makes_up)s and exists (select from {those}))
    """


def as_kept(workspace: str, channel: str, digest: Digest, now: datetime, *, posted: int | None) -> dict[str, object]:
    """Return what `kept_of` is given."""
    window, scores = digest.window, posted_scores(digest)
    return {
        **_of(workspace, channel, digest.topic, digest.rhythm),
        "subscription": digest.subscription,
        "day": digest.day.isoformat(),
        "data": digest_to_text(digest),
        "until": micros(digest.until),
        "saved": micros(now),
        "after": window.after,
        "through": window.through,
        "keys": list(scores),
        "scores": list(scores.values()),
        "makes_up": window.makes_up,
        "title": digest.title,
        "entries": len(digest.entries),
        "mark": shown_mark(digest),
        "posted": posted,
    }


# Lets the digest be read in the archive whose first message is posted: a part of the statement that records that.
NOTE_POSTED = (
    "update archive set posted = 1, link = %(link)s where workspace = %(workspace)s and channel = %(channel)s"
    " and saved = %(made)s and topic = %(topic)s and day = %(day)s and exists"
    " (select from digests where digests.id = digest and digests.subscription in (%(subscription)s, ''))"
)


def posted_now(done: Delivery) -> dict[str, object] | None:
    """Return what NOTE_POSTED is given of a delivery; None where no digest is to be read because of it."""
    if done.part > 1 or done.state is not DeliveryState.DONE or done.made_at is None:
        return None
    subscription, day, _ = done.occurrence
    place = {"workspace": done.workspace, "channel": done.channel, "topic": done.topic, "day": day.isoformat()}
    return {**place, "made": micros(done.made_at), "subscription": subscription, "link": done.link}


async def stands(db: Db, workspace: str, channel: str, digest: Digest) -> Cursor:
    """Ask what stands in the channel, which is held, of what the digest shows; `expect_fresh` waits for the answer."""
    of = _of(workspace, channel, digest.topic, digest.rhythm)
    return await db.execute(_STANDS.encode(), {**of, **asked_of(digest)})


def asked_of(digest: Digest) -> dict[str, object]:
    """Return what STANDS_FRESH is given beside the digest's place."""
    over, once = taken_over(digest), posted_once(digest) if digest.rhythm else []
    renamed = list(posted_scores(digest)) if over or once else []
    return {"follows": digest.window.follows, "renamed": renamed, "over": over, "once": once}


async def expect_fresh(db: Db, workspace: str, channel: str, digest: Digest, asked: Cursor) -> None:
    """Raise Conflict where other digests of the channel, which is held, were saved or dropped since this one was made.

    That is of its topic and rhythm; or one posted what it took over, or one of another rhythm what it shows. `asked` is what
    `stands` returned.
    """
    reach, renamed, is_posted = await asked.fetchone() or (0, False, False)
    expect_latest(digest, int(reach))
    if renamed and not is_posted:  # then each is asked for by both names
        over, once = taken_over(digest), posted_once(digest) if digest.rhythm else []
        heirs = dict[str, str](await _all(db, _HEIRS, renamed=list(posted_scores(digest))))
        both = {"over": list(under_heirs(over, heirs)), "once": list(under_heirs(once, heirs))}
        of = _of(workspace, channel, digest.topic, digest.rhythm)
        ((_, _, is_posted),) = await _all(db, _STANDS, **of, renamed=[], **both)
    expect_unposted(["it"] if is_posted else [])


# The keys that items have now that were renamed since the digest was made, by those that they had.
_HEIRS = (
    "select alias, key from aliases join items on id = item where alias = any(%(renamed)s)"
    " and not exists (select from items as own where own.key = alias)"
)
# How far the channel's digests of the topic and rhythm looked, 0 where there is none; and whether a name was posted to the
# channel that is not to be, or another one by the topic's digests of other rhythms.
_REACH = f"coalesce((select through from digests where {_OF} order by through desc limit 1), 0)"
_IS_POSTED = f"""
    (exists (select from posted where {_PLACE} and key = any(%(over)s))
    or exists (select from posted join digests on digests.id = posted.digest where posted.workspace = %(workspace)s
        and posted.channel = %(channel)s and key = any(%(once)s) and topic = %(topic)s and rhythm not in (%(rhythm)s, '')))
"""
_STANDS = f"select {_REACH}, exists ({_HEIRS}), {_IS_POSTED}"
# Whether the digest is as fresh as `expect_fresh` wants it, and nothing was renamed: then it need not be asked again.
STANDS_FRESH = f"{_REACH} = %(follows)s and not exists ({_HEIRS}) and not {_IS_POSTED}"


_SAYS_NOTHING = (
    f"says_nothing and rhythm = '{Rhythm.AT_ONCE}' and saved < %(before)s and exists (select from digests as later"
    " where (later.workspace, later.channel, later.topic, later.rhythm)"
    " = (digests.workspace, digests.channel, digests.topic, digests.rhythm) and later.through > digests.through)"
)


async def saying_nothing(db: Db, now: datetime) -> list[tuple[int]]:
    """Return the numbers of digests that were to be posted at once, some time ago, and neither showed nor left out anything.

    There is one for each collection. The one that looked furthest is not among them.
    """
    sql = f"select id from digests where {_SAYS_NOTHING} order by id"
    return [(number,) for (number,) in await _all(db, sql, before=micros(now - KEPT_AT_ONCE))]


async def forget(db: Db, now: datetime, numbers: Sequence[tuple[int]]) -> None:
    """Drop those of the digests that still are as `saying_nothing` found them.

    Each channel is held meanwhile: what looked furthest stays so.
    """
    some = [number for (number,) in numbers]
    places = await _all(
        db, "select distinct workspace, channel from digests where id = any(%(some)s) order by 1, 2", some=some
    )
    for workspace, channel in places:
        await hold_channel(db, workspace, channel)
    sql = f"delete from digests where id = any(%(some)s) and {_SAYS_NOTHING}"
    await _all_gone(db, sql, some=some, before=micros(now - KEPT_AT_ONCE))


async def _all_gone(db: Db, sql: str, **given: object) -> int:
    return (await db.execute(sql.encode(), given)).rowcount


# --- what was never posted


async def drop(db: Db, ended: Delivery) -> bool:
    """Drop the digest of a delivery, and what it would have posted, in a channel that is held; the next one looks at its.

    So do the next ones of other topics and rhythms at what theirs that were made since looked at: these left out what it
    showed. Return whether it had news for the channel.
    """
    if ended.made_at is None:
        return False  # made by an edition that did not note it: which of a day's digests it was is not known
    subscription, day, _ = ended.occurrence
    given = {"workspace": ended.workspace, "channel": ended.channel, "topic": ended.topic, "day": day.isoformat()}
    sql = (
        f"select id, rhythm, after, data from digests where {_PLACE} and topic = %(topic)s and day = %(day)s"
        " and saved = %(made)s and subscription in (%(subscription)s, '') order by id"
    )
    dropped = await _all(db, sql, **given, made=micros(ended.made_at), subscription=subscription)
    for number, rhythm, after, data in dropped:
        await _leave_to_make_up(db, ended, number, rhythm, (after, data))
        await _all_gone(db, f"delete from posted where {_PLACE} and digest = %(number)s", **given, number=number)
        await _all_gone(db, "delete from archive where digest = %(number)s", number=number)
        await _all_gone(db, "delete from digests where id = %(number)s", number=number)
    return any(_has_news(data) for *_, data in dropped)


async def _leave_to_make_up(db: Db, ended: Delivery, number: int, rhythm: str, own: tuple[int, str]) -> None:
    """Note from where on what a digest would have told is to be told by others."""
    made = micros(ended.made_at or ended.due)
    owed = [((ended.topic, rhythm), own), *await _made_since(db, ended, rhythm, made)]
    sql = (
        "insert into unposted (workspace, channel, topic, rhythm, after, since, at)"
        " values (%(workspace)s, %(channel)s, %(topic)s, %(rhythm)s, %(after)s, %(since)s, %(at)s)"
    )
    for (topic, its), (begin, data) in owed:
        of = _of(ended.workspace, ended.channel, topic, its)
        after, since = begin, made
        with contextlib.suppress(StoreError):  # a damaged record keeps no delivery from ending
            since = _begin(data)
            if data == own[1]:
                standing = await _standing(db, of, since - _WEEK, number)
                after = begins_again(begin, _carried_entries(data), standing)
        await _all_gone(db, sql, **of, after=after, since=since, at=micros(ended_at(ended)))


async def _made_since(db: Db, ended: Delivery, rhythm: str, made: int) -> list[tuple[tuple[str, str], tuple[int, str]]]:
    """Return for each other topic and rhythm where its first digest began that was made since, and that one's record."""
    sql = (
        f"select distinct on (topic, rhythm) topic, rhythm, after, data from digests where {_PLACE}"
        " and (topic <> %(topic)s or rhythm not in (%(rhythm)s, '')) and saved >= %(made)s"
        " order by topic, rhythm, after, id"
    )
    rows = await _all(db, sql, **_of(ended.workspace, ended.channel, ended.topic, rhythm), made=made)
    return [((topic, its), (after, data)) for topic, its, after, data in rows]


async def _standing(db: Db, of: Mapping[str, object], since: int, but: int) -> set[str]:
    """Return the keys of what fell to the cap of the topic's and rhythm's digests since then; of all but that one."""
    sql = f"select data from digests where {_OF} and saved >= %(since)s and id <> %(but)s"
    rows = await _all(db, sql, **of, since=since, but=but)
    return {key for (data,) in rows for key in _left_out(data)}


def _left_out(data: str) -> list[str]:
    with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError):
        return [each["key"] for each in json.loads(data).get("left_out") or () if each.get("since") is not None]
    return []


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


@or_damaged
def _begin(text: str) -> int:
    return micros(datetime.fromisoformat(json.loads(text)["since"]))
