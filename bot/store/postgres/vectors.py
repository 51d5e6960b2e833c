"""The vectors of items in PostgreSQL.

Whoever writes a vector, or takes one away, holds the lock of the items. So no item's text changes while its vector is being
kept, and the numbers of the writes are in the order in which these are committed.
"""

import secrets
from collections.abc import Collection, Mapping, Sequence

from bot.models import Item
from bot.models.vectors import text_digest
from bot.ports.vectors import Embedded, VectorChange
from bot.store.postgres.connections import Connections, Db, Tables, aside, locked, reading, writing
from bot.store.records import item_from_text

_SAMPLE = 100  # vectors that show how long all of their space are
# So far apart are the numbers of two writes, by chance: where a backup is put back, what is written then has others than
# what was written since the backup.
_GAP = 1 << 24
KEPT_CHANGES = 100_000  # writes, each of some vectors; a copy that is further behind is made anew
FIRST = 1  # the number that a store has before the first write, though no row says so
LAST_CHANGE = f"coalesce((select max(number) from vector_changes), {FIRST})"
_MANY = 100  # records; it takes some milliseconds to decode them

# Of so many bytes, and with a scale that `bot.models.vectors.sound` takes: not negative, and below 1/32, as its last byte
# tells. A vector is looked into only where it has that length.
_SOUND = (
    "case when octet_length(vector) = {} and octet_length(vector) > 0"
    " then get_byte(vector, octet_length(vector) - 1) < 61 else false end"
)
# How many bytes a vector of the space has, as most of a few do; null where there is none.
_LENGTH = (
    "(select octet_length(vector) from (select vector from vectors where space = {} limit"
    f" {_SAMPLE}) sample group by 1 order by count(*) desc, 1 desc limit 1)"
)


class PostgresVectors(Tables):
    """bot.ports.vectors.Vectors."""

    def __init__(self, connections: Connections) -> None:
        super().__init__(connections)
        self._counted: tuple[object, Embedded] | None = None  # at which marks, and what

    @reading
    async def lacking(self, db: Db, space: str, *, limit: int, better: bool = False) -> Sequence[Item]:
        rows = await (await db.execute((_QUICK if better else _WITHOUT).encode(), [space, max(0, limit)])).fetchall()
        return await items_of([data for (data,) in rows])

    @writing
    async def save(self, db: Db, space: str, items: Sequence[Item], packed: Sequence[bytes], *, quick: bool) -> int:
        await lock_items(db)
        number, change = await _space_and_change(db, space)
        stored = await _stored(db, [item.key for item in items])
        rows = {
            stored[item.key][0]: (read, vector)
            for item, vector in zip(items, packed, strict=True)
            if item.key in stored and stored[item.key][1] == (read := text_digest(item))
        }
        given = {"items": list(rows), "space": number, "quick": int(quick), "change": change}
        columns = {"read": [read for read, _ in rows.values()], "vectors": [vector for _, vector in rows.values()]}
        async with db.pipeline():
            await db.execute(_NOTE.encode(), given)
            await db.execute(_SAVE.encode(), {**given, **columns})
            await db.execute("delete from gone_vectors where item = any(%(items)s::bigint[])", given)
        return len(rows)

    @reading
    async def find(self, db: Db, space: str, keys: Collection[str]) -> Mapping[str, bytes]:
        return dict(await (await db.execute(_FIND.encode(), {"space": space, "keys": storable(keys)})).fetchall())

    @reading
    async def mark(self, db: Db, space: str) -> str:
        return str(await _last_change(db))

    @reading
    async def last_change(self, db: Db, space: str) -> int:
        return await _last_change(db)

    @reading
    async def changed(self, db: Db, space: str, after: int, *, limit: int) -> Sequence[VectorChange] | None:
        """Ask in one statement: what is known and what has changed are then of the same moment."""
        given = {"space": space, "after": after, "limit": max(1, limit)}
        rows = await (await db.execute(_CHANGED.encode(), given)).fetchall()
        if not rows[0][0]:
            return None
        return [
            VectorChange(number, key, item, packed, bool(quick))
            for _, number, key, item, packed, quick in rows
            if number is not None
        ]

    @reading
    async def embedded(self, db: Db, space: str) -> Embedded:
        """Count through all of them, once for each state of items and vectors."""
        marks = space, *await _marks(db)
        counted = self._counted  # other tasks count too
        if counted is None or counted[0] != marks:
            rows = await (await db.execute(_EMBEDDED.encode(), [space])).fetchall()
            self._counted = counted = (marks, Embedded(*rows[0]))
        return counted[1]


