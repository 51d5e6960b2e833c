"""The tables and their migrations, and bringing a file to this version.

Each migration stays as it was released: files of every version are brought up from it.
"""

import contextlib
import functools
import json
import re
from collections.abc import Callable
from datetime import datetime

from sqlite_utils import Database, Migrations

from bot.errors import StoreError
from bot.store.records import micros, wakes
from bot.store.sqlite.full_text import make_index

APPLICATION_ID = 0x42524453  # "BRDS", in the file's header: tells our files from other programs' (sqlite.org/pragma.html)

migrations = Migrations("broadsheet")

_TABLES = """
-- What queries filter and sort by, kept narrow so that scanning it is cheap; times in microseconds since 1970, UTC.
create table items (
    id integer primary key,
    key text not null unique,
    kind text not null,
    seen integer not null,
    newest integer not null,
    published integer,
    updated integer,
    stars integer,
    forks integer,
    upvotes integer,
    fingerprint integer not null -- of what the search index holds of it
);
create index items_seen on items (seen);
create index items_newest on items (newest, key);
create table records (id integer primary key, data text not null); -- the whole item as JSON
create table aliases (alias text primary key, item integer not null) without rowid;
create index aliases_item on aliases (item);
create table readings (
    item integer not null,
    day text not null,
    stars integer,
    forks integer,
    upvotes integer,
    primary key (item, day)
) without rowid;
create table source_states (name text primary key, data text not null) without rowid;
create table digests (
    id integer primary key,
    workspace text not null,
    channel text not null,
    topic text not null,
    day text not null,
    until integer not null,
    saved integer not null,
    data text not null
);
create index digests_place on digests (workspace, channel, topic, until);
create table posted (
    workspace text not null,
    channel text not null,
    key text not null,
    saved integer not null,
    primary key (workspace, channel, key)
) without rowid;
create index posted_key on posted (key);
create table summaries (
    key text not null,
    made_by text not null,
    read text not null,
    saved integer not null,
    data text not null,
    primary key (key, made_by, read)
) without rowid;
create table spending (day text primary key, tokens integer not null) without rowid;
create table facts (name text primary key, value text not null) without rowid;
"""


@migrations()
def m001_first_edition(db: Database) -> None:
    """Make every table of the first edition."""
    _run(db, _TABLES)
    make_index(db.conn)
    db.execute(f"pragma application_id = {APPLICATION_ID}")


def _run(db: Database, statements: str) -> None:
    for statement in re.sub("--.*", "", statements).split(";"):
        if statement.strip():
            db.execute(statement)


_WORKSPACES = """
create table topics (
    workspace text not null,
    name text not null,
    revision integer not null,
    data text not null,
    primary key (workspace, name)
) without rowid;
create table subscriptions (
    workspace text not null,
    channel text not null,
    topic text not null,
    id text not null,
    revision integer not null,
    data text not null,
    primary key (workspace, channel, topic)
) without rowid;
create unique index subscriptions_id on subscriptions (workspace, id);
create index subscriptions_topic on subscriptions (workspace, topic);
create table feedback (
    workspace text not null,
    topic text not null,
    person text not null,
    key text not null,
    more integer not null,
    at integer not null,
    channel text not null,
    primary key (workspace, topic, person, key)
) without rowid;
create index feedback_key on feedback (key);
create table saved (
    workspace text not null,
    person text not null,
    key text not null,
    at integer not null,
    primary key (workspace, person, key)
) without rowid;
create index saved_key on saved (key);
create table preferences (workspace text primary key, data text not null) without rowid;
create table changes (
    id integer primary key,
    workspace text not null,
    at integer not null,
    what text not null,
    data text not null
);
create index changes_at on changes (workspace, at);
create index changes_what on changes (workspace, what, at);
create index digests_saved on digests (workspace, channel, saved);
-- Every posting of a key, no longer the first alone, each with its digest; 0 for one that is not known any more.
alter table posted rename to posted_once;
drop index posted_key;
create table posted (
    workspace text not null,
    channel text not null,
    key text not null,
    digest integer not null,
    saved integer not null,
    score real,
    primary key (workspace, channel, key, digest)
) without rowid;
create index posted_key on posted (key);
-- What stays when old items are dropped.
create view held as
    select key from posted
    union all select key from saved
    union all select key from feedback
    union all select value from topics, json_each(data, '$.examples') where value is not null;
"""


