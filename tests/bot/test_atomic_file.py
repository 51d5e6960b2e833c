import os
from pathlib import Path

import pytest

from bot.atomic_file import write_whole


def test_a_file_is_replaced_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "digest.txt"
    for text in ("one", "two — 大小", "half \ud83d"):
        write_whole(path, text)
    assert path.read_text(encoding="utf-8") == "half ?"
    assert [each.name for each in tmp_path.iterdir()] == ["digest.txt"]


def test_where_it_cannot_be_put_in_place_the_former_stays_and_nothing_is_left(tmp_path: Path) -> None:
    path = tmp_path / "digest.txt"
    path.mkdir()
    with pytest.raises(OSError, match=os.strerror(21)):
        write_whole(path, "new")
    assert [each.name for each in tmp_path.iterdir()] == ["digest.txt"]