_SPACE = "(select number from vector_spaces where name = %(space)s)"
_WITHOUT = """
    select data from (
        select id, newest, key from items where not exists (
            select from vectors where item = items.id and space = (select number from vector_spaces where name = %s)
        ) order by newest desc, key desc limit %s
    ) lacking join records using (id) order by newest desc, key desc"""
_QUICK = """
    select data from (
        select id, newest, key from vectors join items on id = item
        where space = (select number from vector_spaces where name = %s) and quick = 1
        order by newest desc, key desc limit %s
    ) lacking join records using (id) order by newest desc, key desc"""
_NOTE = f"""
    insert into vector_changes (number) select {FIRST} where not exists (select from vector_changes)
    union select %(change)s::bigint on conflict do nothing"""
_SAVE = """
    insert into vectors (item, read, vector, space, quick, change)
    select given.*, %(space)s, %(quick)s, %(change)s
    from unnest(%(items)s::bigint[], %(read)s::bigint[], %(vectors)s::bytea[]) given
    on conflict (item) do update set space = excluded.space, quick = excluded.quick, change = excluded.change,
        read = excluded.read, vector = excluded.vector"""
_FIND = f"""
    select key, vector from items join vectors on item = id
    where key = any(%(keys)s) and space = {_SPACE} and {_SOUND.format(_LENGTH.format(_SPACE))}"""
_EMBEDDED = """
    with counts as (
        select count(*) filter (where quick = 0) as whole, count(*) filter (where quick = 1) as quick
        from vectors where space = (select number from vector_spaces where name = %s)
    ) select whole, quick, (select count(*) from items) - whole - quick from counts"""
_CHANGED = f"""
    with known as (
        select exists (select from vector_changes where number = %(after)s)
            or (%(after)s = {FIRST} and not exists (select from vector_changes)) as known
    ), through as (
        select coalesce((
            select change from (
                (select change from vectors where change > %(after)s order by change limit %(limit)s)
                union all (select change from gone_vectors where change > %(after)s order by change limit %(limit)s)
            ) next order by change limit 1 offset %(limit)s - 1
        ), {LAST_CHANGE}) as through
    ), changed as (
        select change, item, case when {_SOUND.format(_LENGTH.format(_SPACE))} then vector end as packed, quick
        from vectors, through where change > %(after)s and change <= through and space = {_SPACE}
        union all select change, item, null, 0
        from vectors, through where change > %(after)s and change <= through and space is distinct from {_SPACE}
        union all select change, item, null, 0
        from gone_vectors, through where change > %(after)s and change <= through
    ) select known, change, coalesce(key, ''), item, packed, quick
    from known left join changed on known left join items on id = item order by change, item"""


async def _last_change(db: Db) -> int:
    row = await (await db.execute(f"select {LAST_CHANGE}".encode())).fetchone()
    return int(row[0]) if row else FIRST


async def _marks(db: Db) -> tuple[object, ...]:
    sql = f"select {LAST_CHANGE}, (select value from facts where name = 'changes')"
    return await (await db.execute(sql.encode())).fetchone() or ()


async def _space_and_change(db: Db, space: str) -> tuple[int, int]:
    """Return the number of the space, given here where it has none, and that of the next write; under the lock."""
    sql = f"select number, {LAST_CHANGE} from vector_spaces where name = %s"
    row = await (await db.execute(sql.encode(), [space])).fetchone()
    if row is None:
        new = "insert into vector_spaces (number, name) select coalesce(max(number), 0) + 1, %s from vector_spaces"
        row = await (await db.execute(f"{new} returning number, {LAST_CHANGE}".encode(), [space])).fetchone()
    assert row is not None  # noqa: S101 - it is there, or it was made
    return int(row[0]), next_change(row[1])


