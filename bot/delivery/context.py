"""What all parts of delivery share: the times that they keep, the ports that they use, and the identity of a delivery."""

import asyncio
import hashlib
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from bot.delivery.rate_limits import Departures, PlatformCall, RateLimits, SharedLimits
from bot.delivery.rejections import Rejections
from bot.models import EMAIL, Abilities, Delivery, Method, domain_tag, is_mail
from bot.ports.ledger import Ledger
from bot.ports.messenger import Messenger
from bot.ports.shared.processes import Budgets
from bot.ports.store import Store

Clock = Callable[[], datetime]

_LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz"
_LENGTH = 24  # of an identifier; Discord's nonces have at most 25 characters


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliverySettings:
    """The times of the protocol; docs/delivery.md explains them."""

    timeout: timedelta = timedelta(seconds=15)  # of one call to a platform
    lease: timedelta = timedelta(seconds=45)  # how long a delivery is held: a look and a posting fit in
    quarantine: timedelta = timedelta(seconds=60)  # after a try that may have gone well, before the channel is looked into
    catch_up: timedelta = timedelta(hours=12)  # what is older is not posted any more
    late: timedelta = timedelta(minutes=15)  # what is later than this is marked
    first_wait: timedelta = timedelta(seconds=5)  # doubled with every failure …
    longest_wait: timedelta = timedelta(minutes=30)  # … up to this
    workers: int = 16  # deliveries that are sent at the same time

    def __post_init__(self) -> None:
        if 2 * self.timeout >= self.lease or self.timeout >= self.quarantine:
            raise ValueError("a lease must outlast two calls to a platform, and the quarantine one")

    @property
    def nonce_quarantine(self) -> timedelta:
        """How long a try is left alone where sending again cannot post twice: a third, so that several fit in the window."""
        return self.quarantine / 3

    @property
    def next_look(self) -> timedelta:
        """How long a channel's history is left alone before it is read on: a fifth of the first wait, a second."""
        return self.first_wait / 5

    @property
    def patience(self) -> timedelta:
        """For how long what is held may wait for a budget: a third of what its lease leaves beside two calls."""
        return (self.lease - 2 * self.timeout) / 3


@dataclass(slots=True)
class NoticeState:
    """What one process knows of what it told people."""

    busy: bool = False
    failures: dict[tuple[str, str], int] = field(default_factory=dict)  # in a row, by method and workspace
    alerted: dict[str, datetime] = field(default_factory=dict)  # by workspace: the last time
    looked_at: dict[str, str] = field(default_factory=dict)  # by workspace: the recipient who had the last turn
    pausing: dict[str, asyncio.Lock] = field(default_factory=dict)  # by workspace


Place = tuple[str, str]  # a workspace and a channel of it


@dataclass(slots=True)
class Examination:
    """What one process knows of a channel in which the service paused something."""

    since: datetime | None  # when the latest of its pauses began; None: that is not known
    next_at: datetime  # when the platform is asked again
    is_seen: bool = False  # whether the platform has shown an obstacle since then
    is_hinted: bool = False  # whether something happened there that may have ended it
    clear_since: datetime | None = None  # since when the platform has shown none; None: it did not when it was asked last
    failures: int = 0  # how often in a row nobody could tell
    odd_since: datetime | None = None  # since when each answer was one that nobody knows


@dataclass(slots=True)
class ObstacleState:
    """What one process knows of what keeps it from posting."""

    hints: dict[Place, None] = field(default_factory=dict)  # what may be open again; "" for a whole workspace
    examined: dict[Place, Examination] = field(default_factory=dict)
    rests: dict[str, datetime] = field(default_factory=dict)  # workspaces and platforms (`slack:`) that asked for a pause
    next_look: datetime | None = None  # when something is to be asked; None: that is not known

    def note_closed(self, workspace: str, channel: str, now: datetime) -> None:
        """Have asked anew where nothing was seen any more, in a channel or with "" in all of the workspace."""
        for place, of_it in self.examined.items():
            if place == (workspace, channel or place[1]) and of_it.clear_since is not None:
                of_it.clear_since, of_it.next_at, self.next_look = None, now, None


