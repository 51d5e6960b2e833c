"""What a source brings, and what is remembered of it between two collections."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from bot.models.items import Item


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """One step of a collection: items, and how far the source has come with them.

    `watermark` is the source's own text, handed back to it next time; None leaves the stored one as it is. A source
    moves it only past what is in this batch or the ones before, so that a crash between two batches loses nothing.
    """

    items: tuple[Item, ...] = ()
    watermark: str | None = None
    skipped: int = 0  # entries that could not be read and were left out
    notes: tuple[str, ...] = ()  # sentences for the coverage footer
    partial: bool = False  # something that belongs here is missing, and a note says what
    done: int = 0  # for the progress bar: steps done, and how many there will be (0: unknown)
    total: int = 0


class Health(StrEnum):
    """How a source's last collection went."""

    OK = "ok"
    QUIET = "quiet"  # it answered and had nothing, and that is known to be right (weekend, holiday, not modified)
    PARTIAL = "partial"  # something of the day is missing
    DOWN = "down"  # SourceUnavailable
    CHANGED = "changed"  # SourceChanged
    NEVER = "never"  # not asked yet


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceState:
    """What is remembered of a source between two collections."""

    name: str
    watermark: str = ""
    health: Health = Health.NEVER
    asked: datetime | None = None  # the last attempt
    answered: datetime | None = None  # the last attempt that was not DOWN or CHANGED
    told: datetime | None = None  # the collection that `health`, `items` and `note` speak of, while it was no failure
    failures: int = 0  # in a row
    rest_until: datetime | None = None  # not to be asked before
    items: int = 0  # read in the last collection that answered
    note: str = ""  # what is to be said of it; of a failure, why
