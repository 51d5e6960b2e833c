"""What all parts of delivery share: the times that they keep, the ports that they use, and the identity of a delivery."""

import hashlib
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta

from bot.models import Delivery
from bot.ports import Store
from bot.ports_ledger import Ledger, Messenger

Clock = Callable[[], datetime]

FOREVER = datetime(9999, 1, 1, tzinfo=UTC)  # when that is looked at again of which nothing more can be known
_LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz"
_LENGTH = 24  # of an identifier; Discord's nonces have at most 25 characters


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
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


@dataclass(frozen=True, slots=True)
class Office:
    """The ports of delivery, its times, and where its chance comes from."""

    store: Store
    ledger: Ledger
    messengers: Mapping[str, Messenger]  # by platform: slack, discord, local
    values: Values = Values()
    chance: random.Random = field(default_factory=random.Random)

    def messenger(self, workspace: str) -> Messenger | None:
        """Return the messenger of the workspace's platform, None when it is not connected."""
        return self.messengers.get(workspace.partition(":")[0])

    def wait(self, failures: int) -> timedelta:
        """Return how long to wait after so many failures, at least one: doubled each time, and up to half of it left out."""
        values = self.values
        longest: timedelta = min(values.first_wait * 2 ** min(failures, 20), values.longest_wait)
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


def sealed(payload: str) -> str:
    """Return the payload's SHA-256 in hex."""
    return hashlib.sha256(payload.encode("utf-8", "surrogatepass")).hexdigest()


def is_whole(delivery: Delivery) -> bool:
    """Say whether the payload is what it was when the digest was made."""
    return not delivery.seal or delivery.seal == sealed(delivery.payload)
