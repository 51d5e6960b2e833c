"""The bare rows of the SQLite store."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from sqlite_utils import Database

from bot.ports.maintenance import OWN_COLUMNS, OWN_FACTS, Kind, Row, Table
from bot.store.sqlite import ingest
from bot.store.sqlite.connections import Tables, reading_long, writing

# What is searched by is made anew from the rows, and how the tables came to be as they are is each store's own.
_OURS_ALONE = ("_sqlite_migrations", "sqlite_", "words", "labels", "vocabulary")
_KINDS = {"integer": Kind.NUMBER, "real": Kind.NUMBER, "text": Kind.TEXT, "blob": Kind.BYTES}


class SqliteRows(Tables):
    """bot.ports.maintenance.Rows."""

    @property
    def name(self) -> str:
        """Where it is."""
        return str(self.connections.path)

    @property
    def path(self) -> Path:
        """The file."""
        return self.connections.path

    @reading_long
    def tables(self, db: Database) -> Mapping[str, Table]:
        names = db.execute("select name from sqlite_master where type = 'table' order by name").fetchall()
        return {name: _table(db, name) for (name,) in names if not name.startswith(_OURS_ALONE)}

    @reading_long
    def count(self, db: Database, table: Table) -> int:
        return int(db.execute(f"select count(*) from {table.name} where {_ours(table)}").fetchone()[0])

    @reading_long
    def page(self, db: Database, table: Table, columns: Sequence[str], after: Row | None, *, limit: int) -> Sequence[Row]:
        listed = _listed(columns)
        if not table.key:
            return db.execute(f"select {listed} from {table.name}").fetchall()
        where = f"{_ours(table)} and {_beyond(table, after)}"
        sql = f"select {listed} from {table.name} where {where} order by {_listed(table.key)} limit ?"
        return db.execute(sql, [*(after or ()), limit]).fetchall()

    @writing
    def replace(self, db: Database, table: Table, columns: Sequence[str], after: Row | None, rows: Sequence[Row]) -> None:
        db.execute(f"delete from {table.name} where {_ours(table)} and {_beyond(table, after)}", list(after or ()))
        own = OWN_COLUMNS.get(table.name, ())  # told by `finish`
        sql = f"insert into {table.name} ({_listed([*columns, *own])}) values ({_marks(columns)}{', 0' * len(own)})"
        db.conn.executemany(sql, rows)

    @writing
    def finish(self, db: Database) -> None:
        ingest.rebuild(db)


def _table(db: Database, name: str) -> Table:
    rows = db.execute("select name, lower(type), pk from pragma_table_info(?) order by name", [name]).fetchall()
    key = [column for pk, column in sorted((pk, column) for column, _, pk in rows if pk)]
    own = OWN_COLUMNS.get(name, ())
    return Table(name, {column: _KINDS[kind] for column, kind, _ in rows if column not in own}, tuple(key))


def _ours(table: Table) -> str:
    own = ", ".join(f"'{name}'" for name in OWN_FACTS)
    return f"name not in ({own})" if table.name == "facts" else "true"


def _beyond(table: Table, after: Row | None) -> str:
    return f"({_listed(table.key)}) > ({_marks(table.key)})" if after is not None else "true"


def _listed(columns: Sequence[str]) -> str:
    return ", ".join(f'"{each}"' for each in columns)


def _marks(columns: Sequence[str]) -> str:
    return ", ".join("?" * len(columns))
