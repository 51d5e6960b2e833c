"""The tables, their migrations, and what a file must be before we touch it."""

import contextlib
import re
import sqlite3

from sqlite_utils import Database, Migrations

from bot.errors import StoreError
from bot.query.fields import TEXT

APPLICATION_ID = 0x42524453  # "BRDS", in the file's header: tells our files from other programs' (sqlite.org/pragma.html)
TITLE_WEIGHT = 2.0  # a word of the title counts twice; measured, see docs/decisions/0004-search-stemming.md

# The columns of the search index: the folded texts; of their words that are not their own stem the stems, of the title and
# of all others; and the labels. A stem is spelt as a word is, so that one term finds a word and all that have it for a stem,
# and bm25 weighs them as one. Labels are tokens that no text can contain. A label weighs nothing.
COLUMNS = (*TEXT, "title_stem", "text_stem", "label")
_WEIGHTS = (TITLE_WEIGHT, 1.0, 1.0, 1.0, 1.0, TITLE_WEIGHT, 1.0, 0.0)

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
-- The whole item as JSON.
create table records (id integer primary key, data text not null);
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
    for statement in re.sub("--.*", "", _TABLES).split(";"):
        if statement.strip():
            db.execute(statement)
    make_index(db.conn)
    db.execute(f"pragma application_id = {APPLICATION_ID}")


def make_index(conn: sqlite3.Connection) -> None:
    """Make the search index, empty.

    It is contentless: it keeps no copy of the text, which can be folded again from the item at any time. The tokens are
    ASCII and already folded, so the plainest tokeniser does.
    """
    conn.execute("drop table if exists words")
    conn.execute(
        f"create virtual table words using fts5({', '.join(COLUMNS)}, content='', tokenize=\"ascii tokenchars '_'\")"
    )
    # Larger runs in memory and fewer merges: an index of 54,000 papers is made in two thirds of the time.
    conn.execute("insert into words (words, rank) values ('hashsize', ?)", [16 << 20])
    conn.execute("insert into words (words, rank) values ('automerge', 8)")
    weights = ", ".join(map(str, _WEIGHTS))
    conn.execute("insert into words (words, rank) values ('rank', ?)", [f"bm25({weights})"])


def migrate(db: Database) -> None:
    """Bring the database to this version's schema, wholly or not at all; the caller holds a transaction.

    Raises StoreError for a file of another program or of a newer Broadsheet.
    """
    refuse_strangers(db)
    migrations.apply(db)


def refuse_strangers(db: Database) -> None:
    """Raise StoreError when the file is not ours or was written by a newer version."""
    mark = db.execute("pragma application_id").fetchone()[0]
    if mark != APPLICATION_ID and db.table_names():
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