@dataclass(slots=True)
class LatestTime:
    """The latest time that a clock has shown to one process since the last tick; a clock may be set back."""

    time: datetime | None = None

    def note(self, now: datetime) -> datetime:
        """Return the time, and remember it where it is the latest."""
        self.time = now if self.time is None else max(self.time, now)
        return now


@dataclass(frozen=True, slots=True)
class DeliveryContext:
    """The ports of delivery, its times, where its chance comes from, and what one process knows of its platforms."""

    store: Store
    ledger: Ledger
    messengers: Mapping[str, Messenger]  # by platform: slack, discord, local, and email
    settings: DeliverySettings = DeliverySettings()
    chance: random.Random = field(default_factory=random.Random)
    departures: Departures = field(default_factory=dict)  # of requests, which all who send in this process count together
    rate_limits: RateLimits = field(default_factory=RateLimits)
    rejections: Rejections = field(default_factory=Rejections)
    notice_state: NoticeState = field(default_factory=NoticeState)
    obstacle_state: ObstacleState = field(default_factory=ObstacleState)
    latest: LatestTime = field(default_factory=LatestTime)
    # Deliveries by workspace and id: a clock that jumps ahead ends every lease; what is in flight here is still ours.
    in_flight: set[tuple[str, str]] = field(default_factory=set)
    budgets: Budgets | None = None  # what all processes on the store's database count together; None: there is one alone

    @property
    def shared_limits(self) -> SharedLimits:
        """What they may ask of the platforms together."""
        return SharedLimits(self.budgets, self.rate_limits)

    def noted(self, clock: Clock) -> Clock:
        """Return the clock; whatever it shows is remembered for the next tick."""
        return lambda: self.latest.note(clock())

    def messenger(self, workspace: str, channel: str = "") -> Messenger | None:
        """Return who posts in the channel, without one in the workspace; None when its platform is not connected.

        What is subscribed by e-mail is sent by e-mail, whatever platform the workspace is on.
        """
        return self.messengers.get(EMAIL if is_mail(channel) else workspace.partition(":")[0])

    def call(self, method: Method, workspace: str, channel: str) -> PlatformCall:
        """Return the request as the rate limits know it; `channel` may be a person.

        For them the addresses of one domain are a workspace: one server takes what is sent there.
        """
        messenger = self.messenger(workspace, channel)
        place = f"{EMAIL}:{domain_tag(channel)}" if is_mail(channel) else workspace
        return PlatformCall(method, place, channel, messenger.abilities if messenger is not None else Abilities())

    def wait(self, failures: int) -> timedelta:
        """Return how long to wait after so many failures, at least one: doubled each time, and up to half of it left out."""
        settings = self.settings
        longest: timedelta = min(settings.first_wait * 2 ** min(failures, 20), settings.longest_wait)
        return longest * self.chance.uniform(0.5, 1.0)


def delivery_id(subscription: str, day: date, slot: int, part: int) -> str:
    """Return the identifier of a part: the same whoever makes it, and again from a database that was restored."""
    named = "\n".join((subscription, day.isoformat(), str(slot), str(part)))
    number = int.from_bytes(hashlib.sha256(named.encode("utf-8", "surrogatepass")).digest())
    letters = []
    for _ in range(_LENGTH):
        number, place = divmod(number, len(_LETTERS))
        letters.append(_LETTERS[place])
    return "".join(letters)


def destination(channel: str) -> str:
    """Return for whom a digest is, in a sentence: "for C1"; of an address nothing, as what is owed to people is kept."""
    return "by e-mail" if is_mail(channel) else f"for {channel}"


def sealed(payload: str, if_late: str = "") -> str:
    """Return the SHA-256, in hex, of the payload and of what is posted instead once it is late."""
    whole = f"{payload}\0{if_late}" if if_late else payload
    return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()


def is_whole(delivery: Delivery) -> bool:
    """Say whether what may be posted is what it was when the digest was made."""
    return not delivery.seal or delivery.seal == sealed(delivery.payload, delivery.if_late)
