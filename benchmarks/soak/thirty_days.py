"""Thirty days of 200 subscriptions with everything that can go wrong in between, held against a model that knows better.

The state machine of tests.e2e.thirty_days at length, on a SQLite file: several months, each with its own run of events from
hypothesis. After 15 and after 30 days it is measured what the process holds, the test and its model included. Linux only.
With `--ours` it is measured instead what Broadsheet's own code has allocated and holds, which takes three times as long: the
test's platforms remember every post of the month, as real ones do elsewhere.

    python -m benchmarks.soak.thirty_days [--months 3] [--seed 7] [--ours]
"""

import argparse
import ctypes
import gc
import logging
import time
import tracemalloc
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import hypothesis
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from bot.ports import Store
from bot.store.sqlite import SqliteStore
from tests.e2e.month import WORDS
from tests.e2e.thirty_days import ThirtyDays

HALF = timedelta(days=15)
STEP = timedelta(hours=3)
ROOT = Path(__file__).parents[2]
OURS = ("bot", "adapters")
FRAMES = 12  # deep enough for what libraries and the standard library allocate for us


@dataclass
class Tally:
    """What all the months came to."""

    months: int = 0
    days: float = 0.0
    posted: int = 0
    occurrences: Counter[str] = field(default_factory=Counter)
    deliveries: Counter[str] = field(default_factory=Counter)
    happened: Counter[str] = field(default_factory=Counter)
    growth: list[float] = field(default_factory=list)  # of the process in the second half of each, test and model included


TALLY = Tally()


class Long(ThirtyDays):
    """A whole month, with many subscriptions."""

    subscriptions = 200
    channels = 40
    after_a_step = STEP
    apart = timedelta(minutes=5)

    def __init__(self) -> None:
        super().__init__()
        self.held: list[float] = []
        self.begun: datetime | None = None

    def opened(self) -> Store:
        """Return the file's store: each process opens it anew."""
        return SqliteStore(Path(self.folder.name) / "broadsheet.db")

    async def passes(self, span: timedelta) -> None:
        """Let something appear and time pass, and measure at half time and at the end."""
        await self.month.collect(WORDS)
        self.begun = self.begun or self.month.clock.true
        await super().passes(span)
        if len(self.held) < 2 and self.month.clock.true - self.begun >= HALF * (len(self.held) + 1):
            self.held.append(ours() if tracemalloc.is_tracing() else held())

    def teardown(self) -> None:
        """Settle, measure, and count."""
        if len(self.held) == 2:
            self.runner.run(self.month.settle())
            self.runner.run(self.count())
        super().teardown()

    async def count(self) -> None:
        """Add the month to the tally."""
        assert self.begun is not None
        half, end = self.held
        TALLY.months += 1
        TALLY.days += (self.month.clock.true - self.begun) / timedelta(days=1)
        TALLY.growth.append(end / half - 1)
        TALLY.posted += sum(len(platform.posted) for platform in self.month.platforms.values())
        TALLY.happened += self.month.happened
        TALLY.occurrences += Counter(str(each.state) for each in await self.month.all_occurrences())
        TALLY.deliveries += Counter(str(each.state) for each in await self.month.all_deliveries())


def held() -> float:
    """Return how much memory the process holds, in bytes, when what is free has been given back."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return next(int(line.split()[1]) * 1024.0 for line in status.splitlines() if line.startswith("VmRSS"))


def ours() -> float:
    """Return how much the service's code holds of what it has allocated, in bytes; who asked last is who allocated."""
    gc.collect()
    snapshot = tracemalloc.take_snapshot()
    return float(sum(trace.size for trace in snapshot.traces if _asked(trace.traceback) in OURS))


def _asked(traceback: tracemalloc.Traceback) -> str:
    """Return the folder of the repository whose code is the innermost of the frames, "" for none."""
    for frame in reversed(traceback):
        path = Path(frame.filename)
        if path.is_relative_to(ROOT) and ".venv" not in path.parts:
            return path.relative_to(ROOT).parts[0]
    return ""


def live(seed: int, steps: int) -> None:
    """Live through one month, as the seed has it."""
    run_state_machine_as_test(
        hypothesis.seed(seed)(Long),
        settings=settings(
            max_examples=1,
            stateful_step_count=steps,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )


def main() -> None:
    """Run, and print a line of the table; ends with 1 when memory grew, and with what was wrong when anything was."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak.thirty_days", description=__doc__)
    parser.add_argument("--months", type=int, default=3)
    parser.add_argument("--steps", type=int, default=int(2 * HALF / STEP), help="of three hours each")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--ours", action="store_true", help="what our own code holds, and not the whole process")
    given = parser.parse_args()
    if given.ours:
        tracemalloc.start(FRAMES)
    logging.disable(logging.CRITICAL)
    begun = time.monotonic()
    for seed in range(given.seed, given.seed + given.months):
        live(seed, given.steps)
    print(TALLY)
    said = ", ".join(f"{number} {state}" for state, number in TALLY.deliveries.most_common())
    print(
        f"| {TALLY.days:.0f} simulated days, faults of every kind, against a model |"
        f" {TALLY.months} runs, 200 subscriptions, {TALLY.posted:,} posts, {TALLY.happened['died']} deaths |"
        f" model = system, memory grows < 5 % | equal ({said}); memory {'of ours ' * given.ours}{max(TALLY.growth):+.1%};"
        f" {time.monotonic() - begun:.0f} s |"
    )
    raise SystemExit(max(TALLY.growth) >= 0.05)


if __name__ == "__main__":
    main()
