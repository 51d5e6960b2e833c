"""What became of every delivery: the platform's record held against what should be there and what the ledger says."""

import sqlite3
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.delivery.send import SENT_AGAIN
from bot.models import MAYBE_TWICE, Delivery, DeliveryState
from tests.fakes.platform import Message

# What the ledger says was not, or may not have been, posted: people read it in `status`.
_SAID = {DeliveryState.AMBIGUOUS, DeliveryState.FAILED, DeliveryState.EXPIRED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Counts of deliveries."""

    expected: int
    lost: int  # not posted, and nobody says so
    duplicate: int  # posted again
    unknown: int  # listed as such
    unknown_posted: int  # of those, posted once in truth
    unknown_came: int | None = None  # of those, such as came whole, taken or not; None where the platform does not tell
    ended: int  # listed as failed or expired
    ended_posted: int  # of those, posted once in truth
    disordered: int  # parts posted before the part before them
    unclaimed: int  # posted although the ledger says that nobody ever held it
    sound: bool  # the database's integrity check
    maybe_twice: int = 0  # listed as posted, maybe twice
    untold: int = 0  # posted again, and not listed so

    @property
    def is_clean(self) -> bool:
        """Say whether every delivery was posted once, in order."""
        return self.is_clean_but_for_unknown and not (self.unknown or self.ended)

    @property
    def is_clean_but_for_unknown(self) -> bool:
        """Say so of all but those that are listed as unknown, and the later parts of their digests."""
        return self.sound and not (self.lost or self.duplicate or self.disordered or self.unclaimed)

    def figures(self) -> str:
        """Return the verdict in words."""
        said = [f"{self.lost} lost", f"{self.duplicate} duplicate"]
        if self.maybe_twice:
            said.append(f"{self.maybe_twice} listed as maybe twice")
        if self.unknown:
            came = "" if self.unknown_came is None else f", {self.unknown_came} had come whole"
            said.append(f"{self.unknown} listed as unknown ({self.unknown_posted} of them posted{came})")
        if self.ended:
            said.append(f"{self.ended} listed as given up ({self.ended_posted} of them posted)")
        if self.disordered:
            said.append(f"{self.disordered} OUT OF ORDER")
        if self.unclaimed:
            said.append(f"{self.unclaimed} POSTED WITHOUT A CLAIM")
        said.append("integrity ok" if self.sound else "DATABASE DAMAGED")
        return ", ".join(said)


def judged(
    expected: Sequence[Delivery],
    committed: Sequence[Message],
    ledger: Mapping[str, Delivery],
    *,
    sound: bool,
    restored: bool = False,
    came: Collection[str] | None = None,
) -> Verdict:
    """Judge. `ledger` is the deliveries by id as the store has them at the end; empty for a strategy that has none.

    Where a backup was `restored` the ledger need not know of every claim. `came` are the markers of what came whole to the
    platform, where it tells.
    """
    times = Counter(each.marker for each in committed)
    said = {each.id for each in ledger.values() if each.state in _SAID}
    unknown = {each.id for each in ledger.values() if each.state is DeliveryState.AMBIGUOUS}
    twice = {each.id for each in ledger.values() if each.reason == MAYBE_TWICE}
    told = twice | {each.id for each in ledger.values() if SENT_AGAIN in each.reason}
    return Verdict(
        expected=len(expected),
        lost=sum(1 for each in expected if not times[each.id] and each.id not in said),
        duplicate=sum(number - 1 for number in times.values()),
        unknown=len(unknown),
        unknown_posted=sum(1 for each in unknown if times[each]),
        unknown_came=None if came is None else len(unknown & set(came)),
        ended=len(said - unknown),
        ended_posted=sum(1 for each in said - unknown if times[each]),
        disordered=_disordered(expected, committed),
        unclaimed=0 if restored else sum(1 for each in ledger.values() if times[each.id] and not each.attempts),
        sound=sound,
        maybe_twice=len(twice),
        untold=sum(1 for marker, number in times.items() if number > 1 and marker not in told),
    )


def _disordered(expected: Collection[Delivery], committed: Sequence[Message]) -> int:
    """Count the parts that were posted before the part before them."""
    first = {each.marker: each.at for each in reversed(committed)}
    parts = {(each.occurrence, each.part): each.id for each in expected}
    pairs = ((parts.get((place, part - 1), ""), number) for (place, part), number in parts.items() if part > 1)
    return sum(1 for before, number in pairs if number in first and first[number] < first.get(before, float("inf")))


def is_sound(database: Path) -> bool:
    """Run SQLite's own check."""
    db = sqlite3.connect(database)
    try:
        return db.execute("pragma integrity_check").fetchall() == [("ok",)]
    finally:
        db.close()
