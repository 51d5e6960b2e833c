"""R21: services that are started two at a time, and told to end one after the other while they post.

Each round starts a second `broadsheet run` beside the one that works, which must end at once and say why; then the first
is told to end, and a third is started at the same moment, as a supervisor does that rolls out a new version: again and
again until it may begin. Meanwhile a crowd's digests are posted, in few workspaces, so that Slack's limits stretch them
over all rounds.
"""

import asyncio
import tempfile
from pathlib import Path
from time import monotonic

from adapters.cli.exits import Exit
from benchmarks.soak.judge import is_sound, judged
from benchmarks.soak.plant import Crowd, ledger
from benchmarks.soak.row import Row
from benchmarks.soak.rows.service import Place, placed
from benchmarks.soak.run import due_just_now
from benchmarks.soak.scoreboard import Ask
from tests.fakes.forked import Forked
from tests.fakes.platform import Behaviour

_DRAIN = 30.0  # seconds
_EACH = 12  # deliveries for each round
_PATIENCE = 600.0
_SAYS = b"is already running"


async def rolling(ask: Ask) -> Row:
    """Do so many rounds, and let what is left be posted."""
    crowd = Crowd(_EACH * ask.size, due_just_now(), (1,), "slack", workspaces=2)
    begun = monotonic()
    with tempfile.TemporaryDirectory() as folder:
        async with placed(Path(folder), crowd, Behaviour(seed=ask.seed, takes=(0.02, 0.1))) as place:
            drains, starts, wrong = await _rounds(place, ask.size)
            made = crowd.deliveries()
            rows = await ledger(place.database, made)
            verdict = judged(made, place.fake.committed, rows, sound=is_sound(place.database))
    measured = (
        f"{verdict.figures()}; drained in {max(drains):.1f} s at most, ready again after {max(starts):.1f} s at most;"
        f" {wrong} second instances did not end with the right words; {verdict.expected:,} deliveries in"
        f" {monotonic() - begun:.0f} s"
    )
    kept = verdict.is_clean and max(drains) < _DRAIN and not wrong
    target = "no double work, drain < 30 s"
    return Row("two instances started, SIGTERM and restart while posting", f"{ask.size} rounds", target, measured, kept)


async def _rounds(place: Place, number: int) -> tuple[list[float], list[float], int]:
    """Return how long each took to drain, and to be ready; and how many second instances did not end as they should."""
    drains, starts, wrong = [], [], 0
    service = await place.start()
    starts.append(await place.ready(service))
    for _ in range(number):
        second = await place.start()
        _, err = await second.communicate()
        wrong += second.returncode != Exit.DATABASE or _SAYS not in err
        draining = asyncio.create_task(place.stop(service))
        service, tries = await _first_that_stays(place)
        starts.append(await place.ready(service))
        drains.append(await draining)
        del tries
    await _all_posted(place)
    drains.append(await place.stop(service))
    return drains, starts, wrong


async def _first_that_stays(place: Place) -> tuple[Forked, int]:
    """Start a service until one is not told that another is running."""
    for number in range(1, 1000):
        service = await place.start()
        done, _ = await asyncio.wait([asyncio.create_task(service.wait())], timeout=2.0)
        if not done:
            return service, number
        if service.returncode != Exit.DATABASE:
            raise RuntimeError(f"A service ended with {service.returncode}: {(await service.communicate())[1][-500:]!r}")
        await service.communicate()
    raise RuntimeError("The first service never gave way.")


async def _all_posted(place: Place) -> None:
    """Wait until everything is posted, and nothing new for a while."""
    begun, many = monotonic(), len(place.crowd.deliveries())
    while len(place.fake.committed) < many and monotonic() - begun < _PATIENCE:  # noqa: ASYNC110 - another's count
        await asyncio.sleep(0.5)
    await asyncio.sleep(3.0)
