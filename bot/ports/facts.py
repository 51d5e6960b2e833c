"""The small facts that a store keeps, and the times among them."""

from datetime import datetime
from typing import Protocol

HEARTBEAT = "heartbeat"  # when the service last showed that it lives


class Facts(Protocol):
    """Small texts by their names."""

    async def get(self, name: str) -> str:
        """Return a small remembered text (the heartbeat, a version), "" when there is none."""
        ...

    async def set(self, name: str, value: str) -> None:
        """Remember a small text."""
        ...


async def time_of_fact(facts: Facts, name: str) -> datetime | None:
    """Return the aware time that a fact holds; None where there is none, or a damaged one. Raises StoreError."""
    try:
        at = datetime.fromisoformat(await facts.get(name))
    except ValueError:
        return None
    return at if at.tzinfo is not None else None
