"""Every half hour of every day of 2026 to 2030, in every zone: is it due once, when that zone's clock first shows it?

The judge is another implementation of time zones: the C library, asked every quarter of an hour what the clock shows, from
the same file of the zone database. Every offset that is in use in these years is a whole number of quarters, and every
change falls on one: a file for which that is not so is refused, not guessed at. Names of the same file are looked at once.

    python -m benchmarks.soak.zones
"""

import argparse
import collections
import hashlib
import importlib.resources
import os
import time
import zoneinfo
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from datetime import time as clock_time
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bot.digest import due
from bot.models import Schedule

FIRST, LAST = date(2026, 1, 1), date(2030, 12, 31)  # in the zone
DAYS = (LAST - FIRST).days + 1
HALF_HOURS = tuple(clock_time(minute // 60, minute % 60) for minute in range(0, 24 * 60, 30))
_QUARTER = 15 * 60  # seconds
_DAY = 24 * 3600
# A zone's day begins less than a day before or after the one of UTC; one more for a day that is left out.
_AROUND = timedelta(days=3)


@dataclass(frozen=True, slots=True)
class Count:
    """What was found: numbers of half hours."""

    looked_at: int = 0
    missed: int = 0  # never due
    double: int = 0  # due again
    elsewhere: int = 0  # due at another instant
    changes: int = 0  # of offsets, in the files that were looked at
    examples: tuple[str, ...] = ()

    def __add__(self, other: "Count") -> "Count":
        return Count(
            self.looked_at + other.looked_at,
            self.missed + other.missed,
            self.double + other.double,
            self.elsewhere + other.elsewhere,
            self.changes + other.changes,
            (*self.examples, *other.examples)[:10],
        )


def zones() -> list[tuple[str, int]]:
    """Return one name for each file of the zone database, and how many names it has."""
    names = collections.defaultdict(list)
    for name in sorted(zoneinfo.available_timezones()):
        names[hashlib.sha256(_file(name).read_bytes()).digest()].append(name)
    return [(same[0], len(same)) for same in names.values()]


def _file(name: str) -> Path:
    """The file that zoneinfo reads: the system's, else the one of the package tzdata."""
    found = next((Path(folder) / name for folder in zoneinfo.TZPATH if (Path(folder) / name).is_file()), None)
    return found or Path(str(importlib.resources.files("tzdata") / "zoneinfo" / name))


def look_at(name: str) -> Count:
    """Compare what is due in a zone with what its clock shows. Sets this process's own zone on the way."""
    ticks, shown = clock(name)
    shown_yet = np.maximum.accumulate(shown)  # the latest wall time that the clock has shown
    changes = int(np.count_nonzero(np.diff(shown) != _QUARTER))
    midnights = np.arange(DAYS, dtype=np.int64) * _DAY + _seconds(FIRST)
    total = Count(changes=changes)
    for number, half in enumerate(HALF_HOURS):
        first = ticks[np.searchsorted(shown_yet, midnights + number * 2 * _QUARTER)]
        total += _compared(name, half, first)
    return total


def clock(name: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return instants, a quarter of an hour apart, and what the zone's clock shows at each, both in seconds.

    Raises ValueError when the clock changes by, or at, anything but a whole number of quarters.
    """
    os.environ["TZ"] = f":{_file(name).resolve()}"
    time.tzset()
    begin, end = _seconds(FIRST - _AROUND), _seconds(LAST + _AROUND)
    ticks = np.arange(begin, end, _QUARTER, dtype=np.int64)
    offsets = np.fromiter((time.localtime(tick).tm_gmtoff for tick in ticks.tolist()), np.int64, len(ticks))
    changed = ticks[1:][np.diff(offsets) != 0].tolist()
    between = [tick for tick in changed if time.localtime(tick - 1).tm_gmtoff == time.localtime(tick).tm_gmtoff]
    if between or np.any(offsets % _QUARTER):
        raise ValueError(f"the clock of {name} is not one of whole quarters")
    return ticks, ticks + offsets


def _compared(name: str, half: clock_time, first: NDArray[np.int64]) -> Count:
    begin, end = (datetime.combine(day, clock_time(), UTC) for day in (FIRST - _AROUND, LAST + _AROUND))
    found = collections.defaultdict(list)
    for each in due.occurrences(Schedule(at=half, zone=name), begin, end):
        found[each.day.toordinal()].append(each.at.timestamp())
    total = Count(looked_at=DAYS)
    for ordinal, expected in enumerate(first.tolist(), start=FIRST.toordinal()):
        instants = found.get(ordinal, [])
        if instants != [expected]:
            total += _fault(name, ordinal, half, instants)
    return total


def _fault(name: str, ordinal: int, half: clock_time, instants: Sequence[float]) -> Count:
    missed, double = not instants, max(0, len(instants) - 1)
    said = (f"{name} {date.fromordinal(ordinal)} {half:%H:%M}: {instants}",)
    return Count(missed=int(missed), double=double, elsewhere=int(len(instants) == 1), examples=said)


def _seconds(day: date) -> int:
    """Return the first second of a day in UTC; as wall time, that of any zone."""
    return int(datetime.combine(day, clock_time(), UTC).timestamp())


def sweep(names: Sequence[str], processes: int) -> Iterator[Count]:
    """Look at each zone, several at a time, each in a process that may set its own."""
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        yield from pool.map(look_at, names, chunksize=4)


def main() -> None:
    """Sweep, and print a line of the table; ends with 1 when anything is missed, doubled or elsewhere."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak.zones", description=__doc__)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("names", nargs="*", help="only these zones")
    given = parser.parse_args()
    every = zones()
    names = given.names or [name for name, _ in every]
    begun = time.monotonic()
    total = Count()
    for count in sweep(names, given.processes):
        total += count
    for example in total.examples:
        print(example)
    many = len(names) if given.names else sum(number for _, number in every)
    print(
        f"| all zones, every half hour of 2026–2030 | {many} zones in {len(names)} files, {total.looked_at:,} half hours,"
        f" {total.changes:,} clock changes | 0 missed, 0 double | {total.missed} missed, {total.double} double,"
        f" {total.elsewhere} at another instant; {time.monotonic() - begun:.0f} s |"
    )
    raise SystemExit(bool(total.missed or total.double or total.elsewhere))


if __name__ == "__main__":
    main()
