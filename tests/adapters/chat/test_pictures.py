import asyncio
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.chat.pictures import drawn_charts
from adapters.pictures.png import png
from tests.fakes.replies import TRENDS


async def test_a_process_of_its_own_draws_what_would_be_drawn_here() -> None:
    assert await drawn_charts(TRENDS.charts) == [png(each) for each in TRENDS.charts]


async def test_where_no_process_can_be_had_that_is_logged_and_there_is_no_picture_but_of_what_was_drawn(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (chart,) = TRENDS.charts[:1]
    drawn = await drawn_charts([chart])
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")

    assert await drawn_charts([chart, replace(chart, title="Another"), chart]) == [*drawn, b"", *drawn]
    assert f"{chart.name} could not be drawn, its numbers are told: it could not be started" in caplog.text


async def test_who_asks_for_the_same_at_once_has_it_drawn_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\necho x >> {tmp_path}/begun\nexec {sys.executable} "$@"\n')
    python.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(python))
    charts = [replace(TRENDS.charts[0], title="Asked for at once")]

    found = await asyncio.gather(*(drawn_charts(charts) for _ in range(4)))

    assert found == [[png(charts[0])]] * 4
    assert (tmp_path / "begun").read_text() == "x\n"


async def test_a_title_with_half_a_character_is_drawn() -> None:
    (drawn,) = await drawn_charts([replace(TRENDS.charts[0], title="Half \ud83d of one")])
    assert drawn.startswith(b"\x89PNG")
