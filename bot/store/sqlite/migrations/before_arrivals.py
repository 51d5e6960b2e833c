"""The tables of the first editions: what digests looked at was a span of time, before arrivals were numbered."""

import json
import re
from datetime import datetime

from sqlite_utils import Database, Migrations

from bot.store.records import wakes
from bot.store.sqlite.search.full_text import make_index

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
    run(db, _TABLES)
    make_index(db.conn)
    db.execute(f"pragma application_id = {APPLICATION_ID}")


def run(db: Database, statements: str) -> None:
    """Run the statements, without their comments."""
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
    run(db, _WORKSPACES)
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
    run(db, _LEDGER)
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
    run(db, _CHATS)


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
    run(db, _UNPOSTED)


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
    run(db, _VECTORS)


@migrations()
def m007_releases(db: Database) -> None:
    """Change no table: records of items may tell of releases from here on, which older versions take for damage."""
