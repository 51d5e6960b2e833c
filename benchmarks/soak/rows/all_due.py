"""A gate: every channel's digest is due at one instant, and the service stays ready and beats all the while.

`broadsheet run` is one process with its own runner, health server and publisher; the Slack of the tests takes what comes.
It is up before they fall due. /readyz is asked four times a second from outside, and the heartbeat's file is looked at,
from then on until everything is posted, or for as long as is given.
"""

import asyncio
import tempfile
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import time

from benchmarks.soak.judge import is_sound, judged
from benchmarks.soak.plant import Crowd, ledger
from benchmarks.soak.row import Row
from benchmarks.soak.rows.service import Beside, Place, placed
from benchmarks.soak.scoreboard import Ask
from tests.e2e.stage import NEW, OLD, about
from tests.fakes.platform import Behaviour

_WORKSPACES = 200
_FIRST = 20.0  # seconds
_BEATS = 60.0  # seconds between two heartbeats: four ticks
_START = timedelta(seconds=45)  # that the service has to be ready before they fall due
_LONGEST = 1200.0  # seconds in all


async def all_due(ask: Ask) -> Row:
    """Let them all fall due."""
    due = (datetime.now(UTC) + _START + timedelta(minutes=1)).replace(second=0, microsecond=0)
    crowd = Crowd(ask.size, due, (1,), "slack", workspaces=min(_WORKSPACES, ask.size))
    items = (*about(1, OLD, datetime.now(UTC)), *about(100, NEW, datetime.now(UTC)))
    with tempfile.TemporaryDirectory() as folder:
        async with placed(Path(folder), crowd, Behaviour(seed=ask.seed, takes=(0.005, 0.06)), items) as place:
            seen = await _posted(place)
            made = crowd.deliveries()
            rows = await ledger(place.database, made)
            # What was not posted when the time was up is no loss: it stands in the ledger.
            verdict = judged(made, place.fake.committed, rows, sound=is_sound(place.database))
            posted = sorted(each.at - due.timestamp() for each in place.fake.committed)
    first, last = (posted[0], posted[-1]) if posted else (float("inf"), float("inf"))
    kept = verdict.is_clean and first < _FIRST and not seen.unready and seen.longest < _BEATS
    measured = (
        f"first post after {first:.1f} s, the last after {last:.0f} s; {len(seen.unready)} of {seen.asked:,} times not ready"
        f" (slowest answer {seen.slowest:.1f} s); heartbeats {seen.longest:.0f} s apart at most; {verdict.figures()}"
        + "".join(f"; {each}" for each in seen.unready[:2])
    )
    target = "ready and beating all the time, first post within 20 s"
    return Row("every channel is due at once", f"{ask.size:,} channels", target, measured, kept)


async def _posted(place: Place) -> Beside:
    found, service = Beside(), await place.start()
    await place.ready(service)
    watching = asyncio.create_task(place.watch(found))
    end = time() + _LONGEST
    while len({each.channel for each in place.fake.committed}) < place.crowd.channels and time() < end:
        await asyncio.sleep(1.0)
        if watching.done():
            watching.result()
    await asyncio.sleep(5.0)  # what is recorded as done after it was posted
    watching.cancel()
    with suppress(asyncio.CancelledError):
        await watching
    await place.stop(service)
    return found
