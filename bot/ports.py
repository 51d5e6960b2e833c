"""The sockets of the core: what a source, a store and a summariser must offer.

All of it is async: nothing behind these ports may block the event loop.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Protocol

from bot.models import Batch, Digest, Item, Page, Query, Reading, SourceState, Summary, Tree


class Source(Protocol):
    """Where items come from."""

    @property
    def name(self) -> str:
        """The word in an item's `sources`: arxiv, huggingface, github, feed:<name>."""
        ...

    @property
    def title(self) -> str:
        """The name for people: arXiv."""
        ...

    def collect(self, state: SourceState, now: datetime) -> AsyncGenerator[Batch, None]:
        """Yield what is new since `state.watermark`, in batches that may be stored as they come.

        Raises SourceUnavailable or SourceChanged, also after some batches; what was yielded before stays good.
        """
        ...

    async def check(self, now: datetime) -> str:
        """Ask the source one cheap thing and say in a sentence how it stands; raises SourceError."""
        ...


class Summariser(Protocol):
    """Makes the four parts."""

    async def summarise(self, item: Item, now: datetime) -> Summary:
        """Return the summary of `item`; raises SummaryUnavailable."""
        ...


class Store(Protocol):
    """Everything that is remembered. Every method may raise StoreError; each write is one transaction.

    Contract tests in tests/contract/ run on every implementation.
    """

    async def open(self) -> None:
        """Make ready, migrating the schema where needed; refuses a database from a newer version."""
        ...

    async def close(self) -> None:
        """Finish what is being written and let go of everything."""
        ...

    # --- items

    async def find(self, keys: Collection[str]) -> Mapping[str, Item]:
        """Return the item known under each key or alias; a key that nobody knows is absent."""
        ...

    async def add(
        self, items: Sequence[Item], now: datetime, *, retired: Collection[str] = (), state: SourceState | None = None
    ) -> None:
        """Insert or replace whole items by key, keep today's reading of each, drop the `retired` keys, in one transaction.

        The search index is in step when this returns. `state` is saved in the same transaction.
        An item whose `seen` is None is stored as seen at `now`.
        """
        ...

    async def search(self, query: Query, now: datetime, *, limit: int = 10, offset: int = 0) -> Page:
        """Return a page of what the query finds, in the order that `query.sort` asks for.

        Sorted `best`, the bare words of the query are alternatives, best match first; everything else in the tree must
        hold. In every other order the tree holds as it stands.
        """
        ...

    async def count(self, tree: Tree, now: datetime, *, since: datetime | None = None) -> int:
        """Count the items for which the tree holds, of those first seen at or after `since`."""
        ...

    async def items_since(self, since: datetime, until: datetime) -> Sequence[Item]:
        """Return the items first seen at or after `since` and before `until`, newest first."""
        ...

    async def readings(self, keys: Collection[str], since: date) -> Mapping[str, Sequence[Reading]]:
        """Return each item's readings from `since` on, oldest first; an item without any is absent."""
        ...

    # --- sources

    async def source_state(self, name: str) -> SourceState:
        """Return what is remembered of the source; a fresh state when nothing is."""
        ...

    async def save_source_state(self, state: SourceState) -> None:
        """Remember it."""
        ...

    # --- digests

    async def save_digest(self, workspace: str, channel: str, digest: Digest, now: datetime) -> None:
        """Keep the digest, and its entries' keys as posted to the channel, those of joined partners too."""
        ...

    async def posted(self, workspace: str, channel: str) -> frozenset[str]:
        """Return the keys already posted to the channel."""
        ...

    async def last_digest(self, workspace: str, channel: str, topic: str) -> tuple[date, datetime] | None:
        """Return the day and the `until` of the channel's newest digest of the topic."""
        ...

    # --- summaries

    async def cached_summary(self, key: str, made_by: str, digest_of_text: str) -> Summary | None:
        """Return a summary kept for this item, maker (model and prompt version) and text, or None."""
        ...

    async def save_summary(self, key: str, made_by: str, digest_of_text: str, summary: Summary, now: datetime) -> None:
        """Keep a summary."""
        ...

    async def spent(self, day: date) -> int:
        """Return how many LLM tokens were used on the day (UTC)."""
        ...

    async def spend(self, day: date, tokens: int) -> None:
        """Add to the day's tokens."""
        ...

    # --- small facts and maintenance

    async def get_fact(self, name: str) -> str:
        """Return a small remembered text (the heartbeat, a version), "" when there is none."""
        ...

    async def set_fact(self, name: str, value: str) -> None:
        """Remember a small text."""
        ...

    async def statistics(self) -> Mapping[str, int]:
        """Return row counts and sizes for `doctor` and `db`: items, papers, repos, posts, readings, digests, bytes."""
        ...

    async def prune(self, *, items_before: datetime, readings_before: date, now: datetime) -> Mapping[str, int]:
        """Drop items first seen before the date that no digest holds, and older readings; say how many of each."""
        ...

    async def check(self) -> list[str]:
        """Verify the database and its search index; a sentence per fault, none when sound."""
        ...

    async def backup(self, path: Path) -> None:
        """Write a consistent copy to `path` while others read and write; never leaves half a file there."""
        ...

    async def vacuum(self) -> int:
        """Give unused space back; return the bytes saved."""
        ...


@dataclass(frozen=True, slots=True)
class Job:
    """Something to do again and again: every so often, the first time at once or after one interval."""

    name: str
    every: timedelta
    run: Callable[[], Awaitable[None]]
    at_once: bool = False


class Runner(Protocol):
    """What calls the verbs at their times."""

    async def run(self, jobs: Sequence[Job]) -> None:
        """Run the jobs until `stop` is called; a job that fails is logged and runs again at its next time."""
        ...

    def stop(self) -> None:
        """Let the running jobs end, start no more, and make `run` return."""
        ...