@migrations()
def m002_workspaces(db: Database) -> None:
    """Make the tables for what workspaces make, and give every posting its digest, as far as that can be found."""
    _run(db, _WORKSPACES)
    for number, workspace, channel, saved, data in db.execute("select id, workspace, channel, saved, data from digests"):
        rows = [(workspace, channel, key, number, saved, score) for key, score in _shown(data).items()]
        db.conn.executemany("insert into posted values (?, ?, ?, ?, ?, ?)", rows)
    db.execute(
        "insert into posted select workspace, channel, key, 0, saved, null from posted_once"
        " where (workspace, channel, key) not in (select workspace, channel, key from posted)"
    )
    db.execute("drop table posted_once")


def _shown(data: str) -> dict[str, float | None]:
    """Return the keys that a digest of the first edition showed, with their scores; a damaged one shows nothing."""
    try:
        entries = json.loads(data)["entries"]
        partners = [entry["partner"]["key"] for entry in entries if entry["partner"]]
        scores = {entry["ranked"]["item"]["key"]: entry["ranked"]["score"] for entry in entries}
    except (ValueError, KeyError, TypeError):
        return {}
    return {**dict.fromkeys(partners), **scores}


_LEDGER = """
alter table subscriptions add column next_due integer; -- null: to be found anew
alter table subscriptions add column wakes integer not null default 0; -- when a pause ends
create index subscriptions_next on subscriptions (next_due, wakes);
create table occurrences (
    workspace text not null,
    subscription text not null,
    day text not null,
    slot integer not null,
    channel text not null,
    due integer not null,
    state text not null,
    next_at integer,
    data text not null,
    primary key (workspace, subscription, day, slot)
) without rowid;
-- All that is asked of what is due, and below of what waits, so that thousands are put in turns without being read.
create index occurrences_state on occurrences (state, workspace, due, subscription, day, slot, next_at);
create index occurrences_latest on occurrences (workspace, due);
create index occurrences_place on occurrences (workspace, channel, due);
create table deliveries (
    number integer primary key,
    workspace text not null,
    id text not null,
    subscription text not null,
    day text not null,
    slot integer not null,
    part integer not null,
    channel text not null,
    due integer not null,
    state text not null,
    next_at integer not null,
    lease_until integer,
    data text not null
);
create unique index deliveries_id on deliveries (workspace, id);
create unique index deliveries_part on deliveries (workspace, subscription, day, slot, part);
create index deliveries_pending on deliveries (workspace, due, id, next_at, part, subscription, day, slot, state)
    where state = 'pending';
create index deliveries_state on deliveries (state, next_at);
create index deliveries_latest on deliveries (workspace, due);
create index deliveries_place on deliveries (workspace, channel, due);
-- What the messages say: written once and large, while what becomes of them is written often and small.
create table payloads (number integer primary key, payload blob not null);
"""


@migrations()
def m003_ledger(db: Database) -> None:
    """Make the tables of the ledger; a subscription that is paused stays so."""
    _run(db, _LEDGER)
    for workspace, number, data in db.execute("select workspace, id, data from subscriptions").fetchall():
        ends = [_pause_of(data), workspace, number]
        db.execute("update subscriptions set wakes = ? where workspace = ? and id = ?", ends)


def _pause_of(data: str) -> int:
    """Return when the pause of a subscription of the second edition ends; a damaged one has none."""
    try:
        record = json.loads(data)
        until = record.get("paused_until")
        return wakes(record.get("paused", False), datetime.fromisoformat(until) if until else None)
    except (ValueError, AttributeError, TypeError):
        return 0


