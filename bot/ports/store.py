"""The sockets of the core: what a source, a store and a summariser must offer.

All of it is async: nothing behind these ports may block the event loop.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Protocol

from bot.models import (
    Batch,
    Change,
    Digest,
    DigestRequest,
    Feedback,
    FilterTest,
    Hit,
    Item,
    ItemOutcome,
    Near,
    Page,
    Posting,
    Preferences,
    Query,
    Ranked,
    Reading,
    Saved,
    SourceState,
    Subscription,
    Summary,
    Topic,
    Tree,
)
from bot.ports.vectors import Vectors


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

    def next_ask(self, state: SourceState, now: datetime, every: timedelta) -> datetime:
        """Return when it may have something new for who was told what `state` says; not later than now: at once.

        `every` is how long the operator waits between two collections where nothing better is known. `state.asked` is set.
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


class Store(Vectors, Protocol):
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

    async def search(
        self, query: Query, now: datetime, *, limit: int = 10, offset: int = 0, mark: str = "", near: Near | None = None
    ) -> Page:
        """Return a page of what the query finds, in the order that `query.sort` asks for.

        Sorted `best`, the bare words of the query are alternatives, best match first; everything else in the tree must
        hold. With `near`, what they mean, closeness counts in that order, and what is close enough needs none of them. In
        every other order the tree holds as it stands, and `near` says nothing. `mark` is an earlier page's: what was first
        stored after it is left out. What is stored already may change in between and move within the list; it is shown
        once all the same, unless so many lists were asked for since that this one is forgotten, or the store was opened
        anew. Raises UsageError for a mark that no page had.
        """
        ...

    async def similar(self, item: Item, now: datetime, *, limit: int = 10, near: Near | None = None) -> Sequence[Hit]:
        """Return the items whose texts are closest to the item's, the closest first, itself and its aliases left out.

        `relevance` is in 0–1. The item need not be stored: any title and abstract will do. `near` is what these mean.
        """
        ...

    async def values(self, field: str, beginning: str, *, limit: int = 25) -> Sequence[tuple[str, int]]:
        """Return the values of a label field that begin so, in any case, and how many items have each; the commonest first.

        Fields: category, source, language, license, topic (keywords). Nothing for any other. Values are folded, as a query
        compares them: cs.lg, jupyter notebook.
        """
        ...

    async def count(self, tree: Tree, now: datetime, *, since: datetime | None = None) -> int:
        """Count the items for which the tree holds, of those first seen at or after `since`."""
        ...

    async def matching(self, tree: Tree, now: datetime, *, since: datetime) -> Sequence[Item]:
        """Return the items for which the tree holds, of those first seen at or after `since`, newest first."""
        ...

    async def items_since(self, since: datetime, until: datetime) -> Sequence[Item]:
        """Return the items first seen at or after `since` and before `until`, newest first."""
        ...

    async def items_mark(self) -> str:
        """Return a text that changes with every change of items or readings, whoever made it.

        While it is the same, what is found of them is the same.
        """
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

    async def unposted_since(self, workspace: str, channel: str, topic: str) -> datetime | None:
        """Return the earliest `since` of the topic's digests that were dropped unposted, None when there is none.

        One that is saved more than an hour later takes over what those looked at; of a dropped one it is left once more.
        What nobody took over is forgotten 40 days after it ended.
        """
        ...

    async def postings(self, workspace: str, channel: str, keys: Collection[str]) -> Sequence[Posting]:
        """Return when items of these keys were posted to the channel, the latest first.

        An item may have been posted under an alias: give them too.
        """
        ...

    async def last_entries(self, workspace: str, channel: str) -> Sequence[str]:
        """Return the keys of the entries of the channel's newest digest that has any, in their order; none before it."""
        ...

    # --- what a workspace made: nothing of another workspace is ever found or changed
    # Each write keeps its `change` in the same transaction. `replaces` is the revision that the writer has read, 0 where
    # there was nothing: Conflict is raised, and nothing written, when the stored one is another.

    async def topics(self, workspace: str) -> Mapping[str, Topic]:
        """Return the workspace's own topics by name, in the order of the names."""
        ...

    async def save_topic(self, workspace: str, topic: Topic, change: Change, *, replaces: int) -> Topic:
        """Keep the topic as revision `replaces + 1`, and return it so.

        Only the text of a query is kept: raises StoreError when its tree is another, UsageError when it is no query.
        """
        ...

    async def delete_topic(
        self, workspace: str, name: str, change: Change, *, replaces: int, keep_uses: bool = False
    ) -> None:
        """Forget the topic, its subscriptions and its feedback; with `keep_uses` those stay, as a pack takes its place."""
        ...

    async def subscriptions(self, workspace: str, *, channel: str = "", topic: str = "") -> Sequence[Subscription]:
        """Return the workspace's subscriptions, of one channel or topic where named, ordered by channel, then topic."""
        ...

    async def save_subscription(self, subscription: Subscription, change: Change, *, replaces: int) -> Subscription:
        """Keep the subscription of its channel to its topic as revision `replaces + 1`, and return it so.

        Raises Conflict also when the stored one has another id, and for its filter what `save_topic` does for a query.
        """
        ...

    async def delete_subscription(self, subscription: Subscription, change: Change) -> None:
        """Forget the subscription; raises Conflict when it is not stored in this revision."""
        ...

    async def feedback(self, workspace: str, topic: str) -> Sequence[Feedback]:
        """Return what was said for the topic, the oldest first."""
        ...

    async def save_feedback(self, feedback: Feedback, change: Change) -> None:
        """Keep what a person says of an item for a topic, in place of what the person said of it before."""
        ...

    async def drop_feedback(self, given: Collection[Feedback], change: Change) -> int:
        """Take back what was said, as far as it still stands so; return how many were dropped. 0 writes no change."""
        ...

    async def saved(self, workspace: str, person: str) -> Sequence[Saved]:
        """Return what the person put aside, the latest first."""
        ...

    async def save_item(self, workspace: str, person: str, saved: Saved) -> bool:
        """Put an item aside; return False when it already was."""
        ...

    async def unsave_item(self, workspace: str, person: str, key: str) -> bool:
        """Take an item back from what the person put aside; return False when it was not there."""
        ...

    async def preferences(self, workspace: str) -> Preferences:
        """Return what the workspace settled for itself."""
        ...

    async def save_preferences(
        self, workspace: str, preferences: Preferences, change: Change, *, replaces: Preferences | None = None
    ) -> None:
        """Keep it; with `replaces`, what the writer has read, raises Conflict when something else stands there by now."""
        ...

    async def changes(self, workspace: str, *, about: str = "", limit: int = 20) -> Sequence[Change]:
        """Return the latest changes, the newest first; with `about`, those whose `what` is or begins with these words."""
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
        """Return row counts and sizes for `doctor` and `db`: items, papers, repos, posts, readings, digests,
        topics, subscriptions, saved, vectors, bytes.
        """
        ...

    async def prune(self, *, items_before: datetime, readings_before: date, now: datetime) -> Mapping[str, int]:
        """Drop items first seen before the date that nobody holds, and older readings; say how many of each.

        A digest holds its entries, a person what they saved, a topic its examples and the items that feedback was given on.
        What the ledger settled goes 40 days after it was due.
        """
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


