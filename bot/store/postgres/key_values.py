"""Rows that are found by their keys alone: facts, the states of sources, and the summaries that a model made."""

from datetime import date, datetime
from zlib import crc32

from bot.models import SourceState, Summary
from bot.store.postgres.connections import Db, Tables, asking, reading, writing
from bot.store.records import micros, state_from_text, state_to_text, summary_from_text, summary_to_text


async def set_fact(db: Db, name: str, value: str) -> None:
    """Remember a small text."""
    sql = "insert into facts (name, value) values (%s, %s) on conflict (name) do update set value = excluded.value"
    await db.execute(sql, [name, value])


async def save_state(db: Db, state: SourceState) -> None:
    """Remember how a source is."""
    sql = "insert into source_states (name, data) values (%s, %s) on conflict (name) do update set data = excluded.data"
    await db.execute(sql, [state.name, state_to_text(state)])


# Two snapshots of the same spelling see the very same transactions, and so the same rows: also of one that has been written
# to the log and is not seen yet, which the position in the log would already count. A server that took the place of another,
# and may give numbers of transactions anew that the other one gave, began at another time.
_VERSION = "select concat(pg_current_snapshot(), ' ', extract(epoch from pg_postmaster_start_time()))"

_SPEND = """
insert into spending (day, tokens)
select %(day)s, greatest(%(tokens)s, 0) where %(most)s::bigint is null or %(tokens)s <= greatest(%(most)s, 0)
on conflict (day) do update set tokens = greatest(spending.tokens + %(tokens)s, 0)
where %(most)s::bigint is null or %(tokens)s <= 0 or spending.tokens + %(tokens)s <= %(most)s
returning true"""


class PostgresFacts(Tables):
    """bot.ports.facts.Facts."""

    @asking
    async def get(self, db: Db, name: str) -> str:
        row = await (await db.execute("select value from facts where name = %s", [name])).fetchone()
        return str(row[0]) if row else ""

    @writing
    async def set(self, db: Db, name: str, value: str) -> None:
        await set_fact(db, name, value)

    @reading
    async def version(self, db: Db) -> int:
        """Return a number that also changes with what transactions of others do that the store knows nothing of."""
        row = await (await db.execute(_VERSION)).fetchone()
        return crc32(str(row).encode())


class PostgresSourceStates(Tables):
    """bot.ports.source.SourceStates. Of two that save at the same time the last one stays."""

    @reading
    async def get(self, db: Db, name: str) -> SourceState:
        row = await (await db.execute("select data from source_states where name = %s", [name])).fetchone()
        return state_from_text(row[0]) if row else SourceState(name=name)

    @writing
    async def save(self, db: Db, state: SourceState) -> None:
        await save_state(db, state)


class PostgresSummaries(Tables):
    """bot.ports.summaries.Summaries."""

    @reading
    async def find(self, db: Db, key: str, made_by: str, digest_of_text: str) -> Summary | None:
        sql = "select data from summaries where key = %s and made_by = %s and read = %s"
        row = await (await db.execute(sql, [key, made_by, digest_of_text])).fetchone()
        return summary_from_text(row[0]) if row else None

    @writing
    async def save(self, db: Db, key: str, made_by: str, digest_of_text: str, summary: Summary, now: datetime) -> None:
        sql = (
            "insert into summaries (key, made_by, read, saved, data) values (%s, %s, %s, %s, %s)"
            " on conflict (key, made_by, read) do update set saved = excluded.saved, data = excluded.data"
        )
        await db.execute(sql, [key, made_by, digest_of_text, micros(now), summary_to_text(summary)])

    @reading
    async def spent(self, db: Db, day: date) -> int:
        row = await (await db.execute("select tokens from spending where day = %s", [day.isoformat()])).fetchone()
        return int(row[0]) if row else 0

    @writing
    async def spend(self, db: Db, day: date, tokens: int, *, most: int | None = None) -> bool:
        """Add in one statement, which waits for whoever adds to the same day."""
        given = {"day": day.isoformat(), "tokens": tokens, "most": most}
        return await (await db.execute(_SPEND, given)).fetchone() is not None
