"""R3: everything is posted once though workers are killed, the server ends at once, and connections are cut.

Workers are `broadsheet run` of the roles clock, make and deliver, in the Slack of the tests. What happens is spread over the
run by how much is posted: a worker is killed and another one started in its place, the server is ended as by a crash and
started again, a connection is ended. Twice a second it is looked whether anything is held that nobody holds any more.
"""

import asyncio
import random
import signal
from dataclasses import dataclass, field
from time import monotonic

from benchmarks.soak.killed import ORDINARY
from benchmarks.soak.many.place import Place, placed
from benchmarks.soak.plant import Crowd
from benchmarks.soak.row import Row
from benchmarks.soak.run import due_just_now
from benchmarks.soak.scoreboard import Ask
from bot.delivery import DeliverySettings
from bot.service.lanes import SWEEP
from tests.fakes.platform import Behaviour

WORKERS = 4
LONGEST = 1800.0  # seconds
_LOOK = 0.5  # seconds
_UP = 20.0  # seconds that the server has been up before what is held is looked at
_LEASE = DeliverySettings().lease.total_seconds()
# Behind a lease that ended comes the sweep; a worker that is started and the look itself take some seconds, too.
STUCK = SWEEP.total_seconds() + 10.0
_OVERDUE = (
    "select coalesce(max(extract(epoch from clock_timestamp()) - lease_until / 1e6), 0)::float from deliveries"
    " where state = 'sending'"
)
TERMINATE = (
    "select pg_terminate_backend(pid) from pg_stat_activity"
    " where application_name = 'broadsheet' and pid <> pg_backend_pid() order by random() limit 1"
)


@dataclass(slots=True)
class Happened:
    """What was done to them, and what was seen."""

    kills: int = 0
    crashes: int = 0
    cut: int = 0
    ended: int = 0  # workers that ended by themselves: a server that is away when they begin is said and ends them
    overdue: float = 0.0  # seconds for which something was held at most whose lease had ended
    server_since: float = field(default_factory=monotonic)


async def killed(ask: Ask) -> Row:
    """Post to so many; of 10,000 deliveries 300 workers are killed, 10 times the server, 100 connections."""
    kills, crashes, cuts = max(2, ask.size * 3 // 100), max(1, ask.size // 1000), max(1, ask.size // 100)
    crowd = Crowd(ask.size, due_just_now(), (1,), "slack", workspaces=min(100, ask.size))
    behaviour = Behaviour(seed=ask.seed, takes=(0.005, 0.06), resets=ORDINARY.resets, commits=ORDINARY.commits)
    begun = monotonic()
    async with placed(crowd, behaviour) as place:
        happened = await _through(place, random.Random(ask.seed), ["kill"] * kills + ["crash"] * crashes + ["cut"] * cuts)
        verdict = await place.judge()
    seconds = monotonic() - begun
    measured = (
        f"{verdict.figures()}; nothing was held for longer than {happened.overdue:.0f} s after its lease;"
        f" {happened.ended} workers ended that began while the server was away; {seconds:.0f} s"
    )
    size = (
        f"{verdict.expected:,} deliveries, {WORKERS} workers, {happened.kills} kills, {happened.crashes} immediate stops of"
        f" the server, {happened.cut} connections ended"
    )
    target = f"0 lost, 0 doubled, nothing held for more than {STUCK:.0f} s after its lease of {_LEASE:.0f} s"
    kept = verdict.is_clean and happened.overdue <= STUCK
    return Row("`kill -9`, many processes, PostgreSQL", size, target, measured, kept)


async def _through(place: Place, dice: random.Random, events: list[str]) -> Happened:
    """Let all of it happen while everything is posted."""
    happened = Happened()
    dice.shuffle(events)
    many = len(place.made)
    # The last tenth goes on in peace; what was killed there would show nothing more.
    at = sorted(dice.uniform(0.0, 0.9 * many) for _ in events)
    for _ in range(WORKERS):
        await place.start()
    beside = [asyncio.create_task(_look(place, happened)), asyncio.create_task(_tend(place, happened))]
    try:
        for threshold, event in zip(at, events, strict=True):
            until = monotonic() + LONGEST
            while place.posted < threshold and monotonic() < until:  # noqa: ASYNC110 - another's count
                await asyncio.sleep(0.02)
            await _do(event, place, dice, happened)
        await place.all_posted(LONGEST)
        await settled(place)
    finally:
        for each in beside:
            each.cancel()
        await asyncio.gather(*beside, return_exceptions=True)
    return happened


async def _do(event: str, place: Place, dice: random.Random, happened: Happened) -> None:
    if event == "kill":
        while not (alive := [each for each in place.running if each.is_alive]):  # noqa: ASYNC110 - another's processes
            await asyncio.sleep(_LOOK)
        victim = dice.choice(alive)
        await victim.kill()
        happened.kills += 1  # `_tend` starts another one in its place
    elif event == "crash":
        await place.crash()
        happened.crashes += 1
        happened.server_since = monotonic()
    else:
        happened.cut += len(await place.sql(TERMINATE))


async def _tend(place: Place, happened: Happened) -> None:
    """Start another worker for each that has ended, killed or begun without a server, as whoever looks after one does."""
    while True:
        ended = [each for each in place.running if not each.is_alive]
        for each in ended:
            place.running.remove(each)
            happened.ended += each.process.returncode != -signal.SIGKILL
            await place.start()
        await asyncio.sleep(_LOOK)


async def _look(place: Place, happened: Happened) -> None:
    while True:
        await asyncio.sleep(_LOOK)
        if monotonic() - happened.server_since < _UP:
            continue
        found = await place.sql(_OVERDUE)
        happened.overdue = max(happened.overdue, *(float(str(each[0])) for each in found), 0.0)


async def settled(place: Place) -> None:
    """Wait until the ledger knows of everything that is posted."""
    until = monotonic() + 300.0
    open_ = "select count(*) from deliveries where state in ('pending', 'sending', 'ambiguous')"
    while monotonic() < until and await place.sql(open_) != [(0,)]:  # noqa: ASYNC110 - another's rows
        await asyncio.sleep(0.5)