def next_change(last: int) -> int:
    """Return the number of a write, given that of the last one."""
    return last + 1 + secrets.randbelow(_GAP)


async def _stored(db: Db, keys: Collection[str]) -> dict[str, tuple[int, int]]:
    """Return id and digest of the text of each key that is an item's own."""
    sql = "select id, data from items join records using (id) where key = any(%s)"
    rows = await (await db.execute(sql, [storable(keys)])).fetchall()
    items = await items_of([data for _, data in rows])
    return {item.key: (number, text_digest(item)) for (number, _), item in zip(rows, items, strict=True)}


async def forget_changed(db: Db, ids: Sequence[int], digests: Sequence[int], change: int) -> None:
    """Take the vectors of those items that were made of a text with another digest; `change` is the number of this write."""
    await db.execute(_FORGET_CHANGED.encode(), {"ids": ids, "digests": digests, "change": change})


async def forget(db: Db, ids: Sequence[int], change: int) -> None:
    """Take the vectors of the items of these ids; `change` is the number of this write."""
    await db.execute(_FORGET.encode(), {"ids": ids, "change": change})


_GONE = f"""
    noted as (
        insert into gone_vectors (item, change) select item, %(change)s::bigint from gone
        on conflict (item) do update set change = excluded.change
    ) insert into vector_changes (number)
    select number from (
        select {FIRST} as number where not exists (select from vector_changes) union select %(change)s::bigint
    ) numbers where exists (select from gone) on conflict do nothing"""
_FORGET_CHANGED = f"""
    with gone as (
        delete from vectors using unnest(%(ids)s::bigint[], %(digests)s::bigint[]) as given (id, digest)
        where item = id and read <> digest returning item
    ), {_GONE}"""
_FORGET = f"with gone as (delete from vectors where item = any(%(ids)s::bigint[]) returning item), {_GONE}"


async def prune(db: Db, kept: int = KEPT_CHANGES) -> None:
    """Take what is damaged, so that its item gets another; forget all writes but the last one and so many before it.

    It waits for the lock of the items; before it has looked through all vectors, which takes seconds for a million.
    """
    wrong = await damaged(db)
    await lock_items(db)
    if wrong and (wrong := await damaged(db, wrong)):  # another one may have taken its place meanwhile
        await forget(db, wrong, next_change(await _last_change(db)))
    oldest = "select number from vector_changes order by number desc limit 1 offset %s"
    await db.execute(f"delete from vector_changes where number < ({oldest})".encode(), [kept])
    await db.execute("delete from gone_vectors where change <= (select min(number) from vector_changes)")


async def damaged(db: Db, among: Sequence[int] | None = None) -> list[int]:
    """Return the ids of the items, of these alone where they are given, whose vector has another size than its space."""
    length = _LENGTH.format("vector_spaces.number")
    sql = (
        f"with spaces as materialized (select number, {length} as length from vector_spaces)"
        f" select item from vectors join spaces on number = space where not ({_SOUND.format('length')})"
        " and (%(among)s::bigint[] is null or item = any(%(among)s))"
    )
    given = {"among": None if among is None else list(among)}
    return [item for (item,) in await (await db.execute(sql.encode(), given)).fetchall()]


# --- what items and vectors have in common


async def lock_items(db: Db) -> None:
    """Wait until nobody else writes items or vectors, and keep others from it until the transaction ends.

    It is the first that such a transaction locks. What is read behind it is what all before it committed, and none reads it
    to write before this one is committed: so nothing that was read is changed by others, and numbers are in the order of
    commits.
    """
    await locked(db, "items")


async def items_of(texts: Sequence[str]) -> list[Item]:
    """Return the items of these records; many are decoded beside the event loop."""
    if len(texts) <= _MANY:
        return list(map(item_from_text, texts))
    return await aside(lambda: list(map(item_from_text, texts)))


def storable(names: Collection[str]) -> list[str]:
    """Return those of the texts that a column of PostgreSQL can hold: the others are nobody's name."""
    return [name for name in names if "\0" not in name and not any("\ud800" <= letter <= "\udfff" for letter in name)]
