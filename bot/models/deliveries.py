"""Occurrences of subscriptions, and the deliveries that the ledger keeps of them."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum


class Happening(StrEnum):
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
    slot: int = 0  # which of the day's times
    due: datetime
    state: Happening = Happening.DUE
    late: bool = False  # noticed long after it was due
    reason: str = ""
    attempts: int = 0  # how often making its digest failed
    next_at: datetime | None = None  # not to be tried before


class State(StrEnum):
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
    payload: str  # what the messenger rendered, frozen
    seal: str = ""  # the payload's SHA-256 in hex: what does not fit it any more is not posted; "" fits everything
    due: datetime
    state: State = State.PENDING
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Abilities:
    """What a platform offers to post each thing once, and how much it takes."""

    nonce_window: timedelta = timedelta(0)  # so long after the first try the same nonce never posts twice
    finds: bool = False  # a message can be found again by its marker, in channels whose history may be read
    per_second: float | None = None  # over everything that is posted there; None: no limit known
    per_channel_second: float | None = None
    per_workspace_minute: float | None = None
