"""The small facts that a store keeps, and the times among them."""

from datetime import datetime
from typing import Protocol

HEARTBEAT = "heartbeat"  # when the service last showed that it lives
# Of a database in whose place a backup was put: the latest heartbeat that it knew of, and when that was done until it was
# seen to. A database in a file tells it by a file beside it.
ALIVE_BEFORE, PUT_BACK = "heartbeat before", "put back"

COLLECTED = "collected"  # the last arrival when a collection last ended
OPENED_AT_ONCE = "opened at once"  # up to which arrival occurrences were opened of what is posted at once


class Facts(Protocol):
    """Small texts by their names."""

    async def get(self, name: str) -> str:
        """Return a small remembered text (the heartbeat, a version), "" when there is none."""
        ...

    async def set(self, name: str, value: str) -> None:
        """Remember a small text."""
        ...

    async def version(self) -> int:
        """Return a number of 32 bits: while it stays the same, so does all that the store returns, of every port.

        A store that cannot tell returns another one each time.
        """
        ...


async def time_of_fact(facts: Facts, name: str) -> datetime | None:
    """Return the aware time that a fact holds; None where there is none, or a damaged one. Raises StoreError."""
    try:
        at = datetime.fromisoformat(await facts.get(name))
    except ValueError:
        return None
    return at if at.tzinfo is not None else None


async def number_of_fact(facts: Facts, name: str) -> int:
    """Return the number that a fact holds; 0 where there is none, or a damaged one. Raises StoreError."""
    try:
        return int(await facts.get(name))
    except ValueError:
        return 0
