"""How quick many processes are and what they take, beside SQLite's one; and that limits hold over all of them."""

import asyncio
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import monotonic

from benchmarks.soak.judge import Verdict
from benchmarks.soak.many.place import Place, Running, placed
from benchmarks.soak.plant import Crowd
from benchmarks.soak.row import Row
from benchmarks.soak.rows import service
from benchmarks.soak.run import due_just_now, lateness
from benchmarks.soak.scoreboard import Ask
from bot.service.lanes import TURN
from tests.e2e.stage import NEW, OLD, about
from tests.fakes.platform import Behaviour, Message

_START = timedelta(seconds=30)  # that processes have to be ready before the crowd falls due
_LONGEST = 1200.0  # seconds
_DEARER = 1.3  # × the processor time of a delivery by one process on SQLite
_WORKSPACES = 200
_PER_SECOND = 50
_HELD_UP = 0.1  # seconds
_INSIDE = 2.0  # seconds of a Retry-After at most


@dataclass(frozen=True, slots=True)
class Measured:
    """What one way of running it came to."""

    posts: Sequence[Message]
    due: float  # in seconds since 1970
    used: float  # seconds of processor time of our processes, from when the crowd fell due
    server: float  # and of PostgreSQL's
    clean: bool

    @property
    def each(self) -> float:
        """Return the milliseconds of processor time for each delivery."""
        return 1000 * self.used / max(1, len(self.posts))

    @property
    def waits(self) -> list[float]:
        """Return after how many seconds each was posted, in order."""
        return sorted(each.at - self.due for each in self.posts)

    @property
    def speed(self) -> float:
        """Return the deliveries a second, from the first to the last."""
        waits = self.waits
        return len(waits) / max(0.1, waits[-1] - waits[0]) if waits else 0.0

    def figures(self) -> str:
        """Return all that in words."""
        waits = self.waits or [float("inf")]
        beside = f" and {1000 * self.server / max(1, len(self.posts)):.1f} of PostgreSQL's" if self.server else ""
        return (
            f"{self.each:.1f} ms of processor each{beside}, {self.speed:.0f}/s, first after {waits[0]:.1f} s, p99"
            f" {waits[int(0.99 * (len(waits) - 1))]:.0f} s, last {waits[-1]:.0f} s"
        )


async def compared(ask: Ask) -> Row:
    """Let so many fall due at once for one process on SQLite, and for one, two and four workers on PostgreSQL."""
    alone = await _on_sqlite(ask)
    many = {number: await _on_postgres(ask, number) for number in (1, 2, 4)}
    ratio = many[1].each / alone.each
    said = "; ".join(f"{number} on PostgreSQL: {each.figures()}" for number, each in many.items())
    measured = (
        f"one process on SQLite: {alone.figures()}; {said}; {ratio:.2f} × the processor of SQLite's; {os.cpu_count()} cores"
    )
    kept = ratio <= _DEARER and alone.clean and all(each.clean for each in many.values())
    target = f"at most {_DEARER} × the processor time of a delivery on SQLite, nothing lost or doubled"
    return Row("workers on PostgreSQL beside one process on SQLite", f"{ask.size:,} channels", target, measured, kept)


def _crowd(ask: Ask) -> tuple[Crowd, Behaviour]:
    due = (datetime.now(UTC) + _START + timedelta(minutes=1)).replace(second=0, microsecond=0)
    crowd = Crowd(ask.size, due, (1,), "slack", workspaces=min(_WORKSPACES, ask.size))
    return crowd, Behaviour(seed=ask.seed, takes=(0.005, 0.06))


async def _on_sqlite(ask: Ask) -> Measured:
    crowd, behaviour = _crowd(ask)
    now = datetime.now(UTC)
    items = (*about(1, OLD, now), *about(100, NEW, now))
    with tempfile.TemporaryDirectory() as folder:
        async with service.placed(Path(folder), crowd, behaviour, items) as place:
            process = await place.start()
            await place.ready(process)
            await _due(crowd)
            before, until = place.used(process), monotonic() + _LONGEST
            while len(place.fake.committed) < ask.size and monotonic() < until:  # noqa: ASYNC110 - another's count
                await asyncio.sleep(0.25)
            await asyncio.sleep(3.0)  # what is recorded after it was posted
            used = place.used(process) - before
            await place.stop(process)
            posts = list(place.fake.committed)
    clean = len(posts) == len({each.marker for each in posts}) == ask.size
    return Measured(posts, crowd.due.timestamp(), used, 0.0, clean)


