"""The rows of occurrences: their places, and how they are kept and written; and what all rows of the ledger are asked by."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from bot.models import Delivery, Occurrence
from bot.store.postgres.connections import Db
from bot.store.records import micros, occurrence_to_text

Place = tuple[str, str, str, int]  # workspace, subscription, day, slot
PLACE = "workspace = %(workspace)s and subscription = %(subscription)s and day = %(day)s and slot = %(slot)s"
KEY = "workspace, subscription, day, slot"
AMONG = (
    f"({KEY}) in (select * from unnest(%(workspaces)s::text[], %(subscriptions)s::text[], %(days)s::text[],"
    " %(slots)s::bigint[]))"
)


def places_of(places: Sequence[Place]) -> dict[str, list[Any]]:
    """Return the places as AMONG is given them, by columns."""
    names = ("workspaces", "subscriptions", "days", "slots")
    return {name: [place[column] for place in places] for column, name in enumerate(names)}


def columns(given: Sequence[Occurrence]) -> dict[str, list[Any]]:
    """Return the columns of occurrences, their places with them, by the names that statements have for them."""
    return {
        **places_of([place_of(each) for each in given]),
        "channels": [each.channel for each in given],
        "dues": [micros(each.due) for each in given],
        "states": [str(each.state) for each in given],
        "nexts": [or_none(each.next_at) for each in given],
        "texts": [occurrence_to_text(each) for each in given],
    }


async def keep(db: Db, given: Sequence[Occurrence]) -> list[Occurrence]:
    """Keep the occurrences of whose keys none is kept; return these, each once."""
    first = {each.key: each for each in reversed(given)}
    sql = f"""
        insert into occurrences ({KEY}, channel, due, state, next_at, data)
        select * from unnest(%(workspaces)s::text[], %(subscriptions)s::text[], %(days)s::text[], %(slots)s::bigint[],
            %(channels)s::text[], %(dues)s::bigint[], %(states)s::text[], %(nexts)s::bigint[], %(texts)s::text[])
        on conflict do nothing returning {KEY}
    """
    if not first:
        return []
    # In one order everywhere, since who keeps the same at the same time waits for each of them.
    new = set(await all_rows(db, sql, **columns(sorted(first.values(), key=place_of))))
    return [each for each in first.values() if place_of(each) in new]


async def update(db: Db, fresh: Sequence[Occurrence]) -> None:
    """Write occurrences whose rows are held."""
    if len(fresh) == 1:  # nearly always: what goes as columns takes longer
        only = fresh[0]
        said = {"state": str(only.state), "next": or_none(only.next_at), "text": occurrence_to_text(only)}
        sql = f"update occurrences set state = %(state)s, next_at = %(next)s, data = %(text)s where {PLACE}"
        await run(db, sql, **place(only), **said)
    elif fresh:
        await run(db, _MANY, **columns(fresh))


_MANY = """
        update occurrences set state = fresh.state, next_at = fresh.next_at, data = fresh.data
        from unnest(%(workspaces)s::text[], %(subscriptions)s::text[], %(days)s::text[], %(slots)s::bigint[],
            %(states)s::text[], %(nexts)s::bigint[], %(texts)s::text[])
            as fresh (workspace, subscription, day, slot, state, next_at, data)
        where (occurrences.workspace, occurrences.subscription, occurrences.day, occurrences.slot)
            = (fresh.workspace, fresh.subscription, fresh.day, fresh.slot)
"""


def place_of(each: Occurrence | Delivery) -> Place:
    """Return the place of an occurrence, or of that which a delivery is of."""
    workspace, subscription, day, slot = each.key
    return workspace, subscription, day.isoformat(), slot


def place(each: Occurrence | Delivery) -> dict[str, Any]:
    """Return it as PLACE is given it."""
    return dict(zip(("workspace", "subscription", "day", "slot"), place_of(each), strict=True))


def or_none(time: datetime | None) -> int | None:
    """Return the time as `micros` does, None where there is none."""
    return None if time is None else micros(time)


async def all_rows(db: Db, sql: str, **given: object) -> list[tuple[Any, ...]]:
    """Return every row that the statement gives."""
    return await (await db.execute(sql.encode(), given, binary=True)).fetchall()


async def run(db: Db, sql: str, **given: object) -> None:
    """Run a statement that gives nothing."""
    await db.execute(sql.encode(), given)
