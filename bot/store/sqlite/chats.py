"""What chat platforms keep, in SQL.

What was met and what a button stands for may be any text, half of a character too, which UTF-8 as SQLite keeps it cannot
hold: the first is kept as its key alone, the second as bytes.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlite_utils import Database

from bot.models import Delivery, Installation, text_key
from bot.ports.chats import TEXTS_KEPT
from bot.store.records import bytes_to_text, delivery_from_text, micros, text_to_bytes, time_of
from bot.store.sqlite.connections import Tables, reading, writing, writing_shared
from bot.store.sqlite.ledger import DELIVERIES

_INSTALLATION = "platform = ? and place = ?"


class SqliteChats(Tables):
    """bot.ports.chats.Chats."""

    @writing_shared
    def first_time(
        self, db: Database, platform: str, what: str, now: datetime, span: timedelta = timedelta(hours=24)
    ) -> bool:
        name = [platform, text_key(what)]
        met = db.execute("select at from met where platform = ? and what = ?", name).fetchone()
        sql = (
            "insert into met (platform, what, at, until) values (?, ?, ?, ?)"
            " on conflict (platform, what) do update set at = max(at, excluded.at), until = max(until, excluded.until)"
        )
        db.execute(sql, [*name, micros(now), micros(now + span)])
        return met is None or time_of(met[0]) <= now - span

    async def keep_texts(self, workspace: str, texts: Sequence[str], now: datetime) -> Sequence[str]:
        """As in the port; without a text nothing is written."""
        return await self._keep_texts(workspace, texts, now) if texts else []

    @writing_shared
    def _keep_texts(self, db: Database, workspace: str, texts: Sequence[str], now: datetime) -> Sequence[str]:
        sql = (
            "insert into texts (workspace, key, text, given) values (?, ?, ?, ?)"
            " on conflict (workspace, key) do update set given = max(given, excluded.given)"
        )
        keys = [text_key(text) for text in texts]
        db.conn.executemany(
            sql, [(workspace, key, text_to_bytes(text), micros(now)) for key, text in zip(keys, texts, strict=True)]
        )
        return keys

    @reading
    def kept_text(self, db: Database, workspace: str, key: str) -> str | None:
        row = db.execute("select text from texts where workspace = ? and key = ?", [workspace, key]).fetchone()
        return bytes_to_text(row[0]) if row else None

    @writing
    def save_installation(self, db: Database, installation: Installation) -> None:
        sql = "insert or replace into installations (platform, place, sealed, made_by, at) values (?, ?, ?, ?, ?)"
        db.execute(
            sql,
            [installation.platform, installation.place, installation.sealed, installation.made_by, micros(installation.at)],
        )

    @reading
    def installations(self, db: Database, platform: str, *, place: str = "") -> Sequence[Installation]:
        where, values = (_INSTALLATION, [platform, place]) if place else ("platform = ?", [platform])
        rows = db.execute(
            f"select place, sealed, made_by, at from installations where {where} order by place", values
        ).fetchall()
        return [
            Installation(platform=platform, place=named, sealed=sealed, made_by=made_by, at=time_of(at))
            for named, sealed, made_by, at in rows
        ]

    @writing
    def drop_installation(self, db: Database, platform: str, place: str) -> bool:
        return db.execute(f"delete from installations where {_INSTALLATION}", [platform, place]).rowcount == 1

    @reading
    def delivery_posted(self, db: Database, workspace: str, channel: str, message: str) -> Delivery | None:
        where = "workspace = ? and channel = ? and message = ? and message <> ''"  # the last as the index has it
        sql = f"{DELIVERIES} where {where} order by due desc, id desc limit 1"
        row = db.execute(sql, [workspace, channel, message]).fetchone()
        return delivery_from_text(*row) if row else None


def prune(db: Database, now: datetime) -> None:
    """Drop what nobody will ask for any more."""
    db.execute("delete from met where until <= ?", [micros(now)])
    db.execute("delete from texts where given <= ?", [micros(now - TEXTS_KEPT)])
