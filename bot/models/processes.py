"""What processes on one database know of each other: leases, paces, lanes, and who is there."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import md5

LANES = 16  # of each platform: how many processes can work for it at the same time


@dataclass(frozen=True, slots=True)
class Lease:
    """That a process may do something that one process does at a time, until an instant of the database's clock."""

    name: str
    holder: str  # the process's id
    token: int  # higher with every new holder
    until: datetime


@dataclass(frozen=True, slots=True)
class Pace:
    """A place whose calls are to be so far apart; after a delay, so much may be made up for."""

    place: str
    interval: timedelta
    slack: timedelta = timedelta(0)


@dataclass(frozen=True, slots=True)
class Rest:
    """That a place is left alone until an instant of the database's clock, and why."""

    place: str
    until: datetime
    reason: str = ""


@dataclass(frozen=True, slots=True)
class LaneBacklog:
    """What waits in a lane now for one verb, `make` or `deliver`."""

    verb: str
    lane: str
    waiting: int
    oldest: datetime  # when the first of it was due


@dataclass(frozen=True, slots=True)
class ProcessState:
    """One running process, as the others see it."""

    id: str
    roles: tuple[str, ...]
    version: str
    schema: int  # of the database that it was made for
    host: str
    begun: datetime
    beat: datetime  # when it last showed that it lives
    figures: Mapping[str, float] = field(default_factory=dict)  # such as how far its search copy is behind


def lane_of(workspace: str) -> str:
    """Return the lane of a workspace: its platform's word, a colon, and a number below LANES. The same for ever.

    The number is that of MD5's first 32 bits, which PostgreSQL can tell too: its tables have the lane as a column of theirs.
    """
    digest = md5(workspace.encode("utf-8", "surrogatepass"), usedforsecurity=False).digest()
    return f"{workspace.partition(':')[0]}:{int.from_bytes(digest[:4]) % LANES}"
