"""The tables since arrivals are numbered; a new migration goes behind the last one."""

import base64
import contextlib
import functools
import hashlib
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlite_utils import Database

from bot.store.records import micros
from bot.store.sqlite.migrations.before_arrivals import migrations, run

__all__ = ["migrations"]  # all of them: those of before are registered first

_ARRIVALS = """
-- The arrivals that each digest looked at, which are ids of items: those later than `after`, up to `through`.
alter table digests add column after integer not null default 0;
alter table digests add column through integer not null default 0;
drop index digests_place;
create index digests_place on digests (workspace, channel, topic, through);
alter table unposted rename to unposted_by_time;
-- Where digests began that were dropped unposted, until a later one makes up for them; `since` is for people, `at` is when
-- they ended. Numbers are never used again: who makes up for one of them knew those before it.
create table unposted (
    number integer primary key autoincrement,
    workspace text not null,
    channel text not null,
    topic text not null,
    after integer not null,
    since integer not null,
    at integer not null
);
create index unposted_place on unposted (workspace, channel, topic);
"""
# In microseconds.
_HOUR = 3_600_000_000
_LONGEST_COLLECTION = 6 * _HOUR  # what is stored has the beginning of its collection as `seen`, and none takes so long
_FORTY_DAYS = 960 * _HOUR  # an older digest is dropped no more; what was seen later was so by a clock that ran ahead


