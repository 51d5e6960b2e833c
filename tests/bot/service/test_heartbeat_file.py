"""The heartbeat beside the database."""

from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from bot.errors import StoreError
from bot.service.heartbeat_file import alive_path, read_alive, write_alive


def test_the_last_heartbeat_is_read_back(tmp_path: Path, now: datetime) -> None:
    database = tmp_path / "b.sqlite3"
    write_alive(database, now)
    write_alive(database, (now + timedelta(minutes=1)).astimezone(timezone(timedelta(hours=2))))

    assert read_alive(database) == now + timedelta(minutes=1)
    assert [path.name for path in tmp_path.iterdir()] == ["b.sqlite3.alive"]


@pytest.mark.parametrize("text", ["", "yesterday", "2026-04-01T07:00:00", "\xff"])
def test_a_file_that_tells_no_time_is_none(tmp_path: Path, text: str) -> None:
    alive_path(tmp_path / "b").write_text(text, encoding="latin-1")

    assert read_alive(tmp_path / "b") is None


def test_no_file_is_no_heartbeat_and_one_that_cannot_be_written_is_told(tmp_path: Path, now: datetime) -> None:
    assert read_alive(tmp_path / "b") is None
    with pytest.raises(StoreError, match="The heartbeat cannot be written"):
        write_alive(tmp_path / "nowhere" / "b", now)
