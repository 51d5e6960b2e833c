"""What chat platforms keep, in SQL. Each function that writes runs inside the writer's transaction.

What was met and what a button stands for may be any text, half of a character too, which UTF-8 as SQLite keeps it cannot
hold: the first is kept as its key alone, the second as bytes.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlite_utils import Database

from bot.models import Delivery, Installation, text_key
from bot.store.records.items import micros, time_of
from bot.store.records.ledger import payload_from_bytes, payload_to_bytes
from bot.store.rules.retention import TEXTS_KEPT, is_first, latest
from bot.store.sqlite import ledger

_INSTALLATION = "platform = ? and place = ?"


def first_time(db: Database, platform: str, what: str, now: datetime, span: timedelta) -> bool:
    """Note that this was met, and say whether it is the first time within the span."""
    name = [platform, text_key(what)]
    row = db.execute("select at, until from met where platform = ? and what = ?", name).fetchone()
    met, until = (None, None) if row is None else map(time_of, row)
    sql = "insert or replace into met (platform, what, at, until) values (?, ?, ?, ?)"
    db.execute(sql, [*name, micros(latest(met, now)), micros(latest(until, now + span))])
    return is_first(met, now, span)


def keep_texts(db: Database, workspace: str, texts: Sequence[str], now: datetime) -> Sequence[str]:
    """Keep the texts and return the key of each."""
    sql = (
        "insert into texts (workspace, key, text, given) values (?, ?, ?, ?)"
        " on conflict (workspace, key) do update set given = max(given, excluded.given)"
    )
    keys = [text_key(text) for text in texts]
    db.conn.executemany(
        sql, [(workspace, key, payload_to_bytes(text), micros(now)) for key, text in zip(keys, texts, strict=True)]
    )
    return keys


def kept_text(db: Database, workspace: str, key: str) -> str | None:
    """Return the workspace's text of that key."""
    row = db.execute("select text from texts where workspace = ? and key = ?", [workspace, key]).fetchone()
    return payload_from_bytes(row[0]) if row else None


def save_installation(db: Database, given: Installation) -> None:
    """Keep the installation instead of that of the same platform and place."""
    sql = "insert or replace into installations (platform, place, sealed, made_by, at) values (?, ?, ?, ?, ?)"
    db.execute(sql, [given.platform, given.place, given.sealed, given.made_by, micros(given.at)])


def installations(db: Database, platform: str, place: str) -> Sequence[Installation]:
    """Return the platform's installations, "" standing for every place; by place."""
    where, values = (_INSTALLATION, [platform, place]) if place else ("platform = ?", [platform])
    rows = db.execute(
        f"select place, sealed, made_by, at from installations where {where} order by place", values
    ).fetchall()
    return [
        Installation(platform=platform, place=named, sealed=sealed, made_by=made_by, at=time_of(at))
        for named, sealed, made_by, at in rows
    ]


def drop_installation(db: Database, platform: str, place: str) -> bool:
    """Forget the installation; say whether there was one."""
    return db.execute(f"delete from installations where {_INSTALLATION}", [platform, place]).rowcount == 1


def delivery_posted(db: Database, workspace: str, channel: str, message: str) -> Delivery | None:
    """Return the delivery that was posted as this message; the latest, should a platform name two alike."""
    return ledger.posted_as(db, workspace, channel, message)


def prune(db: Database, now: datetime) -> None:
    """Drop what nobody will ask for any more."""
    db.execute("delete from met where until <= ?", [micros(now)])
    db.execute("delete from texts where given <= ?", [micros(now - TEXTS_KEPT)])
