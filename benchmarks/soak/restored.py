"""A backup of yesterday put in the place of a database that was lost while it was posting."""

import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks.soak import kills
from benchmarks.soak.judge import Verdict, is_sound, judged
from benchmarks.soak.killed import HISTORY, LAG, NONCE, ORDINARY, REMEMBERED
from benchmarks.soak.plant import Crowd, ledger, plant, skipped
from benchmarks.soak.row import Row, Size
from benchmarks.soak.run import due_just_now
from benchmarks.soak.work import Work
from bot.store.sqlite.store import SqliteStore
from tests.fakes.platform import Behaviour, Platform, running

_DAY = timedelta(days=1).total_seconds()
_AFTER = 1.0  # seconds after yesterday's were due the service begins, so that it makes them all before it posts the first
_BEFORE = 0.3  # seconds before it is due the service begins: what was due later than its heartbeat was posted too
_STEP = 0.01


async def restored(size: Size) -> Sequence[Row]:
    """With history what was posted since is found; without, it is skipped and reported."""
    remembering = replace(ORDINARY, remembers=REMEMBERED, readable=False, seed=size.seed)
    return await asyncio.gather(
        _restored("history", replace(ORDINARY, lag=LAG, seed=size.seed), HISTORY, size),
        _restored("nonces only", remembering, NONCE, size),
    )


async def _restored(where: str, behaviour: Behaviour, work: Work, size: Size) -> Row:
    crowd = Crowd(size.deliveries * 3 // 8, due_just_now())
    made = [*crowd.the_day_before().deliveries(), *crowd.deliveries()]
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "broadsheet.db"
        await plant(database, crowd.the_day_before())
        async with running(behaviour) as platform:
            work = replace(work, database=str(database), url=platform.url, begins=crowd.due.timestamp() - _BEFORE)
            # A digest of yesterday that is not made when the backup is would be overtaken by today's, and rightly skipped.
            yesterday = replace(
                work.of(crowd.the_day_before()), begins=crowd.due.timestamp() - _DAY + _AFTER, print_first=True
            )
            await _yesterday(yesterday, platform, len(made) // 4)
            await _until_posted(work.of(crowd), platform, len(platform.committed) + len(made) // 4)
            await asyncio.to_thread(
                SqliteStore(database).maintenance.restore, database.with_suffix(".backup"), datetime.now(UTC)
            )
            await kills.Killer(replace(work.of(crowd), begins=0.0), 0, behaviour.seed, lambda: 0).run()
        rows, overtaken = await ledger(database, made), await skipped(database, made)
        said = [each for each in made if each.occurrence not in overtaken or each.id in rows]
        verdict = judged(said, platform.committed, rows, sound=is_sound(database), restored=True)
    return _row(where, work, verdict, len(made), len(made) - len(said))


async def _yesterday(work: Work, platform: Platform, until: int) -> None:
    """Post yesterday's, with a backup made when so many are posted."""
    process = await kills.started(work)
    await kills.ready(process)
    await _posted(platform, until)
    store = SqliteStore(Path(work.database))
    await store.open()
    await store.maintenance.backup(Path(work.database).with_suffix(".backup"))
    await store.close()
    await process.communicate()
    if process.returncode != 0:
        raise RuntimeError("Yesterday's worker failed.")


async def _until_posted(work: Work, platform: Platform, number: int) -> None:
    """Post today's, and die when so many are posted."""
    process = await kills.started(work)
    await kills.ready(process)
    await _posted(platform, number)
    await kills.end(process)


async def _posted(platform: Platform, number: int) -> None:
    while len(platform.committed) < number:  # noqa: ASYNC110 - what is counted is another's
        await asyncio.sleep(_STEP)


def _row(where: str, work: Work, verdict: Verdict, deliveries: int, skipped_: int) -> Row:
    measured = verdict.figures() + (f"; {skipped_} skipped and said so" if skipped_ else "")
    kept = verdict.is_clean_but_for_unknown and (not work.finds or not skipped_)
    what = f"a backup of yesterday restored in the middle of posting, {where}"
    return Row(what, f"{deliveries} deliveries", "0 duplicate", measured, kept)