_CHATS = """
-- What was met once: an event, a command. `what` is the key of its text; `until` is when it need not be known any more.
create table met (
    platform text not null,
    what text not null,
    at integer not null,
    until integer not null,
    primary key (platform, what)
) without rowid;
create index met_until on met (until);
-- What buttons stand for that have no room for it.
create table texts (
    workspace text not null,
    key text not null,
    text blob not null,
    given integer not null,
    primary key (workspace, key)
) without rowid;
create index texts_given on texts (given);
create table installations (
    platform text not null,
    place text not null,
    sealed blob not null,
    made_by text not null,
    at integer not null,
    primary key (platform, place)
) without rowid;
alter table deliveries add column message text not null default '';
update deliveries set message = coalesce(json_extract(data, '$.message'), '') where json_valid(data);
create index deliveries_message on deliveries (workspace, channel, message) where message <> '';
"""


@migrations()
def m004_chats(db: Database) -> None:
    """Make the tables of the chat platforms, and let a delivery be found by its message."""
    _run(db, _CHATS)


_UNPOSTED = """
-- From when on digests looked that were dropped unposted, until a later one looks from there; `at` is when they ended.
create table unposted (
    workspace text not null,
    channel text not null,
    topic text not null,
    since integer not null,
    at integer not null,
    primary key (workspace, channel, topic, since)
) without rowid;
"""


@migrations()
def m005_unposted(db: Database) -> None:
    """Make the table of what the next digests owe."""
    _run(db, _UNPOSTED)


_VECTORS = """
create table vector_spaces (number integer primary key, name text not null unique);
-- One for an item at most; `read` is the digest of the text that it was made of, `change` the number of its write.
create table vectors (
    item integer primary key,
    space integer not null,
    quick integer not null,
    change integer not null,
    read integer not null,
    vector blob not null
);
create index vectors_space on vectors (space, quick, item);
create index vectors_change on vectors (change);
create table gone_vectors (item integer primary key, change integer not null); -- until the next pruning, for copies
"""


@migrations()
def m006_vectors(db: Database) -> None:
    """Make the tables of the items' vectors."""
    _run(db, _VECTORS)


@migrations()
def m007_releases(db: Database) -> None:
    """Change no table: records of items may tell of releases from here on, which older versions take for damage."""


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
    _run(db, _ARRIVALS)
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
    _run(db, _OUTBOX)
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
    _run(db, _RHYTHMS)


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


def _owed(db: Database, what: str) -> list[dict[str, str]]:
    """Return what the eighth edition kept in one fact; nothing of a damaged one."""
    row = db.execute("select value from facts where name = 'owed'").fetchone()
    try:
        return [dict(each, workspace=str(each["workspace"])) for each in json.loads(row[0])[what]] if row else []
    except (ValueError, TypeError, KeyError):
        return []


def migrate(db: Database) -> None:
    """Bring the database to this version's schema, wholly or not at all; the caller holds a transaction.

    Raises StoreError for a file of another program or of a newer Broadsheet.
    """
    refuse_strangers(db)
    migrations.apply(db)


def refuse_strangers(db: Database) -> None:
    """Raise StoreError when the file is not ours or was written by a newer version."""
    if db.execute("pragma application_id").fetchone()[0] != APPLICATION_ID and db.table_names():
        raise StoreError("The database file belongs to another program; give Broadsheet a path of its own.")
    newer = {migration.name for migration in migrations.applied(db)} - set(migration_names())
    if newer:
        raise StoreError(
            f"The database was written by a newer Broadsheet (it has {min(newer)}); install that version or later."
        )


def migration_names() -> list[str]:
    """Return the names of this version's migrations, in order."""
    with contextlib.closing(Database(memory=True)) as nothing:
        return [migration.name for migration in migrations.pending(nothing)]


def is_current(db: Database) -> bool:
    """Say whether nothing is left to migrate; raises StoreError as `migrate` does."""
    refuse_strangers(db)
    return db.table(migrations.migrations_table).exists() and not migrations.pending(db)
