"""Who makes summaries, and where they are kept."""

from datetime import date, datetime
from typing import Protocol

from bot.models import Item, Summary


class Summariser(Protocol):
    """Makes the four parts."""

    async def summarise(self, item: Item, now: datetime) -> Summary:
        """Return the summary of `item`; raises SummaryUnavailable."""
        ...


class Summaries(Protocol):
    """The summaries that a model made, and what they cost."""

    async def find(self, key: str, made_by: str, digest_of_text: str) -> Summary | None:
        """Return a summary kept for this item, maker (model and prompt version) and text, or None."""
        ...

    async def save(self, key: str, made_by: str, digest_of_text: str, summary: Summary, now: datetime) -> None:
        """Keep a summary."""
        ...

    async def spent(self, day: date) -> int:
        """Return how many LLM tokens were used on the day (UTC)."""
        ...

    async def spend(self, day: date, tokens: int, *, most: int | None = None) -> bool:
        """Add to the day's tokens; False, and nothing added, where that would be more than the most.

        A negative number gives back. One transaction: whoever spends at the same time, the most is kept.
        """
        ...
