"""The bare rows of the PostgreSQL store."""

from collections.abc import Mapping, Sequence

from bot.ports.maintenance import OWN_COLUMNS, OWN_FACTS, Kind, Row, Table
from bot.store.postgres.connections import Db, Tables, reading, reading_view, writing

# What several processes agree by ends with them, and how the tables came to be as they are is each store's own.
_OURS_ALONE = ("schema_steps", "leases", "budgets", "rests", "spendings", "processes")
_KINDS = {
    "bigint": Kind.NUMBER,
    "integer": Kind.NUMBER,
    "smallint": Kind.NUMBER,
    "double precision": Kind.NUMBER,
    "real": Kind.NUMBER,
    "text": Kind.TEXT,
    "bytea": Kind.BYTES,
}
# What follows from other columns is not moved.
_COLUMNS = """
    select table_name, column_name, data_type from information_schema.columns
    where table_schema = current_schema() and is_generated = 'NEVER' and table_name <> all(%s)
    order by table_name, column_name collate "C"
"""
_KEYS = """
    select pg_class.relname, pg_attribute.attname from pg_index
    join pg_class on pg_class.oid = indrelid and relnamespace = current_schema()::regnamespace
    cross join unnest(indkey) with ordinality as place (attnum, number)
    join pg_attribute on attrelid = indrelid and pg_attribute.attnum = place.attnum
    where indisprimary order by relname, place.number
"""
# Of a counter that gives numbers by itself the next one is higher than any that is there.
_COUNTERS = """
    select table_name, column_name from information_schema.columns
    where table_schema = current_schema() and (is_identity = 'YES' or column_default like 'nextval(%%')
"""


class PostgresRows(Tables):
    """bot.ports.maintenance.Rows."""

    @property
    def name(self) -> str:
        """Where it is."""
        return self.connections.name

    @reading_view
    async def tables(self, db: Db) -> Mapping[str, Table]:
        columns: dict[str, dict[str, Kind]] = {}
        for table, column, kind in await (await db.execute(_COLUMNS, [list(_OURS_ALONE)])).fetchall():
            if column not in OWN_COLUMNS.get(table, ()):
                columns.setdefault(table, {})[column] = _KINDS[kind]
        keys: dict[str, list[str]] = {}
        for table, column in await (await db.execute(_KEYS)).fetchall():
            keys.setdefault(table, []).append(column)
        return {name: Table(name, of, tuple(keys.get(name, ()))) for name, of in columns.items()}

    @reading
    async def count(self, db: Db, table: Table) -> int:
        found = await (await db.execute(f"select count(*) from {table.name} where {_ours(table)}".encode())).fetchone()
        return int(found[0]) if found else 0

    @reading
    async def page(self, db: Db, table: Table, columns: Sequence[str], after: Row | None, *, limit: int) -> Sequence[Row]:
        listed = _listed(columns)
        if not table.key:
            return await (await db.execute(f"select {listed} from {table.name}".encode())).fetchall()
        order = _ordered(table)
        sql = f"select {listed} from {table.name} where {_ours(table)} and {_beyond(table, after)} order by {order} limit %s"
        return await (await db.execute(sql.encode(), [*(after or ()), limit])).fetchall()

    @writing
    async def replace(self, db: Db, table: Table, columns: Sequence[str], after: Row | None, rows: Sequence[Row]) -> None:
        where = f"{_ours(table)} and {_beyond(table, after)}"
        await db.execute(f"delete from {table.name} where {where}".encode(), list(after or ()))
        sql = f"copy {table.name} ({_listed(columns)}) from stdin"
        async with db.cursor() as cursor, cursor.copy(sql.encode()) as copy:
            for row in rows:
                await copy.write_row(row)

    @writing
    async def finish(self, db: Db) -> None:
        for table, column in await (await db.execute(_COUNTERS)).fetchall():
            highest = f'select coalesce(max("{column}"), 0) + 1 from "{table}"'
            sql = f"select setval(pg_get_serial_sequence(%s, %s), ({highest}), false)"
            await db.execute(sql.encode(), [f'"{table}"', column])
        await db.execute("analyze")


def _ours(table: Table) -> str:
    own = ", ".join(f"'{name}'" for name in OWN_FACTS)
    return f"name not in ({own})" if table.name == "facts" else "true"


def _beyond(table: Table, after: Row | None) -> str:
    return f"({_ordered(table)}) > ({_marks(table.key)})" if after is not None else "true"


def _listed(columns: Sequence[str]) -> str:
    return ", ".join(f'"{each}"' for each in columns)


def _ordered(table: Table) -> str:
    """Return the key as it is compared: text by its bytes, as SQLite does."""
    named = ((f'"{each}"', table.columns[each]) for each in table.key)
    return ", ".join(f'{name} collate "C"' if kind is Kind.TEXT else name for name, kind in named)


def _marks(columns: Sequence[str]) -> str:
    return ", ".join(["%s"] * len(columns))
