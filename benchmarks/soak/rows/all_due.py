"""A gate: every channel's digest is due at one instant, and the service stays ready and beats all the while.

`broadsheet run` is one process with its own runner, health server and publisher, in the Slack or the Discord of the tests,
which count what is asked of them as the real ones do. It is up before they fall due. /readyz is asked four times a second
from outside, and the heartbeat's file is looked at, from then on until everything is posted, or for as long as is given.
"""

import asyncio
import gc
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import time

from adapters.discord.send import PER_SECOND
from adapters.slack.send import SlackMessenger
from benchmarks import corpus
from benchmarks.soak.judge import Verdict, is_sound, judged
from benchmarks.soak.plant import Crowd, ledger
from benchmarks.soak.row import Row
from benchmarks.soak.rows.service import Beside, Place, placed
from benchmarks.soak.scoreboard import Ask
from bot.delivery.rate_limits import SHARE
from bot.models import Item
from tests.e2e.stage import NEW, OLD, about
from tests.fakes.platform import Behaviour

_WORKSPACES = 200
_FIRST = 20.0  # seconds
_BEATS = 60.0  # seconds between two heartbeats: four ticks
_START = timedelta(seconds=45)  # that the service has to be ready before they fall due
_LONGEST = 1200.0  # seconds in all
_PAPERS = 1200  # of a day, where papers are given
_OF_BOUND = {"slack": 1.1, "discord": 1.05}  # so much longer than the bound it may take
# A run of fewer channels may take so many seconds more: the first digests of a topic take some, whoever waits.
_SHORT, _SPARE = 1000, 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of it."""

    platform: str
    channels: int
    verdict: Verdict
    seen: Beside
    limited: int  # requests that got a 429
    first: float  # seconds after they fell due at which the first was posted
    last: float

    @property
    def bound(self) -> float:
        """Return the seconds that the rates take that the service keeps to, and nothing else."""
        if self.platform == "discord":
            return self.channels / (SHARE * PER_SECOND)
        a_minute = SHARE * (SlackMessenger.abilities.per_workspace_minute or 0.0)
        return 60 * -(-self.channels // min(_WORKSPACES, self.channels)) / a_minute

    @property
    def is_sound(self) -> bool:
        """Say whether all was posted once, none of it too early, by a service that was ready all the time."""
        return self.verdict.is_clean and not self.limited and not self.seen.unready

    @property
    def is_in_time(self) -> bool:
        """Say whether the first and the last came when they should, and the heartbeats."""
        spare = _SPARE if self.channels < _SHORT else 0.0
        span = _OF_BOUND[self.platform] * self.bound + spare
        return self.first < _FIRST and self.last - self.first <= span and self.seen.longest < _BEATS

    def figures(self) -> str:
        """Return all that in words."""
        seen, span = self.seen, self.last - self.first
        said = (
            f"first post after {self.first:.1f} s, the last {span:.0f} s later",
            f"{span / self.bound:.2f} × the bound of {self.bound:.0f} s",
            f"{self.limited} × 429",
            f"{len(seen.unready)} of {seen.asked:,} times not ready (slowest answer {seen.slowest:.1f} s)",
            f"heartbeats {seen.longest:.0f} s apart at most, the loop late by {1000 * max(seen.lags, default=0.0):.0f} ms",
            f"{1000 * seen.used / self.channels:.1f} ms of processor time each, beside a load of {seen.load:.1f}",
            self.verdict.figures(),
            *seen.unready[:2],
        )
        return "; ".join(said)


async def all_due_in_slack(ask: Ask) -> Row:
    """Let them all fall due in Slack."""
    return _row(await all_due("slack", ask))


async def all_due_in_discord(ask: Ask) -> Row:
    """Let them all fall due in Discord."""
    return _row(await all_due("discord", ask))


def _row(found: Outcome) -> Row:
    target = (
        f"ready and beating all the time, first post within {_FIRST:.0f} s, at most {_OF_BOUND[found.platform]} × the bound,"
        " no 429"
    )
    kept = found.is_sound and found.is_in_time
    what = f"every channel is due at once, {found.platform}"
    return Row(what, f"{found.channels:,} channels", target, found.figures(), kept)


async def all_due(platform: str, ask: Ask) -> Outcome:
    """Let so many channels fall due on the platform, and post to all of them."""
    due = (datetime.now(UTC) + _START + timedelta(minutes=1)).replace(second=0, microsecond=0)
    crowd = Crowd(ask.size, due, (1,), platform, workspaces=min(_WORKSPACES, ask.size))
    behaviour = Behaviour(seed=ask.seed, takes=(0.005, 0.06), per_second=int(PER_SECOND) if platform == "discord" else 0)
    items = await asyncio.to_thread(_items, ask.corpus)
    with tempfile.TemporaryDirectory() as folder:
        async with placed(Path(folder), crowd, behaviour, items, limits=True) as place:
            with _steady():
                seen = await _posted(place)
            made, posts = crowd.deliveries(), place.fake.committed
            rows = await ledger(place.database, made)
            # What was not posted when the time was up is no loss: it stands in the ledger.
            verdict = judged(made, posts, rows, sound=is_sound(place.database))
            posted = [each.at - due.timestamp() for each in posts] or [float("inf")]
            limited = place.fake.counts["429"]
    return Outcome(
        platform=platform,
        channels=ask.size,
        verdict=verdict,
        seen=seen,
        limited=limited,
        first=min(posted),
        last=max(posted),
    )


@contextmanager
def _steady() -> Iterator[None]:
    """Let the platform stop for no collection of garbage: what comes in meanwhile would seem to come all at once."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _items(papers: Path | None) -> Sequence[Item]:
    now = datetime.now(UTC)
    if papers is None:
        return (*about(1, OLD, now), *about(100, NEW, now))
    day = timedelta(days=1)
    return [replace(each, seen=now, appeared=now - day, published=now - day) for each in corpus.papers(papers)[-_PAPERS:]]


async def _posted(place: Place) -> Beside:
    found, service = Beside(), await place.start()
    await place.ready(service)
    watching = asyncio.create_task(place.watch(found))
    end, used = time() + _LONGEST, place.used(service)
    while len({each.channel for each in place.fake.committed}) < place.crowd.channels and time() < end:
        await asyncio.sleep(1.0)
        if watching.done():
            watching.result()
    await asyncio.sleep(5.0)  # what is recorded as done after it was posted
    watching.cancel()
    with suppress(asyncio.CancelledError):
        await watching
    found.used, found.load = place.used(service) - used, os.getloadavg()[0]
    await place.stop(service)
    return found