@migrations()
def m008_arrivals(db: Database) -> None:
    """Give digests and subscriptions of before the arrivals that stand for their times: earlier ones rather than later.

    What came near such a time is looked at again: what was posted is not posted again, and the rest is dropped once more.
    """
    run(db, _ARRIVALS)
    by_hour = functools.cache(functools.partial(_arrived_by, db))

    def arrived(time: int) -> int:
        return by_hour(time // _HOUR)

    ends = [(arrived(until), number) for number, until in db.execute("select id, until from digests").fetchall()]
    db.conn.executemany("update digests set after = ?1, through = ?1 where id = ?2", ends)
    _find_begins(db, arrived)
    rows = db.execute("select workspace, channel, topic, since, at from unposted_by_time order by at").fetchall()
    owed = [(*place, arrived(since), since, at) for *place, since, at in rows]
    db.conn.executemany("insert into unposted (workspace, channel, topic, after, since, at) values (?, ?, ?, ?, ?, ?)", owed)
    db.execute("drop table unposted_by_time")
    _give_baselines(db, arrived)


def _arrived_by(db: Database, hour: int) -> int:
    """Return an arrival such that what is later was stored, at the earliest, in the hours before that hour since 1970."""
    since = hour * _HOUR - _LONGEST_COLLECTION
    ever = (
        "select max(coalesce(max(id), 0), coalesce((select value from facts where name = 'last id'), 0) + 0) + 1 from items"
    )
    sql = (
        "select coalesce((select min(id) from items where seen between ?1 and ?2),"
        f" (select min(id) from items where seen >= ?1), ({ever})) - 1"
    )
    return int(db.execute(sql, [since, since + _FORTY_DAYS]).fetchone()[0])


def _find_begins(db: Database, arrived: Callable[[int], int]) -> None:
    """Find where those digests began that may still be dropped unposted."""
    since = "case when json_valid(data) then json_extract(data, '$.since') end"
    sql = f"select id, {since} from digests where until >= (select max(until) from digests) - ?"
    for number, text in db.execute(sql, [_FORTY_DAYS]).fetchall():
        with contextlib.suppress(ValueError, TypeError):  # a damaged one
            begun = arrived(micros(datetime.fromisoformat(text)))
            db.execute("update digests set after = min(after, ?) where id = ?", [begun, number])


def _give_baselines(db: Database, arrived: Callable[[int], int]) -> None:
    """Let subscriptions begin with an arrival. Where a pause ends ahead the time decides, as it does for new ones."""
    for workspace, name, data in db.execute("select workspace, id, data from subscriptions").fetchall():
        with contextlib.suppress(ValueError, TypeError, KeyError, AttributeError):  # a damaged one
            record = json.loads(data)
            if record.get("made_at"):
                record["made_arrival"] = arrived(micros(datetime.fromisoformat(record["made_at"])))
            if not record.get("paused_until"):
                record["baseline_arrival"] = arrived(micros(datetime.fromisoformat(record["baseline"])))
            found = [json.dumps(record, separators=(",", ":")), workspace, name]
            db.execute("update subscriptions set data = ? where workspace = ? and id = ?", found)


_OUTBOX = """
-- What waits is found by workspace, the first whose time came first; so none of those is looked at whose time has not come.
drop index deliveries_pending;
create index deliveries_pending on deliveries (workspace, next_at, due, id, part, subscription, day, slot, state)
    where state = 'pending';
drop index occurrences_state;
create index occurrences_state on occurrences (state, workspace, ifnull(next_at, 0), due, subscription, day, slot);
drop index subscriptions_next;
create index subscriptions_next on subscriptions (next_due, workspace, id, wakes);
-- What people are to be told, and refusals that are not applied yet; in the order in which they came.
create table notices (
    number integer primary key,
    workspace text not null,
    recipient text not null, -- a person, or a channel
    data text not null
);
create unique index notices_data on notices (workspace, recipient, data);
create index notices_order on notices (workspace, recipient, number);
create table refusals (number integer primary key, workspace text not null, data text not null);
create unique index refusals_data on refusals (workspace, data);
"""


@migrations()
def m009_outbox(db: Database) -> None:
    """Let what waits be found without a look at what does not have its turn, and keep what is owed in rows."""
    run(db, _OUTBOX)
    for notice in _owed(db, "notices"):
        workspace = notice.pop("workspace")
        if recipient := notice.get("person") or notice.get("channel"):
            db.execute(
                "insert or ignore into notices (workspace, recipient, data) values (?, ?, ?)",
                [workspace, recipient, json.dumps(notice, separators=(",", ":"))],
            )
    for refusal in _owed(db, "refusals"):
        db.execute(
            "insert or ignore into refusals (workspace, data) values (?, ?)",
            [refusal.pop("workspace"), json.dumps(refusal, separators=(",", ":"))],
        )
    db.execute("delete from facts where name = 'owed'")
    for number in db.execute("select number from deliveries").fetchall():
        row = db.execute("select payload from payloads where number = ?", number).fetchone()
        if shows := _entry_shown(row[0] if row else b""):
            told = "update deliveries set data = json_set(data, '$.shows', json(?)) where number = ? and json_valid(data)"
            db.execute(told, [shows, *number])
    settled = "select number from deliveries where state in ('done', 'failed', 'expired')"
    db.execute(f"delete from payloads where number in ({settled})")


def _entry_shown(payload: bytes) -> str:
    """Return as JSON the keys of the one entry that a message of the eighth edition shows; "" where that is not one."""
    try:
        entries = json.loads(payload.partition(b"\xff")[0])["keys"]
        return json.dumps(entries[0]) if len(entries) == 1 else ""
    except (ValueError, KeyError, TypeError):
        return ""


@migrations()
def m010_layouts(db: Database) -> None:
    """Let subscriptions name a layout, brief for what was compact; the first short digest of each says what is new."""
    for workspace, name, data in db.execute("select workspace, id, data from subscriptions").fetchall():
        with contextlib.suppress(ValueError, TypeError, AttributeError):  # a damaged one
            record = json.loads(data)
            chosen = {"layout": "brief"} if record.pop("compact", False) else {}
            found = [json.dumps({**record, **chosen, "is_new_to_brief": True}, separators=(",", ":")), workspace, name]
            db.execute("update subscriptions set data = ? where workspace = ? and id = ?", found)


_RHYTHMS = """
-- A channel has one subscription to a topic of each rhythm, which tells daily, weekly and monthly ones apart.
create table subscriptions_by_rhythm (
    workspace text not null,
    channel text not null,
    topic text not null,
    rhythm text not null,
    id text not null,
    revision integer not null,
    data text not null,
    next_due integer, -- null: to be found anew
    wakes integer not null default 0, -- when a pause ends
    primary key (workspace, channel, topic, rhythm)
) without rowid;
insert into subscriptions_by_rhythm
    select workspace, channel, topic, rhythm_of(data), id, revision, data, next_due, wakes from subscriptions;
drop table subscriptions;
alter table subscriptions_by_rhythm rename to subscriptions;
create unique index subscriptions_id on subscriptions (workspace, id);
create index subscriptions_topic on subscriptions (workspace, topic);
create index subscriptions_next on subscriptions (next_due, workspace, id, wakes);
-- Of digests, and of where those began that are made up for; "": that is not known.
alter table digests add column rhythm text not null default '';
alter table digests add column subscription text not null default '';
alter table unposted add column rhythm text not null default '';
update digests set rhythm = coalesce((select its.rhythm from subscriptions its where its.workspace = digests.workspace
    and its.channel = digests.channel and its.topic = digests.topic), '');
update unposted set rhythm = coalesce((select its.rhythm from subscriptions its where its.workspace = unposted.workspace
    and its.channel = unposted.channel and its.topic = unposted.topic), '');
"""


@migrations()
def m011_rhythms(db: Database) -> None:
    """Let a channel have several subscriptions to a topic; the digests of before are those of the one that stands."""
    db.conn.create_function("rhythm_of", 1, _rhythm_of, deterministic=True)
    run(db, _RHYTHMS)


def _rhythm_of(data: str) -> str:
    """Return the rhythm of a subscription of the tenth edition; a damaged one is daily."""
    try:
        schedule = json.loads(data)["schedule"]
        if schedule.get("month_day"):
            return "monthly"
        return "weekly" if len(schedule.get("weekdays", "week")) == 1 else "daily"
    except (ValueError, TypeError, KeyError, AttributeError):
        return "daily"


@migrations()
def m012_followed(db: Database) -> None:
    """Let topics say that they were made by following; older versions take that for damage."""


@migrations()
def m013_at_once(db: Database) -> None:
    """Let subscriptions post at once; older versions take that for damage."""
    db.execute("create index subscriptions_at_once on subscriptions (workspace, id, wakes) where rhythm = 'at once'")


_SAVED_IN = """
-- What counts in the lists of channels; each of its rows has one in `saved`, without which it counts no more.
create table saved_in (
    workspace text not null,
    channel text not null,
    key text not null,
    person text not null,
    at integer not null,
    link text not null, -- to the message there in which it was posted; "": that is not known
    primary key (workspace, channel, key, person)
) without rowid;
create index saved_in_person on saved_in (workspace, person, key);
"""


@migrations()
def m014_saved_in_channels(db: Database) -> None:
    """Let what people save count in a channel. What was saved before counts in none: nobody was told that it would."""
    run(db, _SAVED_IN)


_STANDING = """
-- Posted messages that may still be edited, with what they say, and what they say of what was pressed.
create table standing (
    workspace text not null,
    id text not null, -- of the delivery
    channel text not null,
    topic text not null,
    keys text not null, -- of the items that it lists, as JSON
    since integer not null,
    until integer not null,
    next_at integer not null,
    more integer not null,
    saved integer not null,
    edits integer not null,
    data text not null, -- the delivery
    payload blob not null,
    primary key (workspace, id)
);
"""


@migrations()
def m015_standing_messages(db: Database) -> None:
    """Let posted messages be edited. What was posted before is not kept, and stays as it is."""
    run(db, _STANDING)


_PUBLICATIONS = """
-- Posted messages that are to be published to who follows their channels.
create table publications (
    workspace text not null,
    id text not null, -- of the delivery
    since integer not null,
    next_at integer not null,
    attempts integer not null,
    primary key (workspace, id)
) without rowid;
"""


@migrations()
def m016_publications(db: Database) -> None:
    """Let posted messages be published to who follows their channels; nothing of before is."""
    run(db, _PUBLICATIONS)


_MAIL = """
-- Who is sent digests by e-mail; the channel is that of their subscriptions.
create table recipients (
    channel text primary key,
    workspace text not null,
    folded text not null, -- the address as two spellings of it have it
    address text not null,
    person text not null,
    is_list integer not null,
    confirmed_at integer not null,
    soft_bounces integer not null default 0,
    bounced_at integer,
    stopped text not null default ''
) without rowid;
create unique index recipients_address on recipients (workspace, folded);
-- Codes that were sent, also those that hold no longer: they are counted.
create table opt_ins (
    workspace text not null,
    person text not null,
    hash text not null, -- of the address, as in `suppressed`
    address text not null, -- "" where the code holds no longer
    is_list integer not null,
    code text not null,
    command text not null,
    asked_at integer not null,
    until integer not null,
    holds integer not null,
    tries integer not null
);
create index opt_ins_person on opt_ins (workspace, person);
create index opt_ins_asked on opt_ins (asked_at);
-- Addresses that are not to be written to, by a keyed hash; the workspace is "" where nobody is to.
create table suppressed (
    workspace text not null,
    hash text not null,
    reason text not null,
    at integer not null,
    primary key (workspace, hash)
) without rowid;
"""


@migrations()
def m017_mail(db: Database) -> None:
    """Let digests be sent by e-mail."""
    run(db, _MAIL)


_ARCHIVE = """
-- Digests that are to be posted, or were; those that were are the archive.
create table archive (
    digest integer primary key,
    workspace text not null,
    channel text not null,
    topic text not null,
    title text not null,
    day text not null,
    saved integer not null,
    entries integer not null,
    mark text not null, -- the same of digests that show the same
    posted integer not null,
    link text not null -- to the message; "": that is not known
);
create index archive_saved on archive (workspace, channel, saved);
create index archive_channel on archive (workspace, channel, topic, day, saved) where posted;
create index archive_topic on archive (workspace, topic, day, channel, mark, entries) where posted;
"""


@migrations()
def m018_archive(db: Database) -> None:
    """Let digests that were posted be read again by day and topic.

    Of the digests of before those are in it of which a delivery is known to be done; and those that have entries of which
    none is known any more: what came to nothing had been dropped.
    """
    run(db, _ARCHIVE)
    ended: dict[tuple[str, ...], list[tuple[str, dict[str, Any]]]] = {}
    for workspace, channel, day, state, data in db.execute(
        "select workspace, channel, day, state, data from deliveries where part = 1 and json_valid(data)"
    ).fetchall():
        record = json.loads(data)
        ended.setdefault((workspace, channel, str(record.get("topic")), day), []).append((state, record))
    sql = "select id, workspace, channel, topic, day, saved, data from digests where json_valid(data)"
    for number, *place, saved, data in db.execute(sql):
        if row := _archived(json.loads(data), saved, ended.get(tuple(place), [])):
            workspace, channel, topic, day = place
            db.execute(
                "insert into archive (digest, workspace, channel, topic, title, day, saved, entries, mark, posted, link)"
                " values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [number, workspace, channel, topic, row[0], day, saved, *row[1:]],
            )


def _archived(record: dict[str, Any], saved: int, ended: list[tuple[str, dict[str, Any]]]) -> tuple[object, ...]:
    """Return title, entries, mark, whether it was posted, and where; () where it is not to be kept."""
    try:
        made = datetime.fromtimestamp(0, UTC) + timedelta(microseconds=saved)
        own = [each for each in ended if each[1].get("made_at") in (None, made.isoformat())]
        entries = [entry["ranked"]["item"]["key"] for entry in record["entries"]]
        state, link = (own[0][0], str(own[0][1].get("link", ""))) if own else ("done" if entries else "", "")
        shown = json.dumps([record["topic"], record["day"], entries, record["coverage"], record.get("left_out")])
        mark = base64.urlsafe_b64encode(hashlib.sha256(shown.encode()).digest()[:16]).decode().rstrip("=")
        return (str(record["title"]), len(entries), mark, state == "done", link) if state else ()
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
        return ()  # a damaged one


_FEEDS = """
-- By which tokens people read feeds; of each the hash alone.
create table feeds (
    hash text primary key,
    workspace text not null,
    person text not null,
    platform text not null,
    channel text not null, -- where it was asked for
    is_direct integer not null,
    reading_list text not null, -- the channel whose list it is for
    topic text not null, -- "" for all
    made_at integer not null
) without rowid;
create index feeds_person on feeds (workspace, person);
"""


@migrations()
def m019_feeds(db: Database) -> None:
    """Let feeds be read by tokens."""
    run(db, _FEEDS)


_ASSISTANTS = """
-- By which tokens assistants ask, and for whom; of each the hash alone.
create table assistants (
    name text primary key,
    hash text not null,
    workspace text not null,
    channel text not null, -- whose digests are read; "" for none
    person text not null, -- for whom something is saved; "" for nobody
    may_write integer not null,
    made_at integer not null,
    used_on text not null, -- the last day; "" before the first
    revoked_at integer -- null while it holds
) without rowid;
create unique index assistants_hash on assistants (hash);
"""


@migrations()
def m020_assistants(db: Database) -> None:
    """Let assistants ask by tokens."""
    run(db, _ASSISTANTS)


_ITEM_CHANGES = """
-- Which items were stored or dropped, one after the other, for who follows; as far back as it is kept.
create table item_changes (
    number integer primary key,
    item integer not null -- its arrival; 0 in the first row, which is no item's
);
insert into item_changes (number, item) values (1, 0);
"""


@migrations()
def m021_item_changes(db: Database) -> None:
    """Let copies of what the items say follow them by numbered changes. They begin with all items."""
    run(db, _ITEM_CHANGES)


@migrations()
def m022_items_others(db: Database) -> None:
    """Let the items of each kind be counted without reading the papers, which are most of them."""
    db.execute("create index items_others on items (kind) where kind <> 'paper'")


_VECTOR_CHANGES = """
-- The number of each write of vectors, as far back as it is kept: a copy that knows all up to one of them can go on from it.
create table vector_changes (number integer primary key);
insert into vector_changes (number)
    select max(1, coalesce((select value + 0 from facts where name = 'vector changes'), 0));
delete from facts where name in ('vector changes', 'vector changes known since');
"""


@migrations()
def m023_vector_changes(db: Database) -> None:
    """Let copies of the vectors see whether they have followed this database, and not one that it was put in place of."""
    run(db, _VECTOR_CHANGES)


@migrations()
def m024_items_in_order(db: Database) -> None:
    """Let items be found by their dates, and those with stars and upvotes in that order; most have none."""
    db.execute("create index items_published on items (published) where published is not null")
    db.execute("create index items_stars on items (stars, newest, key) where stars is not null")
    db.execute("create index items_upvotes on items (upvotes, newest, key) where upvotes is not null")


@migrations()
def m025_items_updated(db: Database) -> None:
    """Let items be found by when they were updated, too."""
    db.execute("create index items_updated on items (updated) where updated is not null")


def _owed(db: Database, what: str) -> list[dict[str, str]]:
    """Return what the eighth edition kept in one fact; nothing of a damaged one."""
    row = db.execute("select value from facts where name = 'owed'").fetchone()
    try:
        return [dict(each, workspace=str(each["workspace"])) for each in json.loads(row[0])[what]] if row else []
    except (ValueError, TypeError, KeyError):
        return []
