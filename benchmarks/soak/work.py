"""What a worker process is told to do, and the values that the protocol runs with: the service's, 30 times as fast."""

import json
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Self

from benchmarks.soak.plant import Crowd
from bot.models import Abilities

SCALE = 30


class Strategy(StrEnum):
    """Who decides what is posted."""

    LEDGER = "ledger"  # Broadsheet's
    MARK_BEFORE = "mark before"  # done is written before the post, which is tried twice
    MARK_AFTER = "mark after"  # done is written after the post, which is tried until it went well
    BARE = "bare"  # nobody: everything is posted once and nothing is written


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """One worker's task; times are in seconds."""

    database: str = ""
    platform: str = "fake"
    url: str = ""  # the platform's
    trusted: str = ""  # a certificate's file, where the platform is behind TLS
    speed: float = 1.0  # of its time, where it has limits of its own
    strategy: Strategy = Strategy.LEDGER
    nonce_window: float = 0.0
    finds: bool = False
    per_second: float | None = None
    per_channel_second: float | None = None
    channels: int = 0  # the crowd's
    due: float = 0.0  # the crowd's, in seconds since 1970
    parts: tuple[int, ...] = ()  # the crowd's
    print_first: bool = False  # make every digest before the first is sent
    workers: int = 8  # deliveries at a time
    timeout: float = 15.0 / SCALE
    lease: float = 45.0 / SCALE
    quarantine: float = 60.0 / SCALE
    first_wait: float = 5.0 / SCALE
    longest_wait: float = 1800.0 / SCALE
    begins: float = 0.0  # what its clock shows when it begins, in seconds since 1970; 0: the true time
    presses: int = 0  # that people make below what is posted
    presses_take: float = 0.0  # for which they press
    presses_begin: float = 0.0  # in seconds since 1970

    def of(self, crowd: Crowd) -> Self:
        """Return the work of posting to this crowd."""
        return replace(self, platform=crowd.platform, channels=crowd.channels, due=crowd.due.timestamp(), parts=crowd.parts)

    def crowd(self) -> Crowd:
        """Return who is to be posted to."""
        return Crowd(self.channels, datetime.fromtimestamp(self.due, UTC), self.parts, self.platform)

    def abilities(self) -> Abilities:
        """Return the platform's abilities as the worker is to believe them."""
        return Abilities(
            nonce_window=timedelta(seconds=self.nonce_window),
            finds=self.finds,
            edits=self.presses > 0,
            per_second=self.per_second,
            per_channel_second=self.per_channel_second,
        )

    def text(self) -> str:
        """Return it as one argument of a command line."""
        return json.dumps(asdict(self))


def read(text: str) -> Work:
    """Return the work that `text` says."""
    told = json.loads(text)
    return Work(**{**told, "strategy": Strategy(told["strategy"]), "parts": tuple(told["parts"])})
