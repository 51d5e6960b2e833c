"""Puts a backup in the place of what a database holds, in one transaction: all of it, or nothing.

What was there is moved to a schema of its own (`before_20260401t070000`) and can be dropped when nobody misses it. Jobs are
dropped: they wake workers, and nothing hangs on them. What people ended since the backup stays ended, as in
bot.store.sqlite.recovery.ended and by the same rule: of feeds and of addresses only where both have the same key for hashes.
What platforms asked to be left alone for, and what is spent, is as it is now. The backup may be of an older version: its
tables are brought up to date at the next opening.
"""

import contextlib
import itertools
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bot.errors import StoreError
from bot.ports.facts import ALIVE_BEFORE, HEARTBEAT, PUT_BACK
from bot.store.postgres import mail
from bot.store.postgres.connections import Connections, Db
from bot.store.postgres.jobs import SCHEMA as JOBS
from bot.store.postgres.migrations import LOCK, SCHEMA
from bot.store.postgres.processes import PostgresProcesses
from bot.store.postgres.recovery.programs import ASIDE, Script, contents, load, programs_for
from bot.store.records import micros

_LIVES = timedelta(minutes=1)  # without a sign of life, and a process counts as ended
_NAME = re.compile(rf"{ASIDE}\d{{8}}t\d{{6}}(_\d+)?")
_TABLES = re.compile(r"^\d+; \d+ \d+ TABLE (\S+) item_changes ", re.MULTILINE)  # a line of what pg_restore lists


async def schemas_aside(db: Db) -> Sequence[str]:
    """Return the names of the schemas that hold what restores set aside, the oldest first."""
    rows = await (await db.execute("select nspname from pg_namespace order by nspname")).fetchall()
    return [name for (name,) in rows if _NAME.fullmatch(name)]


async def restore(connections: Connections, path: Path) -> str | None:
    """Put the backup in the place of what is there; return the schema that has the old data, None where there was none.

    Raises StoreError; nothing has changed then.
    """
    await _expect_nobody(connections)
    programs = await connections.read(programs_for)
    theirs = [name for name in _TABLES.findall(await contents(programs, path)) if not _NAME.fullmatch(name)]
    now, schema, alive, others = await connections.read(_present)
    if not theirs:
        raise StoreError(f"{path} holds no tables of Broadsheet; it is no backup of its database.")
    if schema not in theirs:
        raise StoreError(f"{path} has its tables in the schema {theirs[0]}, and {connections.name} in {schema}.")
    aside = next(name for name in _names(now) if name not in others)
    script = Script(_BEFORE.format(**_quoted(schema, aside)), _after(schema, aside, alive, now))
    await load(programs, connections.conninfo(), path, schema, script)
    return aside if aside in await connections.read(schemas_aside) else None


async def _expect_nobody(connections: Connections) -> None:
    if not await connections.read(lambda db: _has(db, "processes")):
        return
    if others := await PostgresProcesses(connections).every(_LIVES):
        said = ", ".join(f"{each.host} ({', '.join(each.roles)})" for each in others)
        raise StoreError(
            f"Processes work on {connections.name}: {said}. Stop them first; one that was killed counts for a minute more."
        )


async def _has(db: Db, table: str) -> bool:
    return await (await db.execute("select to_regclass(%s)", [table])).fetchone() != (None,)


async def _present(db: Db) -> tuple[datetime, str, datetime | None, set[str]]:
    """Return the server's time, the schema of the tables, the latest heartbeat known, and all schemas there are."""
    rows = await (await db.execute(_WHERE)).fetchall()
    ((now, schema),) = rows
    if schema is None:
        raise StoreError("The database has no schema for tables: make one with `create schema public`.")
    names = await (await db.execute("select nspname from pg_namespace")).fetchall()
    return now.astimezone(UTC), schema, await _last_alive(db), {name for (name,) in names}


_WHERE = """
    select clock_timestamp(), coalesce(
        (select nspname from pg_class join pg_namespace on relnamespace = pg_namespace.oid
         where pg_class.oid = to_regclass('item_changes')), current_schema())"""


async def _last_alive(db: Db) -> datetime | None:
    if not await _has(db, "facts"):
        return None
    names = [HEARTBEAT, ALIVE_BEFORE]
    rows = await (await db.execute("select value from facts where name = any(%s)", [names])).fetchall()
    times = []
    for (value,) in rows:
        with contextlib.suppress(ValueError):
            times.append(datetime.fromisoformat(value))
    return max((at for at in times if at.tzinfo is not None), default=None)