async def _on_postgres(ask: Ask, workers: int) -> Measured:
    crowd, behaviour = _crowd(ask)
    now = datetime.now(UTC)
    async with placed(crowd, behaviour, (*about(1, OLD, now), *about(100, NEW, now))) as place:
        running = [await place.start() for _ in range(workers)]
        for each in running:
            await place.ready(each)
        await _due(crowd)
        before, server = _used(running), place.used_by_server()
        await place.all_posted(_LONGEST)
        await asyncio.sleep(3.0)
        used, beside = _used(running) - before, place.used_by_server() - server
        verdict = await place.judge()
        return Measured(list(place.fake.committed), crowd.due.timestamp(), used, beside, verdict.is_clean)


async def _due(crowd: Crowd) -> None:
    """Wait until the crowd is due: what processes use that wait is no delivery's."""
    await asyncio.sleep(max(0.0, crowd.due.timestamp() - datetime.now(UTC).timestamp()))


def _used(running: Sequence[Running]) -> float:
    return sum(each.used() for each in running)


async def limited(ask: Ask) -> Row:
    """Let four processes post to Discord, which takes 50 requests in any second and asks for pauses now and then."""
    behaviour = Behaviour(
        seed=ask.seed,
        takes=(0.02, 0.1),
        per_second=_PER_SECOND,
        limited=0.01,
        all_limited=min(0.01, 5 / ask.size),
        rests=(0.5, _INSIDE),
    )
    crowd = Crowd(ask.size, due_just_now(), (1,), "discord", workspaces=min(20, ask.size))
    async with placed(crowd, behaviour, limits=True) as place, lateness() as late:
        for _ in range(4):
            await place.start()
        seconds = await place.all_posted(_LONGEST)
        verdict, busiest, unfair = await place.judge(), _busiest(place), _unfair(place)
        counts = place.fake.counts
        told, too_fast, inside, way = (counts[each] for each in ("429", "too fast", "inside", "on the way"))
    measured = (
        f"{verdict.figures()}; at most {busiest} posts in a second, {too_fast} × too fast; {told} × 429, {inside}"
        f" requests inside a Retry-After,"
        f" {way} on the way already; the last workspace had its first post after {unfair:.0f} % of all; the platform was up"
        f" to {max(late):.1f} s late itself; {seconds:.0f} s"
    )
    target = f"at most {_PER_SECOND} requests in any second over four processes, 0 inside a Retry-After, fair turns"
    # What is posted within a lane's first turn is posted lane by lane: turns show where there is more than that.
    is_fair = unfair <= 50.0 or ask.size < _PER_SECOND * TURN.total_seconds()
    # What comes in while the platform itself is held up seems to come all at once.
    in_time = not too_fast or max(late) > _HELD_UP
    kept = _is_once(verdict) and in_time and not inside and is_fair
    return Row("Discord's limits over four processes", f"{ask.size:,} channels", target, measured, kept)


def _is_once(verdict: Verdict) -> bool:
    return replace(verdict, unknown=0, ended=0).is_clean


def _busiest(place: Place) -> int:
    """Return how many were posted within a second at most."""
    times = sorted(each.at for each in place.fake.committed)
    return max((sum(at <= each < at + 1.0 for each in times[place_:]) for place_, at in enumerate(times)), default=0)


def _unfair(place: Place) -> float:
    """Return after how much of all, in per cent, the last workspace got its first post."""
    workspaces = {each.channel: each.workspace for each in place.made}
    seen: set[str] = set()
    for number, each in enumerate(sorted(place.fake.committed, key=lambda post: post.at), 1):
        seen.add(workspaces.get(each.channel, ""))
        if len(seen) == len(set(workspaces.values())):
            return 100 * number / len(place.made)
    return 100.0
