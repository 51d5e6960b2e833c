"""A chart as SVG: no script, no reference to anything outside, every text escaped. Pure.

Drawn 360 units wide, as wide as a column of a page on a phone, so that its text is as large there as it is meant. Width and
height are left to who shows it. In a page colours and font are the page's own, by its CSS variables; a picture that stands
by itself has them written out.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from adapters.text import brief, clean, cut
from bot.models import Chart, ChartKind, ChartValue
from bot.wording import MONTHS

WIDTH = 360
_MARGIN = 20  # around a picture that stands by itself
_TITLE, _TEXT, _SMALL = 15.0, 12.5, 11.0  # sizes of type
_LEADING = 1.3
_PLOT = 150  # height of columns and of a curve
_AXIS = 56  # width of the numbers beside a curve
_ROW, _BAR = 38, 9  # of a term, and of its bar
_FEW_SIGNS = 5  # of a number above a column, where there are many
_MANY = 9  # columns
_STEP = 6  # units by which lines are made shorter, until there would be one more
# What no XML may hold: control characters, halves of characters, and two that are none (www.w3.org/TR/xml/#charsets).
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


Advance = Callable[[str], float]  # returns the width of a character, in ems


@dataclass(frozen=True, slots=True)
class Palette:
    """What a picture is drawn in."""

    ink: str
    soft: str
    rule: str
    accent: str
    light: str  # what was before, and what is not over
    paper: str = ""  # behind everything, with a margin; "": what it stands on
    font: str = "inherit"


INLINE = Palette(
    *(
        "var(--ink, #1c1a17)",
        "var(--soft, #5a544a)",
        "var(--rule, #c9c0af)",
        "var(--accent, #8b1e1e)",
        "var(--rule, #c9c0af)",
    )
)
LIGHT = Palette("#1c1a17", "#5a544a", "#c9c0af", "#8b1e1e", "#d3a6a0", "#fbf8f1", "Broadsheet Serif, Georgia, serif")


def svg(chart: Chart, palette: Palette = INLINE, advance: Advance | None = None) -> str:
    """Return the chart as an SVG element; with its title, and the sentence of its source and counts.

    `advance` tells the widths of the font in which it will be drawn; without it they are estimated.
    """
    drawing = _Drawing(palette, advance or _share)
    drawing.paragraph(chart.title, _TITLE, palette.ink)
    drawing.y += 13
    _DRAWN[chart.kind](drawing, chart.values)
    drawing.y += 6
    drawing.paragraph(chart.source, _SMALL, palette.soft)
    margin = _MARGIN if palette.paper else 0
    width, height = WIDTH + 2 * margin, round(drawing.y + 2 * margin + 4)
    behind = (
        f'<rect x="{-margin}" y="{-margin}" width="{width}" height="{height}" fill="{palette.paper}"/>' if margin else ""
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{-margin} {-margin} {width} {height}" role="img"'
        f' aria-label="{escaped(chart.alt)}" font-family="{palette.font}">{behind}{"".join(drawing.parts)}</svg>'
    )


class _Drawing:
    """The elements that are drawn so far, from the top down to `y`."""

    def __init__(self, palette: Palette, advance: Advance) -> None:
        self.palette, self.advance, self.parts, self.y = palette, advance, list[str](), 0.0

    def text(self, x: float, y: float, said: str, size: float, fill: str, anchor: str = "start") -> None:
        where = f' text-anchor="{anchor}"' if anchor != "start" else ""
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{fill}"{where}>{escaped(said)}</text>')

    def paragraph(self, said: str, size: float, fill: str) -> None:
        for line in _balanced(clean(said), size, self.advance):
            self.y += size * _LEADING
            self.text(0, self.y, line, size, fill)

    def box(self, x: float, y: float, width: float, height: float, fill: str) -> None:
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{fill}"/>')

    def rule(self, y: float) -> None:
        self.parts.append(f'<path d="M0 {y:.1f}H{WIDTH}" stroke="{self.palette.rule}" fill="none"/>')


def _columns(drawing: _Drawing, values: Sequence[ChartValue]) -> None:
    palette, step = drawing.palette, WIDTH / len(values)
    most = max(each.value for each in values) or 1.0
    width = min(step * 0.66, 44.0)
    bottom = drawing.y + _SMALL * _LEADING + _PLOT
    for at, each in enumerate(values):
        middle, height = (at + 0.5) * step, _PLOT * each.value / most
        drawing.box(middle - width / 2, bottom - height, width, height, palette.light if each.is_partial else palette.accent)
        number = f"{each.value:,.0f}"
        number = brief(round(each.value)) if len(values) > _MANY and len(number) > _FEW_SIGNS else number
        drawing.text(middle, bottom - height - 4, number, _SMALL, palette.ink, "middle")
        if each.day is not None:
            drawing.text(middle, bottom + 15, MONTHS[each.day.month - 1][:3], _SMALL, palette.soft, "middle")
            if at == 0 or each.day.month == 1:
                drawing.text(middle, bottom + 29, str(each.day.year), _SMALL, palette.soft, "middle")
    drawing.rule(bottom)
    drawing.y = bottom + 32


def _bars(drawing: _Drawing, values: Sequence[ChartValue]) -> None:
    palette, most = drawing.palette, max(each.value for each in values) or 1.0
    for each in values:
        said, base = clean(each.said), drawing.y + _TEXT * _LEADING
        drawing.text(WIDTH, base, said, _SMALL, palette.soft, "end")
        room = WIDTH - 12 - _width(said, _SMALL, drawing.advance)
        label = _cut_to(clean(each.label), _TEXT, room, drawing.advance)
        drawing.text(0, base, label, _TEXT, palette.ink)
        drawing.box(0, base + 6, WIDTH * each.value / most, _BAR, palette.accent)
        if each.before:
            drawing.box(0, base + 6, WIDTH * min(each.before, each.value) / most, _BAR, palette.light)
        drawing.y += _ROW
    for at, (said, fill) in enumerate((("share before", palette.light), ("share added", palette.accent))):
        drawing.box(at * 100, drawing.y + 4, 9, 9, fill)
        drawing.text(at * 100 + 14, drawing.y + 12.5, said, _SMALL, palette.soft)
    drawing.y += 20


def _line(drawing: _Drawing, values: Sequence[ChartValue]) -> None:
    palette, top = drawing.palette, drawing.y + _SMALL * _LEADING
    days = [each.day.toordinal() if each.day else at for at, each in enumerate(values)]
    least, most = min(each.value for each in values), max(each.value for each in values)
    long, high = max(1, days[-1] - days[0]), (most - least) or 1.0
    for share in (0.0, 0.5, 1.0):
        y = top + _PLOT * (1 - share)
        drawing.rule(y)
        drawing.text(0, y - 4, f"{least + share * (most - least):,.0f}", _SMALL, palette.soft)
    places = [
        (_AXIS + (WIDTH - _AXIS - 3) * (day - days[0]) / long, top + _PLOT * (1 - (each.value - least) / high))
        for day, each in zip(days, values, strict=True)
    ]
    path = "".join(f"{'L' if at else 'M'}{x:.1f} {y:.1f}" for at, (x, y) in enumerate(places))
    drawing.parts.append(
        f'<path d="{path}" fill="none" stroke="{palette.accent}" stroke-width="2" stroke-linejoin="round"/>'
    )
    x, y = places[-1]
    drawing.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{palette.accent}"/>')
    drawing.text(_AXIS, top + _PLOT + 15, clean(values[0].label), _SMALL, palette.soft)
    drawing.text(WIDTH, top + _PLOT + 15, clean(values[-1].label), _SMALL, palette.soft, "end")
    drawing.y = top + _PLOT + 20


_DRAWN: Mapping[ChartKind, Callable[[_Drawing, Sequence[ChartValue]], None]] = {
    ChartKind.COLUMNS: _columns,
    ChartKind.BARS: _bars,
    ChartKind.LINE: _line,
}


# --- texts: in a page how wide they are is estimated, as every reader has another font


def escaped(text: str) -> str:
    """Return the text as XML takes it, between tags and in an attribute."""
    return escape(_NOT_XML.sub("\ufffd", clean(text)), quote=True)


def _balanced(text: str, size: float, advance: Advance) -> Sequence[str]:
    """Return the text in as few lines of the picture's width as take it, about as long as each other."""
    found = [*_lines(text, size, WIDTH, advance)]
    for room in range(WIDTH - _STEP, WIDTH // 2, -_STEP):
        narrower = [*_lines(text, size, room, advance)]
        if len(narrower) > len(found) or any(_width(each, size, advance) > room for each in narrower):
            break
        found = narrower
    return found


def _lines(text: str, size: float, room: int, advance: Advance) -> Iterator[str]:
    """Yield the text in lines of that width; a word that is wider than the picture is cut."""
    line = ""
    for word in text.split():
        longer = f"{line} {word}" if line else word
        if line and _width(longer, size, advance) > room:
            yield line
            longer = word
        line = _cut_to(longer, size, WIDTH, advance)
    if line:
        yield line


def _cut_to(text: str, size: float, room: float, advance: Advance) -> str:
    return cut(text, max(1, int(room)), lambda part: round(_width(part, size, advance)))


def _width(text: str, size: float, advance: Advance) -> float:
    return size * sum(map(advance, text))


def _share(char: str) -> float:
    """Return how many times as wide as high a character is, rather too much."""
    if unicodedata.east_asian_width(char) in "WF":
        return 1.0
    return (
        0.33 if char in " .,:;'|il()[]" else 0.75 if char.isupper() or char in "mw%@—" else 0.64 if char.isdigit() else 0.58
    )
