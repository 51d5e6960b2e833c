import sys
from dataclasses import replace

import pytest

from adapters.chat.pictures import drawn_charts
from adapters.pictures.png import png
from tests.fakes.replies import TRENDS


async def test_a_process_of_its_own_draws_what_would_be_drawn_here() -> None:
    assert await drawn_charts(TRENDS.charts) == [png(each) for each in TRENDS.charts]


async def test_where_no_process_can_be_had_that_is_logged_and_there_is_no_picture(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")

    assert await drawn_charts(TRENDS.charts[:1]) == [b""]
    assert f"{TRENDS.charts[0].name} could not be drawn, its numbers are told: it could not be started" in caplog.text


async def test_a_title_with_half_a_character_is_drawn() -> None:
    (drawn,) = await drawn_charts([replace(TRENDS.charts[0], title="Half \ud83d of one")])
    assert drawn.startswith(b"\x89PNG")
