"""A chart as PNG, for chats: drawn by resvg with the one font that is shipped, on any machine alike.

resvg draws no text where it has no font, and no sign that its font lacks, without a word of it: so a text is looked at
before, and what the font lacks is drawn as "…". The whole of it stands in the text that goes with the picture.
"""

import struct
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from importlib.resources import as_file, files
from itertools import groupby

import resvg_py

from adapters.pictures.svg import LIGHT, svg
from adapters.text import clean
from bot.models import Chart, ChartValue

FONT = "serif.ttf"  # Broadsheet Serif: a part of Source Serif 4, renamed as its licence asks
_ZOOM = 3.0  # dots to a unit: 1,200 wide


def png(chart: Chart) -> bytes:
    """Return the picture. It takes some tens of milliseconds: not on the event loop."""
    with as_file(files("adapters.pictures").joinpath(FONT)) as font:
        return resvg_py.svg_to_bytes(
            svg_string=svg(_drawable(chart), LIGHT),
            zoom=_ZOOM,
            skip_system_fonts=True,
            font_files=[str(font)],
            font_family="Broadsheet Serif",
        )


def _drawable(chart: Chart) -> Chart:
    values = tuple(_drawable_value(each) for each in chart.values)
    return replace(chart, title=drawable(chart.title), source=drawable(chart.source), values=values)


def _drawable_value(value: ChartValue) -> ChartValue:
    return replace(value, label=drawable(value.label), said=drawable(value.said))


def drawable(text: str) -> str:
    """Return the text, with "…" for each run of signs that the font lacks."""
    known = glyphs()
    runs = groupby(unicodedata.normalize("NFC", clean(text)), key=lambda char: char == " " or ord(char) in known)
    return "".join("".join(run) if has else "…" for has, run in runs)


@cache
def glyphs() -> frozenset[int]:
    """Return the code points that the font has; the first call reads its file."""
    return frozenset(_mapped(files("adapters.pictures").joinpath(FONT).read_bytes()))


def _mapped(font: bytes) -> Iterator[int]:
    """Yield what is mapped by the subtables of format 4, those of the Basic Multilingual Plane (OpenType, "cmap")."""
    (count,) = struct.unpack_from(">H", font, 4)
    tables = {font[at : at + 4]: struct.unpack_from(">I", font, at + 8)[0] for at in range(12, 12 + 16 * count, 16)}
    cmap = tables[b"cmap"]
    (subtables,) = struct.unpack_from(">H", font, cmap + 2)
    for number in range(subtables):
        at = cmap + struct.unpack_from(">I", font, cmap + 8 + 8 * number)[0]
        form, _, _, doubled = struct.unpack_from(">HHHH", font, at)
        if form == 4:
            ends = struct.unpack_from(f">{doubled // 2}H", font, at + 14)
            starts = struct.unpack_from(f">{doubled // 2}H", font, at + 16 + doubled)
            yield from (
                code for first, last in zip(starts, ends, strict=True) for code in range(first, min(last, 0xFFFE) + 1)
            )
