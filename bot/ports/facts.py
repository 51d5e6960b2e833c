"""The times among the small facts of a store."""

from datetime import datetime

from bot.ports.store import Store

HEARTBEAT = "heartbeat"  # when the service last showed that it lives


async def time_of_fact(store: Store, name: str) -> datetime | None:
    """Return the aware time that a fact holds; None where there is none, or a damaged one. Raises StoreError."""
    try:
        at = datetime.fromisoformat(await store.get_fact(name))
    except ValueError:
        return None
    return at if at.tzinfo is not None else None
