"""Who makes digests, what was posted of them, and how that is read again."""

from collections.abc import Collection, Sequence
from datetime import date, datetime
from typing import Protocol

from bot.models import (
    ArchivedDay,
    ArchivedDigest,
    ArchivedPosting,
    ArchivedTopic,
    Digest,
    DigestRequest,
    Entry,
    FilterTest,
    Item,
    ItemOutcome,
    PastDigest,
    Position,
    Posting,
    Ranked,
    Rhythm,
    Summary,
    Unposted,
)


class Digests(Protocol):
    """The digests of each channel, and what they posted."""

    async def save(self, workspace: str, channel: str, digest: Digest, now: datetime) -> None:
        """Keep the digest, and its entries' keys as posted to the channel, those of joined partners too."""
        ...

    async def posted(self, workspace: str, channel: str) -> frozenset[str]:
        """Return the keys already posted to the channel."""
        ...

    async def last(
        self, workspace: str, channel: str, topic: str, rhythm: Rhythm | None = None
    ) -> tuple[date, Position] | None:
        """Return the day of the channel's digest of the topic that looked furthest, and how far it did.

        With a rhythm, here and below: of those for subscriptions of that rhythm, and of those of which that is not known.
        """
        ...

    async def unposted(self, workspace: str, channel: str, topic: str, rhythm: Rhythm | None = None) -> Unposted | None:
        """Return where the topic's digests began that were dropped unposted, None when there is none.

        So too of one that was saved after another topic's or rhythm's, which was then dropped: it had left out what that
        one showed.

        One whose window says that it makes up for them takes that over; of a dropped one it is left once more. What nobody
        took over is forgotten 40 days after it ended, where the topic is not subscribed any more.
        """
        ...

    async def postings(self, workspace: str, channel: str, keys: Collection[str]) -> Sequence[Posting]:
        """Return when items of these keys were posted to the channel, the latest first.

        An item may have been posted under an alias: give them too.
        """
        ...

    async def past(
        self,
        workspace: str,
        channel: str,
        *,
        topic: str = "",
        rhythm: Rhythm | None = None,
        with_entries: bool = False,
        saved_by: datetime | None = None,
        limit: int = 20,
    ) -> Sequence[PastDigest]:
        """Return the channel's digests, of the topic or of every one, the last saved first; at most `limit`.

        With `saved_by`, only those saved by then: a clock that ran ahead may have saved some later.

        With `with_entries`, only those that have any; then a damaged record raises StoreError, which is else left out, since
        numbers are of the last ones. One that was dropped unposted is not among them.
        """
        ...


class Archive(Protocol):
    """The digests that were posted, of those channels alone that are named; what came to nothing is not among them.

    A digest counts as posted once its first message is, and keeps counting when the ledger has forgotten that; so does one
    that was saved by `Digests.save`. Everything reads a number of rows that depends on what it returns, not on how much is
    stored.
    """

    async def channels(self, workspace: str) -> Sequence[str]:
        """Return the workspace's channels in which something was posted, in order; whoever may know of them."""
        ...

    async def topics(self, workspace: str, channels: Collection[str]) -> Sequence[ArchivedTopic]:
        """Return the topics of which digests were posted there: the one with the last first, then by name."""
        ...

    async def days(
        self, workspace: str, channels: Collection[str], topic: str, *, before: date | None = None, limit: int = 31
    ) -> Sequence[ArchivedDay]:
        """Return the days on which digests of the topic were posted there, before that day, the last first."""
        ...

    async def digests(
        self, workspace: str, channels: Collection[str], topic: str, day: date, *, limit: int = 50
    ) -> Sequence[ArchivedDigest]:
        """Return the topic's digests of the day, in the order in which they were saved; at most `limit` channels' ones.

        Their entries have no cards. Damaged ones are left out.
        """
        ...

    async def postings(
        self, workspace: str, channels: Collection[str], keys: Collection[str], *, limit: int = 50
    ) -> Sequence[ArchivedPosting]:
        """Return where items of these keys were posted, the latest first.

        An item may have been posted under an alias: give them too.
        """
        ...

    async def posted_entry(self, workspace: str, posting: ArchivedPosting) -> Entry | None:
        """Return the entry as it was posted, without its card; None where that cannot be known."""
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
