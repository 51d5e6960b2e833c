"""What a process holds in which the service runs for thirty simulated days, and nothing else that grows.

The world of tests.e2e.month on a SQLite file: 200 subscriptions, 150 papers a day, seven sorts of faults, each in a fiftieth
of the calls, and no death, which would begin anew. Nothing is judged: the platforms forget after two days, and there is no
model. A week's index is full from day eight on; until then the process warms up. Prints its resident memory in bytes, in
JSON, when all that is free was given back: as it begins, and the mean of four times of the first day, and of one day a week.
Linux only.

    python -m benchmarks.soak.memory [--days 30] [--seed 7] [--subscriptions 200]
"""

import argparse
import asyncio
import ctypes
import gc
import json
import logging
import random
import tempfile
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from statistics import fmean

from bot.models import Schedule, Subscription
from bot.query import parse
from bot.store.sqlite.store import SqliteStore
from tests.e2e.month import DAY, HOUR, WORDS, WORKSPACES, Month
from tests.e2e.month_model import Model
from tests.fakes.simulated import Clock, Fault

BEGINS = datetime(2026, 3, 20, 6, 0, 7, tzinfo=UTC)
ZONES = ("Europe/Zurich", "America/New_York", "Asia/Kathmandu", "UTC")
WARM = 8  # days
CHANNELS = 40
PAPERS = 150  # a day
SHARE = 0.02  # of each fault
STEP = 6 * HOUR  # between two collections
KEPT = timedelta(days=400)


class Nobody(Model):
    """Is told everything, and remembers nothing."""

    def saved(self, subscription: Subscription) -> None:
        """Forget it."""

    def ticked(self, now: datetime, *, killed: bool = False) -> None:
        """Forget it."""


class Forgetful(Month):
    """A month that keeps no record of itself."""

    entries = 5
    words = 1000  # a language has no new ones in every paper; caches of words would fill up to their limits for months

    async def begin(self, subscriptions: int) -> None:
        """Start, and subscribe channels at all hours."""
        self.model = Nobody()
        for platform in self.platforms.values():
            platform.weather.shares = dict.fromkeys(Fault, SHARE)
        await self.start()
        await self.round()
        places = [(where, f"C{number}", word) for where in WORKSPACES for number in range(CHANNELS) for word in WORDS]
        for place in random.Random(0).sample(places, subscriptions):
            at = time(self.chance.randrange(24), self.chance.randrange(4) * 15)
            await self.subscribe(*place, Schedule(at=at, zone=self.chance.choice(ZONES)))

    async def day(self) -> float:
        """Let a day pass, and return what was held in it."""
        sizes = []
        for _ in range(DAY // STEP):
            await self.collect([self.chance.choice(WORDS) for _ in range(PAPERS * STEP // DAY)])
            await self.store.index.search(parse(self.chance.choice(WORDS)), self.clock())
            await self.pass_time(STEP, apart=timedelta(minutes=5))
            sizes.append(held())
        now = self.clock()
        await self.store.maintenance.prune(items_before=now - KEPT, readings_before=(now - KEPT).date(), now=now)
        self.items.clear()
        self._old.clear()
        for platform in self.platforms.values():
            platform.forget(now - 2 * DAY)
        return fmean(sizes)

    async def _notice_pauses(self, *, killed: bool) -> None:
        """Hold nothing against anything."""


def held() -> float:
    """Return how much memory the process holds, in bytes, when what is free has been given back."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return next(int(line.split()[1]) * 1024.0 for line in status.splitlines() if line.startswith("VmRSS"))


async def live(days: int, seed: int, subscriptions: int) -> dict[int, float]:
    """Return what the process held after so many days, by their number."""
    with tempfile.TemporaryDirectory() as folder:
        month = Forgetful(lambda: SqliteStore(Path(folder) / "broadsheet.db"), Clock(BEGINS), seed)
        await month.begin(subscriptions)
        found = {0: held()}
        for day in range(1, days + 1):
            size = await month.day()
            if day in (1, days) or day % 7 == WARM % 7:
                found[day] = size
        await month.store.close()
    return found


def main() -> None:
    """Live through the days and print what was held."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in (("days", 30), ("seed", 7), ("subscriptions", 200)):
        parser.add_argument(f"--{name}", type=int, default=value)
    given = parser.parse_args()
    logging.disable(logging.CRITICAL)
    print(json.dumps(asyncio.run(live(given.days, given.seed, given.subscriptions))))


if __name__ == "__main__":
    main()
