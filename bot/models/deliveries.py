"""Occurrences of subscriptions, and the deliveries that the ledger keeps of them."""

import json
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum

# A delivery's `next_at` when nothing more can be known of it, and while it waits for the part before to be posted.
FOREVER = datetime(9999, 1, 1, tzinfo=UTC)

# Why a message that is posted may be there twice: it was sent again where a digest is rather seen twice than missed.
MAYBE_TWICE = "It may be there twice: whether the first try came through was never known."

# The slot of an occurrence that somebody asked for, beside those of the schedule: one for each local day.
ON_REQUEST = -1

# Why an occurrence of what is posted at once is skipped: the next one looks at all that it would have looked at.
OVERTAKEN = "overtaken by a later one"

OccurrenceKey = tuple[str, str, date, int]  # of an occurrence: workspace, subscription, day, slot


class OccurrenceState(StrEnum):
    """What became of an occurrence."""

    DUE = "due"  # its digest is still to be made
    MADE = "made"  # the digest is saved, its deliveries stand in the ledger
    EMPTY = "empty"  # there was nothing to post, and the subscription is quiet then
    SKIPPED = "skipped"  # too late when it was noticed, or overtaken by a later one; `reason` says so


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurrence:
    """One due date of a subscription: unique (subscription, day, slot)."""

    subscription: str  # its id
    workspace: str
    channel: str
    topic: str
    day: date  # in the schedule's zone
    slot: int = 0  # which of the day's times, ON_REQUEST, or of what is posted at once the arrival at which it ends
    due: datetime
    state: OccurrenceState = OccurrenceState.DUE
    late: bool = False  # noticed long after it was due
    reason: str = ""
    attempts: int = 0  # how often making its digest failed
    next_at: datetime | None = None  # not to be tried before

    @property
    def key(self) -> OccurrenceKey:
        """Which one it is."""
        return self.workspace, self.subscription, self.day, self.slot

    @property
    def is_at_once(self) -> bool:
        """Whether it is of a subscription that posts at once: arrivals count from 1, and no schedule has two times a day."""
        return self.slot > 0


class DeliveryState(StrEnum):
    """Where a delivery stands; DESIGN of the ledger in docs/delivery.md."""

    PENDING = "pending"
    SENDING = "sending"
    DONE = "done"
    AMBIGUOUS = "ambiguous"  # it may have been posted
    FAILED = "failed"  # and will not be tried again; `reason` says why
    EXPIRED = "expired"  # never sent: too late, or an earlier part failed


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One message of a digest to one channel, with its state in the ledger: unique (occurrence, part)."""

    id: str  # opaque, 1–25 of [0-9a-z]: the platform is given it as nonce or marker
    occurrence: tuple[str, date, int]  # subscription, day, slot
    workspace: str
    channel: str
    topic: str
    part: int = 1  # from 1; a part is not sent before the one before it is done
    parts: int = 1
    payload: str  # what the messenger rendered, frozen; "" from the moment at which it is settled
    seal: str = ""  # SHA-256 in hex of what may be said: what does not fit it any more is not posted; "" fits everything
    shows: tuple[str, ...] = ()  # the items of the one entry that it shows; () where it shows none, or several
    if_late: str = ""  # the payload that is posted instead once it is late; "" where nothing in it depends on that
    due: datetime
    state: DeliveryState = DeliveryState.PENDING
    next_at: datetime  # not to be tried before
    token: int = 0  # one higher with every claim; only who holds the latest may record
    lease_until: datetime | None = None
    first_try: datetime | None = None
    last_try: datetime | None = None
    attempts: int = 0
    message: str = ""  # the platform's identifier of the message, once it is known
    link: str = ""  # where a reader finds it, where the platform has addresses
    thread: str = ""  # the message of part one, for the parts that hang on it
    reason: str = ""
    late: bool = False  # it was sent when it was late already
    publishes: bool = False  # to be published to who follows the channel, once it is posted
    made_at: datetime | None = None  # when its digest was saved, which tells that from others of the same day
    cursor: str = ""  # where the next look into the channel goes on, as its messenger wrote it; "": at the beginning
    unbegun: bool = False  # while it is held: no try has begun to send it so far, and none will without noting that first

    @property
    def key(self) -> OccurrenceKey:
        """Which occurrence it is of."""
        return self.workspace, *self.occurrence

    @property
    def listed(self) -> tuple[str, ...]:
        """The items that it lists, as the messenger noted in its payload; () where that says nothing of it."""
        try:
            said = json.loads(self.payload)
            return tuple(dict.fromkeys(str(key) for entry in said.get("listed") or said["keys"] for key in entry))
        except (ValueError, KeyError, TypeError, AttributeError):
            return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What one look into a channel's history told of a delivery: it is there, it surely is not, or not known so far."""

    message: str = ""  # the platform's identifier of the message that was found
    cursor: str = ""  # where the next look is to go on, where this one did not come to the end

    @property
    def is_proof(self) -> bool:
        """Whether it is known now; without a `message`, that nothing was posted."""
        return bool(self.message) or not self.cursor


ABSENT = Look()  # the whole of the time in which it may have been posted was looked through


@dataclass(frozen=True, slots=True)
class Presses:
    """How many people of a channel said more of what a message lists, and how many saved some of it there; no names."""

    more: int = 0
    saved: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingMessage:
    """A posted message that may still be edited in its place."""

    delivery: Delivery  # DONE, with what it says
    keys: tuple[str, ...]  # of the items that it lists
    since: datetime  # what was pressed before is not of this message
    until: datetime  # from then on it stays as it is
    next_at: datetime  # not to be edited before
    shown: Presses = Presses()  # what it says of what was pressed
    pressed: Presses = Presses()  # what was pressed when it was read
    edits: int = 0  # how often it was edited, or may have been


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """A posted message that is to be published to who follows its channel."""

    delivery: Delivery  # DONE
    since: datetime  # when it was posted
    next_at: datetime  # not to be tried before
    attempts: int = 0


class Method(StrEnum):
    """What a platform is asked for; each has limits of its own."""

    POST = "post"
    FIND = "find"
    TELL = "tell"
    ANNOUNCE = "announce"
    EDIT = "edit"
    PUBLISH = "publish"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """How often a platform may be asked for one thing; None: no limit known."""

    per_channel_second: float | None = None  # where somebody is told something: of each person
    per_workspace_minute: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Abilities:
    """What a platform offers to post each thing once, and how much it takes."""

    nonce_window: timedelta = timedelta(0)  # so long after the first try the same nonce never posts twice
    finds: bool = False  # a message can be found again by its marker, in channels whose history may be read
    edits: bool = False  # what was posted can be changed in its place
    notes_begin: bool = False  # before it sends anything of a message, its messenger notes in the ledger that it begins
    at_once: int | None = None  # messages that are given to it at the same time; None: as many as there are workers
    per_second: float | None = None  # over everything that is asked there, whatever it is; None: no limit known
    per_channel_second: float | None = None  # of postings
    per_workspace_minute: float | None = None  # of postings
    find: Rate = Rate()
    tell: Rate = Rate()
    announce: Rate = Rate()
    edit: Rate = Rate()
    publish: Rate = Rate()

    def rate(self, method: Method) -> Rate:
        """Return how often it may be asked for this."""
        match method:
            case Method.POST:
                return Rate(per_channel_second=self.per_channel_second, per_workspace_minute=self.per_workspace_minute)
            case Method.FIND:
                return self.find
            case Method.TELL:
                return self.tell
            case Method.EDIT:
                return self.edit
            case Method.PUBLISH:
                return self.publish
        return self.announce
