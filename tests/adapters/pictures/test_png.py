import struct
import zlib
from dataclasses import replace
from pathlib import Path

import pytest
import resvg_py

import adapters.pictures
from adapters.pictures.png import FONT, chart_svg, drawable, glyphs, png
from bot.models import Chart
from tests.fakes.replies import CURVE, TRENDS, UGLY

FOLDER = Path(adapters.pictures.__file__).parent
CHARTS = (*TRENDS.charts, CURVE)


def size(picture: bytes) -> tuple[int, int]:
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    wide, high = struct.unpack_from(">II", picture, 16)
    return wide, high


def dots(picture: bytes) -> bytes:
    """What the picture's data unpack to: filtered rows, the same for the same dots."""
    at, data = 8, b""
    while at < len(picture):
        (length,) = struct.unpack_from(">I", picture, at)
        data += picture[at + 8 : at + 8 + length] if picture[at + 4 : at + 8] == b"IDAT" else b""
        at += 12 + length
    return zlib.decompress(data)


def without_font(chart: Chart) -> bytes:
    return bytes(resvg_py.svg_to_bytes(svg_string=chart_svg(chart), zoom=3.0, skip_system_fonts=True))


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.kind)
def test_text_is_really_drawn(chart: Chart) -> None:
    """resvg leaves text out without a word where it has no font for it."""
    drawn, bare = png(chart), without_font(chart)

    assert size(drawn) == size(bare)
    assert size(drawn)[0] == 1200
    differing = sum(a != b for a, b in zip(dots(drawn), dots(bare), strict=True))
    assert differing > 20_000, "the texts take some tens of thousands of bytes"
    other = replace(chart, title=chart.title[::-1])
    assert dots(png(other)) != dots(drawn)
    assert dots(without_font(other)) == dots(bare)


def test_what_the_font_lacks_is_marked_where_it_stood() -> None:
    assert drawable("日本語の KV cache 🦙") == "… KV cache …"
    assert drawable("Müller – “Жук” α → 5 × 3 ≤ ▲") == "Müller – “Жук” α → 5 × 3 ≤ ▲"
    assert drawable("e\u0301") == "é"
    assert len(png(replace(CURVE, title="日本語"))) > 1000
    assert dots(png(replace(CURVE, title="日本語"))) == dots(png(replace(CURVE, title="…")))


def test_the_font_has_every_sign_that_charts_are_made_of() -> None:
    said = {
        char
        for chart in CHARTS
        for text in (chart.title, chart.source, *(each.said for each in chart.values))
        for char in text
    }

    assert {ord(char) for char in said | set("…,.%×")} - glyphs() == set()
    assert len(glyphs()) == 915


def test_whatever_strangers_wrote_there_is_a_picture() -> None:
    assert {size(png(chart))[0] for chart in UGLY.charts} == {1200}


def test_the_font_comes_with_its_licence_and_under_a_name_of_its_own() -> None:
    font, licence = (FOLDER / FONT).read_bytes(), (FOLDER / "serif.LICENSE.txt").read_text(encoding="utf-8")

    assert "SIL OPEN FONT LICENSE" in licence
    assert "Broadsheet Serif".encode("utf-16-be") in font  # the licence keeps the name "Source" for what is not changed
    assert "Source Serif 4 Variable".encode("utf-16-be") not in font
    assert len(font) < 190_000
    assert f"adapters/pictures/{FONT}" in Path("NOTICE").read_text(encoding="utf-8")
