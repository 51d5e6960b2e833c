"""Thirty days of 200 subscriptions with everything that can go wrong in between, held against a model that knows better.

The state machine of tests.e2e.thirty_days at length, on a SQLite file: several months, each with its own run of events from
hypothesis. Beside it, in a process of its own, the service lives through a month of which nobody keeps a record, and tells
what memory it holds: see benchmarks.soak.memory.

    python -m benchmarks.soak.thirty_days [--months 2] [--seed 7]
"""

import argparse
import json
import logging
import os
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import hypothesis
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from benchmarks.soak.memory import WARM
from bot.store.sqlite.store import SqliteStore
from tests.e2e.month import WORDS
from tests.e2e.thirty_days import ThirtyDays
from tests.stores import AnyStore

MONTH = timedelta(days=30)
STEP = timedelta(hours=3)
MOST = 0.05  # that the service may grow once it is warm


@dataclass
class Tally:
    """What all the months came to."""

    months: int = 0
    days: float = 0.0
    posted: int = 0
    occurrences: Counter[str] = field(default_factory=Counter)
    deliveries: Counter[str] = field(default_factory=Counter)
    happened: Counter[str] = field(default_factory=Counter)


TALLY = Tally()


class Long(ThirtyDays):
    """A whole month, with many subscriptions."""

    subscriptions = 200
    channels = 40
    after_a_step = STEP
    apart = timedelta(minutes=5)
    presses = 60

    def __init__(self) -> None:
        super().__init__()
        self.begun: datetime | None = None

    def opened(self) -> AnyStore:
        """Return the file's store: each process opens it anew."""
        return SqliteStore(Path(self.folder.name) / "broadsheet.db")

    async def passes(self, span: timedelta) -> None:
        """Let something appear and time pass."""
        await self.month.collect(WORDS)
        self.begun = self.begun or self.month.clock.true
        await super().passes(span)

    def teardown(self) -> None:
        """Settle and count."""
        if self.begun and self.month.clock.true - self.begun >= MONTH:
            self.runner.run(self.month.settle())
            self.runner.run(self.count())
        super().teardown()

    async def count(self) -> None:
        """Add the month to the tally."""
        assert self.begun is not None
        TALLY.months += 1
        TALLY.days += (self.month.clock.true - self.begun) / timedelta(days=1)
        TALLY.posted += sum(len(platform.posted) for platform in self.month.platforms.values())
        TALLY.happened += self.month.happened
        TALLY.happened["edited"] += sum(platform.edits for platform in self.month.platforms.values())
        TALLY.occurrences += Counter(str(each.state) for each in await self.month.all_occurrences())
        TALLY.deliveries += Counter(str(each.state) for each in await self.month.all_deliveries())


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
    parser.add_argument("--months", type=int, default=2)
    parser.add_argument("--steps", type=int, default=int(MONTH / STEP), help="of three hours each")
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    logging.disable(logging.CRITICAL)
    begun = time.monotonic()
    as_shipped = {**os.environ, "MALLOC_ARENA_MAX": "2"}  # as in the Dockerfile
    asked = [sys.executable, "-m", "benchmarks.soak.memory"]
    with subprocess.Popen(asked, stdout=subprocess.PIPE, env=as_shipped) as memory:
        for seed in range(given.seed, given.seed + given.months):
            live(seed, given.steps)
        told, _ = memory.communicate()
    held = {int(day): size for day, size in json.loads(told).items()}
    grown = held[max(held)] / held[WARM] - 1
    print(TALLY)
    said = ", ".join(f"{number} {state}" for state, number in TALLY.deliveries.most_common())
    sizes = ", ".join(f"{size / 2**20:.0f} MiB after {day}" for day, size in held.items())
    print(
        f"| {TALLY.days:.0f} simulated days, faults of every kind, against a model |"
        f" {TALLY.months} runs, 200 subscriptions, {TALLY.posted:,} posts, {TALLY.happened['pressed']:,} presses,"
        f" {TALLY.happened['edited']:,} edits, {TALLY.happened['died']} deaths |"
        f" model = system, memory grows < {MOST:.0%} | equal ({said}); a service alone holds {sizes} days:"
        f" {grown:+.1%} since day {WARM}; {time.monotonic() - begun:.0f} s |"
    )
    raise SystemExit(grown >= MOST or TALLY.months < given.months)


if __name__ == "__main__":
    main()
