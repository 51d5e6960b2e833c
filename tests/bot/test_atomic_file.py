import os
from pathlib import Path

import pytest

from bot.atomic_file import drop_partials, in_place, write_new, write_whole


def test_a_file_is_replaced_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "digest.txt"
    for text in ("one", "two — 大小", "half \ud83d"):
        write_whole(path, text)
    assert path.read_text(encoding="utf-8") == "half ?"
    assert [each.name for each in tmp_path.iterdir()] == ["digest.txt"]


def test_a_new_file_takes_the_place_of_nothing_but_nothing(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    write_new(path, "one")
    assert path.stat().st_mode & 0o777 == 0o600

    with pytest.raises(FileExistsError):
        write_new(path, "two")

    (tmp_path / "leads nowhere").symlink_to(tmp_path / "gone")
    with pytest.raises(FileExistsError):
        write_new(tmp_path / "leads nowhere", "three")
    assert path.read_text() == "one"
    assert {each.name for each in tmp_path.iterdir()} == {"settings.toml", "leads nowhere"}


def test_where_it_cannot_be_put_in_place_the_former_stays_and_nothing_is_left(tmp_path: Path) -> None:
    path = tmp_path / "digest.txt"
    path.mkdir()
    with pytest.raises(OSError, match=os.strerror(21)):
        write_whole(path, "new")
    assert [each.name for each in tmp_path.iterdir()] == ["digest.txt"]


def test_what_dead_writers_left_is_dropped_and_what_one_writes_now_is_kept(tmp_path: Path) -> None:
    left = [".b.sqlite3.1.partial", ".b.sqlite3.1.partial-journal", ".b.sqlite3.0f.partial", ".b.sqlite3.0f.partial-wal"]
    others = [".c.sqlite3.1.partial", "b.sqlite3.partial", ".b.sqlite3.note"]
    for name in (*left, *others):
        (tmp_path / name).touch()
    with in_place(tmp_path / "b.sqlite3") as partial:
        journal = partial.with_name(f"{partial.name}-journal")
        journal.touch()
        drop_partials(tmp_path, "b.sqlite3")
        assert {path.name for path in tmp_path.iterdir()} == {*others, partial.name, journal.name}
    drop_partials(tmp_path, "b.sqlite3")
    assert {path.name for path in tmp_path.iterdir()} == {*others, "b.sqlite3"}
