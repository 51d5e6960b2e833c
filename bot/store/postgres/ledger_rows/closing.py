"""The statement that closes an occurrence as it was read, with its digest and the one delivery that says it."""

from datetime import datetime

from bot.models import Delivery, Digest, Occurrence
from bot.store.postgres.connections import Db
from bot.store.postgres.digests import STANDS_FRESH, as_kept, asked_of, kept_of
from bot.store.postgres.ledger_rows.deliveries import as_inserted, inserted_of
from bot.store.postgres.ledger_rows.occurrences import PLACE, all_rows, or_none, place
from bot.store.records import occurrence_to_text


def _named(beginning: str, sql: str) -> str:
    """Return the piece of a statement with names of its own for what it is given."""
    return sql.replace("%(", f"%({beginning}_")


_CLOSE = f"""
    with closed as (
        update occurrences set state = %(o_state)s, next_at = %(o_next_at)s, data = %(o_data)s
        where {_named("o", PLACE)} and data = %(o_said)s and {STANDS_FRESH} returning 1
    ), {kept_of("closed")}, {_named("d", inserted_of("closed"))} select from closed
"""


async def close(db: Db, fresh: Occurrence, said: str, digest: Digest, now: datetime, delivery: Delivery) -> bool:
    """Close it, in a channel that is held, where it is stored as it said and the digest is fresh; say whether that was so.

    Who changes the occurrence at the same time is waited for, and then its record is another one.
    """
    row = {"state": str(fresh.state), "next_at": or_none(fresh.next_at), "data": occurrence_to_text(fresh), "said": said}
    ours = {f"o_{name}": value for name, value in {**place(fresh), **row}.items()}
    sent = {f"d_{name}": value for name, value in as_inserted(delivery).items()}
    kept = as_kept(fresh.workspace, fresh.channel, digest, now, posted=0)
    return bool(await all_rows(db, _CLOSE, **kept, **asked_of(digest), **ours, **sent))
