"""What chat platforms keep, in SQL.

What was met and what a button stands for may be any text, also what PostgreSQL has no room for: the first is kept as its key
alone, the second as bytes.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from bot.models import Delivery, Installation, text_key
from bot.store.postgres.connections import Db, Tables, reading, writing
from bot.store.records import bytes_to_text, delivery_from_text, micros, text_to_bytes, time_of

_INSTALLATION = "platform = %s and place = %s"
_MET = "insert into met (platform, what, at, until) values (%s, %s, %s, %s) on conflict do nothing"
# The row is locked before it is read, so that what it held is what this statement changed.
_MET_AGAIN = (
    "update met set at = greatest(met.at, %s), until = greatest(met.until, %s)"
    " from (select platform, what, at from met where platform = %s and what = %s for update) as before"
    " where met.platform = before.platform and met.what = before.what returning before.at"
)


class PostgresChats(Tables):
    """bot.ports.chats.Chats."""

    @writing
    async def first_time(
        self, db: Db, platform: str, what: str, now: datetime, span: timedelta = timedelta(hours=24)
    ) -> bool:
        name, times = [platform, text_key(what)], [micros(now), micros(now + span)]
        # One of those who meet it at once makes the row. The others wait for it, and change it one after the other.
        while not (await db.execute(_MET, [*name, *times])).rowcount:
            met = await (await db.execute(_MET_AGAIN, [*times, *name])).fetchone()
            if met is not None:  # else it was dropped in between
                return time_of(met[0]) <= now - span
        return True

    async def keep_texts(self, workspace: str, texts: Sequence[str], now: datetime) -> Sequence[str]:
        """As in the port; without a text nothing is written."""
        return await self._keep_texts(workspace, texts, now) if texts else []

    @writing
    async def _keep_texts(self, db: Db, workspace: str, texts: Sequence[str], now: datetime) -> Sequence[str]:
        sql = (
            "insert into texts (workspace, key, text, given)"
            " select %s, key, text, %s from unnest(%s::text[], %s::bytea[]) as kept (key, text)"
            " on conflict (workspace, key) do update set given = excluded.given where texts.given < excluded.given"
        )
        keys = [text_key(text) for text in texts]
        kept = dict(sorted(zip(keys, map(text_to_bytes, texts), strict=True)))  # in one order, for whoever keeps the same
        await db.execute(sql, [workspace, micros(now), list(kept), list(kept.values())])
        return keys

    @reading
    async def kept_text(self, db: Db, workspace: str, key: str) -> str | None:
        sql = "select text from texts where workspace = %s and key = %s"
        row = await (await db.execute(sql, [workspace, key])).fetchone()
        return bytes_to_text(row[0]) if row else None

    @writing
    async def save_installation(self, db: Db, installation: Installation) -> None:
        sql = (
            "insert into installations (platform, place, sealed, made_by, at) values (%s, %s, %s, %s, %s)"
            " on conflict (platform, place) do update set sealed = excluded.sealed, made_by = excluded.made_by,"
            " at = excluded.at"
        )
        place = [installation.platform, installation.place]
        await db.execute(sql, [*place, installation.sealed, installation.made_by, micros(installation.at)])

    @reading
    async def installations(self, db: Db, platform: str, *, place: str = "") -> Sequence[Installation]:
        where, values = (_INSTALLATION, [platform, place]) if place else ("platform = %s", [platform])
        sql = f"select place, sealed, made_by, at from installations where {where} order by place"
        return [
            Installation(platform=platform, place=named, sealed=sealed, made_by=made_by, at=time_of(at))
            for named, sealed, made_by, at in await (await db.execute(sql, values)).fetchall()
        ]

    @writing
    async def drop_installation(self, db: Db, platform: str, place: str) -> bool:
        return (await db.execute(f"delete from installations where {_INSTALLATION}", [platform, place])).rowcount == 1

    @reading
    async def delivery_posted(self, db: Db, workspace: str, channel: str, message: str) -> Delivery | None:
        sql = (
            "select data, payload from deliveries left join payloads using (number) where workspace = %s and channel = %s"
            " and message = %s and message <> '' order by due desc, id desc limit 1"  # the last as the index has it
        )
        row = await (await db.execute(sql, [workspace, channel, message])).fetchone()
        return delivery_from_text(*row) if row else None
