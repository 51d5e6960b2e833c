"""The rows of deliveries: how they are held, and how they are written."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from bot.models import Delivery
from bot.store.postgres.connections import Db
from bot.store.postgres.digests import NOTE_POSTED, posted_now
from bot.store.postgres.ledger_rows.occurrences import PLACE, all_rows, or_none, place, run
from bot.store.postgres.ledger_rows.turns import IS_NEXT
from bot.store.records import delivery_from_text, delivery_to_text, micros, payloads_to_bytes
from bot.store.rules.transitions import OPEN

NAMED = "workspace = %(workspace)s and id = %(id)s"
_PROGRESS = "state = %(state)s, next_at = %(next_at)s, lease_until = %(lease_until)s, message = %(message)s, data = %(data)s"
_PAYLOAD = "(select payload from payloads where payloads.number = deliveries.number)"
# What an earlier part is, once it is done, it stays: that needs no lock.
_CLAIMABLE = f"{NAMED} and data in (%(said)s, %(said_late)s) and {IS_NEXT}"
CLAIM = f"update deliveries set {_PROGRESS} where {_CLAIMABLE} returning {_PAYLOAD}"
BEGIN = f"update deliveries set data = %(data)s where {NAMED} and data = %(said)s returning number"
IS_HELD = f"select number from deliveries where {NAMED} and data = %(said)s"


class Parts(NamedTuple):
    """The parts of a digest, whose rows are held."""

    own: Delivery | None  # the one that was asked for, with what it says
    others: list[Delivery]


async def hold(db: Db, given: Delivery) -> Parts:
    """Return the delivery and the other parts of its digest as they are stored, held in the order of the parts."""
    where = NAMED if given.parts == 1 else PLACE
    sql = (
        f"select id, data, case when id = %(id)s then {_PAYLOAD} end from deliveries where {where} order by part for update"
    )
    rows = await all_rows(db, sql, **place(given), id=given.id)
    own = [delivery_from_text(data, payload) for number, data, payload in rows if number == given.id]
    others = [delivery_from_text(data, None) for number, data, _ in rows if number != given.id]
    return Parts(own[0] if own else None, others)


async def insert(db: Db, fresh: Sequence[Delivery]) -> None:
    """Keep new deliveries, and what they say."""
    for each in fresh:  # one nearly always: what goes as columns takes longer
        await run(db, f"with those as (select 1), {inserted_of('those')} select from those", **as_inserted(each))


def inserted_of(those: str) -> str:
    """Return the parts of a statement that keep a delivery, which `as_inserted` gives, where an earlier part has a row."""
    return f"""
        sent as (
            insert into deliveries (workspace, id, subscription, day, slot, part, channel, due, state, next_at, lease_until,
                message, data)
            select %(workspace)s, %(id)s, %(subscription)s, %(day)s, %(slot)s::bigint, %(part)s::bigint, %(channel)s,
                %(due)s::bigint, %(state)s, %(next_at)s::bigint, %(lease_until)s::bigint, %(message)s, %(data)s from {those}
            returning number
        ), said as (insert into payloads (number, payload) select number, %(payload)s::bytea from sent)
    """


def as_inserted(fresh: Delivery) -> dict[str, Any]:
    """Return what `inserted_of` is given."""
    place_ = {**place(fresh), "part": fresh.part, "channel": fresh.channel, "due": micros(fresh.due)}
    return {**place_, **progress(fresh), "payload": payloads_to_bytes(fresh.payload, fresh.if_late)}


async def update(db: Db, fresh: Sequence[Delivery], *, posted: Delivery | None = None) -> None:
    """Write deliveries whose rows are held; what is settled says nothing more. `posted`: one of them that may be posted."""
    if fresh:
        written = progress(fresh[0]) if len(fresh) == 1 else _progresses(fresh)
        await _write(db, _ONE if len(fresh) == 1 else _MANY, written, fresh, posted)


async def replace(db: Db, fresh: Delivery, said: str) -> bool:
    """Write a delivery whose record still is as it said, and what `update` writes beside it; say whether that was so.

    The row need not be held: who else changes it at the same time is waited for, and then its record is another one.
    """
    return await _write(db, _SAME, {**progress(fresh), "said": said}, [fresh], fresh)


_ONE = f"update deliveries set {_PROGRESS} where {NAMED} returning number, state"
_SAME = f"update deliveries set {_PROGRESS} where {NAMED} and data = %(said)s returning number, state"
_MANY = """
    update deliveries set state = fresh.state, next_at = fresh.next_at, lease_until = fresh.lease_until,
        message = fresh.message, data = fresh.data
    from unnest(%(workspaces)s::text[], %(ids)s::text[], %(states)s::text[], %(nexts)s::bigint[], %(leases)s::bigint[],
        %(messages)s::text[], %(texts)s::text[]) as fresh (workspace, id, state, next_at, lease_until, message, data)
    where (deliveries.workspace, deliveries.id) = (fresh.workspace, fresh.id)
    returning deliveries.number, deliveries.state"""
_OPEN = ", ".join(f"'{state}'" for state in OPEN)
_G_ONE = f"delete from payloads using changed where payloads.number = changed.number and changed.state not in ({_OPEN})"


async def _write(
    db: Db, changed: str, given: dict[str, Any], fresh: Sequence[Delivery], posted: Delivery | None = None
) -> bool:
    """Run the statement with what follows from it, all at once; say whether it changed anything."""
    noted = posted_now(posted) if posted is not None else None
    parts = [f"changed as ({changed})"]
    parts += [f"gone as ({_G_ONE})"] if any(each.state not in OPEN for each in fresh) else []
    parts += [f"noted as ({NOTE_POSTED} and exists (select from changed))"] if noted else []
    sql = f"with {', '.join(parts)} select number from changed limit 1"
    return bool(await all_rows(db, sql, **{**given, **(noted or {})}))


def progress(delivery: Delivery) -> dict[str, Any]:
    """Return what changes of a delivery, with its name, as statements are given it."""
    return {
        "workspace": delivery.workspace,
        "id": delivery.id,
        "state": str(delivery.state),
        "next_at": micros(delivery.next_at),
        "lease_until": or_none(delivery.lease_until),
        "message": delivery.message,
        "data": delivery_to_text(delivery),
    }


def _progresses(given: Sequence[Delivery]) -> dict[str, list[Any]]:
    names = {"workspace": "workspaces", "id": "ids", "state": "states", "next_at": "nexts", "lease_until": "leases"}
    rows = [progress(each) for each in given]
    return {many: [row[one] for row in rows] for one, many in {**names, "message": "messages", "data": "texts"}.items()}
