"""What processes on one PostgreSQL database agree by: leases, budgets, and who is there. All by the database's clock."""

import json
from collections.abc import Collection, Sequence
from datetime import timedelta

from bot.models import Lease, Pace, ProcessState, Rest
from bot.store.postgres.connections import Db, Tables, reading, writing, writing_once
from bot.store.postgres.migrations.processes import NOW
from bot.store.records import encode, micros, time_of

_FORGOTTEN = timedelta(days=1)  # after its last beat a process that ended without a word

# A row stays when its lease is given back: its token counts on.
_TAKE = f"""
insert into leases as held (name, holder, token, until) values (%(name)s, %(holder)s, 1, {NOW} + %(span)s)
on conflict (name) do update set
    token = held.token + case when held.holder = excluded.holder and held.until > {NOW} then 0 else 1 end,
    holder = excluded.holder,
    until = {NOW} + %(span)s
where held.until <= {NOW} or held.holder = excluded.holder
returning token, until"""

_REST = f"""
insert into rests as kept (key, begun, until, reason) values (%(key)s, {NOW}, {NOW} + %(span)s, %(reason)s)
on conflict (key) do update set begun = excluded.begun, until = excluded.until, reason = excluded.reason
where kept.until < excluded.until or kept.begun > excluded.begun"""

_SPEND = f"""
insert into spendings as kept (key, spent, until)
select %(key)s, greatest(%(amount)s, 0), {NOW} + %(span)s where %(amount)s <= greatest(%(most)s, 0)
on conflict (key) do update set
    spent = greatest(case when kept.until > {NOW} then kept.spent else 0 end + %(amount)s, 0),
    until = case when kept.until > {NOW} then kept.until else {NOW} + %(span)s end
where %(amount)s <= 0 or case when kept.until > {NOW} then kept.spent else 0 end + %(amount)s <= %(most)s
returning true"""

_BEAT = f"""
insert into processes (id, roles, version, schema, host, begun, beat, figures)
values (%(id)s, %(roles)s, %(version)s, %(schema)s, %(host)s, %(begun)s, {NOW}, %(figures)s)
on conflict (id) do update set
    roles = excluded.roles, version = excluded.version, schema = excluded.schema, host = excluded.host,
    begun = excluded.begun, beat = {NOW}, figures = excluded.figures"""


class PostgresLeases(Tables):
    """bot.ports.shared.processes.Leases."""

    @writing_once
    async def take(self, db: Db, name: str, holder: str, span: timedelta) -> Lease | None:
        """As in the port."""
        cursor = await db.execute(_TAKE.encode(), {"name": name, "holder": holder, "span": _micros(span)})
        row = await cursor.fetchone()
        return None if row is None else Lease(name, holder, row[0], time_of(row[1]))

    @writing_once
    async def give_back(self, db: Db, lease: Lease) -> None:
        """As in the port."""
        await db.execute("update leases set until = 0 where name = %s and token = %s", [lease.name, lease.token])

    @reading
    async def held(self, db: Db, beginning: str = "") -> Sequence[Lease]:
        """As in the port."""
        asked = f"select name, holder, token, until from leases where until > {NOW} and starts_with(name, %s) order by name"
        rows = await (await db.execute(asked.encode(), [beginning])).fetchall()
        return [Lease(name, holder, token, time_of(until)) for name, holder, token, until in rows]


class PostgresBudgets(Tables):
    """bot.ports.shared.processes.Budgets."""

    @writing_once
    async def reserve(self, db: Db, paces: Sequence[Pace], rests: Collection[str] = (), *, patience: timedelta) -> timedelta:
        """As in the port: the generic cell rate algorithm at several places at once.

        A place's `next` is when its next call is in time; a call may come by the slack before that.
        """
        each = {pace.place: (_micros(pace.interval), _micros(pace.slack)) for pace in paces}
        intervals, slacks = [interval for interval, _ in each.values()], [slack for _, slack in each.values()]
        cursor = await db.execute(
            "select reserve_call(%s::text[], %s::bigint[], %s::bigint[], %s::text[], %s)",
            [list(each), intervals, slacks, list(rests), _micros(patience)],
        )
        row = await cursor.fetchone()
        return timedelta(microseconds=row[0] if row is not None else 0)

    @writing_once
    async def rest(self, db: Db, place: str, span: timedelta, reason: str = "") -> None:
        """As in the port."""
        await db.execute(_REST.encode(), {"key": place, "span": _micros(span), "reason": reason})

    @reading
    async def rests(self, db: Db) -> Sequence[Rest]:
        """As in the port."""
        asked = f"select key, until, reason from rests where until > {NOW} and begun <= {NOW} order by key"
        rows = await (await db.execute(asked.encode())).fetchall()
        return [Rest(place, time_of(until), reason) for place, until, reason in rows]

    @writing_once
    async def spend(self, db: Db, key: str, amount: int, most: int, span: timedelta) -> bool:
        """As in the port."""
        given = {"key": key, "amount": amount, "most": most, "span": _micros(span)}
        return await (await db.execute(_SPEND.encode(), given)).fetchone() is not None

    @reading
    async def spent(self, db: Db, key: str) -> int:
        """As in the port."""
        asked = f"select spent from spendings where key = %s and until > {NOW}"
        row = await (await db.execute(asked.encode(), [key])).fetchone()
        return 0 if row is None else int(row[0])


class PostgresProcesses(Tables):
    """bot.ports.shared.processes.Processes."""

    @writing
    async def beat(self, db: Db, process: ProcessState) -> None:
        """As in the port. Processes that have been silent for a day are forgotten."""
        given = {
            "id": process.id,
            "roles": " ".join(process.roles),
            "version": process.version,
            "schema": process.schema,
            "host": process.host,
            "begun": micros(process.begun),
            "figures": encode(dict(process.figures)),
        }
        await db.execute(_BEAT.encode(), given)
        await db.execute(f"delete from processes where beat < {NOW} - %s".encode(), [_micros(_FORGOTTEN)])

    @reading
    async def every(self, db: Db, silent: timedelta = timedelta(minutes=10)) -> Sequence[ProcessState]:
        """As in the port."""
        asked = (
            "select id, roles, version, schema, host, begun, beat, figures from processes"
            f" where beat >= {NOW} - %s order by begun, id"
        )
        rows = await (await db.execute(asked.encode(), [_micros(silent)])).fetchall()
        return [
            ProcessState(
                id_, tuple(roles.split()), version, schema, host, time_of(begun), time_of(beat), json.loads(figures)
            )
            for id_, roles, version, schema, host, begun, beat, figures in rows
        ]

    @writing
    async def remove(self, db: Db, process: str) -> None:
        """As in the port."""
        await db.execute("delete from processes where id = %s", [process])
        await db.execute("update leases set until = 0 where holder = %s", [process])


async def forget_past(db: Db) -> None:
    """Drop what binds nobody any more: moments, rests and spendings that have passed, those of an hour ago and older."""
    for statement in (
        f"delete from budgets where next < {NOW} - %s",
        f"delete from rests where until < {NOW} - %s",
        f"delete from spendings where until < {NOW} - %s",
    ):
        await db.execute(statement.encode(), [_micros(timedelta(hours=1))])


def _micros(span: timedelta) -> int:
    return span // timedelta(microseconds=1)