def _names(now: datetime) -> Iterator[str]:
    first = f"{ASIDE}{now:%Y%m%dt%H%M%S}"
    return (f"{first}_{number}" if number else first for number in itertools.count())


def _quoted(schema: str, aside: str) -> dict[str, str]:
    """Return the names as SQL has them, and the one of the schema as a text."""
    return {"schema": '"' + schema.replace('"', '""') + '"', "aside": aside, "text": "'" + schema.replace("'", "''") + "'"}


# --- the script; before it and after it, nothing else is done to the database

# Whoever opens the store meanwhile waits. What belongs to an extension stays where it is; sequences go with their tables.
_BEFORE = f"""
set client_min_messages = warning;
begin;
select pg_advisory_xact_lock({LOCK});
create schema {{aside}};
do $move$
declare
    each record;
begin
    for each in
        select format(
            'alter %s {{schema}}.%I set schema {{aside}}',
            case relkind when 'v' then 'view' when 'm' then 'materialized view' when 'S' then 'sequence' else 'table' end,
            relname
        ) as change
        from pg_class where relnamespace = {{text}}::regnamespace and relkind in ('r', 'p', 'v', 'm', 'S') and not exists (
            select from pg_depend where classid = 'pg_class'::regclass and objid = pg_class.oid and objsubid = 0
            and deptype in ('e', 'a', 'i') and refclassid in ('pg_class'::regclass, 'pg_extension'::regclass)
        )
        union all
        select format('alter routine %s set schema {{aside}}', oid::regprocedure)
        from pg_proc where pronamespace = {{text}}::regnamespace and not exists (
            select from pg_depend where classid = 'pg_proc'::regclass and objid = pg_proc.oid and deptype = 'e'
        )
    loop
        execute each.change;
    end loop;
end
$move$;
drop schema if exists {JOBS} cascade;
"""

# A backup is refused as the opening would refuse it: here all can still be left as it was.
_AFTER = f"""
set search_path = pg_catalog;
do $ended$
begin
    if (select max(oldest_reader) from {{schema}}.schema_steps) > {SCHEMA} then
        raise exception 'the backup was made by a newer Broadsheet; install that version first';
    end if;
    delete from {{schema}}.leases;
    delete from {{schema}}.processes;
    delete from {{schema}}.budgets;
    delete from {{schema}}.rests;
    delete from {{schema}}.spendings;
    insert into {{schema}}.facts (name, value) values {{facts}} on conflict (name) do update set value = excluded.value;
    if to_regclass('{{aside}}.item_changes') is null then
        if not exists (select from pg_class where relnamespace = '{{aside}}'::regnamespace) then
            drop schema {{aside}};
        end if;
        return;
    end if;
    insert into {{schema}}.budgets (key, next) select key, next from {{aside}}.budgets;
    insert into {{schema}}.rests (key, begun, until, reason) select key, begun, until, reason from {{aside}}.rests;
    insert into {{schema}}.spendings (key, spent, until) select key, spent, until from {{aside}}.spendings;
    update {{schema}}.assistants as restored set revoked_at = {{at}} from {{aside}}.assistants as old
    where restored.revoked_at is null and old.name = restored.name
        and (old.hash <> restored.hash or old.revoked_at is not null);
    if exists (
        select from {{schema}}.facts as restored join {{aside}}.facts as old using (name, value)
        where name = '{mail.KEY}' and value <> ''
    ) then
        delete from {{schema}}.feeds where hash not in (select hash from {{aside}}.feeds);
        insert into {{schema}}.suppressed (workspace, hash, reason, at)
        select workspace, hash, reason, at from {{aside}}.suppressed
        on conflict (workspace, hash) do update set reason = excluded.reason, at = excluded.at;
    end if;
end
$ended$;
commit;
"""


def _after(schema: str, aside: str, alive: datetime | None, now: datetime) -> str:
    known = {ALIVE_BEFORE: alive.isoformat() if alive else "", PUT_BACK: now.isoformat()}
    facts = ", ".join(f"('{name}', '{value}')" for name, value in known.items())
    return _AFTER.format(**_quoted(schema, aside), facts=facts, at=micros(now))
