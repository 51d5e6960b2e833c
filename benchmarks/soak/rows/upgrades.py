"""R20: databases of every released schema, brought up while there is work to do.

A crowd's digests are being posted when the service is killed. What the database holds is then put into one of an earlier
schema, as far as that has room for it, and the service goes on with that file and is killed some more times, now and then
while it migrates. Schemas without a ledger are brought up before anything is posted; the first, which knows no
subscriptions, with the items and digests of one edition.
"""

import asyncio
import tempfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from sqlite_utils import Database

from benchmarks.soak import kills
from benchmarks.soak.judge import is_sound, judged
from benchmarks.soak.killed import NONCE, ORDINARY, REMEMBERED
from benchmarks.soak.plant import Crowd, ledger, plant
from benchmarks.soak.row import Row
from benchmarks.soak.run import due_just_now
from benchmarks.soak.scoreboard import Ask
from benchmarks.soak.work import Work
from bot.store.sqlite.connections import connect
from bot.store.sqlite.migrations import migration_names, migrations
from bot.store.sqlite.store import SqliteStore
from tests.fakes import edition
from tests.fakes.digests import GPU
from tests.fakes.platform import Platform, running

_DELIVERIES = 300
_KILLS = 6
_STEP = 0.01
_LEDGER = "m003_ledger"
_WORKSPACES = "m002_workspaces"
# What the migrations themselves and the search index keep, which are made anew.
_OURS = ("_sqlite_migrations", "sqlite_", "words")


async def every_schema(ask: Ask) -> Row:
    """Bring up each of them, so many times."""
    names, wrong, done = await asyncio.to_thread(migration_names), [], 0
    for turn in range(ask.size):
        for schema in range(1, len(names) + 1):
            fault = await brought_up(names, schema, ask.seed * 1000 + turn)
            done += 1
            if fault:
                wrong.append(f"schema {schema}: {fault}")
    measured = f"{done - len(wrong)} of {done} without loss" + "".join(f"; {each}" for each in wrong[:3])
    sizes = f"{len(names)} schemas × {ask.size}, {_DELIVERIES} deliveries, {_KILLS} kills"
    return Row("upgrade from each released schema under load", sizes, "0 loss", measured, not wrong)


async def brought_up(names: list[str], schema: int, seed: int) -> str:
    """Return what was wrong with it, "" when nothing was."""
    applied = names[:schema]
    if _WORKSPACES not in applied:
        return await _items_stay(names, schema)
    crowd = Crowd(_DELIVERIES * 3 // 4, due_just_now())
    made, behaviour = crowd.deliveries(), replace(ORDINARY, remembers=REMEMBERED, readable=False, seed=seed)
    with tempfile.TemporaryDirectory() as folder:
        new, old = Path(folder) / "new.db", Path(folder) / "broadsheet.db"
        await plant(new, crowd)
        async with running(behaviour) as platform:
            work = replace(NONCE, url=platform.url).of(crowd)
            if _LEDGER in applied:
                await _killed_in_the_middle(replace(work, database=str(new)), platform, len(made) // 3)
            await asyncio.to_thread(older, new, old, names, schema)
            left = lambda: len(made) - len(platform.committed)  # noqa: E731
            await kills.Killer(replace(work, database=str(old)), _KILLS, seed, left).run()
        verdict = judged(made, platform.committed, await ledger(old, made), sound=is_sound(old))
    return "" if verdict.is_clean else verdict.figures()


async def _killed_in_the_middle(work: Work, platform: Platform, number: int) -> None:
    process = await kills.started(work)
    await kills.ready(process)
    while len(platform.committed) < number:  # noqa: ASYNC110 - another's count
        await asyncio.sleep(_STEP)
    await kills.end(process)


async def _items_stay(names: list[str], schema: int) -> str:
    now = datetime.now(UTC)
    with tempfile.TemporaryDirectory() as folder:
        new, old = Path(folder) / "new.db", Path(folder) / "broadsheet.db"
        store = SqliteStore(new)
        await store.open()
        await store.items.add(edition.items(), now)
        await store.digests.save("slack:T1", "C1", GPU, now)
        expected = await store.items.find([each.key for each in edition.items()])
        posted = await store.digests.posted("slack:T1", "C1")
        await store.close()
        await asyncio.to_thread(older, new, old, names, schema)
        store = SqliteStore(old)
        await store.open()
        found = await store.items.find([each.key for each in edition.items()])
        kept = await store.digests.posted("slack:T1", "C1")
        await store.close()
    if found != expected:
        return (
            f"{sum(found.get(key) != each for key, each in expected.items())} of {len(expected)} items are not as they were"
        )
    return "" if set(kept) == set(posted) else "what was posted is not known any more"


def older(new: Path, old: Path, names: list[str], schema: int) -> None:
    """Write a database as an earlier schema has it, with what another holds, as far as there is room for it there."""
    db = connect(old)
    if schema < len(names):
        migrations.apply(db, stop_before=names[schema])
    else:
        migrations.apply(db)
    db.execute("attach database ? as new", [str(new)])
    for table in db.table_names():
        if not table.startswith(_OURS):
            _copy(db, table)
    db.conn.commit()
    db.execute("detach database new")
    db.close()


def _copy(db: Database, table: str) -> None:
    there = {name for _, name, *_ in db.execute(f"pragma new.table_info([{table}])").fetchall()}
    here = [name for _, name, *_ in db.execute(f"pragma main.table_info([{table}])").fetchall()]
    common = ", ".join(f"[{name}]" for name in here if name in there)
    if common:
        db.execute(f"insert or ignore into main.[{table}] ({common}) select {common} from new.[{table}]")
