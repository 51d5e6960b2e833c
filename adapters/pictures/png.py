"""A chart as PNG, for chats: drawn by resvg with the one font that is shipped, on any machine alike.

resvg draws no text where it has no font, and no sign that its font lacks, without a word of it: so a text is looked at
before, and what the font lacks is drawn as "…". The whole of it stands in the text that goes with the picture.
"""

import struct
import sys
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import as_file, files
from itertools import groupby

import resvg_py

from adapters.pictures.svg import LIGHT, svg
from adapters.text import clean
from bot.models import Chart, ChartValue

FONT = "serif.ttf"  # Broadsheet Serif: a part of Source Serif 4, renamed as its licence asks
ZOOM = 3.0  # dots to a unit of a chart: 1,200 wide


def png(chart: Chart) -> bytes:
    """Return the picture. Nothing else of the process goes on meanwhile, some tens of milliseconds: not in the service."""
    return drawn(chart_svg(chart), ZOOM)


def chart_svg(chart: Chart) -> str:
    """Return the chart as SVG in the light palette, without signs that our font lacks."""
    return svg(_drawable(chart), LIGHT, _advance)


def _advance(char: str) -> float:
    return advances().get(ord(char), 1.0)


def drawn(picture: str, zoom: float = 1.0) -> bytes:
    """Return the SVG as PNG, its texts in our font. What is said of `png` holds here, too."""
    with as_file(files("adapters.pictures").joinpath(FONT)) as font:
        made: bytes = resvg_py.svg_to_bytes(
            svg_string=picture,
            zoom=zoom,
            skip_system_fonts=True,
            font_files=[str(font)],
            font_family="Broadsheet Serif",
        )
    return made


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


def glyphs() -> frozenset[int]:
    """Return the code points that the font has; the first call reads its file."""
    return frozenset(advances())


@cache
def advances() -> Mapping[int, float]:
    """Return how wide each sign of the font is, in ems, by its code point; the first call reads its file."""
    font = files("adapters.pictures").joinpath(FONT).read_bytes()
    (count,) = struct.unpack_from(">H", font, 4)
    tables = {font[at : at + 4]: struct.unpack_from(">I", font, at + 8)[0] for at in range(12, 12 + 16 * count, 16)}
    (em,) = struct.unpack_from(">H", font, tables[b"head"] + 18)
    (metrics,) = struct.unpack_from(">H", font, tables[b"hhea"] + 34)
    widths = [struct.unpack_from(">H", font, tables[b"hmtx"] + 4 * each)[0] / em for each in range(metrics)]
    return {code: widths[min(glyph, metrics - 1)] for code, glyph in _mapped(font, tables[b"cmap"]) if glyph}


def _mapped(font: bytes, cmap: int) -> Iterator[tuple[int, int]]:
    """Yield what the subtables of format 4 map to which glyph, those of the Basic Multilingual Plane (OpenType, "cmap")."""
    (subtables,) = struct.unpack_from(">H", font, cmap + 2)
    for number in range(subtables):
        at = cmap + struct.unpack_from(">I", font, cmap + 8 + 8 * number)[0]
        form, _, _, doubled = struct.unpack_from(">HHHH", font, at)
        if form == 4:
            parts = [at + 14, *(at + 16 + each * doubled for each in (1, 2, 3))]
            segments = zip(*(struct.unpack_from(f">{doubled // 2}H", font, each) for each in parts), strict=True)
            for segment, (last, first, delta, offset) in enumerate(segments):
                for code in range(first, min(last, 0xFFFE) + 1):
                    glyph = code
                    if offset:
                        (glyph,) = struct.unpack_from(">H", font, parts[3] + 2 * segment + offset + 2 * (code - first))
                    yield code, (glyph + delta) & 0xFFFF if glyph else 0


if __name__ == "__main__":  # draws what it is given, where nobody else is kept waiting: adapters.pictures.drawing
    sys.stdout.buffer.write(drawn(sys.stdin.buffer.read().decode(), float(sys.argv[1])))
