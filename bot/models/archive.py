"""What was posted, as it is read again later: who reads, and the digests, days and topics that they may know of."""

from dataclasses import dataclass
from datetime import date, datetime

from bot.models.digests import Digest, Entry, Summary
from bot.models.items import Item, Reading


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewer:
    """Who reads the archive of a workspace, and the digests of which channels they may know of: no others are shown."""

    workspace: str
    person: str = ""  # "": a stranger, who reads what the workspace made public
    channel: str = ""  # where a person asked for the link; "" of a stranger, and of who may not know of it any more
    channels: tuple[str, ...] = ()
    is_partial: bool = False  # nobody could tell just now of which other channels the person may know

    @property
    def is_stranger(self) -> bool:
        """Whether nobody is known to read."""
        return not self.person


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedDigest:
    """A digest that was posted, as it was. Where several channels were posted the very same, it is one."""

    mark: str  # the same for digests that show the same; 22 characters of [0-9A-Za-z_-]
    digest: Digest
    saved_at: datetime  # in the first of the channels
    channels: tuple[str, ...]  # the one where it was saved first leads
    links: tuple[str, ...]  # to the message in each of the channels, "" where that has no address


@dataclass(frozen=True, slots=True)
class ArchivedTopic:
    """A topic of which digests were posted, whether it still stands or not."""

    name: str
    title: str  # as it was when the last was posted
    days: int  # on which there were digests
    last: date


@dataclass(frozen=True, slots=True)
class ArchivedDay:
    """How much was posted of a topic on a day; what several channels were posted alike counts once."""

    day: date
    digests: int
    entries: int


@dataclass(frozen=True, slots=True)
class ArchivedPosting:
    """That an item stood in a digest that was posted."""

    key: str  # that it had then
    channel: str
    topic: str
    title: str  # of the topic
    day: date
    at: datetime
    link: str = ""  # to the message, "" where that has no address
    mark: str = ""  # of the digest


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperHistory:
    """What is known of one item, and what was posted of it where its reader may know."""

    item: Item
    entry: Entry | None  # as it was posted last; None where it never was
    summary: Summary
    postings: tuple[ArchivedPosting, ...]  # the latest first
    readings: tuple[Reading, ...]  # by day, the earliest first
    versions: tuple[tuple[str, datetime], ...]  # "v1", "v3" or a release's tag, and when; those known, the earliest first
    similar: tuple[Item, ...]  # the closest first
    saved: bool  # by the person who reads