class Previewer(Protocol):
    """Makes digests, and tells what becomes of single items in them; nothing of it is posted or recorded."""

    async def preview(self, request: DigestRequest, now: datetime) -> Digest:
        """Return the request's digest as it would be made now."""
        ...

    async def explain(self, request: DigestRequest, item: Item, now: datetime) -> ItemOutcome:
        """Return what becomes of the item in the digest that would be made now."""
        ...

    async def try_filter(self, request: DigestRequest, since: datetime, now: datetime, *, shown: int = 3) -> FilterTest:
        """Try the request's filter, and its topic's, on what was first seen since; `shown` items of either outcome."""
        ...

    async def score(
        self, request: DigestRequest, items: Sequence[Item], now: datetime, *, first: int = 0, last: int | None = None
    ) -> Sequence[Ranked]:
        """Return those of the items that enter the request's topic, scored as for its digest, best first; no filter holds.

        Those from the `first` rank to before the `last` have reasons.
        """
        ...

    async def summary(self, item: Item, now: datetime) -> Summary:
        """Return the four parts of one item, as a digest would say them."""
        ...


class DigestMaker(Protocol):
    """Makes the digests that are posted; whoever posts one records it."""

    async def make(self, request: DigestRequest, now: datetime) -> Digest:
        """Return the request's digest as of now. What was posted to the channel before is not in it."""
        ...


@dataclass(frozen=True, slots=True)
class Job:
    """Something to do again and again: every so often, the first time at once or after one interval."""

    name: str
    every: timedelta
    run: Callable[[], Awaitable[None]]
    at_once: bool = False
    stop: Callable[[], None] | None = None  # called when the service is to end: the run begins nothing further
    grace: timedelta | None = None  # how long a run may go on then; None: as the runner says


@dataclass(frozen=True, slots=True)
class Watch:
    """Something that goes on for as long as the service does. When it ends or fails it is begun again, after a while."""

    name: str
    run: Callable[[], Awaitable[None]]


class Runner(Protocol):
    """What calls the verbs at their times."""

    async def run(self, jobs: Sequence[Job], watches: Sequence[Watch] = ()) -> None:
        """Run the jobs until `stop` is called; a job that fails is logged and runs again at its next time."""
        ...

    def stop(self) -> None:
        """Let the running jobs end, start no more, and make `run` return."""
        ...
