"""What people ended since a backup was made is not brought back by it."""

import asyncio
import logging
import shutil
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from bot.models import AssistantAccess, AssistantToken, FeedAccess, Suppression
from bot.store.sqlite.store import SqliteStore
from tests.conftest import NOW

HERE = "slack:T1"
NAMES = ("stays", "revoked", "replaced")


def feed(hashed: str) -> FeedAccess:
    return FeedAccess(hashed=hashed, platform="slack", workspace=HERE, person=hashed, channel="C1", made_at=NOW)


def token(name: str, hashed: str = "") -> AssistantToken:
    return AssistantToken(name=name, hashed=hashed or name, access=AssistantAccess(workspace=HERE), made_at=NOW)


async def opened(path: Path) -> SqliteStore:
    store = SqliteStore(path, exclusive=True)
    await store.open()
    return store


async def backed_up(folder: Path) -> SqliteStore:
    """A database of which a backup was made, from which some was ended since."""
    store = await opened(folder / "b.sqlite3")
    await store.recipients.key()
    for name in ("stays", "revoked"):
        await store.people.allow_feeds(feed(name))
    for name in NAMES:
        await store.assistants.allow(token(name))
    await store.maintenance.backup(folder / "backup.sqlite3")
    await store.people.revoke_feeds(HERE, "revoked")
    for name in ("revoked", "replaced"):
        await store.assistants.revoke(name, NOW)
    await store.assistants.allow(token("replaced", "anew"))
    await store.recipients.suppress("me@lab.example", Suppression.COMPLAINED, NOW)
    return store


async def restored(folder: Path) -> SqliteStore:
    at = NOW + timedelta(hours=1)
    await asyncio.to_thread(SqliteStore(folder / "b.sqlite3").maintenance.restore, folder / "backup.sqlite3", at)
    return await opened(folder / "b.sqlite3")


async def holding(store: SqliteStore) -> tuple[list[str], list[str]]:
    """The tokens for feeds that open something, and those for assistants."""
    feeds = [each for each in NAMES if await store.people.feeds_by(each)]
    return feeds, [each for each in (*NAMES, "anew") if await store.assistants.by_hash(each)]


async def test_what_was_ended_since_a_backup_stays_ended_when_it_is_restored(tmp_path: Path) -> None:
    await (await backed_up(tmp_path)).close()
    store = await restored(tmp_path)
    assert await holding(store) == (["stays"], ["stays"])
    assert await store.recipients.suppression(HERE, "me@lab.example") is Suppression.COMPLAINED
    assert await store.maintenance.check() == []
    await store.close()


async def test_what_stands_in_the_log_of_a_killed_service_counts_too(tmp_path: Path) -> None:
    store = await backed_up(tmp_path)
    killed = tmp_path / "killed"
    await asyncio.to_thread(shutil.copytree, tmp_path, killed, ignore=shutil.ignore_patterns("killed"))
    await store.close()
    assert (killed / "b.sqlite3-wal").stat().st_size
    again = await restored(killed)
    assert await holding(again) == (["stays"], ["stays"])
    await again.close()


async def test_a_database_that_was_begun_anew_ends_nothing(tmp_path: Path) -> None:
    await (await backed_up(tmp_path)).close()
    (tmp_path / "b.sqlite3").unlink()
    fresh = await opened(tmp_path / "b.sqlite3")
    await fresh.recipients.key()
    await fresh.close()
    store = await restored(tmp_path)
    assert await holding(store) == (["stays", "revoked"], [*NAMES])
    await store.close()


async def test_a_database_that_cannot_be_read_is_replaced_all_the_same_and_that_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await (await backed_up(tmp_path)).close()
    path = tmp_path / "b.sqlite3"
    path.write_bytes(path.read_bytes()[:100] + bytes(4096))
    with caplog.at_level(logging.WARNING):
        store = await restored(tmp_path)
    assert "revoked tokens may hold again" in caplog.text
    assert await holding(store) == (["stays", "revoked"], [*NAMES])
    await store.close()


async def test_a_backup_of_before_there_was_any_of_it_is_restored(tmp_path: Path) -> None:
    await (await backed_up(tmp_path)).close()
    with closing(sqlite3.connect(tmp_path / "backup.sqlite3")) as db:
        db.executescript("drop table feeds; drop table assistants; delete from facts where name = 'mail key'")
    await asyncio.to_thread(SqliteStore(tmp_path / "b.sqlite3").maintenance.restore, tmp_path / "backup.sqlite3", NOW)
    with closing(sqlite3.connect(tmp_path / "b.sqlite3")) as db:
        assert db.execute("select count(*) from suppressed").fetchone() == (0,)
