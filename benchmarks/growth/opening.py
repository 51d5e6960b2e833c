"""A process that opens a database and asks it, as a service does after its start: what that takes, and what it holds.

It imports what a search needs and no more, and is started by `opening`. Its figures: seconds by the clock, from the start of
the process on, and of a processor, up to the first answer by words and up to the first one with vectors; and the memory
after each, and after all questions of both kinds, of everything and of the last 90 days.
"""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from benchmarks.growth.memory import memory
from bot.models import Near
from bot.query.parse import parse
from bot.store.sqlite.store import SqliteStore


def opening(path: Path, engine: str, now: datetime, asked: Sequence[tuple[str, Near]]) -> dict[str, Any]:
    """Return the figures of such a process, with the engine that is named: FTS5 or tantivy."""
    told = {
        "path": str(path),
        "engine": engine,
        "now": now.isoformat(),
        "asked": [[text, near.space, near.vector.hex(), near.enough] for text, near in asked],
        "started": time.time(),
    }
    command = [sys.executable, "-m", "benchmarks.growth.opening"]
    said = subprocess.run(command, input=json.dumps(told), stdout=subprocess.PIPE, check=True, text=True).stdout
    figures: dict[str, Any] = json.loads(said)
    return figures


async def _open(told: Mapping[str, Any]) -> dict[str, Any]:
    store, now, started = _store(Path(told["path"]), told["engine"]), datetime.fromisoformat(told["now"]), told["started"]
    asked = [(text, Near(space, bytes.fromhex(vector), enough)) for text, space, vector, enough in told["asked"]]
    text, near = asked[0]
    await store.open()
    await store.index.search(parse(text), now)
    found = {"first": _spent(started), "opened": memory()}
    await store.index.search(parse(text), now, near=near)
    found |= {"first with vectors": _spent(started), "with vectors": memory()}
    for text, near in asked:
        for query in (parse(text), parse(f"{text} published:90d")):
            await store.index.search(query, now)
            await store.index.search(query, now, near=near)
    found |= {"asked": memory()}
    follower = store.follower
    assert follower is None or follower.asked == follower.answered, "the index was not in step"
    await store.close()
    return found


def _store(path: Path, engine: str) -> SqliteStore:
    if engine == "FTS5":
        return SqliteStore(path, exclusive=True)
    from bot.store.index.follower import IndexFollower  # the other engine does without it

    return SqliteStore(path, exclusive=True, follower=IndexFollower)


def _spent(started: float) -> tuple[float, float]:
    return time.time() - started, time.process_time()


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_open(json.load(sys.stdin)))))
