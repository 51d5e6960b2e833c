"""The tables of the items as step 1 makes them, with their vectors, and of what is found by its key alone."""

# Keys, aliases and days are compared and ordered by their bytes, as SQLite does it.
_ITEMS = (
    """
create table items (
    id bigint primary key, -- the item's arrival
    key text collate "C" not null unique,
    kind text collate "C" not null,
    seen bigint not null,
    newest bigint not null,
    published bigint,
    updated bigint,
    stars bigint,
    forks bigint,
    upvotes bigint,
    fingerprint bigint not null default 0 -- of what the index of an SQLite file holds; of no use here
)""",
    "create index items_seen on items (seen, id)",
    "create index items_newest on items (newest, key)",
    "create index items_others on items (kind) where kind <> 'paper'",
    "create index items_pushed on items (updated) where kind = 'repo'",
    "create table records (id bigint primary key, data text not null)",
    'create table aliases (alias text collate "C" primary key, item bigint not null)',
    "create index aliases_item on aliases (item)",
    """
create table readings (
    item bigint not null,
    day text collate "C" not null,
    stars bigint,
    forks bigint,
    upvotes bigint,
    primary key (item, day)
)""",
    "create index readings_day on readings (day)",
    """
create table item_changes (
    number bigint primary key,
    item bigint not null -- its id; an item that is gone has no row any more
)""",
)

_VECTORS = (
    """
create table vectors (
    item bigint primary key,
    space bigint not null,
    quick bigint not null,
    change bigint not null,
    read bigint not null, -- the digest of the text that it is made of
    vector bytea not null
)""",
    "create index vectors_space on vectors (space, quick, item)",
    "create index vectors_change on vectors (change)",
    "create table gone_vectors (item bigint primary key, change bigint not null)",
    "create index gone_vectors_change on gone_vectors (change)",
    "create table vector_changes (number bigint primary key)",
    'create table vector_spaces (number bigint primary key, name text collate "C" not null unique)',
)

_KEY_VALUES = (
    'create table facts (name text collate "C" primary key, value text not null)',
    'create table source_states (name text collate "C" primary key, data text not null)',
    """
create table summaries (
    key text collate "C" not null,
    made_by text collate "C" not null,
    read text collate "C" not null,
    saved bigint not null,
    data text not null,
    primary key (key, made_by, read)
)""",
    'create table spending (day text collate "C" primary key, tokens bigint not null)',
)

TABLES: tuple[str, ...] = (*_ITEMS, *_VECTORS, *_KEY_VALUES)
